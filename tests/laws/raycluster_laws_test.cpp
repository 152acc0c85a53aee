// The four laws for RayClusters, over generated observations: deterministic, fixpoint, safety, crash anywhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "api/types/conditions.h"
#include "api/types/json_text.h"
#include "api/types/validation_names.h"
#include "controllers/raycluster/adoption.h"
#include "controllers/raycluster/children/children.h"
#include "controllers/raycluster/observed_pods.h"
#include "controllers/raycluster/raycluster_plan.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/raycluster/suspension.h"
#include "controllers/raycluster/upgrade.h"
#include "tests/laws/laws.h"
#include "tests/laws/raycluster_generator.h"
#include "tests/laws/refusals.h"
#include "tests/support/raycluster/fixtures.h"
#include "tpu/labels.h"

namespace tpuslice::raycluster {
namespace {

using laws::actions_of;
using plan::Action;
using plan::Plan;
using testing::IsEmpty;

// A rolling upgrade takes a few plans for each replica.
constexpr int kMaxRounds = 110;

class RayClusterLaws : public laws::Laws<Generator, 400, 10'000> {};

Plan plan_of(const World& world) {
  ++RayClusterLaws::seen();
  return world.plan();
}

void settle(World& world) { RayClusterLaws::seen() += world.settle(kMaxRounds); }

// Differences of a settled world from its spec.
std::vector<std::string> differences(const World& world) {
  std::vector<std::string> out;
  const RayClusterSpec spec = RayClusterSpec::read(world.cluster());
  const RayClusterObserved seen = world.observed();
  const Json* conditions = find_path(world.cluster().json(), {"status", "conditions"});
  if (conditions != nullptr && is_condition_true(*conditions, kSuspendedCondition)) {
    if (!seen.pods.empty()) out.push_back("a suspended cluster has pods");
    return out;
  }
  const PodsByType pods = by_type(seen.pods);
  if (pods.heads.size() != 1) out.push_back(fmt::format("{} heads", pods.heads.size()));
  for (const PodPtr& head : pods.heads) {
    if (head->finished()) out.push_back("the head is terminal: " + head->key.name);
  }
  std::map<std::string, std::map<std::string, std::set<std::string>>> hosts;
  for (const PodPtr& pod : pods.workers) {
    const std::string host = pod->label(kRayHostIndex);
    const bool added = hosts[pod->label(kRayGroup)][pod->label(kRayReplicaIndex)].insert(host).second;
    if (!added) out.push_back("two pods for one host: " + pod->key.name);
    if (pod->finished()) out.push_back("a terminal pod is not deleted: " + pod->key.name);
    const WorkerGroup* group = spec.group(pod->label(kRayGroup));
    const auto created_for = pod->annotations.find(tpu::kSliceHosts);
    if (group != nullptr && created_for != pod->annotations.end() &&
        created_for->second != std::to_string(group->hosts)) {
      out.push_back(fmt::format("{} was created for {} hosts", pod->key.name, created_for->second));
    }
  }
  // A rolling upgrade waits for a replica that is not available.
  const bool unavailable =
      std::ranges::any_of(pods.workers, [](const PodPtr& pod) { return pod->phase == PodPhase::kUnknown; });
  for (const PodPtr& pod : seen.pods) {
    if (!pod->controller) out.push_back("not adopted: " + pod->key.name);
    if (spec.recreate && pod->annotation(kSpecHash) != spec_hash(spec)) {
      out.push_back("of an earlier spec: " + pod->key.name);
    }
    const WorkerGroup* group = spec.group(pod->label(kRayGroup));
    // The autoscaler alone removes surplus replicas.
    const bool surplus = group != nullptr && spec.autoscaling.enabled &&
                         hosts[group->name].size() > static_cast<std::size_t>(group->desired_replicas());
    if (spec.rolling && !unavailable && group != nullptr && !surplus &&
        pod->annotation(kTemplateHash) != template_hash(spec, *group)) {
      out.push_back("of an earlier template: " + pod->key.name);
    }
  }
  for (const WorkerGroup& group : spec.groups) {
    const auto& replicas = hosts[group.name];
    const auto desired = static_cast<std::size_t>(group.desired_replicas());
    // The autoscaler alone removes replicas that run.
    if (spec.autoscaling.enabled ? replicas.size() < desired : replicas.size() != desired) {
      out.push_back(
          fmt::format("group {} has {} replicas, not {}", group.name, replicas.size(), group.desired_replicas()));
    }
    for (const auto& [index, members] : replicas) {
      if (members.size() != static_cast<std::size_t>(group.hosts)) {
        out.push_back(fmt::format("replica {} of {} has {} hosts", index, group.name, members.size()));
      }
    }
    hosts.erase(group.name);
  }
  std::erase_if(hosts, [](const auto& group) { return group.second.empty(); });
  if (!hosts.empty()) out.push_back("pods of a group that the spec lacks: " + hosts.begin()->first);
  // As upstream, a service that is no longer needed is not deleted.
  const bool multi_host = std::ranges::any_of(spec.groups, [](const WorkerGroup& group) { return group.hosts > 1; });
  if (seen.services.size() < (multi_host ? 2U : 1U)) out.emplace_back("a service is missing");
  for (const Child& child : decide_children(spec, desired_children(spec), seen)) {
    if (child.decision.kind != plan::ChildDecision::Kind::kNone || child.uid.empty()) {
      out.push_back("missing or drifted: " + child.desired.kind());
    }
  }
  return out;
}

// Writes that delete only a part of an attempt, change nothing, or lack a precondition.
std::vector<std::string> wrong_writes(const World& world, const Plan& plan) {
  std::vector<std::string> out;
  std::set<std::string> deleted;
  std::set<std::string> slices;
  for (const Action& action : actions_of(plan)) {
    if (action.kind == plan::ActionKind::kCreate) {
      if (action.type == kPods && world.pods().contains(action.key.name)) out.push_back("exists: " + action.key.name);
      continue;
    }
    if (action.preconditions.uid.empty()) out.push_back("no uid as precondition: " + action.key.name);
    if (action.kind != plan::ActionKind::kDelete || action.type != kPods) continue;
    const Json& victim = world.pods().at(action.key.name);
    if (victim["metadata"].contains("deletionTimestamp")) out.push_back("deleted already: " + action.key.name);
    deleted.insert(action.key.name);
    slices.insert(world.attempt_of(action.key.name));
  }
  slices.erase("");
  for (const PodPtr& pod : world.observed().pods) {
    const std::string slice = world.attempt_of(pod->key.name);
    if (slices.contains(slice) && !pod->terminating() && !deleted.contains(pod->key.name)) {
      out.push_back(fmt::format("{} of slice {} is not deleted", pod->key.name, slice));
    }
  }
  return out;
}

TEST_F(RayClusterLaws, EqualObservationsHaveEqualPlans) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    for (int round = 0; round < 3; ++round) {
      RayClusterObserved reversed = world.observed();
      std::ranges::reverse(reversed.services);
      const Plan plan = plan_of(world);
      EXPECT_EQ(to_json(plan).dump(), to_json(plan_raycluster(reversed, world.options())).dump());
      world.carry_out(plan);
      world.advance();
    }
  });
}

TEST_F(RayClusterLaws, TheTextOfABodyIsThatOfItsDocument) {
  for_many_worlds([](Generator& generator) {
    const World world = generator.world();
    for (const Action& action : actions_of(plan_of(world))) {
      if (action.kind != plan::ActionKind::kCreate) continue;
      const Result<Json> document = action.body.make();
      const Result<std::string> text = action.body.text();
      ASSERT_EQ(text.ok(), document.ok());
      if (!text) continue;
      EXPECT_EQ(*text, print_json(*document));
    }
  });
}

TEST_F(RayClusterLaws, EveryWorldSettlesAndThenNothingIsWritten) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    settle(world);
    EXPECT_THAT(differences(world), IsEmpty());
    const std::size_t writes = world.writes();
    for (int round = 0; round < 3; ++round) {
      world.advance();
      const Plan plan = plan_of(world);
      EXPECT_TRUE(plan.empty()) << to_json(plan).dump(2);
      world.carry_out(plan);
    }
    EXPECT_EQ(world.writes(), writes);
  });
}

TEST_F(RayClusterLaws, NoOrderOfActionsCreatesTwoPodsForOneHost) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    for (int round = 0; round < 12; ++round) {
      const Plan plan = plan_of(world);
      ASSERT_THAT(wrong_writes(world, plan), IsEmpty()) << plan.reason;
      world.carry_out(laws::shuffled(plan, generator), generator.chance(30) ? SIZE_MAX : laws::cut(plan, generator));
      if (generator.chance(15)) generator.edit(world);
      if (generator.chance(15)) generator.disturb(world);
      if (generator.chance(60)) world.advance();
      ASSERT_THAT(world.violations(), IsEmpty());
    }
    settle(world);
    EXPECT_THAT(differences(world), IsEmpty());
    EXPECT_THAT(world.violations(), IsEmpty());
  });
}

TEST_F(RayClusterLaws, ACrashAfterAnyActionChangesNothingInTheEnd) {
  for_many_worlds([](Generator& generator) {
    World whole = generator.world();
    const int steps = generator.below(3);
    for (int round = 0; round < steps; ++round) {
      whole.carry_out(plan_of(whole));
      whole.advance();
    }
    World cut = whole;
    const bool adopting = !pods_to_adopt(whole.observed().pods).empty();
    const Plan plan = plan_of(cut);
    cut.carry_out(plan, laws::cut(plan, generator));
    // The next plan makes the writes that the crash prevented.
    cut.carry_out(plan_of(cut));
    whole.carry_out(plan_of(whole));
    // A plan that adopts pods writes no others, so the one after the cut may be a plan ahead.
    if (!adopting) {
      EXPECT_EQ(cut.children(), whole.children());
    }
    settle(cut);
    settle(whole);
    EXPECT_EQ(cut.children(), whole.children());
    EXPECT_THAT(cut.violations(), IsEmpty());
    EXPECT_THAT(differences(cut), IsEmpty());
  });
}

TEST_F(RayClusterLaws, RefusedWritesHoldBackNoOthersAndAreMadeInTheEnd) {
  int refused = 0;
  for_many_worlds([&](Generator& generator) {
    World world = generator.world();
    refused += laws::reconcile_refused<World>(world, generator, {.violations = wrong_writes});
    settle(world);
    EXPECT_THAT(differences(world), IsEmpty());
    EXPECT_THAT(world.violations(), IsEmpty());
  });
  EXPECT_GT(refused, world_count() / 10);
}

std::vector<std::string> finalizers_of(const World& world) {
  std::vector<std::string> out;
  for (const Json& each : array_at(world.cluster().json(), {"metadata", "finalizers"})) out.push_back(each);
  return out;
}

TEST_F(RayClusterLaws, NoPodExistsBeforeTheFinalizerAndTheTokenThatItNeeds) {
  for_many_worlds([](Generator& generator) {
    World world(generator.world().cluster().json());
    const RayClusterSpec spec = RayClusterSpec::read(world.cluster());
    for (int round = 0; round < 4; ++round) {
      const Plan plan = plan_of(world);
      world.carry_out(plan, laws::cut(plan, generator));
      if (world.pods().empty()) continue;
      EXPECT_EQ(finalizers_of(world).size(), spec.fault_tolerance.enabled ? 1U : 0U);
      EXPECT_EQ(world.of_kind("Secret").size(), spec.auth.creates_secret() ? 1U : 0U);
    }
  });
}

TEST_F(RayClusterLaws, ADeletedClusterIsReleasedAndLeavesRedisCleanWhateverIsCut) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    for (int round = generator.below(3); round > 0; --round) world.carry_out(plan_of(world));
    const bool held = !finalizers_of(world).empty();
    const bool orphans = !pods_to_adopt(world.observed().pods).empty();
    world.delete_cluster();
    bool cleaned = false;
    for (int round = 0; round < kMaxRounds && !world.gone(); ++round) {
      const Plan plan = plan_of(world);
      EXPECT_FALSE(plan.status.has_value());
      world.carry_out(plan, laws::cut(plan, generator));
      cleaned = cleaned || !world.of_kind("Job").empty();
      world.advance();
    }
    ASSERT_TRUE(world.gone()) << plan_of(world).reason;
    // Orphans with the labels of the cluster run on, with their state in Redis.
    EXPECT_TRUE(cleaned || !held || orphans);
    EXPECT_THAT(world.violations(), IsEmpty());
    EXPECT_TRUE(plan_of(world).empty());
  });
}

TEST_F(RayClusterLaws, ARollingUpgradeRecreatesOneAvailableReplicaAtATime) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    world.cluster().mutable_json()["spec"].erase("upgradeStrategy");
    world.cluster().mutable_json()["spec"]["suspend"] = false;
    world.cluster().mutable_json()["metadata"]["annotations"]["tpuslice.dev/upgrade"] = "rolling";
    settle(world);
    const auto replicas = [&] {
      std::map<std::string, bool> available;
      for (const PodPtr& pod : world.observed().pods) {
        const std::string slice = slice_of(world.pods().at(pod->key.name));
        if (slice.empty()) continue;
        available.try_emplace(slice, true);
        available[slice] = available[slice] && !pod->terminating() && is_available(*pod);
      }
      return static_cast<std::size_t>(std::ranges::count_if(available, [](const auto& each) { return each.second; }));
    };
    const std::size_t all = replicas();
    for (Json& group : world.cluster().mutable_json()["spec"]["workerGroupSpecs"]) {
      group["template"]["spec"]["containers"][0]["image"] = "rayproject/ray:next";
    }
    for (int round = 0; round < kMaxRounds; ++round) {
      const Plan plan = plan_of(world);
      ASSERT_THAT(wrong_writes(world, plan), IsEmpty()) << plan.reason;
      world.carry_out(plan);
      ASSERT_GE(replicas() + 1, all) << plan.reason;
      world.advance();
    }
    EXPECT_THAT(differences(world), IsEmpty());
    EXPECT_THAT(world.violations(), IsEmpty());
  });
}

TEST_F(RayClusterLaws, TheAutoscalerAloneRemovesReplicasThatRun) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    Json& json = world.cluster().mutable_json();
    json["spec"]["enableInTreeAutoscaling"] = true;
    json["spec"]["suspend"] = false;
    json["spec"].erase("upgradeStrategy");
    json["metadata"].erase("annotations");
    json.erase("status");
    for (Json& group : json["spec"]["workerGroupSpecs"]) group.erase("suspend");
    settle(world);
    std::set<std::string> listed;
    for (Json& group : json["spec"]["workerGroupSpecs"]) {
      group["replicas"] = generator.below(4);
      group["minReplicas"] = 0;
      group.erase("scaleStrategy");
      for (const auto& [name, pod] : world.pods()) {
        if (pod["metadata"]["labels"]["ray.io/group"] != group["groupName"] || !generator.chance(15)) continue;
        group["scaleStrategy"]["workersToDelete"].push_back(name);
        listed.insert(slice_of(pod));
      }
    }
    const Plan plan = plan_of(world);
    ASSERT_THAT(wrong_writes(world, plan), IsEmpty()) << plan.reason;
    for (const Action& action : actions_of(plan)) {
      if (action.kind != plan::ActionKind::kDelete) continue;
      EXPECT_TRUE(listed.contains(slice_of(world.pods().at(action.key.name)))) << plan.reason;
    }
  });
}

TEST_F(RayClusterLaws, EveryPodThatIsPlannedHasLegalNamesAndLabels) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    for (const Action& action : actions_of(plan_of(world))) {
      if (action.kind != plan::ActionKind::kCreate) continue;
      EXPECT_THAT(check_dns1123_label(action.key.name), IsEmpty()) << action.key.name;
      const Json body = action.body.make().value();
      for (const auto& [key, value] : body["metadata"]["labels"].items()) {
        EXPECT_THAT(check_label_key(key), IsEmpty()) << key;
        EXPECT_THAT(check_label_value(value.get<std::string>()), IsEmpty()) << key << "=" << value;
      }
    }
  });
}

}  // namespace
}  // namespace tpuslice::raycluster
