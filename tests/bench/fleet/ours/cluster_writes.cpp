// The part of the API server: it carries out the actions of plans.
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "api/base/check.h"
#include "tests/bench/fleet/ours/cluster.h"
#include "tests/support/pod_merge.h"
#include "tests/support/preconditions.h"

namespace tpuslice::fleet_bench {

Status Cluster::apply(const plan::Action& action) {
  if (action.type == kConfigMaps) return apply_to_records(action);
  TPUSLICE_CHECK_MSG(action.type == kPods && action.kind != plan::ActionKind::kCreate, action.key.to_string());
  return apply_to_pod(action);
}

Status Cluster::apply_to_pod(const plan::Action& action) {
  const auto found = by_name_.find(action.key.name);
  if (found == by_name_.end()) return Error::not_found("pod {} does not exist", action.key.name);
  const HostRef host = found->second;
  const PodPtr pod = slot(host);
  RETURN_IF_ERROR(plan::check_preconditions(action, pod->uid, pod->resource_version));
  if (action.kind == plan::ActionKind::kPatch) {
    ASSIGN_OR_RETURN(const Json patch, action.body.make());
    edit(host, [&](PodView& changed) { testing::merge_into(changed, patch); });
    return {};
  }
  const Duration grace = std::chrono::seconds(action.grace_seconds.value_or(pod->grace_seconds));
  if (grace == Duration::zero()) {
    erase(host);
  } else {
    terminate(host, grace, {});
  }
  return {};
}

Status Cluster::apply_to_records(const plan::Action& action) {
  placement::PreemptionRecords records;
  if (action.kind == plan::ActionKind::kCreate) {
    records.key = action.key;
    records.uid = "uid-of-records";
  } else {
    records = *preemption_records_;
    RETURN_IF_ERROR(plan::check_preconditions(action, records.uid, records.resource_version));
    ASSIGN_OR_RETURN(const Json patch, action.body.make());
    for (const auto& [accelerator, record] : patch.at("data").items()) {
      if (record.is_null()) {
        records.data.erase(accelerator);
      } else {
        records.data.insert_or_assign(accelerator, record.get<std::string>());
      }
    }
  }
  records.resource_version = std::to_string(++version_);
  preemption_records_ = std::make_shared<const placement::PreemptionRecords>(std::move(records));
  placement_due_ = true;
  return {};
}

}  // namespace tpuslice::fleet_bench
