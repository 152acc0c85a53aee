#include "controllers/placement/scale_up/scouts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/placement/decisions.h"
#include "tpu/chips.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const char* const kRequiredTerms = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";

Json scout_for(const SliceBuilder& slice, const std::vector<std::string>& avoided = {}) {
  return scout_pod(slice.slice(), avoided, scout_options());
}

/// The terms of the required node affinity.
Json terms_of(const Json& scout) {
  const Json::json_pointer path(std::string(kRequiredTerms) + "/nodeSelectorTerms");
  return scout.contains(path) ? scout.at(path) : Json();
}

SliceBuilder with_affinity(const std::string& json) {
  return a_slice("x").each([=](PodView& pod) { pod.scheduling.edit().node_affinity = json; });
}

TEST(ScoutPod, NamesItsSliceAndHasNoSliceItself) {
  const Json scout = scout_for(a_slice("train").in("team"));
  EXPECT_EQ(scout["apiVersion"], "v1");
  EXPECT_EQ(scout["kind"], "Pod");
  EXPECT_EQ(scout["metadata"]["namespace"], "tpu-system");
  EXPECT_EQ(scout["metadata"]["name"], scale_up_name({"team", "train"}));
  EXPECT_EQ(scout["metadata"]["annotations"]["tpuslice.dev/scale-up-for"], "team/train");
  EXPECT_EQ(scout["metadata"]["labels"]["tpuslice.dev/slice"], "none") << "the value of pods without a slice";
  EXPECT_EQ(scout["spec"].count("schedulingGates"), 0U);
  EXPECT_EQ(scout["spec"]["priorityClassName"], "tpu-slice-scout");
}

TEST(ScoutPod, IsReadBackAsAScout) {
  Json json = scout_for(a_slice("train"));
  json["metadata"]["uid"] = "u";
  const KeptKeys keep = {"tpuslice.dev/", "google.com/tpu"};
  const PodView pod = PodView::decode(json.dump(), &keep).value();
  EXPECT_TRUE(is_scout(pod, scout_options()));
  EXPECT_EQ(slice_of_scout(pod), (ObjectKey{"default", "train"}));
  EXPECT_EQ(tpu::chips_of(pod), 4);
  EXPECT_FALSE(in_slice(pod));
  EXPECT_FALSE(is_gated(pod));
}

TEST(ScoutPod, AsksForTheChipsOfOneHost) {
  const Json container = scout_for(a_slice("x").hosts(8).chips(4))["spec"]["containers"].at(0);
  EXPECT_EQ(container["resources"],
            Json::parse(R"({"limits": {"google.com/tpu": "4"}, "requests": {"google.com/tpu": "4"}})"));
  EXPECT_EQ(container["image"], scout_options().image);
}

TEST(ScoutPod, SelectsWhatTheHostsSelect) {
  const Json scout = scout_for(a_slice("x").selects("cloud.google.com/gke-tpu-topology", "2x4").selects("zone", "z1"));
  EXPECT_EQ(scout["spec"]["nodeSelector"], Json::parse(R"({"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
    "cloud.google.com/gke-tpu-topology": "2x4", "zone": "z1"})"));
}

TEST(ScoutPod, SelectsTheNodePoolThatTheHostsSelect) {
  // The slice cannot use nodes of another pool.
  EXPECT_EQ(scout_for(a_slice("x").selects(kGkePool, "pool-mine"))["spec"]["nodeSelector"].value(kGkePool, ""),
            "pool-mine");
}

TEST(ScoutPod, ToleratesWhatTheHostsTolerate) {
  const Json scout = scout_for(a_slice("x").each([](PodView& pod) {
    pod.scheduling.edit().tolerations = {{.key = "google.com/tpu", .exists = true},
                                         {.key = "spot", .value = "true", .effect = "NoSchedule"},
                                         {.exists = true}};
  }));
  EXPECT_EQ(scout["spec"]["tolerations"], Json::parse(R"([
    {"key": "google.com/tpu", "operator": "Exists"},
    {"key": "spot", "operator": "Equal", "value": "true", "effect": "NoSchedule"},
    {"operator": "Exists"}])"));
}

TEST(ScoutPod, StaysOffDomainsOfAllSlicesAndScouts) {
  for (const char* key : {kGkePool, kRow}) {
    const Json scout = scout_for(a_slice("x").topology_key(key));
    EXPECT_EQ(scout["spec"]["affinity"]["podAntiAffinity"], Json::parse(R"({
      "requiredDuringSchedulingIgnoredDuringExecution": [{
        "labelSelector": {"matchExpressions": [{"key": "tpuslice.dev/slice", "operator": "Exists"}]},
        "namespaceSelector": {}, "topologyKey": ")" + std::string(key) + R"("}]})"));
  }
}

TEST(ScoutPod, StaysOffAvoidedDomains) {
  EXPECT_TRUE(terms_of(scout_for(a_slice("x"))).is_null());
  EXPECT_EQ(terms_of(scout_for(a_slice("x").topology_key(kRow), {"row-1", "row-2"})), Json::parse(R"([
    {"matchExpressions": [{"key": "example.com/row", "operator": "NotIn", "values": ["row-1", "row-2"]}]}])"));
}

TEST(ScoutPod, KeepsTheNodeAffinityOfTheHostsInEachTerm) {
  constexpr const char* kTwoTerms = R"({"nodeSelectorTerms": [
    {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z1"]}]},
    {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["bad"]}]}]})";
  EXPECT_EQ(terms_of(scout_for(with_affinity(kTwoTerms))), Json::parse(kTwoTerms)["nodeSelectorTerms"]);
  EXPECT_EQ(terms_of(scout_for(with_affinity(kTwoTerms), {"pool-a"})), Json::parse(R"([
    {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z1"]},
                          {"key": "cloud.google.com/gke-nodepool", "operator": "NotIn", "values": ["pool-a"]}]},
    {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["bad"]}],
     "matchExpressions": [{"key": "cloud.google.com/gke-nodepool", "operator": "NotIn", "values": ["pool-a"]}]}])"));
}

TEST(ScoutPod, MatchesNothingByAnEmptyTerm) {
  const Json terms = terms_of(scout_for(
      with_affinity(R"({"nodeSelectorTerms": [{}, {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}]})"),
      {"pool-a"}));
  ASSERT_TRUE(terms.is_array());
  for (const Json& term : terms) {
    EXPECT_NE(term.value("matchExpressions", Json()), Json::parse(R"([
      {"key": "cloud.google.com/gke-nodepool", "operator": "NotIn", "values": ["pool-a"]}])"))
        << "an empty term matches no node; with one expression it matches nearly all";
  }
}

TEST(ScoutPod, IsMadeForUnreadableAffinitiesToo) {
  for (const char* text : {"nonsense", "{}", R"({"nodeSelectorTerms": []})"}) {
    EXPECT_THAT(avoided_by(scout_for(with_affinity(text), {"pool-a"})), ElementsAre("pool-a")) << text;
  }
}

TEST(ScoutPod, FollowsTheFirstHostThatExists) {
  const auto in_zone = [](PodView& pod) { pod.scheduling.edit().node_selector["zone"] = "z1"; };
  EXPECT_EQ(scout_for(a_slice("x").hosts(3).without(0).host(1, in_zone))["spec"]["nodeSelector"].value("zone", ""),
            "z1");
}

TEST(ScoutPod, MeetsTheRestrictedPodSecurityStandard) {
  const Json spec = scout_for(a_slice("x"))["spec"];
  EXPECT_EQ(spec["securityContext"]["runAsNonRoot"], true);
  EXPECT_EQ(spec["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
  EXPECT_EQ(spec["containers"][0]["securityContext"]["allowPrivilegeEscalation"], false);
  EXPECT_THAT(spec["containers"][0]["securityContext"]["capabilities"]["drop"], ElementsAre("ALL"));
  EXPECT_EQ(spec["automountServiceAccountToken"], false);
}

TEST(ScoutPod, LeavesAtOnce) {
  const Json scout = scout_for(a_slice("x"));
  EXPECT_EQ(scout["spec"]["terminationGracePeriodSeconds"], 0);
  EXPECT_EQ(scout["metadata"]["annotations"]["cluster-autoscaler.kubernetes.io/safe-to-evict"], "true");
}

TEST(ScoutPod, IsTheSameEachTime) {
  EXPECT_EQ(scout_for(a_slice("x"), {"a", "b"}).dump(), scout_for(a_slice("x"), {"a", "b"}).dump());
}

}  // namespace
}  // namespace tpuslice::placement
