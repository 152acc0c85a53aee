#include "cmd/kubectl-tpu/fleet_output.h"

#include <fmt/format.h>

#include "cmd/kubectl-tpu/missing_rights.h"

namespace tpuslice::plugin {

ExitCode exit_code_of(fleet::Answer answer) {
  switch (answer) {
    case fleet::Answer::kYes:
      return ExitCode::kYes;
    case fleet::Answer::kNotNow:
      return ExitCode::kNotNow;
    case fleet::Answer::kNever:
      return ExitCode::kNever;
  }
  return ExitCode::kError;
}

fleet::TableOptions table_options(const Context& context, bool all) {
  return {.wide = context.format() == Format::kWide, .all = all};
}

void print_rows(const Context& context, const fleet::Rows& rows) {
  context.print_table(rows.table);
  if (rows.more > 0) context.note(fleet::more_text(rows.more));
}

Result<std::string> namespace_of_question(Context& context, const FleetSource& source) {
  if (context.options().all_namespaces) return std::string();
  if (!source.snapshot.empty()) return context.options().namespace_name;
  return context.namespace_name();
}

void note_refusal(const Context& context, const ReadFleet& read) {
  if (!read.refusal) {
    if (!read.assumed.empty()) context.note(read.assumed);
    return;
  }
  context.note(
      fmt::format("{}: the reasons are those that the operator wrote last, and places in queues are not known.",
                  read.refusal->message()));
  if (const std::string grant = grant_for(*read.refusal); !grant.empty()) {
    context.note("An administrator can grant it:\n  " + grant);
  }
}

}  // namespace tpuslice::plugin
