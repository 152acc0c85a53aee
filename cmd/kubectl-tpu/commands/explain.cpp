// kubectl tpu explain: why the slices of a workload wait and what would help; what is wrong with a node pool.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cmd/kubectl-tpu/commands/commands.h"
#include "cmd/kubectl-tpu/fleet_output.h"
#include "fleet/answers/explain.h"
#include "fleet/tables/texts.h"
#include "fleet/workload_reference.h"

namespace tpuslice::plugin {
namespace {

struct ExplainOptions {
  FleetSource source;
  bool all = false;
  std::string about;
};

template <typename Explanation>
ExitCode print_explanation(Context& context, const Explanation& explanation, Timestamp now, bool all) {
  if (context.is_table()) {
    context.print(fleet::explanation_text(explanation, now, table_options(context, all)));
  } else {
    context.print_document(fleet::write_explanation(explanation));
  }
  return exit_code_of(explanation.answer);
}

Result<ExitCode> explain(Context& context, const ExplainOptions& options) {
  ASSIGN_OR_RETURN(const fleet::Reference reference, fleet::read_reference(options.about));
  if (reference.kind == "pool") {
    ASSIGN_OR_RETURN(const fleet::Snapshot snapshot, read_whole_fleet(context, options.source));
    ASSIGN_OR_RETURN(const fleet::PoolExplanation pool, fleet::explain_pool(snapshot, reference.name));
    const ExitCode code = print_explanation(context, pool, snapshot.time, options.all);
    context.suggest("what-if drain pool/" + reference.name);
    return code;
  }
  ASSIGN_OR_RETURN(const std::string namespace_name, namespace_of_question(context, options.source));
  ASSIGN_OR_RETURN(const ReadFleet read, read_fleet(context, options.source));
  ASSIGN_OR_RETURN(const fleet::WorkloadExplanation workload,
                   fleet::explain_workload(read.snapshot, reference, namespace_name));
  note_refusal(context, read);
  const ExitCode code = print_explanation(context, workload, read.snapshot.time, options.all);
  context.suggest(workload.waiting > 0
                      ? "slices -A --waiting"
                      : fmt::format("hosts {} -n {}", options.about, workload.workload.namespace_name));
  return code;
}

}  // namespace

void add_explain(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<ExplainOptions>();
  CLI::App& command =
      commands.add(app, "explain",
                   "Say why a workload's slices wait and what would help, or what is wrong with a pool. "
                   "Exit code 3: it waits, 4: it does not start without a change",
                   [options](Context& context) { return explain(context, *options); });
  add_source_options(command, options->source);
  command.add_option("about", options->about, "KIND/NAME, e.g. rayjob/train or pool/v6e-a")->required();
  command.add_flag("--all", options->all, "Show all rows, not only the first 50");
}

}  // namespace tpuslice::plugin
