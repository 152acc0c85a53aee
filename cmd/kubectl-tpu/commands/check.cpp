// kubectl tpu check: whether the installation works, and what the user may do.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cmd/kubectl-tpu/checks/installation.h"
#include "cmd/kubectl-tpu/commands/commands.h"

namespace tpuslice::plugin {
namespace {

struct CheckOptions {
  std::string operator_namespace = "tpu-slice-system";
};

Result<ExitCode> check(Context& context, const CheckOptions& options) {
  ASSIGN_OR_RETURN(client::Client* const api, context.api());
  ASSIGN_OR_RETURN(const client::ClientConfig* const config, context.config());
  const std::string& given = context.options().namespace_name;
  const CheckInput input{*api, options.operator_namespace, given.empty() ? config->namespace_name : given,
                         context.now(), context.stop()};
  const std::vector<Finding> findings = check_installation(input);
  if (context.is_table()) {
    context.print_table(findings_table(findings));
  } else {
    context.print_document(findings_document(findings));
  }
  if (has(findings, Verdict::kFailure)) {
    const auto first = std::ranges::find_if(
        findings, [](const Finding& each) { return each.verdict == Verdict::kFailure && !each.next.empty(); });
    if (first == findings.end()) {
      context.suggest("report");
    } else {
      context.suggest_command(first->next);
    }
    return ExitCode::kNever;
  }
  context.suggest("status");
  return ExitCode::kYes;
}

}  // namespace

void add_check(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App& command = commands.add(app, "check", "Check the installation: CRDs, operator, webhook, rights",
                                   [options](Context& context) { return check(context, *options); });
  command.add_option("--operator-namespace", options->operator_namespace,
                     "Namespace of the operator. Default: tpu-slice-system");
}

}  // namespace tpuslice::plugin
