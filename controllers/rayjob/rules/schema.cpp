#include <array>

#include <fmt/format.h>

#include "controllers/rayjob/rules/validator_parts.h"
#include "tpu/rules/field_shapes.h"

namespace tpuslice::rules {
namespace {

constexpr std::string_view kPolicies = "DeleteCluster|DeleteWorkers|DeleteSelf|DeleteNone";

/// Each of three conditions with each of four policies.
constexpr std::size_t kMaxDeletionRules = 12;

constexpr auto kRayJobShapes = [] {
  using enum FieldType;
  return std::array{
      FieldShape{.path = "spec", .type = kObject, .required = true},
      FieldShape{.path = "spec.rayClusterSpec", .type = kObject},
      FieldShape{.path = "spec.clusterSelector", .type = kObject},
      FieldShape{
          .path = "spec.submissionMode", .type = kString, .values = "K8sJobMode|HTTPMode|InteractiveMode|SidecarMode"},
      FieldShape{.path = "spec.entrypoint", .type = kString},
      FieldShape{.path = "spec.entrypointResources", .type = kString},
      FieldShape{.path = "spec.runtimeEnvYAML", .type = kString},
      FieldShape{.path = "spec.jobId", .type = kString},
      FieldShape{.path = "spec.metadata", .type = kObject},
      FieldShape{.path = "spec.submitterPodTemplate", .type = kObject},
      FieldShape{.path = "spec.submitterConfig", .type = kObject},
      FieldShape{.path = "spec.submitterConfig.backoffLimit", .type = kInt32, .negative = false},
      FieldShape{.path = "spec.backoffLimit", .type = kInt32, .negative = false},
      FieldShape{.path = "spec.activeDeadlineSeconds", .type = kInt32},
      FieldShape{.path = "spec.preRunningDeadlineSeconds", .type = kInt32},
      FieldShape{.path = "spec.ttlSecondsAfterFinished", .type = kInt32, .negative = false},
      FieldShape{.path = "spec.shutdownAfterJobFinishes", .type = kBoolean},
      FieldShape{.path = "spec.suspend", .type = kBoolean},
      FieldShape{.path = "spec.deletionStrategy", .type = kObject},
      FieldShape{.path = "spec.deletionStrategy.onSuccess", .type = kObject},
      FieldShape{
          .path = "spec.deletionStrategy.onSuccess.policy", .type = kString, .required = true, .values = kPolicies},
      FieldShape{.path = "spec.deletionStrategy.onFailure", .type = kObject},
      FieldShape{
          .path = "spec.deletionStrategy.onFailure.policy", .type = kString, .required = true, .values = kPolicies},
      FieldShape{.path = "spec.deletionStrategy.deletionRules", .type = kList, .max = kMaxDeletionRules},
      FieldShape{.path = "spec.deletionStrategy.deletionRules.*", .type = kObject},
      FieldShape{.path = "spec.deletionStrategy.deletionRules.*.policy",
                 .type = kString,
                 .required = true,
                 .values = kPolicies},
      FieldShape{.path = "spec.deletionStrategy.deletionRules.*.condition", .type = kObject, .required = true},
      FieldShape{.path = "spec.deletionStrategy.deletionRules.*.condition.jobStatus",
                 .type = kString,
                 .values = "SUCCEEDED|FAILED"},
      FieldShape{.path = "spec.deletionStrategy.deletionRules.*.condition.jobDeploymentStatus",
                 .type = kString,
                 .values = "Failed"},
      FieldShape{
          .path = "spec.deletionStrategy.deletionRules.*.condition.ttlSeconds", .type = kInt32, .negative = false},
  };
}();

}  // namespace

void check_rayjob_schema(const Json& job, FieldErrors& errors) {
  check_shapes(job, kRayJobShapes, kKubeRayRule, errors);
  for (const std::string_view field : {"activeDeadlineSeconds", "preRunningDeadlineSeconds"}) {
    const auto seconds = int32_at(job, {"spec", field});
    if (!seconds || *seconds > 0) continue;
    errors.push_back(invalid_value(fmt::format("spec.{}", field), *seconds, "must be greater than 0", kKubeRayRule));
  }
  for (const std::string_view field : {"entrypointNumCpus", "entrypointNumGpus"}) {
    const Json* number = find_set(job, {"spec", field});
    if (number == nullptr || (number->is_number() && number->get<double>() >= 0)) continue;
    errors.push_back(
        invalid_value(fmt::format("spec.{}", field), *number, "must be a number greater than or equal to 0", kOurRule));
  }
}

}  // namespace tpuslice::rules
