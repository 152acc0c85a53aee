#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "controllers/raycluster/rules/cluster_view.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayjob/rules/rayjob_labels.h"
#include "controllers/rayjob/rules/spec.h"
#include "controllers/rayjob/rules/validator.h"
#include "tpu/labels.h"
#include "tpu/rules/field_changes.h"
#include "tpu/rules/tpu_rules.h"

namespace tpuslice::rules {
namespace {

using Warnings = std::vector<std::string>;

constexpr std::size_t kMaxRayJobWarning = 252;  // Plus "...": the API server cuts at 256.

/// Read when an attempt starts.
constexpr auto kAttemptFields = std::to_array<std::string_view>(
    {"rayClusterSpec", "clusterSelector", "entrypoint", "entrypointNumCpus", "entrypointNumGpus", "entrypointResources",
     "metadata", "runtimeEnvYAML", "submissionMode", "submitterConfig", "submitterPodTemplate"});

/// Read by the submitter that the operator makes, or by the operator as submitter.
constexpr auto kSubmissionFields = std::to_array<std::string_view>(
    {"entrypoint", "entrypointNumCpus", "entrypointNumGpus", "entrypointResources", "metadata", "runtimeEnvYAML"});

void warn_without_effect(const Json& job, std::string_view field, std::string_view why, Warnings& warnings) {
  if (find_set(job, {"spec", field}) == nullptr) return;
  warnings.push_back(fmt::format("spec.{}: has no effect {}", field, why));
}

/// Fields of another submission mode than the job's.
void warn_unused(const Json& job, Warnings& warnings) {
  const std::string mode = string_at(job, {"spec", "submissionMode"}, "K8sJobMode");
  if (mode == "HTTPMode" || mode == "InteractiveMode") {
    for (const std::string_view field : {"submitterPodTemplate", "submitterConfig"}) {
      warn_without_effect(job, field, fmt::format("with spec.submissionMode {}", mode), warnings);
    }
  }
  const Json& command = array_at(job, {"spec", "submitterPodTemplate", "spec", "containers", "0", "command"});
  for (const std::string_view field : kSubmissionFields) {
    if (mode == "InteractiveMode")
      warn_without_effect(job, field, "with spec.submissionMode InteractiveMode", warnings);
    if (mode == "K8sJobMode" && !command.empty()) {
      warn_without_effect(job, field, "as the container of spec.submitterPodTemplate has a command", warnings);
    }
  }
  const Json* selector = find_set(job, {"spec", "clusterSelector"});
  if (selector != nullptr && selector->is_object() && selector->size() > 1 &&
      selector->contains(raycluster::kRayCluster)) {
    warnings.push_back(fmt::format("spec.clusterSelector: only the key {} has an effect", raycluster::kRayCluster));
  }
}

/// Whether an attempt runs, or was the last one.
bool has_started(const Json& job) {
  const std::string state = string_at(job, {"status", "jobDeploymentStatus"});
  return !state.empty() && state != rayjob::kSuspended && state != rayjob::kValidationFailed;
}

void warn_changes(const Json& job, const Json& old, Warnings& warnings) {
  if (!has_started(old)) return;
  const auto changed = [&](std::string_view field) {
    const Json* before = find_set(old, {"spec", field});
    const Json* after = find_set(job, {"spec", field});
    return !field_changes(before == nullptr ? Json() : *before, after == nullptr ? Json() : *after, "").empty();
  };
  const bool has_ended = rayjob::is_finished(string_at(old, {"status", "jobDeploymentStatus"}));
  for (const std::string_view field : kAttemptFields) {
    if (!changed(field)) continue;
    warnings.push_back(has_ended
                           ? fmt::format("spec.{}: the change has no effect, the job has ended", field)
                           : fmt::format("spec.{}: the change has no effect on the current attempt, only on a retry or "
                                         "after a suspension",
                                         field));
  }
}

/// A RayCluster that is created suspended stays so: only the first value counts.
void warn_suspended_cluster(const ClusterView& cluster, Warnings& warnings) {
  if (!cluster.spec.suspend) return;
  warnings.emplace_back(
      "spec.rayClusterSpec.suspend: the job waits until its RayCluster is resumed by hand; set spec.suspend instead");
}

/// TPU slices that are not deleted after the job.
void warn_kept_slices(const ClusterView& cluster, const Json& job, Warnings& warnings) {
  if (bool_at(job, {"spec", "shutdownAfterJobFinishes"}) || find_set(job, {"spec", "deletionStrategy"}) != nullptr)
    return;
  const bool tpus = std::ranges::any_of(cluster.spec.groups, [](const raycluster::WorkerGroup& group) {
    return group.pod_template != nullptr && asks_for_tpus(*group.pod_template);
  });
  if (!tpus) return;
  warnings.emplace_back(
      "spec.shutdownAfterJobFinishes: is not set, so that the RayCluster keeps its TPU slices after the job has ended");
}

}  // namespace

Warnings warn_rayjob(const Json& job, const Json* old) {
  Warnings warnings;
  if (find_set(job, {"spec", "deletionStrategy", "onSuccess"}) != nullptr) {
    warnings.emplace_back("spec.deletionStrategy: onSuccess and onFailure are deprecated; use deletionRules");
  }
  warn_unused(job, warnings);
  const Json cluster = embedded_cluster(job, "rayClusterSpec");
  if (cluster.is_object()) {
    const raycluster::RayClusterSpec cluster_spec = raycluster::RayClusterSpec::read(cluster);
    const ClusterView view{cluster, cluster_spec, "spec.rayClusterSpec"};
    if (rayjob::selects_cluster(job)) {
      warnings.emplace_back("spec.rayClusterSpec: has no effect, as spec.clusterSelector is set");
    } else {
      for (std::string& warning : warn_cluster(view)) warnings.push_back(std::move(warning));
      warn_suspended_cluster(view, warnings);
      if (old == nullptr) warn_kept_slices(view, job, warnings);
    }
  }
  if (old != nullptr) warn_changes(job, *old, warnings);
  for (std::string& warning : warnings) warning = clip(std::move(warning), kMaxRayJobWarning);
  return warnings;
}

}  // namespace tpuslice::rules
