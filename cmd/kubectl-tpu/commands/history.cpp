// kubectl tpu history: which slices were interrupted, why, and what that cost.
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>

#include "api/base/strings.h"
#include "cmd/kubectl-tpu/commands/commands.h"
#include "cmd/kubectl-tpu/fleet_output.h"
#include "fleet/answers/history.h"
#include "fleet/tables/texts.h"
#include "fleet/workload_reference.h"

namespace tpuslice::plugin {
namespace {

struct HistoryOptions {
  FleetSource source;
  bool all = false;
  std::string about;  ///< Workload or pool; empty: all.
  std::string since;  ///< "12h"
};

/// The length of "90s", "30m", "12h" or "7d". Errors: InvalidArgument.
Result<Duration> parse_length(const std::string& text) {
  constexpr std::int64_t kMaxDays = 3650;
  const auto number = text.empty() ? std::optional<int>() : parse_count(text.substr(0, text.size() - 1));
  const char unit = text.empty() ? ' ' : text.back();
  const std::int64_t length = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : unit == 'd' ? 86400 : 0;
  if (!number || length == 0 || *number * length > kMaxDays * 86400) {
    return Error::invalid_argument("--since: found \"{}\", expected a time such as 30m, 12h or 7d", text);
  }
  return Duration(std::chrono::seconds(*number * length));
}

Result<ExitCode> print_history(Context& context, const HistoryOptions& options) {
  fleet::HistoryQuery query;
  ASSIGN_OR_RETURN(query.namespace_name, namespace_of_question(context, options.source));
  ASSIGN_OR_RETURN(ReadFleet read, read_fleet(context, options.source));
  if (read.history_error) return *std::move(read.history_error);
  if (!options.since.empty()) {
    ASSIGN_OR_RETURN(const Duration length, parse_length(options.since));
    query.since = read.snapshot.time - length;
  }
  if (!options.about.empty()) {
    ASSIGN_OR_RETURN(const fleet::Reference about, fleet::read_reference(options.about));
    const bool is_pool = about.kind == "pool";
    if (is_pool) query.namespace_name.clear();
    (is_pool ? query.pool : query.name) = about.name;
    if (!is_pool) query.kind = about.kind;
  }
  const fleet::Fleet fleet = fleet::build_fleet(read.snapshot);
  const fleet::HistoryAnswer answer = fleet::history_of(read.snapshot.history, fleet, query);
  if (context.is_table()) {
    context.print(fleet::history_text(answer, read.snapshot.time, table_options(context, options.all)));
    context.suggest("status");
  } else {
    context.print_document(fleet::write_history(answer));
  }
  return ExitCode::kYes;
}

}  // namespace

void add_history(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<HistoryOptions>();
  CLI::App& command = commands.add(app, "history", "List interruptions of slices, why they were and what they cost",
                                   [options](Context& context) { return print_history(context, *options); });
  add_source_options(command, options->source);
  command.add_option("about", options->about, "KIND/NAME, or pool/NAME. Default: all of the namespace");
  command.add_option("--since", options->since, "How far back, such as 12h or 7d. Default: all that is kept");
  command.add_flag("--all", options->all, "Show all rows, not only the last 50");
}

}  // namespace tpuslice::plugin
