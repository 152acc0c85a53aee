#include "tests/e2e/install/expected_grants.h"

namespace tpuslice::testing {
namespace {

constexpr const char* kExists = "an object of that name exists already, or was deleted meanwhile";
constexpr const char* kLabel = "an object of ours lacks a label, or has been changed by someone else";
constexpr const char* kRay = "needs a head that answers; tests/ray and the scenarios with dashboards do this";
constexpr const char* kOwner = "checked by the admission plugin OwnerReferencesPermissionEnforcement, not requested";
constexpr const char* kPreemption = "a slice is preempted by one of higher priority; the scenarios priority-* do this";
constexpr const char* kInterruption = "a slice is interrupted; tests/e2e/docs and the scenarios ending-* do this";
constexpr const char* kUpstream = "an upstream controller holds its Lease; tests/e2e/upgrade does this";
constexpr const char* kGateway =
    "the Gateway API is not installed here; sim_rayservice_test and the unit tests do this";
constexpr const char* kAdoption = "only of a RayCluster with Redis, or pods of an earlier cluster of that name";

constexpr const char* kRollout = "after a rollout, or a change of a role; the scenarios disaggregatedset-* do this";

/// Each with its reason.
const std::map<std::string, std::string>& unused_grants() {
  static const std::map<std::string, std::string> kUnused = {
      {"core: patch events", "an event is repeated"},
      {"raycluster: get rayclusters", "granted to Ray's autoscaler, so the operator must have it"},
      {"raycluster: patch rayclusters", kAdoption},
      {"raycluster: update rayclusters/finalizers", kOwner},
      {"raycluster: get pods", kExists},
      {"raycluster: patch pods", kAdoption},
      {"raycluster: get services", kExists},
      {"raycluster: patch services", kLabel},
      {"raycluster: get jobs", kExists},
      {"raycluster: create jobs", "only of a RayCluster with Redis"},
      {"raycluster: patch jobs", kLabel},
      {"raycluster: get ingresses", kExists},
      {"raycluster: patch ingresses", kLabel},
      {"raycluster-autoscaler: get serviceaccounts", kExists},
      {"raycluster-autoscaler: patch serviceaccounts", kLabel},
      {"raycluster-autoscaler: get roles", kExists},
      {"raycluster-autoscaler: patch roles", kLabel},
      {"raycluster-autoscaler: get rolebindings", kExists},
      {"raycluster-autoscaler: patch rolebindings", kLabel},
      {"raycluster-autoscaler: patch pods/resize", "granted to Ray's autoscaler, so the operator must have it"},
      {"rayjob: get rayjobs", kExists},
      {"rayjob: delete rayjobs", kRay},
      {"rayjob: update rayjobs/finalizers", kOwner},
      {"rayjob: get rayclusters", kExists},
      {"rayjob: patch rayclusters", kRay},
      {"rayjob: delete rayclusters", kRay},
      {"rayjob: get services", kExists},
      {"rayjob: create services", kRay},
      {"rayjob: patch services", kLabel},
      {"rayjob: get jobs", kExists},
      {"rayjob: create jobs", kRay},
      {"rayjob: patch jobs", kLabel},
      {"rayjob: delete jobs", kRay},
      {"raycronjob: update raycronjobs/finalizers", kOwner},
      {"raycronjob: get rayjobs", kExists},
      {"raycronjob: create rayjobs", "at a scheduled time; sim_raycronjob_test does this"},
      {"rayservice: update rayservices/finalizers", kOwner},
      {"rayservice: get rayclusters", kExists},
      {"rayservice: patch rayclusters", kRay},
      {"rayservice: delete rayclusters", kRay},
      {"rayservice: patch pods", kRay},
      {"rayservice: get services", kExists},
      {"rayservice: create services", kRay},
      {"rayservice: patch services", kLabel},
      {"rayservice: delete services", kRay},
      {"rayservice: get gateways", kGateway},
      {"rayservice: create gateways", kGateway},
      {"rayservice: patch gateways", kGateway},
      {"rayservice: delete gateways", kGateway},
      {"rayservice: get httproutes", kGateway},
      {"rayservice: create httproutes", kGateway},
      {"rayservice: patch httproutes", kGateway},
      {"rayservice: delete httproutes", kGateway},
      {"jobset: get jobsets", kExists},
      {"jobset: update jobsets/finalizers", kOwner},
      {"jobset: watch pods", "only if the slice controllers run in the same process"},
      {"jobset: patch jobs/status", "only if a Job has a start time when it is resumed, and its pod template changes"},
      {"jobset: get jobs", kExists},
      {"jobset: get services", kExists},
      {"jobset: patch services", kLabel},
      {"jobset: get persistentvolumeclaims", kExists},
      {"jobset: patch persistentvolumeclaims", kLabel},
      {"disaggregatedset: update disaggregatedsets/finalizers", kOwner},
      {"disaggregatedset: get disaggregatedsetrolescalers", kExists},
      {"disaggregatedset: delete disaggregatedsetrolescalers", kRollout},
      {"disaggregatedset: get leaderworkersets", kExists},
      {"disaggregatedset: delete leaderworkersets", kRollout},
      {"disaggregatedset: get services", kExists},
      {"disaggregatedset: patch services", kLabel},
      {"disaggregatedset: delete services", kRollout},
      {"disaggregatedset: get pods", kUpstream},
      {"disaggregatedset: get leases", kUpstream},
      {"disaggregatedset: create subjectaccessreviews", kUpstream},
      {"leaderworkerset: update leaderworkersets/finalizers", kOwner},
      {"leaderworkerset: get statefulsets", kExists},
      {"leaderworkerset: get controllerrevisions", kExists},
      {"leaderworkerset: patch controllerrevisions", kLabel},
      {"leaderworkerset: delete controllerrevisions", "after an update of all groups"},
      {"leaderworkerset: delete statefulsets", "a group is recreated while its leader is gone already"},
      {"leaderworkerset: get pods", kExists},
      {"leaderworkerset: update pods/finalizers", kOwner},
      {"leaderworkerset: get services", kExists},
      {"leaderworkerset: patch services", kLabel},
      {"raycluster: get leases", kUpstream},
      {"raycluster: create subjectaccessreviews", kUpstream},
      {"rayjob: get leases", kUpstream},
      {"rayjob: create subjectaccessreviews", kUpstream},
      {"raycronjob: get leases", kUpstream},
      {"raycronjob: create subjectaccessreviews", kUpstream},
      {"raycronjob: get pods", kUpstream},
      {"rayservice: get leases", kUpstream},
      {"rayservice: create subjectaccessreviews", kUpstream},
      {"jobset: get leases", kUpstream},
      {"jobset: create subjectaccessreviews", kUpstream},
      {"leaderworkerset: get leases", kUpstream},
      {"leaderworkerset: create subjectaccessreviews", kUpstream},
      {"rayjob: get pods", kUpstream},
      {"rayservice: get pods", kUpstream},
      {"jobset: get pods", kUpstream},
      {"scale-up: get pods", kExists},
      {"scale-up: patch pods", kLabel},
      {"scale-up: delete pods", "slice.yaml grants it, too, unless it is restricted to namespaces"},
      {"preemption: create configmaps", kPreemption},
      {"preemption: get configmaps", kExists},
      {"preemption: patch configmaps", kPreemption},
      {"history: create configmaps", kInterruption},
      {"history: get configmaps", kExists},
      {"history: patch configmaps", kInterruption},
      {"slice: get pods", kExists},
      {"webhook-certificate: patch secrets", "the certificate is renewed"},
  };
  return kUnused;
}

}  // namespace

const std::map<std::string, std::vector<std::string>>& files_of_controllers() {
  static const std::map<std::string, std::vector<std::string>> kFiles = {
      {"slice", {"core", "metrics", "webhook", "webhook-certificate", "slice", "scale-up", "preemption", "history"}},
      {"raycluster", {"core", "webhook", "raycluster", "raycluster-autoscaler"}},
      {"rayjob", {"core", "webhook", "rayjob"}},
      {"raycronjob", {"core", "webhook", "raycronjob"}},
      {"rayservice", {"core", "webhook", "rayservice"}},
      {"jobset", {"core", "webhook", "jobset"}},
      {"leaderworkerset", {"core", "webhook", "leaderworkerset"}},
      {"disaggregatedset", {"core", "webhook", "disaggregatedset"}}};
  return kFiles;
}

bool may_be_unused(const Grant& grant) {
  // Stores are filled by a watch that streams the list; an API server that cannot do that is asked for lists.
  if (grant.verb == "list") return true;
  // Only with --provisioning-class; tests/e2e/slices does this.
  if (grant.resource == "provisioningrequests" || grant.resource == "podtemplates") return true;
  return unused_grants().contains(grant.to_string());
}

}  // namespace tpuslice::testing
