#include "controllers/rayjob/rules/validator.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "controllers/raycluster/rules/cluster_view.h"
#include "controllers/raycluster/rules/ray_rules.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayjob/rules/spec.h"
#include "controllers/rayjob/rules/validator_parts.h"
#include "tpu/labels.h"

namespace tpuslice::rules {
namespace {

using Errors = FieldErrors;

/// "<name>-<5 characters>" with its own children must be DNS labels.
constexpr std::size_t kMaxRayJobName = 47;

constexpr std::string_view kClusterField = "rayClusterSpec";

std::string mode_of(const Json& job) { return string_at(job, {"spec", "submissionMode"}, "K8sJobMode"); }

bool is_set(const Json& job, std::string_view field) { return find_set(job, {"spec", field}) != nullptr; }

/// Checks the cluster that the job runs on: one of its own, or an existing one.
void check_cluster_source(const Json& job, Errors& errors) {
  if (!rayjob::selects_cluster(job)) {
    if (is_set(job, kClusterField)) return;
    errors.push_back(required_value(
        "spec.rayClusterSpec", fmt::format("or set spec.clusterSelector[{}]", raycluster::kRayCluster), kKubeRayRule));
    return;
  }
  if (string_at(job, {"spec", "clusterSelector", raycluster::kRayCluster}).empty()) {
    errors.push_back(required_value(fmt::format("spec.clusterSelector[{}]", raycluster::kRayCluster),
                                    "is the name of the RayCluster", kKubeRayRule));
  }
  if (bool_at(job, {"spec", "suspend"})) {
    errors.push_back(forbidden("spec.suspend", "cannot be combined with spec.clusterSelector", kKubeRayRule));
  }
  if (int_at(job, {"spec", "backoffLimit"}) > 0) {
    errors.push_back(forbidden("spec.backoffLimit",
                               "cannot be combined with spec.clusterSelector: a retry needs a new cluster",
                               kKubeRayRule));
  }
  if (mode_of(job) == "SidecarMode") {
    errors.push_back(forbidden("spec.submissionMode",
                               "SidecarMode cannot be combined with spec.clusterSelector: the submitter is a container "
                               "of the head pod",
                               kKubeRayRule));
  }
}

void check_sidecar(const Json& job, Errors& errors) {
  for (const std::string_view field : {"submitterPodTemplate", "submitterConfig"}) {
    if (!is_set(job, field)) continue;
    errors.push_back(forbidden(fmt::format("spec.{}", field), "cannot be combined with spec.submissionMode SidecarMode",
                               kKubeRayRule));
  }
  const std::string policy =
      string_at(job, {"spec", kClusterField, "headGroupSpec", "template", "spec", "restartPolicy"});
  if (policy.empty() || policy == "Never") return;
  errors.push_back(invalid_value("spec.rayClusterSpec.headGroupSpec.template.spec.restartPolicy", policy,
                                 "must be Never or unset with spec.submissionMode SidecarMode", kKubeRayRule));
}

/// The entrypoint is needed where Ray or the operator's submitter starts it.
void check_entrypoint(const Json& job, const std::string& mode, Errors& errors) {
  if (!string_at(job, {"spec", "entrypoint"}).empty() || mode == "InteractiveMode") return;
  const Json& command = array_at(job, {"spec", "submitterPodTemplate", "spec", "containers", "0", "command"});
  if (mode == "K8sJobMode" && !command.empty()) return;
  errors.push_back(required_value("spec.entrypoint", "is the command that Ray runs", kOurRule));
}

void check_mode(const Json& job, Errors& errors) {
  const std::string mode = mode_of(job);
  if (mode == "InteractiveMode" && int_at(job, {"spec", "backoffLimit"}) > 0) {
    errors.push_back(forbidden("spec.backoffLimit",
                               "cannot be combined with spec.submissionMode InteractiveMode: the user submits the job",
                               kKubeRayRule));
  }
  if (mode == "SidecarMode") check_sidecar(job, errors);
  check_entrypoint(job, mode, errors);
}

/// A suspended job releases its cluster, so it must be known what happens to it. Upstream accepts only
/// shutdownAfterJobFinishes, which excludes deletion rules for every job of a queue.
void check_suspend(const Json& job, Errors& errors) {
  if (!bool_at(job, {"spec", "suspend"}) || bool_at(job, {"spec", "shutdownAfterJobFinishes"})) return;
  if (has_deletion_rules(job)) return;
  errors.push_back(forbidden("spec.suspend",
                             "requires spec.shutdownAfterJobFinishes: true, or spec.deletionStrategy.deletionRules",
                             kKubeRayRule));
}

void check_resources(const Json& job, Errors& errors) {
  const std::string text = string_at(job, {"spec", "entrypointResources"});
  if (text.empty()) return;
  const Result<Json> resources = parse_json(text);
  const bool legal =
      resources.ok() && resources->is_object() && std::ranges::all_of(*resources, [](const Json& amount) {
        return amount.is_number() && amount.get<double>() >= 0;
      });
  if (legal) return;
  errors.push_back(invalid_value("spec.entrypointResources", text,
                                 R"(must be a JSON object of numbers, such as {"TPU": 4})", kKubeRayRule));
}

void check_rayjob_object(const Json& job, const Json* old, Errors& errors) {
  check_ray_name(job, kMaxRayJobName, "RayClusters", errors);
  check_rayjob_schema(job, errors);
  const Json* spec = find_set(job, {"spec"});
  if (spec == nullptr || !spec->is_object()) return;
  check_ray_manager(*spec, old == nullptr ? nullptr : find_set(*old, {"spec"}), "spec.managedBy", errors);
  check_cluster_source(job, errors);
  check_mode(job, errors);
  check_suspend(job, errors);
  check_rayjob_deletion(job, errors);
  check_yaml_text(job, "runtimeEnvYAML", errors);
  check_resources(job, errors);
  forbid_service_accounts(job, kClusterField, errors);
  if (!is_set(job, kClusterField)) return;
  const Json cluster = embedded_cluster(job, kClusterField);
  const Json before = old == nullptr ? Json() : embedded_cluster(*old, kClusterField);
  const raycluster::RayClusterSpec cluster_spec = raycluster::RayClusterSpec::read(cluster);
  check_cluster({cluster, cluster_spec, "spec.rayClusterSpec"}, before.is_null() ? nullptr : &before, errors);
}

}  // namespace

FieldErrors validate_rayjob(const Json& job, const Json* old) {
  FieldCheck check_stored;
  if (old != nullptr) check_stored = [&](Errors& errors) { check_rayjob_object(*old, nullptr, errors); };
  return new_errors([&](Errors& errors) { check_rayjob_object(job, old, errors); }, check_stored);
}

std::vector<UnsupportedField> unsupported_rayjob_fields(const Json& job) {
  const std::string manager = string_at(job, {"spec", "managedBy"});
  const Json* cluster = find_set(job, {"spec", kClusterField});
  if (cluster == nullptr || (!manager.empty() && manager != raycluster::kKubeRayManager)) return {};
  return unsupported_cluster_fields(*cluster, "spec.rayClusterSpec");
}

}  // namespace tpuslice::rules
