#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/leaderworkerset/rules/validator.h"
#include "tests/unit/tpu/rules/leaderworkersets.h"

namespace tpuslice::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::serving_set;
using testing::uniform_set;
using testing::with;
using testing::without;

const std::string kWarnedGroup = "/spec/leaderWorkerTemplate";
constexpr const char* kExclusive = "leaderworkerset.sigs.k8s.io/exclusive-topology";
constexpr const char* kSubgroupExclusive = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology";

/// The API server truncates longer ones.
std::vector<std::string> short_warnings(const Json& set, const Json* old = nullptr) {
  const auto warnings = warn_leaderworkerset(set, old);
  for (const std::string& warning : warnings) EXPECT_LT(warning.size(), 256U) << warning;
  return warnings;
}

TEST(WarnLeaderWorkerSet, DoesNotWarnAboutTheTutorials) {
  EXPECT_THAT(short_warnings(testing::plain_set()), IsEmpty());
  EXPECT_THAT(short_warnings(serving_set()), IsEmpty());
  EXPECT_THAT(short_warnings(testing::disaggregated_set()), IsEmpty());
  EXPECT_THAT(short_warnings(uniform_set()), IsEmpty());
}

TEST(WarnLeaderWorkerSet, WarnsThatGkePlacesTpuPodsBySelector) {
  EXPECT_THAT(short_warnings(without(serving_set(), kWarnedGroup + "/workerTemplate/spec", "nodeSelector")),
              ElementsAre(HasSubstr("spec.leaderWorkerTemplate.workerTemplate.spec.nodeSelector: GKE")));
  EXPECT_THAT(short_warnings(without(serving_set(), kWarnedGroup + "/leaderTemplate/spec", "nodeSelector")), IsEmpty());
  Json both = with(serving_set(), kWarnedGroup + "/leaderTemplate/spec",
                   without(serving_set(), kWarnedGroup + "/workerTemplate/spec",
                           "nodeSelector")["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]);
  EXPECT_THAT(short_warnings(both), ElementsAre(HasSubstr("leaderTemplate.spec.nodeSelector: GKE")));
}

TEST(WarnLeaderWorkerSet, WarnsAboutHostNetworkWithoutClusterDns) {
  Json set = with(uniform_set(), kWarnedGroup + "/workerTemplate/spec/hostNetwork", true);
  EXPECT_THAT(short_warnings(set), ElementsAre(HasSubstr("workerTemplate.spec.dnsPolicy: with hostNetwork")));
  set = with(set, kWarnedGroup + "/workerTemplate/spec/dnsPolicy", "ClusterFirstWithHostNet");
  EXPECT_THAT(short_warnings(set), IsEmpty());
  EXPECT_THAT(short_warnings(with(testing::plain_set(), kWarnedGroup + "/workerTemplate/spec/hostNetwork", true)),
              IsEmpty());
}

TEST(WarnLeaderWorkerSet, WarnsAboutALeaderOnTheHostNetworkOfAWorker) {
  Json set = with(serving_set(), kWarnedGroup + "/workerTemplate/spec/hostNetwork", true);
  set = with(set, kWarnedGroup + "/workerTemplate/spec/dnsPolicy", "ClusterFirstWithHostNet");
  EXPECT_THAT(short_warnings(set), IsEmpty());
  set = with(set, kWarnedGroup + "/leaderTemplate/spec/hostNetwork", true);
  const auto shared = ElementsAre(HasSubstr("leaderTemplate.spec.hostNetwork: the leader may run on the node"));
  EXPECT_THAT(short_warnings(set), shared);
  EXPECT_THAT(short_warnings(without(set, kWarnedGroup + "/workerTemplate/spec", "hostNetwork")), IsEmpty());
  const Json anywhere = without(set, kWarnedGroup + "/leaderTemplate/spec", "nodeSelector");
  EXPECT_THAT(short_warnings(anywhere), shared);  // Exclusive topology places it on the workers' nodes.
  EXPECT_THAT(short_warnings(without(set, "/metadata", "annotations")), shared);
  EXPECT_THAT(short_warnings(without(anywhere, "/metadata", "annotations")), IsEmpty());
}

TEST(WarnLeaderWorkerSet, WarnsThatAHostCannotRejoinItsSlice) {
  EXPECT_THAT(short_warnings(with(serving_set(), kWarnedGroup + "/restartPolicy", "None")),
              ElementsAre(HasSubstr("restartPolicy: a host that restarts alone cannot rejoin its slice of 4 hosts")));
  EXPECT_THAT(short_warnings(with(serving_set(), kWarnedGroup + "/restartPolicy", "RecreateGroupAfterStart")),
              IsEmpty());
  EXPECT_THAT(short_warnings(with(testing::plain_set(), kWarnedGroup + "/restartPolicy", "None")), IsEmpty());
  Json single = with(serving_set(), kWarnedGroup + "/restartPolicy", "None");
  single = with(single, kWarnedGroup + "/workerTemplate/spec/nodeSelector/cloud.google.com~1gke-tpu-topology", "2x2");
  EXPECT_THAT(short_warnings(single), IsEmpty());
}

TEST(WarnLeaderWorkerSet, WarnsThatTheDefaultPolicyIsDeprecated) {
  EXPECT_THAT(short_warnings(with(testing::plain_set(), kWarnedGroup + "/restartPolicy", "Default")),
              ElementsAre("spec.leaderWorkerTemplate.restartPolicy: Default is deprecated and counts as None"));
}

TEST(WarnLeaderWorkerSet, WarnsAboutEqualTopologyKeysOfGroupsAndSubgroups) {
  Json set = testing::disaggregated_set();
  set["metadata"]["annotations"][kExclusive] = "cloud.google.com/gke-nodepool";
  EXPECT_THAT(short_warnings(set), ElementsAre(HasSubstr("subgroups would have to be together and apart")));
  set["metadata"]["annotations"][kExclusive] = "cloud.google.com/gce-topology-block";
  EXPECT_THAT(short_warnings(set), IsEmpty());
}

TEST(WarnLeaderWorkerSet, WarnsThatAChangedPlacementIsNotARollout) {
  const Json old = serving_set();
  EXPECT_THAT(short_warnings(old, &old), IsEmpty());
  const auto warning =
      ElementsAre(HasSubstr("metadata.annotations[leaderworkerset.sigs.k8s.io/exclusive-topology]: is not"));
  const Json without_it = without(old, "/metadata", "annotations");
  EXPECT_THAT(short_warnings(without_it, &old), warning);
  EXPECT_THAT(short_warnings(old, &without_it), warning);
  Json changed = testing::disaggregated_set();
  const Json subgroups = changed;
  changed["metadata"]["annotations"][kSubgroupExclusive] = "kubernetes.io/hostname";
  EXPECT_THAT(short_warnings(changed, &subgroups), ElementsAre(HasSubstr("subgroup-exclusive-topology]: is not part")));
}

}  // namespace
}  // namespace tpuslice::rules
