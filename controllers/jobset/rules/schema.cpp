#include <array>

#include "controllers/jobset/rules/validator_parts.h"
#include "tpu/rules/field_shapes.h"

namespace tpuslice::rules {
namespace {

constexpr auto kJobSetShapes = [] {
  using enum FieldType;
  return std::array{
      FieldShape{.path = "spec", .type = kObject},
      FieldShape{.path = "spec.replicatedJobs", .type = kList},
      FieldShape{.path = "spec.replicatedJobs.*", .type = kObject},
      FieldShape{.path = "spec.replicatedJobs.*.name", .type = kString, .required = true},
      FieldShape{.path = "spec.replicatedJobs.*.groupName", .type = kString},
      FieldShape{.path = "spec.replicatedJobs.*.replicas", .type = kInt32, .negative = false},
      FieldShape{.path = "spec.replicatedJobs.*.dependsOn", .type = kList, .max = 5},
      FieldShape{.path = "spec.replicatedJobs.*.dependsOn.*", .type = kObject},
      FieldShape{.path = "spec.replicatedJobs.*.dependsOn.*.name", .type = kString, .required = true},
      FieldShape{.path = "spec.replicatedJobs.*.dependsOn.*.status",
                 .type = kString,
                 .required = true,
                 .values = "Ready|Complete"},
      FieldShape{.path = "spec.replicatedJobs.*.template", .type = kObject, .required = true},
      FieldShape{.path = "spec.replicatedJobs.*.template.metadata", .type = kObject},
      FieldShape{.path = "spec.replicatedJobs.*.template.spec", .type = kObject},
      FieldShape{.path = "spec.replicatedJobs.*.template.spec.parallelism",
                 .type = kInt32,
                 .negative = false,
                 .rule = kKubernetesRule},
      FieldShape{.path = "spec.replicatedJobs.*.template.spec.completions",
                 .type = kInt32,
                 .negative = false,
                 .rule = kKubernetesRule},
      FieldShape{.path = "spec.replicatedJobs.*.template.spec.completionMode",
                 .type = kString,
                 .values = "Indexed|NonIndexed",
                 .rule = kKubernetesRule},
      FieldShape{.path = "spec.replicatedJobs.*.template.spec.backoffLimit",
                 .type = kInt32,
                 .negative = false,
                 .rule = kKubernetesRule},
      FieldShape{.path = "spec.replicatedJobs.*.template.spec.template", .type = kObject, .required = true},
      FieldShape{.path = "spec.replicatedJobs.*.template.spec.template.metadata", .type = kObject},
      FieldShape{.path = "spec.replicatedJobs.*.template.spec.template.spec", .type = kObject},
      FieldShape{
          .path = "spec.replicatedJobs.*.template.spec.template.spec.containers", .type = kList, .required = true},
      FieldShape{.path = "spec.replicatedJobs.*.template.spec.template.spec.restartPolicy",
                 .type = kString,
                 .values = "OnFailure|Never",
                 .rule = kKubernetesRule},
      FieldShape{.path = "spec.network", .type = kObject},
      FieldShape{.path = "spec.network.enableDNSHostnames", .type = kBoolean},
      FieldShape{.path = "spec.network.subdomain", .type = kString},
      FieldShape{.path = "spec.network.publishNotReadyAddresses", .type = kBoolean},
      FieldShape{.path = "spec.successPolicy", .type = kObject},
      FieldShape{.path = "spec.successPolicy.operator", .type = kString, .required = true, .values = "All|Any"},
      FieldShape{.path = "spec.successPolicy.targetReplicatedJobs", .type = kList},
      FieldShape{.path = "spec.successPolicy.targetReplicatedJobs.*", .type = kString},
      FieldShape{.path = "spec.failurePolicy", .type = kObject},
      FieldShape{.path = "spec.failurePolicy.maxRestarts", .type = kInt32},
      FieldShape{.path = "spec.failurePolicy.restartStrategy",
                 .type = kString,
                 .values = "Recreate|BlockingRecreate|InPlaceRestart"},
      FieldShape{.path = "spec.failurePolicy.rules", .type = kList},
      FieldShape{.path = "spec.failurePolicy.rules.*", .type = kObject},
      FieldShape{.path = "spec.failurePolicy.rules.*.name", .type = kString},
      FieldShape{.path = "spec.failurePolicy.rules.*.action",
                 .type = kString,
                 .required = true,
                 .values = "FailJobSet|RestartJobSet|RestartJobSetAndIgnoreMaxRestarts|RestartJob|"
                           "RestartJobAndIgnoreMaxRestarts"},
      FieldShape{.path = "spec.failurePolicy.rules.*.onJobFailureReasons", .type = kList},
      FieldShape{.path = "spec.failurePolicy.rules.*.onJobFailureReasons.*",
                 .type = kString,
                 .values = "BackoffLimitExceeded|DeadlineExceeded|FailedIndexes|MaxFailedIndexesExceeded|"
                           "PodFailurePolicy"},
      FieldShape{.path = "spec.failurePolicy.rules.*.onJobFailureMessagePatterns", .type = kList},
      FieldShape{.path = "spec.failurePolicy.rules.*.onJobFailureMessagePatterns.*", .type = kString},
      FieldShape{.path = "spec.failurePolicy.rules.*.targetReplicatedJobs", .type = kList},
      FieldShape{.path = "spec.failurePolicy.rules.*.targetReplicatedJobs.*", .type = kString},
      FieldShape{.path = "spec.startupPolicy", .type = kObject},
      FieldShape{.path = "spec.startupPolicy.startupPolicyOrder",
                 .type = kString,
                 .required = true,
                 .values = "AnyOrder|InOrder"},
      FieldShape{.path = "spec.suspend", .type = kBoolean},
      FieldShape{.path = "spec.coordinator", .type = kObject},
      FieldShape{.path = "spec.coordinator.replicatedJob", .type = kString, .required = true},
      FieldShape{.path = "spec.coordinator.jobIndex", .type = kInteger},
      FieldShape{.path = "spec.coordinator.podIndex", .type = kInteger},
      FieldShape{.path = "spec.managedBy", .type = kString},
      FieldShape{.path = "spec.ttlSecondsAfterFinished", .type = kInt32, .negative = false},
      FieldShape{.path = "spec.activeDeadlineSeconds", .type = kInteger},
      FieldShape{.path = "spec.volumeClaimPolicies", .type = kList, .max = 50},
      FieldShape{.path = "spec.volumeClaimPolicies.*", .type = kObject},
      FieldShape{.path = "spec.volumeClaimPolicies.*.templates", .type = kList, .max = 50},
      FieldShape{.path = "spec.volumeClaimPolicies.*.templates.*", .type = kObject},
      FieldShape{.path = "spec.volumeClaimPolicies.*.templates.*.metadata", .type = kObject},
      FieldShape{.path = "spec.volumeClaimPolicies.*.templates.*.spec", .type = kObject},
      FieldShape{.path = "spec.volumeClaimPolicies.*.retentionPolicy", .type = kObject},
      FieldShape{
          .path = "spec.volumeClaimPolicies.*.retentionPolicy.whenDeleted", .type = kString, .values = "Delete|Retain"},
  };
}();

}  // namespace

void check_jobset_schema(const Json& jobset, FieldErrors& errors) {
  check_shapes(jobset, kJobSetShapes, kJobSetRule, errors);
}

}  // namespace tpuslice::rules
