#include "controllers/jobset/jobset_reconciler.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "controllers/jobset/jobset_plan.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "controllers/jobset/rules/spec.h"
#include "controllers/plan/waiting_conditions.h"
#include "controllers/plan/whole.h"
#include "tpu/teardown_grace.h"

namespace tpuslice::jobset {

std::vector<ObjectKey> jobset_of_waiting_pod(const PodView& pod) {
  const std::string& jobset = pod.label(kJobSetName);
  if (jobset.empty() || !plan::is_waiting(pod)) return {};
  return {{pod.key.namespace_name, jobset}};
}

std::optional<std::string> jobset_name_of_waiting_pod(const PodView& pod) {
  const std::vector<ObjectKey> jobset = jobset_of_waiting_pod(pod);
  return jobset.empty() ? std::nullopt : std::optional(jobset.front().to_string());
}

std::optional<std::string> jobset_name_of_pod_with_teardown_grace(const PodView& pod) {
  const std::string& jobset = pod.label(kJobSetName);
  if (jobset.empty() || !tpu::teardown_grace(pod)) return std::nullopt;
  return ObjectKey{pod.key.namespace_name, jobset}.to_string();
}

std::optional<std::string> key_of_default_class(const ObjectView& priority_class) {
  if (priority_class.minimal || !bool_at(priority_class.object().json(), {"globalDefault"})) return std::nullopt;
  return "";
}

namespace {

std::int32_t value_of(const ObjectView& priority_class) {
  return static_cast<std::int32_t>(int32_at(priority_class.object().json(), {"value"}).value_or(0));
}

}  // namespace

Priorities JobSetReconciler::priorities_of(const JobSetSpec& spec) const {
  Priorities out;
  if (!stores_.priority_classes.synced()) return out;
  for (const ReplicatedJob& job : spec.jobs) {
    if (job.pod_template == nullptr) continue;
    const std::string name = string_at(*job.pod_template, {"spec", "priorityClassName"});
    if (name.empty() || out.by_class.contains(name)) continue;
    const auto found = stores_.priority_classes.get({"", name});
    if (found != nullptr && !found->minimal) out.by_class.emplace(name, value_of(*found));
  }
  for (const auto& each : stores_.default_classes.lookup("")) {
    const std::int32_t value = value_of(*each);
    out.without_class = std::min(out.without_class.value_or(value), value);
  }
  if (!out.without_class) out.without_class = 0;
  return out;
}

JobSetReconciler::JobSetReconciler(Stores stores, Options options) : stores_(stores), options_(std::move(options)) {}

Result<plan::Plan> JobSetReconciler::plan(const plan::ReconcileInput& input) const {
  const runtime::ObjectStore::Ptr jobset = stores_.jobsets.get(input.key);
  if (jobset == nullptr) return plan::Plan{};
  if (auto waits = plan::wait_until_whole(input.key, jobset)) return *std::move(waits);
  JobSetObserved seen{.jobset = jobset->object(),
                      .jobs = stores_.jobs_by_owner.lookup(jobset->uid),
                      .waiting = stores_.waiting_pods.lookup(input.key.to_string()),
                      .now = input.now,
                      .last_failure = input.last_failure,
                      .pods_with_teardown_grace = stores_.pods_with_teardown_grace.lookup(input.key.to_string()),
                      .answers = stores_.events.answers({name(), input.key})};
  const JobSetSpec& spec = seen.jobset.spec();
  seen.priorities = priorities_of(spec);
  seen.service = stores_.services.get({input.key.namespace_name, spec.subdomain});
  for (const VolumeClaim& claim : spec.claims) {
    if (auto found = stores_.claims.get({input.key.namespace_name, claim.name}))
      seen.claims.push_back(std::move(found));
  }
  if (auto waits = plan::wait_until_whole(input.key, seen.jobs, seen.service, seen.claims, seen.waiting)) {
    return *std::move(waits);
  }
  return plan_jobset(seen, options_);
}

}  // namespace tpuslice::jobset
