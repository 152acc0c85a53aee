// kubectl tpu what-if: what a change would do to the slices, found by running placement with and without it.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cmd/kubectl-tpu/commands/commands.h"
#include "cmd/kubectl-tpu/fleet_output.h"
#include "cmd/kubectl-tpu/rehearsal.h"
#include "fleet/answers/plan.h"
#include "fleet/answers/what_if.h"
#include "fleet/changes.h"
#include "fleet/tables/texts.h"
#include "fleet/workload_reference.h"

namespace tpuslice::plugin {
namespace {

constexpr std::size_t kMaxChanges = 100;

struct WhatIfOptions {
  FleetSource source;
  bool all = false;
  std::vector<std::string> words;
  std::vector<std::string> files;
};

/// The change that applies the manifests; absent if one is refused, which is noted.
Result<std::optional<fleet::Change>> read_applied(Context& context, const WhatIfOptions& options,
                                                  const fleet::Snapshot& snapshot) {
  ASSIGN_OR_RETURN(const std::vector<Json> objects, read_manifests(options.files));
  ASSIGN_OR_RETURN(const std::string namespace_name, namespace_of_manifest(context, options.source));
  ASSIGN_OR_RETURN(const Rehearsed rehearsed,
                   rehearse(objects, {namespace_name, snapshot.topology_key, snapshot.options.topology_keys}));
  if (!rehearsed.refusal.empty()) {
    context.note("refused: " + rehearsed.refusal);
    return std::optional<fleet::Change>();
  }
  return std::optional(fleet::Change{.kind = fleet::ChangeKind::kApply,
                                     .text = "apply " + options.files.front(),
                                     .new_pods = fleet::pods_as_created(rehearsed.created, snapshot.time)});
}

/// "drain pool/a lose node/b" is two changes.
Result<std::vector<fleet::Change>> read_changes(const std::vector<std::string>& words, const fleet::Snapshot& snapshot,
                                                const std::string& namespace_name) {
  if (words.size() % 2 != 0 || words.size() > 2 * kMaxChanges) {
    return Error::invalid_argument("found {} words, expected pairs such as drain pool/v6e-a, at most {}", words.size(),
                                   kMaxChanges);
  }
  std::vector<fleet::Change> changes;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    ASSIGN_OR_RETURN(fleet::Change change, fleet::read_change(words[i], words[i + 1], snapshot, namespace_name));
    changes.push_back(std::move(change));
  }
  return changes;
}

/// The command that makes the change, if there is one.
void suggest_change(Context& context, const std::string& subject, const fleet::Change& change) {
  if (change.kind == fleet::ChangeKind::kDrain) {
    const auto about = fleet::read_reference(subject);
    if (about.ok() && about->kind == "pool") context.suggest(fmt::format("drain pool/{} --dry-run", about->name));
  } else if (change.kind == fleet::ChangeKind::kDelete) {
    const std::string& space = change.pods.front().namespace_name;
    const bool is_one =
        std::ranges::all_of(change.pods, [&](const ObjectKey& pod) { return pod.namespace_name == space; });
    if (is_one) context.suggest_command(fmt::format("kubectl delete {} -n {}", subject, space));
  }
}

Result<ExitCode> print_what_if(Context& context, const WhatIfOptions& options) {
  ASSIGN_OR_RETURN(const std::string namespace_name, namespace_of_question(context, options.source));
  ASSIGN_OR_RETURN(const fleet::Snapshot snapshot, read_whole_fleet(context, options.source));
  ASSIGN_OR_RETURN(std::vector<fleet::Change> changes, read_changes(options.words, snapshot, namespace_name));
  if (!options.files.empty()) {
    ASSIGN_OR_RETURN(std::optional<fleet::Change> applied, read_applied(context, options, snapshot));
    if (!applied) return ExitCode::kRefused;
    changes.push_back(*std::move(applied));
  }
  if (changes.empty()) return Error::invalid_argument("found no change, expected one such as drain pool/v6e-a");
  const fleet::WhatIf answer = fleet::what_if(snapshot, changes);
  if (!context.is_table()) {
    context.print_document(fleet::write_what_if(answer));
    return ExitCode::kYes;
  }
  context.print(fleet::what_if_text(answer, snapshot.time, table_options(context, options.all)));
  if (changes.size() == 1 && !options.words.empty()) suggest_change(context, options.words.at(1), changes.front());
  return ExitCode::kYes;
}

}  // namespace

void add_what_if(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<WhatIfOptions>();
  CLI::App& command =
      commands.add(app, "what-if",
                   "Show which slices would end, move or wait: drain|lose|repair pool/NAME or node/NAME, "
                   "add 'v6e 4x4 x2', delete KIND/NAME; several at once",
                   [options](Context& context) { return print_what_if(context, *options); });
  add_source_options(command, options->source);
  command.add_option("changes", options->words, "Changes, e.g. drain pool/v6e-a add 'v6e 4x4 x2'");
  command.add_option("-f,--filename", options->files, "Manifest that is applied; several can be given");
  command.add_flag("--all", options->all, "Show all rows, not only the first 50");
}

}  // namespace tpuslice::plugin
