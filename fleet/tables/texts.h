// Answers as text for people, in plain ASCII.
#pragma once

#include <string>

#include "fleet/answers/explain.h"
#include "fleet/answers/history.h"
#include "fleet/answers/plan.h"
#include "fleet/answers/what_if.h"
#include "fleet/tables/tables.h"

namespace tpuslice::fleet {

/// Several lines, each ending in a line end.
[[nodiscard]] std::string explanation_text(const WorkloadExplanation& explanation, Timestamp now,
                                           const TableOptions& options = {});
[[nodiscard]] std::string explanation_text(const PoolExplanation& explanation, Timestamp now,
                                           const TableOptions& options = {});

/// What happens to which slices, if anything.
[[nodiscard]] std::string what_if_text(const WhatIf& answer, Timestamp now, const TableOptions& options = {});

/// What is created, the identities of the hosts, and whether they fit. `env`: all variables of each host.
[[nodiscard]] std::string plan_text(const ManifestPlan& plan, const TableOptions& options = {}, bool env = false);

/// The interruptions, the latest last, and their sum.
[[nodiscard]] std::string history_text(const HistoryAnswer& answer, Timestamp now, const TableOptions& options = {});

/// "1st", "2nd", "11th"
[[nodiscard]] std::string ordinal(std::int64_t number);
/// "4 hosts", "1 host"
[[nodiscard]] std::string counted(std::int64_t count, const char* noun);

/// A line for each record: when, what and why.
[[nodiscard]] TextTable history_table(const std::vector<HistoryRecord>& history, Timestamp now);

}  // namespace tpuslice::fleet
