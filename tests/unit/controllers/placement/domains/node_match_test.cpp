// Expectations follow the API reference of nodeSelector, NodeSelectorTerm and Toleration, and what
// kube-scheduler's plugins NodeAffinity and TaintToleration make of it.
#include "controllers/placement/domains/node_match.h"

#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/chips.h"
#include "tests/unit/controllers/placement/scenes.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

NodeView a_node(StringMap labels, std::vector<NodeTaint> taints = {}) {
  NodeView node;
  node.key = {"", "node-1"};
  node.labels = std::move(labels);
  node.taints = std::move(taints);
  return node;
}

bool matches_node(const PodView& pod, const NodeView& node) {
  return PodRequirements(std::make_shared<const PodView>(pod)).match(node);
}

struct SelectorCase {
  const char* name;
  StringMap selector;
  StringMap labels;
  bool matches;
};
void PrintTo(const SelectorCase& c, std::ostream* out) { *out << c.name; }
class NodeSelectors : public ::testing::TestWithParam<SelectorCase> {};

TEST_P(NodeSelectors, MatchEveryLabel) {
  PodView pod;
  pod.scheduling.edit().node_selector = GetParam().selector;
  EXPECT_EQ(matches_node(pod, a_node(GetParam().labels)), GetParam().matches);
}

INSTANTIATE_TEST_SUITE_P(Selectors, NodeSelectors,
                         ::testing::Values(SelectorCase{"None", {}, {}, true},
                                           SelectorCase{"Equal", {{"a", "1"}}, {{"a", "1"}}, true},
                                           SelectorCase{"NodeHasMore", {{"a", "1"}}, {{"a", "1"}, {"b", "2"}}, true},
                                           SelectorCase{"OtherValue", {{"a", "1"}}, {{"a", "2"}}, false},
                                           SelectorCase{"OtherKey", {{"a", "1"}}, {{"b", "1"}}, false},
                                           SelectorCase{"OneOfTwo", {{"a", "1"}, {"b", "2"}}, {{"a", "1"}}, false},
                                           SelectorCase{"EmptyValueIsNoAbsentLabel", {{"a", ""}}, {}, false},
                                           SelectorCase{"EmptyValue", {{"a", ""}}, {{"a", ""}}, true}),
                         [](const auto& test) { return test.param.name; });

struct AffinityCase {
  const char* name;
  const char* terms;  ///< The nodeSelectorTerms.
  bool matches;       ///< Node node-1 with zone=z1, cores=8.
};
class NodeAffinity : public ::testing::TestWithParam<AffinityCase> {};

TEST_P(NodeAffinity, MatchesLikeKubeScheduler) {
  PodView pod;
  pod.scheduling.edit().node_affinity = std::string(R"({"nodeSelectorTerms":)") + GetParam().terms + "}";
  EXPECT_EQ(matches_node(pod, a_node({{"zone", "z1"}, {"cores", "8"}})), GetParam().matches)
      << pod.scheduling->node_affinity;
}

INSTANTIATE_TEST_SUITE_P(
    Terms, NodeAffinity,
    ::testing::Values(
        AffinityCase{"In", R"([{"matchExpressions":[{"key":"zone","operator":"In","values":["z0","z1"]}]}])", true},
        AffinityCase{"NotAmong", R"([{"matchExpressions":[{"key":"zone","operator":"In","values":["z0"]}]}])", false},
        AffinityCase{"NotIn", R"([{"matchExpressions":[{"key":"zone","operator":"NotIn","values":["z1"]}]}])", false},
        AffinityCase{"NotInOfAnAbsentLabel",
                     R"([{"matchExpressions":[{"key":"rack","operator":"NotIn","values":["r"]}]}])", true},
        AffinityCase{"Exists", R"([{"matchExpressions":[{"key":"zone","operator":"Exists"}]}])", true},
        AffinityCase{"ExistsOfAnAbsentLabel", R"([{"matchExpressions":[{"key":"rack","operator":"Exists"}]}])", false},
        AffinityCase{"DoesNotExist", R"([{"matchExpressions":[{"key":"rack","operator":"DoesNotExist"}]}])", true},
        AffinityCase{"Gt", R"([{"matchExpressions":[{"key":"cores","operator":"Gt","values":["7"]}]}])", true},
        AffinityCase{"GtIsNotGe", R"([{"matchExpressions":[{"key":"cores","operator":"Gt","values":["8"]}]}])", false},
        AffinityCase{"Lt", R"([{"matchExpressions":[{"key":"cores","operator":"Lt","values":["10"]}]}])", true},
        AffinityCase{"GtOfAWord", R"([{"matchExpressions":[{"key":"zone","operator":"Gt","values":["1"]}]}])", false},
        AffinityCase{
            "AllExpressionsOfATerm",
            R"([{"matchExpressions":[{"key":"zone","operator":"Exists"},{"key":"rack","operator":"Exists"}]}])", false},
        AffinityCase{"AnyOfTheTerms",
                     R"([{"matchExpressions":[{"key":"rack","operator":"Exists"}]},
                         {"matchExpressions":[{"key":"zone","operator":"Exists"}]}])",
                     true},
        AffinityCase{"NameOfTheNode",
                     R"([{"matchFields":[{"key":"metadata.name","operator":"In","values":["node-1"]}]}])", true},
        AffinityCase{"NameOfAnotherNode",
                     R"([{"matchFields":[{"key":"metadata.name","operator":"In","values":["node-2"]}]}])", false},
        AffinityCase{"FieldsAndExpressions",
                     R"([{"matchFields":[{"key":"metadata.name","operator":"In","values":["node-1"]}],
                          "matchExpressions":[{"key":"rack","operator":"Exists"}]}])",
                     false},
        AffinityCase{"AnEmptyTermMatchesNothing", R"([{}])", false},
        AffinityCase{"NoTermsMatchNothing", R"([])", false},
        AffinityCase{"AnUnknownOperatorMatchesNothing", R"([{"matchExpressions":[{"key":"zone","operator":"Like"}]}])",
                     false}),
    [](const auto& test) { return test.param.name; });

TEST(Selects, NeedsSelectorAndAffinityBoth) {
  PodView pod;
  pod.scheduling.edit().node_selector = {{"a", "1"}};
  pod.scheduling.edit().node_affinity =
      R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"b","operator":"Exists"}]}]})";
  EXPECT_TRUE(matches_node(pod, a_node({{"a", "1"}, {"b", "2"}})));
  EXPECT_FALSE(matches_node(pod, a_node({{"a", "1"}})));
  EXPECT_FALSE(matches_node(pod, a_node({{"b", "2"}})));
}

TEST(Selects, NoNodeWithAMalformedAffinity) {
  PodView pod;
  pod.scheduling.edit().node_affinity = "{";
  EXPECT_FALSE(matches_node(pod, a_node({})));
}

struct TolerationCase {
  const char* name;
  TolerationView toleration;
  bool tolerates;  ///< google.com/tpu=present:NoSchedule
};
void PrintTo(const TolerationCase& c, std::ostream* out) { *out << c.name; }
class Tolerations : public ::testing::TestWithParam<TolerationCase> {};

TEST_P(Tolerations, CoverATaintOrNot) {
  PodView pod;
  pod.scheduling.edit().tolerations = {GetParam().toleration};
  const NodeView node = a_node({}, {{"google.com/tpu", "present", "NoSchedule"}});
  EXPECT_EQ(untolerated_taint(pod, node), GetParam().tolerates ? "" : "google.com/tpu=present:NoSchedule");
}

INSTANTIATE_TEST_SUITE_P(
    Operators, Tolerations,
    ::testing::Values(TolerationCase{"ExistsOfTheKey", {.key = "google.com/tpu", .exists = true}, true},
                      TolerationCase{"ExistsOfAnotherKey", {.key = "nvidia.com/gpu", .exists = true}, false},
                      TolerationCase{"ExistsOfNoKeyToleratesAll", {.exists = true}, true},
                      TolerationCase{"ExistsOfNoKeyForThisEffect", {.effect = "NoSchedule", .exists = true}, true},
                      TolerationCase{"ExistsOfNoKeyForAnotherEffect", {.effect = "NoExecute", .exists = true}, false},
                      TolerationCase{"EqualValue", {.key = "google.com/tpu", .value = "present"}, true},
                      TolerationCase{"AnotherValue", {.key = "google.com/tpu", .value = "absent"}, false},
                      TolerationCase{"EmptyValue", {.key = "google.com/tpu"}, false},
                      TolerationCase{"EqualWithTheEffect",
                                     {.key = "google.com/tpu", .value = "present", .effect = "NoSchedule"},
                                     true},
                      TolerationCase{"EqualWithAnotherEffect",
                                     {.key = "google.com/tpu", .value = "present", .effect = "NoExecute"},
                                     false}),
    [](const auto& test) { return test.param.name; });

struct TaintCase {
  const char* name;
  std::vector<NodeTaint> taints;
  const char* taint;
};
void PrintTo(const TaintCase& c, std::ostream* out) { *out << c.name; }
class Taints : public ::testing::TestWithParam<TaintCase> {};

TEST_P(Taints, RepelPods) {
  PodView pod;
  pod.scheduling.edit().tolerations = {{.key = "google.com/tpu", .exists = true}, {.key = "spot", .value = "yes"}};
  EXPECT_EQ(untolerated_taint(pod, a_node({}, GetParam().taints)), GetParam().taint);
}

INSTANTIATE_TEST_SUITE_P(
    Effects, Taints,
    ::testing::Values(
        TaintCase{"None", {}, ""}, TaintCase{"NoSchedule", {{"a", "b", "NoSchedule"}}, "a=b:NoSchedule"},
        TaintCase{"NoExecute", {{"a", "b", "NoExecute"}}, "a=b:NoExecute"},
        TaintCase{"PreferNoSchedule", {{"a", "b", "PreferNoSchedule"}}, ""},
        TaintCase{"EachByAnotherToleration",
                  {{"google.com/tpu", "present", "NoSchedule"}, {"spot", "yes", "NoSchedule"}},
                  ""},
        TaintCase{"TheFirstIsReported",
                  {{"google.com/tpu", "present", "NoSchedule"}, {"spot", "no", "NoSchedule"}, {"a", "b", "NoExecute"}},
                  "spot=no:NoSchedule"},
        TaintCase{"OfACordonedNode", {{"node.kubernetes.io/unschedulable", "", "NoSchedule"}}, ""},
        TaintCase{"OfANodeThatIsNotReady", {{"node.kubernetes.io/not-ready", "", "NoExecute"}}, ""},
        TaintCase{"OfANodeThatIsSilent", {{"node.kubernetes.io/unreachable", "", "NoSchedule"}}, ""},
        TaintCase{"OfAReadyNodeUnderPressure",
                  {{"node.kubernetes.io/disk-pressure", "x", "NoSchedule"}},
                  "node.kubernetes.io/disk-pressure=x:NoSchedule"}),
    [](const auto& test) { return test.param.name; });

TEST(SameRequirements, HoldsForHostsOfOneSlice) {
  const SliceBuilder slice = a_slice("train");
  EXPECT_TRUE(have_same_requirements(*slice.pod(0), *slice.pod(1)));
  EXPECT_TRUE(have_same_requirements(*slice.pod(0), *a_slice("other").in("team").priority(5).pod(0)));
}

struct ChoiceCase {
  const char* name;
  PodChange change;
};
void PrintTo(const ChoiceCase& c, std::ostream* out) { *out << c.name; }
class DifferentRequirements : public ::testing::TestWithParam<ChoiceCase> {};

TEST_P(DifferentRequirements, IfOneRequirementDiffers) {
  const PodPtr pod = a_slice("train").pod(0);
  EXPECT_FALSE(have_same_requirements(*pod, *with(pod, GetParam().change)));
}

INSTANTIATE_TEST_SUITE_P(
    Differences, DifferentRequirements,
    ::testing::Values(ChoiceCase{"Selector", [](PodView& pod) { pod.scheduling.edit().node_selector["zone"] = "z1"; }},
                      ChoiceCase{"Affinity", [](PodView& pod) { pod.scheduling.edit().node_affinity = "{}"; }},
                      ChoiceCase{"Tolerations",
                                 [](PodView& pod) { pod.scheduling.edit().tolerations.push_back({.exists = true}); }},
                      ChoiceCase{"Chips", [](PodView& pod) { tpu::set_chips(pod, 8); }}),
    [](const auto& test) { return test.param.name; });

TEST(LackingResource, IsTheFirstOfWhichTheNodeHasTooLittle) {
  NodeView node = a_node({});
  node.allocatable.edit() = {{"cpu", 8000}, {"memory", 64LL << 30}};
  const auto lacking = [&](ResourceAmounts requests, std::int64_t pods = 1) {
    PodView pod;
    pod.scheduling.edit().requests = std::move(requests);
    return lacking_resource(pod, pods, node);
  };
  EXPECT_EQ(lacking({}), "");
  EXPECT_EQ(lacking({{"cpu", 8000}, {"memory", 64LL << 30}}), "");
  EXPECT_EQ(lacking({{"cpu", 8001}, {"memory", 1}}), "has 8 cpu, a pod requests 8001m");
  EXPECT_EQ(lacking({{"cpu", 1}, {"memory", 65LL << 30}}), "has 64Gi memory, a pod requests 65Gi");
  EXPECT_EQ(lacking({{"ephemeral-storage", 1 << 20}}), "has 0 ephemeral-storage, a pod requests 1Mi");
  EXPECT_EQ(lacking({{"cpu", 4000}}, 2), "");
  EXPECT_EQ(lacking({{"cpu", 4001}}, 2), "has 8 cpu, each of 2 pods requests 4001m");
}

}  // namespace
}  // namespace tpuslice::placement
