// Mutation of LeaderWorkerSet pods, with our controller.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/hash.h"
#include "api/types/patch.h"
#include "tests/support/admission.h"
#include "tests/support/error_matchers.h"
#include "tests/support/pods.h"
#include "tpu/rules/pod_mutator.h"

namespace tpuslice::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tpu::testing::env_value;
using tpu::testing::LwsPod;
using tpu::testing::PodShape;

const std::string kPrefix = "leaderworkerset.sigs.k8s.io/";
const PodShape kWithoutTpu{.accelerator = "", .topology = "", .chips = {0}};
const PodShape kHost{.topology = "2x4"};  // One of two.

/// Mutated by mutate_pod() and review_pod(); a second mutation changes nothing.
Json member(const Json& pod, const MutationOptions& options = with_kinds({.served_kinds = {"LeaderWorkerSet"}})) {
  const auto result = mutate_pod(pod, options);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message());
  Json changed = pod;
  const auto review = review_pod(changed, options);
  EXPECT_TRUE(review.ok() && changed == *result && apply_json_patch(pod, review->patch).value_or(Json()) == *result);
  EXPECT_EQ(mutate_pod(*result, options).value_or(Json()), *result) << "idempotent";
  return result.value_or(Json());
}

Json with_annotation(Json pod, const std::string& name, const std::string& value) {
  pod["metadata"]["annotations"][name] = value;
  return pod;
}

Json exclusive(const Json& pod, const std::string& kind = "") {
  return with_annotation(pod, kPrefix + kind + "exclusive-topology", "pool");
}

std::string label(const Json& pod, const std::string& name) {
  return string_at(pod, {"metadata", "labels", kPrefix + name}, "<absent>");
}

std::vector<std::string> env_names(const Json& pod, const std::string& list = "containers") {
  std::vector<std::string> names;
  for (const Json& entry : array_at(pod, {"spec", list, "0", "env"})) names.push_back(string_at(entry, {"name"}));
  return names;
}

Json terms(const Json& pod, const std::string& kind) {
  return array_at(pod, {"spec", "affinity", kind, "requiredDuringSchedulingIgnoredDuringExecution"});
}

TEST(GroupMember, HasUpstreamsLabelsAndVariablesAsLeader) {
  EXPECT_EQ(member(LwsPod{.shape = kWithoutTpu, .group = 2}.json()), Json::parse(R"({
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {
      "name": "lws-2", "namespace": "default",
      "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "lws", "uid": "uid-of-lws",
                           "controller": true}],
      "labels": {"leaderworkerset.sigs.k8s.io/name": "lws", "leaderworkerset.sigs.k8s.io/worker-index": "0",
                 "leaderworkerset.sigs.k8s.io/group-index": "2",
                 "leaderworkerset.sigs.k8s.io/group-key": "17334a57ffd42a1f5b89f166e5f26da1efac8174"},
      "annotations": {"leaderworkerset.sigs.k8s.io/size": "4"}},
    "spec": {"hostname": "lws-2", "subdomain": "lws", "containers": [{"name": "c0", "env": [
      {"name": "LWS_LEADER_ADDRESS", "value": "lws-2.lws.default"}, {"name": "LWS_GROUP_SIZE", "value": "4"},
      {"name": "LWS_WORKER_INDEX", "value": "0"}]}]}})"));
}

TEST(GroupMember, HasUpstreamsLabelsAndVariablesAsWorker) {
  const Json pod = member(LwsPod{.shape = kWithoutTpu, .group = 2, .worker = 3}.json());
  EXPECT_EQ(label(pod, "worker-index"), "3");
  EXPECT_EQ(label(pod, "group-index"), "2");
  EXPECT_EQ(label(pod, "group-key"), "17334a57ffd42a1f5b89f166e5f26da1efac8174");
  EXPECT_EQ(env_value(pod, "LWS_LEADER_ADDRESS"), "lws-2.lws.default");
  EXPECT_EQ(env_value(pod, "LWS_GROUP_SIZE"), "4");
  EXPECT_EQ(env_value(pod, "LWS_WORKER_INDEX"), "3");
}

TEST(GroupMember, IsNotMutatedForUpstreamsController) {
  const Json pod = LwsPod{.shape = kWithoutTpu}.json();
  EXPECT_EQ(mutate_pod(pod, with_kinds()).value_or(Json()), pod) << "upstream's webhook mutates it";
  Json other = pod;
  other["metadata"]["annotations"].erase(kPrefix + "size");
  EXPECT_EQ(member(other), other);
  other = tpu::testing::pod_of(kWithoutTpu, "p");
  EXPECT_EQ(member(other), other);
}

TEST(GroupMember, BeyondItsGroupIsRejected) {
  const auto refused =
      mutate_pod(LwsPod{.shape = kWithoutTpu, .worker = 4}.json(), with_kinds({.served_kinds = {"LeaderWorkerSet"}}));
  EXPECT_THAT(refused, IsError(ErrorCode::kInvalidArgument, HasSubstr("\"4\": the group has no pod lws-0-4")));
}

TEST(GroupMember, HasLwsVariablesFirstAndReplacesTheUsers) {
  Json pod = LwsPod{.shape = kWithoutTpu}.json();
  const Json env = Json::parse(R"json([{"name": "HOST", "value": "$(LWS_LEADER_ADDRESS)"},
      {"name": "LWS_GROUP_SIZE", "value": "9"}, {"name": "LWS_WORKER_INDEX", "valueFrom": {}}])json");
  pod["spec"]["containers"] = Json::array({{{"name", "a"}}, {{"name", "b"}, {"env", env}}});
  pod["spec"]["containers"][0]["env"] = env;
  pod["spec"]["initContainers"] = Json::array({{{"name", "i"}, {"env", nullptr}}, {{"name", "j"}, {"env", env}}});
  pod = member(pod);
  EXPECT_THAT(env_names(pod), ElementsAre("LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX", "HOST"));
  EXPECT_THAT(env_names(pod, "initContainers"),
              ElementsAre("LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX"));
  for (const char* list : {"containers", "initContainers"}) {
    EXPECT_EQ(env_value(pod, "LWS_GROUP_SIZE", 1, list), "4");
    EXPECT_EQ(env_value(pod, "LWS_WORKER_INDEX", 1, list), "0");
  }
}

TEST(GroupMember, HasLwsVariablesBeforeTpuVariables) {
  const Json pod = member(LwsPod{}.json());
  const auto names = env_names(pod);
  ASSERT_GT(names.size(), 4U);
  EXPECT_THAT(std::vector(names.begin(), names.begin() + 3),
              ElementsAre("LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX"));
  EXPECT_EQ(env_value(pod, "TPU_WORKER_ID"), "0");
}

TEST(GroupMember, HasTheSubdomainOfItsGroupServiceAsLeader) {
  const LwsPod leader{.shape = kWithoutTpu, .group = 2, .service_per_group = true};
  const Json pod = member(leader.json());
  EXPECT_EQ(pod["spec"]["subdomain"], "lws-2");
  EXPECT_EQ(env_value(pod, "LWS_LEADER_ADDRESS"), "lws-2.lws-2.default");
  LwsPod host = leader;
  host.shape = {};
  EXPECT_THAT(env_value(member(host.json()), "TPU_WORKER_HOSTNAMES"), HasSubstr("lws-2.lws-2,lws-2-1.lws-2"));
}

TEST(GroupMember, OverridesLabelsOfTheTemplate) {
  Json pod = LwsPod{.shape = kWithoutTpu, .group = 2}.json();
  pod["metadata"]["labels"][kPrefix + "group-index"] = "7";
  EXPECT_EQ(label(member(pod), "group-index"), "2");
}

struct Subgroups {
  const char* name;
  int size;
  int subgroup_size;
  bool leader_excluded;
  std::vector<std::string> indexes;  ///< Label of the leader and the workers.
};

class GroupMemberSubgroups : public ::testing::TestWithParam<Subgroups> {};

TEST_P(GroupMemberSubgroups, HaveUpstreamsIndexes) {
  std::vector<std::string> found;
  for (int worker = 0; worker < GetParam().size; ++worker) {
    const Json pod = member(LwsPod{.shape = kWithoutTpu,
                                   .group = 2,
                                   .worker = worker,
                                   .size = GetParam().size,
                                   .subgroup_size = GetParam().subgroup_size,
                                   .leader_excluded = GetParam().leader_excluded}
                                .json());
    const std::string index = label(pod, "subgroup-index");
    EXPECT_EQ(label(pod, "subgroup-key"), index == "<absent>" ? index : sha1_hex("lws-2/" + index));
    found.push_back(index);
  }
  EXPECT_EQ(found, GetParam().indexes);
}

INSTANTIATE_TEST_SUITE_P(Shapes, GroupMemberSubgroups,
                         ::testing::Values(Subgroups{"Even", 4, 2, false, {"0", "0", "1", "1"}},
                                           Subgroups{"LeaderIsExtra", 5, 2, false, {"0", "0", "0", "1", "1"}},
                                           Subgroups{"LeaderExcluded", 5, 2, true, {"<absent>", "0", "0", "1", "1"}},
                                           Subgroups{"Whole", 3, 3, false, {"0", "0", "0"}},
                                           Subgroups{"OfOne", 3, 1, false, {"0", "1", "2"}}),
                         [](const auto& test) { return std::string(test.param.name); });

// printf lws-2/1 | sha1sum
TEST(GroupMember, HasTheHashOfItsSubgroup) {
  const LwsPod worker{.shape = kWithoutTpu, .group = 2, .worker = 3, .size = 5, .subgroup_size = 2};
  EXPECT_EQ(label(member(worker.json()), "subgroup-key"), "fceac8c33ac937f68db200c5c6481479b00a5ebc");
}

Json pair_with(const std::string& name, const std::string& value, bool anti) {
  const Json in = {{"key", kPrefix + name}, {"operator", "In"}, {"values", {value}}};
  const Json exists = {{"key", kPrefix + name}, {"operator", "Exists"}};
  const Json not_in = {{"key", kPrefix + name}, {"operator", "NotIn"}, {"values", {value}}};
  Json term = {{"labelSelector", {{"matchExpressions", anti ? Json::array({exists, not_in}) : Json::array({in})}}},
               {"topologyKey", "pool"}};
  if (anti) term["namespaceSelector"] = Json::object();
  return Json::array({term});
}

TEST(GroupMember, HasExclusiveAffinityAsLeaderOfAnExclusiveGroup) {
  const Json pod = member(exclusive(LwsPod{.shape = kWithoutTpu}.json()));
  EXPECT_EQ(terms(pod, "podAffinity"), pair_with("group-key", label(pod, "group-key"), false));
  EXPECT_EQ(terms(pod, "podAntiAffinity"), pair_with("group-key", label(pod, "group-key"), true))
      << "in all namespaces; upstream only in its own";
  const Json worker = member(exclusive(LwsPod{.shape = kWithoutTpu, .worker = 1}.json()));
  EXPECT_FALSE(worker["spec"].contains("affinity")) << "its worker set selects the leader's domain";
}

TEST(GroupMember, HasExclusiveAffinityInAnExclusiveSubgroup) {
  for (const int worker : {0, 1, 4}) {
    const Json pod = member(
        exclusive(LwsPod{.shape = kWithoutTpu, .worker = worker, .size = 5, .subgroup_size = 2}.json(), "subgroup-"));
    EXPECT_EQ(terms(pod, "podAffinity"), pair_with("subgroup-key", label(pod, "subgroup-key"), false));
    EXPECT_EQ(terms(pod, "podAntiAffinity"), pair_with("subgroup-key", label(pod, "subgroup-key"), true));
  }
  const Json excluded = member(exclusive(
      LwsPod{.shape = kWithoutTpu, .size = 5, .subgroup_size = 2, .leader_excluded = true}.json(), "subgroup-"));
  EXPECT_FALSE(excluded["spec"].contains("affinity"));
}

TEST(GroupMember, IsUnchangedAfterUpstreamsWebhook) {
  Json pod = member(exclusive(LwsPod{.shape = kWithoutTpu}.json()));
  pod["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0].erase(
      "namespaceSelector");
  EXPECT_EQ(member(pod), pod);
}

TEST(GroupMember, KeepsTheUsersAffinity) {
  Json pod = exclusive(LwsPod{.shape = kWithoutTpu}.json());
  const Json own = {{"topologyKey", "pool"}, {"labelSelector", {{"matchLabels", {{"a", "b"}}}}}};
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    pod["spec"]["affinity"][kind]["requiredDuringSchedulingIgnoredDuringExecution"] = Json::array({own});
  }
  pod = member(pod);
  EXPECT_EQ(terms(pod, "podAffinity").size(), 2U) << "upstream adds none if there is one with its topology key";
  EXPECT_EQ(terms(pod, "podAntiAffinity")[0], own);
}

TEST(GroupMember, HasThePlacementOfItsSliceAsAHost) {
  const MutationOptions options = with_kinds({.gate = true, .served_kinds = {"LeaderWorkerSet"}});
  for (const int worker : {0, 1}) {
    const Json pod = member(exclusive(LwsPod{.shape = kHost, .worker = worker, .size = 2}.json()), options);
    ASSERT_EQ(terms(pod, "podAffinity").size(), 1U);
    EXPECT_EQ(terms(pod, "podAffinity")[0]["topologyKey"], "pool");
    EXPECT_EQ(terms(pod, "podAffinity")[0]["labelSelector"]["matchExpressions"][0]["key"], "tpuslice.dev/slice");
    EXPECT_EQ(pod["spec"]["schedulingGates"], Json::array({Json{{"name", "tpuslice.dev/slice"}}}));
  }
}

TEST(GroupMember, HasExclusiveAffinityAsASingleHostSlice) {
  const Json pod = member(exclusive(LwsPod{.shape = {.topology = "2x2"}}.json()));
  EXPECT_EQ(terms(pod, "podAffinity"), pair_with("group-key", label(pod, "group-key"), false));
}

TEST(GroupMember, FollowsTheSliceOfItsWorkersAsLeader) {
  for (const int subgroup_size : {0, 2}) {
    const std::string kind = subgroup_size > 0 ? "subgroup-" : "";
    const int size = subgroup_size > 0 ? 5 : 3;
    const auto pod = [&](const PodShape& shape, int worker) {
      return exclusive(
          LwsPod{
              .shape = shape, .worker = worker, .size = size, .leader_has_tpus = false, .subgroup_size = subgroup_size}
              .json(),
          kind);
    };
    const Json worker = member(pod(kHost, 1));
    const std::string slice = string_at(worker, {"metadata", "labels", "tpuslice.dev/slice"});
    ASSERT_NE(slice, "");
    const Json leader = member(with_annotation(pod(kWithoutTpu, 0), "tpuslice.dev/slice-leader", "with-slice"));
    EXPECT_EQ(terms(leader, "podAffinity"), terms(worker, "podAffinity"));
    EXPECT_EQ(terms(leader, "podAffinity")[0]["labelSelector"]["matchExpressions"][0]["values"][0], slice);
    EXPECT_EQ(terms(leader, "podAntiAffinity"), Json::array()) << "it must not block other slices";
    EXPECT_FALSE(leader["spec"].contains("schedulingGates"));
    const Json apart = member(with_annotation(pod(kWithoutTpu, 0), "tpuslice.dev/slice-leader", "anywhere"));
    EXPECT_FALSE(apart["spec"].contains("affinity"));
  }
}

TEST(GroupMember, HasASliceStartAnnotationAsLeader) {
  const auto start = [](const Json& pod) {
    return string_at(member(pod), {"metadata", "annotations", "tpuslice.dev/slice-start"}, "<absent>");
  };
  const Json leader = exclusive(LwsPod{}.json());
  EXPECT_EQ(start(leader), "host-0-if-alone") << "our controller creates workers at once";
  EXPECT_EQ(start(with_annotation(leader, "tpuslice.dev/slice-start", "others-follow-host-0")), "others-follow-host-0");
  EXPECT_EQ(start(exclusive(LwsPod{.shape = kHost, .worker = 1, .size = 3, .leader_has_tpus = false}.json())),
            "<absent>")
      << "the leader is not in the slice";
  EXPECT_EQ(string_at(mutate_pod(leader, with_kinds()).value_or(Json()),
                      {"metadata", "annotations", "tpuslice.dev/slice-start"}),
            "others-follow-host-0")
      << "upstream's creates them when the leader has a node";
}

// Upstream: 0, 1, 0, 1, 0.
TEST(GroupMember, HasADistinctWorkerIdInUnevenSubgroups) {
  std::vector<std::string> ids;
  for (int worker = 0; worker < 5; ++worker) {
    const PodShape any{.accelerator = "", .topology = ""};
    ids.push_back(env_value(member(LwsPod{.shape = any, .worker = worker, .size = 5, .subgroup_size = 2}.json()),
                            "TPU_WORKER_ID"));
  }
  EXPECT_THAT(ids, ElementsAre("0", "1", "2", "0", "1"));
}

TEST(GroupMember, IsMutatedIdempotentlyInEveryShape) {
  const MutationOptions options = with_kinds({.gate = true, .device_env = true, .served_kinds = {"LeaderWorkerSet"}});
  int pods = 0;
  for (const PodShape& shape : {kWithoutTpu, kHost, PodShape{.topology = "2x2"}}) {
    for (const int subgroup_size : {0, 1, 2}) {
      for (int bits = 0; bits < 32; ++bits) {
        const auto bit = [&](int which) { return ((bits >> which) & 1) != 0; };
        for (int worker = 0; worker < 5; ++worker) {
          Json pod = LwsPod{.shape = shape,
                            .worker = worker,
                            .size = 5,
                            .leader_has_tpus = bit(0),
                            .subgroup_size = subgroup_size,
                            .leader_excluded = bit(1),
                            .service_per_group = bit(2)}
                         .json();
          if (bit(3)) pod = exclusive(pod);
          if (bit(4)) pod = exclusive(pod, "subgroup-");
          if (!mutate_pod(pod, options).ok()) continue;  // The pods are not whole slices of that topology.
          member(pod, options);
          ++pods;
        }
      }
    }
  }
  EXPECT_GT(pods, 1000);
}

TEST(GroupMember, HasDeviceVariablesAfterLwsVariables) {
  const Json pod = member(LwsPod{}.json(), with_kinds({.device_env = true, .served_kinds = {"LeaderWorkerSet"}}));
  EXPECT_EQ(env_names(pod)[0], "LWS_LEADER_ADDRESS");
  EXPECT_NE(env_value(pod, "TPU_TOPOLOGY"), "<absent>");
}

}  // namespace
}  // namespace tpuslice::rules
