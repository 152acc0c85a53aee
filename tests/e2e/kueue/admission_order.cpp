#include "tests/e2e/kueue/admission_order.h"

#include <algorithm>

#include <fmt/format.h>

namespace tpuslice::testing {
namespace {

bool is_true(const Json& workload, std::string_view type) {
  const Json& conditions = array_at(workload, {"status", "conditions"});
  return std::ranges::any_of(conditions, [&](const Json& condition) {
    return string_at(condition, {"type"}) == type && string_at(condition, {"status"}) == "True";
  });
}

}  // namespace

void AdmissionOrder::observe(const std::vector<Json>& workloads, Instant now) {
  finished_ = 0;
  reserved_ = 0;
  for (const Json& object : workloads) {
    const auto [entry, added] = workloads_.try_emplace(string_at(object, {"metadata", "name"}));
    Workload& workload = entry->second;
    if (added) {
      workload.priority = int_at(object, {"spec", "priority"});
      workload.created = string_at(object, {"metadata", "creationTimestamp"});
      workload.seen = now;
    }
    const bool reserved = is_true(object, "QuotaReserved");
    const bool finished = is_true(object, "Finished");
    if (reserved && !workload.has_reserved) {
      workload.has_reserved = true;
      workload.reserved = now;
    }
    workload.preempted = workload.preempted || is_true(object, "Preempted");
    if (finished) ++finished_;
    if (reserved && !finished) ++reserved_;
  }
}

std::vector<std::string> AdmissionOrder::violations(Duration slack) const {
  std::vector<std::string> found;
  for (const auto& [first_name, first] : workloads_) {
    for (const auto& [second_name, second] : workloads_) {
      const bool precedes =
          first.priority > second.priority || (first.priority == second.priority && first.created < second.created);
      if (!precedes || !second.has_reserved || first.seen + slack >= second.reserved) continue;
      if (first.has_reserved && first.reserved <= second.reserved) continue;
      found.push_back(fmt::format("{} (priority {}, created {}) got quota before {} ({}, {})", second_name,
                                  second.priority, second.created, first_name, first.priority, first.created));
    }
  }
  return found;
}

std::map<std::string, std::int64_t> AdmissionOrder::preempted() const {
  std::map<std::string, std::int64_t> found;
  for (const auto& [name, workload] : workloads_) {
    if (workload.preempted) found[name] = workload.priority;
  }
  return found;
}

}  // namespace tpuslice::testing
