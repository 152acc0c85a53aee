// kubectl tpu migrate check: whether the workloads of other controllers can be taken over.
#include <algorithm>
#include <iterator>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cmd/kubectl-tpu/checks/installation.h"
#include "cmd/kubectl-tpu/checks/migration.h"
#include "cmd/kubectl-tpu/commands/commands.h"
#include "cmd/kubectl-tpu/workload_pods.h"
#include "cmd/tpu-slice-operator/kinds.h"

namespace tpuslice::plugin {
namespace {

constexpr std::size_t kMaxObjects = 20'000;  ///< Objects of a kind that are read.
constexpr std::size_t kMaxShown = 50;        ///< Findings of a kind that are printed.

std::vector<Finding> check_kind(Context& context, client::Client& api, const kind::Kind& kind,
                                const std::string& namespace_name) {
  const auto objects = list_all(api, kind.type, {.namespace_name = namespace_name}, kMaxObjects, context.stop());
  const std::string name(kind.type.plural);
  if (!objects && objects.error().code() == ErrorCode::kNotFound) {
    return {{name, Verdict::kOk, "this kind is not installed"}};
  }
  if (!objects) return {finding_of(name, objects.error(), Verdict::kUnknown)};
  std::vector<Json> documents;
  documents.reserve(objects->size());
  for (const Object& object : *objects) documents.push_back(object.json());
  return check_objects(kind, documents, kMaxShown);
}

/// The command that edits the first object that cannot be taken over.
void suggest_edit(const Context& context, const std::vector<Finding>& findings) {
  const auto first = std::ranges::find_if(findings, [](const Finding& each) {
    return each.verdict == Verdict::kFailure && each.check.find('/') != std::string::npos;
  });
  if (first != findings.end()) context.suggest_command("kubectl edit " + first->check);
}

Result<ExitCode> check_migration(Context& context) {
  ASSIGN_OR_RETURN(client::Client* const api, context.api());
  ASSIGN_OR_RETURN(const std::string namespace_name, context.namespace_name());
  std::vector<Finding> findings =
      check_upstream({*api, "tpu-slice-system", namespace_name, context.now(), context.stop()});
  for (const kind::Kind* each : kinds()) {
    std::vector<Finding> more = check_kind(context, *api, *each, namespace_name);
    std::ranges::move(more, std::back_inserter(findings));
  }
  if (context.is_table()) {
    context.print_table(findings_table(findings));
  } else {
    context.print_document(findings_document(findings));
  }
  if (has(findings, Verdict::kFailure)) {
    suggest_edit(context, findings);
    return ExitCode::kRefused;
  }
  context.suggest("check");
  return has(findings, Verdict::kUnknown) ? ExitCode::kError : ExitCode::kYes;
}

}  // namespace

void add_migrate(CLI::App& app, Commands& commands) {
  CLI::App& migrate = commands.add(app, "migrate", "Move workloads from other controllers", nullptr);
  migrate.require_subcommand(1);
  commands.add(migrate, "check", "Check whether existing workloads can be taken over; use -A for all namespaces",
               check_migration);
}

}  // namespace tpuslice::plugin
