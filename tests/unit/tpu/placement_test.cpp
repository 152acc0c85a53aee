#include "tpu/placement.h"
#include "tests/support/admission.h"

#include <set>

#include <gtest/gtest.h>

#include "api/types/validation_names.h"
#include "tests/support/pods.h"
#include "tpu/rules/workload_kinds.h"

namespace tpuslice::tpu {
namespace {

using testing::RayPod;

std::string key_of(const Json& pod) { return slice_key(**identity_of_pod(pod)); }

Json owned_by(Json pod, const char* uid) {
  pod["metadata"]["ownerReferences"] = Json::array(
      {Json({{"uid", "someone"}, {"kind", "X"}}), Json({{"uid", uid}, {"kind", "RayCluster"}, {"controller", true}})});
  return pod;
}

TEST(SliceKey, IsEqualForHostsOfOneSliceOnly) {
  std::set<std::string> keys;
  for (const char* uid : {"u1", "u2"}) {
    for (const char* group : {"a", "b"}) {
      for (const int replica : {0, 1}) {
        std::set<std::string> of_slice;
        for (int host = 0; host < 4; ++host) {
          of_slice.insert(key_of(owned_by(RayPod{.group = group, .replica = replica, .host = host}.json(), uid)));
        }
        EXPECT_EQ(of_slice.size(), 1U);
        keys.insert(*of_slice.begin());
      }
    }
  }
  EXPECT_EQ(keys.size(), 8U);
}

TEST(SliceKey, UsesNamespaceAndClusterWithoutAnOwner) {
  Json pod = RayPod{}.json();
  const std::string here = key_of(pod);
  pod["metadata"]["namespace"] = "other";
  EXPECT_NE(key_of(pod), here);
}

TEST(SliceKey, IsAValidLabelValueForTheLongestGroup) {
  const RayPod pod{.group = std::string(63, 'g'), .replica = 2147483647};
  EXPECT_TRUE(check_label_value(key_of(pod.json())).empty()) << key_of(pod.json());
}

TEST(SliceAffinity, KeepsTheUsersTermsAndIsAddedOnce) {
  Json pod = RayPod{}.json();
  const Json theirs = Json::parse(R"({"nodeAffinity": {"x": 1}, "podAffinity": {
    "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}],
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}})");
  pod["spec"]["affinity"] = theirs;
  add_slice_affinity(pod["spec"]["affinity"], "k", "pool");
  const Json once = pod;
  add_slice_affinity(pod["spec"]["affinity"], "k", "pool");
  EXPECT_EQ(pod, once);
  const Json& affinity = pod["spec"]["affinity"];
  EXPECT_EQ(affinity["nodeAffinity"], theirs["nodeAffinity"]);
  EXPECT_EQ(affinity["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"],
            theirs["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]);
  const Json& required = affinity["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
  ASSERT_EQ(required.size(), 2U);
  EXPECT_EQ(required[0], Json::parse(R"({"topologyKey": "zone"})"));
  EXPECT_EQ(required[1], Json::parse(R"({"topologyKey": "pool", "labelSelector": {"matchExpressions": [
      {"key": "tpuslice.dev/slice", "operator": "In", "values": ["k"]}]}})"));
}

TEST(SliceAffinity, RepelsTheSlicesOfEveryNamespace) {
  Json pod = RayPod{}.json();
  add_slice_affinity(pod["spec"]["affinity"], "k", "pool");
  EXPECT_EQ(pod["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"],
            Json::parse(R"([{"topologyKey": "pool", "namespaceSelector": {}, "labelSelector": {"matchExpressions": [
                {"key": "tpuslice.dev/slice", "operator": "Exists"},
                {"key": "tpuslice.dev/slice", "operator": "NotIn", "values": ["k"]}]}}])"));
}

void tolerate_tpu(Json& pod) {
  if (!tolerates_tpu(pod)) add_tpu_toleration(pod["spec"]["tolerations"]);
}

TEST(TpuToleration, IsAddedUnlessAnotherCoversIt) {
  Json pod = RayPod{}.json();
  tolerate_tpu(pod);
  const Json wanted = Json::parse(R"([{"key": "google.com/tpu", "operator": "Exists", "effect": "NoSchedule"}])");
  EXPECT_EQ(pod["spec"]["tolerations"], wanted);
  tolerate_tpu(pod);
  EXPECT_EQ(pod["spec"]["tolerations"], wanted);
  for (const char* covering :
       {R"({"operator": "Exists"})", R"({"key": "google.com/tpu", "operator": "Exists"})",
        R"({"key": "google.com/tpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"})"}) {
    pod["spec"]["tolerations"] = Json::array({Json::parse(covering)});
    tolerate_tpu(pod);
    EXPECT_EQ(pod["spec"]["tolerations"].size(), 1U) << covering;
  }
  for (const char* other : {R"({"key": "google.com/tpu", "operator": "Exists", "effect": "NoExecute"})",
                            R"({"key": "google.com/tpu", "value": "x"})", R"({"key": "gpu", "operator": "Exists"})"}) {
    pod["spec"]["tolerations"] = Json::array({Json::parse(other)});
    tolerate_tpu(pod);
    EXPECT_EQ(pod["spec"]["tolerations"].size(), 2U) << other;
  }
}

}  // namespace
}  // namespace tpuslice::tpu
