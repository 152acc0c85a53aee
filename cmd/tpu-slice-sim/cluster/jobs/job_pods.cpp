#include "cmd/tpu-slice-sim/cluster/jobs/job_pods.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "cmd/tpu-slice-sim/cluster/owners.h"
#include "cmd/tpu-slice-sim/registry/kinds.h"

namespace tpuslice::sim {

namespace {

constexpr const char* kFailureCount = "batch.kubernetes.io/job-index-failure-count";
constexpr const char* kIgnoredCount = "batch.kubernetes.io/job-index-ignored-failure-count";
constexpr std::string_view kOwnManager = "kubernetes.io/job-controller";
constexpr const char* kIndexVariable = "JOB_COMPLETION_INDEX";
constexpr std::size_t kMaxPrefix = 58;  ///< Longer generated names would be truncated, with the index.

void add_index_variable(Json& spec, const char* kind) {
  const auto containers = spec.find(kind);
  if (containers == spec.end() || !containers->is_array()) return;
  for (Json& container : *containers) {
    Json& env = container["env"];
    if (!env.is_array()) env = Json::array();
    const bool known = std::any_of(env.begin(), env.end(),
                                   [](const Json& entry) { return string_at(entry, {"name"}) == kIndexVariable; });
    if (known) continue;
    const std::string field = fmt::format("metadata.labels['{}']", kJobIndex);
    env.push_back({{"name", kIndexVariable}, {"valueFrom", {{"fieldRef", {{"fieldPath", field}}}}}});
  }
}

std::string index_prefix(const std::string& job, int index) {
  const std::string end = fmt::format("-{}-", index);
  return job.substr(0, std::min(job.size(), kMaxPrefix - end.size())) + end;
}

void give_index(Json& pod, const std::string& job, int index) {
  Json& metadata = pod["metadata"];
  metadata["generateName"] = index_prefix(job, index);
  metadata["labels"][std::string(kJobIndex)] = std::to_string(index);
  metadata["annotations"][std::string(kJobIndex)] = std::to_string(index);
  pod["spec"]["hostname"] = fmt::format("{}-{}", job, index);
  for (const char* kind : {"containers", "initContainers"}) add_index_variable(pod["spec"], kind);
}

/// When the last container terminated; none if one has not.
std::optional<Timestamp> containers_ended(const Json& pod) {
  std::optional<Timestamp> last;
  for (const char* kind : {"containerStatuses", "initContainerStatuses"}) {
    for (const Json& status : array_at(pod, {"status", kind})) {
      const bool init = std::string_view(kind) == "initContainerStatuses";
      if (init && !is_sidecar(pod, string_at(status, {"name"}))) continue;
      const auto ended = parse_rfc3339(string_at(status, {"state", "terminated", "finishedAt"}));
      if (!ended) return std::nullopt;
      last = std::max(last.value_or(*ended), *ended);
    }
  }
  return last;
}

std::optional<Timestamp> ready_changed(const Json& pod, const char* status) {
  for (const Json& condition : array_at(pod, {"status", "conditions"})) {
    if (string_at(condition, {"type"}) != "Ready" || string_at(condition, {"status"}) != status) continue;
    return parse_rfc3339(string_at(condition, {"lastTransitionTime"}));
  }
  return std::nullopt;
}

int phase_rank(const Json& pod) {
  const std::string phase = string_at(pod, {"status", "phase"});
  return phase == "Pending" ? 0 : phase == "Unknown" ? 1 : 2;
}

std::int64_t most_restarts(const Json& pod) {
  std::int64_t most = 0;
  for (const Json& status : array_at(pod, {"status", "containerStatuses"})) {
    most = std::max(most, int_at(status, {"restartCount"}));
  }
  return most;
}

/// Smaller is deleted first.
auto worth(const Json& pod) {
  const auto since = ready_changed(pod, "True").value_or(Timestamp{}).time_since_epoch().count();
  const auto created = parse_rfc3339(string_at(pod, {"metadata", "creationTimestamp"})).value_or(Timestamp{});
  return std::make_tuple(!string_at(pod, {"spec", "nodeName"}).empty(), phase_rank(pod),
                         condition_status(pod, "Ready") == "True", -since, -most_restarts(pod),
                         -created.time_since_epoch().count());
}

void sort_by_worth(std::vector<JsonPtr>& pods) {
  std::stable_sort(pods.begin(), pods.end(), [](const JsonPtr& a, const JsonPtr& b) { return worth(*a) < worth(*b); });
}

}  // namespace

std::optional<JobReference> controlling_job(const Json& object) {
  const Json* owner = controller_of(object);
  if (owner == nullptr || string_at(*owner, {"kind"}) != "Job") return std::nullopt;
  if (string_at(*owner, {"apiVersion"}) != "batch/v1") return std::nullopt;
  return JobReference{string_at(*owner, {"uid"}), string_at(*owner, {"name"})};
}

bool has_controller(const Json& object) { return controller_of(object) != nullptr; }

Json make_job_pod(const Json& job, std::optional<int> index, std::optional<IndexFailures> failures) {
  const std::string name = string_at(job, {"metadata", "name"});
  const Json& pods = job.at("spec").at("template");
  Json metadata = {{"generateName", name + "-"}, {"namespace", string_at(job, {"metadata", "namespace"})}};
  for (const char* field : {"labels", "annotations", "finalizers"}) {
    if (const Json* given = find_path(pods, {"metadata", field})) metadata[field] = *given;
  }
  Json& finalizers = metadata["finalizers"];
  if (!finalizers.is_array()) finalizers = Json::array();
  if (std::find(finalizers.begin(), finalizers.end(), Json(kJobFinalizer)) == finalizers.end()) {
    finalizers.push_back(kJobFinalizer);
  }
  metadata["ownerReferences"] = Json::array({controller_reference(job)});
  Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata}, {"spec", pods.at("spec")}};
  if (index) give_index(pod, name, *index);
  if (failures) {
    Json& annotations = pod["metadata"]["annotations"];
    annotations[kFailureCount] = std::to_string(failures->counted);
    if (failures->ignored > 0) annotations[kIgnoredCount] = std::to_string(failures->ignored);
  }
  return pod;
}

bool indexed(const Json& job) { return string_at(job, {"spec", "completionMode"}) == "Indexed"; }

bool replaces_only_failed(const Json& job) {
  return string_at(job, {"spec", "podReplacementPolicy"}) == "Failed" ||
         find_path(job, {"spec", "podFailurePolicy"}) != nullptr;
}

bool has_other_manager(const Json& job) { return string_at(job, {"spec", "managedBy"}, kOwnManager) != kOwnManager; }

std::optional<int> completion_index(const Json& pod) {
  return parse_count(string_at(pod, {"metadata", "annotations", kJobIndex}));
}

IndexFailures index_failures(const Json& pod) {
  return {parse_count(string_at(pod, {"metadata", "annotations", kFailureCount})).value_or(0),
          parse_count(string_at(pod, {"metadata", "annotations", kIgnoredCount})).value_or(0)};
}

bool tracked(const Json& pod) {
  const Json& finalizers = array_at(pod, {"metadata", "finalizers"});
  return std::find(finalizers.begin(), finalizers.end(), Json(kJobFinalizer)) != finalizers.end();
}

bool pod_active(const Json& pod) { return !pod_finished(pod) && !terminating(pod); }

bool pod_terminating(const Json& pod) { return !pod_finished(pod) && terminating(pod); }

bool pod_failed(const Json& pod, const Json& job) {
  if (string_at(pod, {"status", "phase"}) == "Failed") return true;
  return !replaces_only_failed(job) && pod_terminating(pod);
}

Timestamp finished_at(const Json& pod) {
  if (const auto ended = containers_ended(pod)) return *ended;
  if (const auto unready = ready_changed(pod, "False")) return *unready;
  if (const auto deleted = parse_rfc3339(string_at(pod, {"metadata", "deletionTimestamp"}))) {
    return *deleted - std::chrono::seconds(int_at(pod, {"metadata", "deletionGracePeriodSeconds"}));
  }
  return parse_rfc3339(string_at(pod, {"metadata", "creationTimestamp"})).value_or(Timestamp{});
}

std::vector<JsonPtr> pods_to_remove(const Json& job, const std::vector<JsonPtr>& active, int count) {
  std::vector<JsonPtr> left = active;
  std::vector<JsonPtr> out;
  if (indexed(job)) {
    const std::int64_t completions = int_at(job, {"spec", "completions"});
    std::map<int, std::vector<JsonPtr>> by_index;
    left.clear();
    for (const JsonPtr& pod : active) {
      const auto index = completion_index(*pod);
      if (index && *index < completions) {
        by_index[*index].push_back(pod);
      } else {
        out.push_back(pod);
      }
    }
    for (auto& [index, same] : by_index) {
      sort_by_worth(same);
      out.insert(out.end(), same.begin(), same.end() - 1);
      left.push_back(same.back());
    }
  }
  const std::size_t more = static_cast<std::size_t>(std::max(0, count - static_cast<int>(out.size())));
  if (more == 0) return out;
  sort_by_worth(left);
  out.insert(out.end(), left.begin(), left.begin() + static_cast<std::ptrdiff_t>(std::min(more, left.size())));
  return out;
}

}  // namespace tpuslice::sim
