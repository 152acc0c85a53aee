// What the commands about fleets have in common: tables with a limit of rows, exit codes of answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cmd/kubectl-tpu/context.h"
#include "cmd/kubectl-tpu/read_fleet.h"
#include "fleet/answers/explain.h"
#include "fleet/tables/tables.h"

namespace tpuslice::plugin {

[[nodiscard]] ExitCode exit_code_of(fleet::Answer answer);

/// The options of tables: -o wide, --all.
[[nodiscard]] fleet::TableOptions table_options(const Context& context, bool all);

/// The rows, and how many were left out.
void print_rows(const Context& context, const fleet::Rows& rows);

/// The namespace that a question is about: that of --namespace, else the context's; empty with --all-namespaces, and
/// for a snapshot without --namespace. Errors: no kubeconfig.
[[nodiscard]] Result<std::string> namespace_of_question(Context& context, const FleetSource& source);

/// Notes that an answer is what the operator has written on the pods, as the user may not read nodes or all pods; else
/// what is assumed of the operator's options.
void note_refusal(const Context& context, const ReadFleet& read);

}  // namespace tpuslice::plugin
