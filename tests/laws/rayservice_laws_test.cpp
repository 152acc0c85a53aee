// The four laws for RayServices, over generated observations: deterministic, fixpoint, safety, crash anywhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayservice/clusters.h"
#include "controllers/rayservice/config_hash.h"
#include "controllers/rayservice/gateway_decisions.h"
#include "controllers/rayservice/rayservice_plan.h"
#include "controllers/rayservice/rayservice_state.h"
#include "controllers/rayservice/rules/rayservice_labels.h"
#include "controllers/rayservice/serve_config.h"
#include "controllers/rayservice/services.h"
#include "controllers/rayservice/suspension.h"
#include "tests/laws/laws.h"
#include "tests/laws/rayservice_generator.h"
#include "tests/laws/refusals.h"

namespace tpuslice::rayservice {
namespace {

using laws::actions_of;
using plan::Action;
using plan::Plan;
using testing::IsEmpty;

// A rollback, an upgrade with small steps, its retry, and the delay of the deletion.
constexpr int kMaxRounds = 300;

class RayServiceLaws : public laws::Laws<Generator, 300, 10'000> {};

Plan plan_of(const World& world) {
  ++RayServiceLaws::seen();
  return world.plan();
}

/// Reconciles until only one cluster is left, and nothing is written or asked for any more; the number of plans.
int settle(World& world) {
  for (int round = 1; round <= kMaxRounds; ++round) {
    const Plan plan = plan_of(world);
    world.carry_out(plan);
    world.advance();
    const bool waits = plan.requeue_after.has_value() || world.clusters().size() > 1;
    if (!plan.empty() || waits) continue;
    const Plan next = plan_of(world);
    if (next.empty() && next.requests == plan.requests) return round;
  }
  return kMaxRounds + 1;
}

/// What is wrong with Gateway and route of a settled world.
void compare_gateways(World& world, const Cluster& cluster, std::vector<std::string>& out) {
  if (!world.observed().service.spec().incremental) {
    if (!world.gateways().empty() || !world.routes().empty()) out.emplace_back("a Gateway is left");
    return;
  }
  if (!world.gateways().contains("llm-gateway")) out.emplace_back("no Gateway");
  const std::map<std::string, int> expected{{cluster.name(), 100}};
  if (world.weights() != expected) out.push_back(fmt::format("{} clusters are routed to", world.weights().size()));
  if (world.capacity(cluster.name()) != 100) out.push_back(fmt::format("capacity {}", world.capacity(cluster.name())));
}

/// Differences of a settled world from a service that is ready and up to date.
std::vector<std::string> differences(World& world) {
  std::vector<std::string> out;
  const RayServiceObserved seen = world.observed();
  const Clusters clusters(seen);
  if (clusters.all().size() != 1) return {fmt::format("{} clusters", clusters.all().size())};
  const Cluster& cluster = clusters.all().front();
  if (!ConfigHash(world.config()).matches(cluster)) out.emplace_back("the cluster has another config");
  if (world.active() != cluster.name()) out.emplace_back("active is " + world.active());
  if (!world.pending().empty()) out.emplace_back("pending is " + world.pending());
  compare_gateways(world, cluster, out);
  std::vector<std::string> services{"llm-head-svc", "llm-serve-svc"};
  if (seen.service.spec().incremental) {
    services.push_back(cluster.name() + "-serve-svc");
    if (!world.services().contains("llm-serve-svc")) std::erase(services, "llm-serve-svc");
  }
  for (const std::string& service : services) {
    if (world.selected(service) != cluster.name())
      out.push_back(fmt::format("{} selects {}", service, world.selected(service)));
  }
  if (world.condition(kReady) != "True: NonZeroServeEndpoints") out.push_back("Ready is " + world.condition(kReady));
  if (world.ray(cluster.name()).config.is_null()) out.emplace_back("no Serve configuration");
  if (!cluster.annotation(kDeleteAfter).empty()) out.emplace_back("the cluster is to be deleted");
  return out;
}

/// Backends of a route that lead nowhere, and traffic that is lost.
std::vector<std::string> wrong_route(const RayServiceState& state, const Json& body) {
  std::vector<std::string> out;
  const Json& backends = array_at(body, {"spec", "rules", "0", "backendRefs"});
  if (backends.empty()) return out;
  std::int64_t sum = 0;
  for (const Json& backend : backends) {
    sum += int_at(backend, {"weight"});
    const std::string service = string_at(backend, {"name"});
    const std::string cluster = service.substr(0, service.rfind("-serve-svc"));
    if (state.clusters.find_alive(cluster) == nullptr) out.push_back("the route leads to no cluster: " + cluster);
  }
  if (sum != 100) out.push_back(fmt::format("the weights are {} together", sum));
  return out;
}

/// Writes that end what serves, touch what others own, or lack a precondition.
std::vector<std::string> wrong_writes(World& world, const Plan& plan) {
  std::vector<std::string> out;
  const RayServiceObserved seen = world.observed();
  const RayServiceState state(seen);
  const Cluster* serving = state.clusters.find_alive(selected_cluster(state));
  const bool ends = suspend_phase(state) == SuspendPhase::kDeleting || state.spec.replace_without_room;
  // The traffic of an incremental upgrade does not depend on the service that is switched.
  const bool incremental = state.spec.incremental.has_value();
  const std::string switched = incremental ? "llm-head-svc" : "llm-serve-svc";
  std::string moved_to;
  for (const Action& action : actions_of(plan)) {
    if (action.type == kHttpRoutes && action.kind != plan::ActionKind::kDelete) {
      std::ranges::move(wrong_route(state, action.body.make().value()), std::back_inserter(out));
    }
    if (action.kind == plan::ActionKind::kCreate) continue;
    if (action.preconditions.uid.empty()) out.push_back("no uid as precondition: " + action.key.name);
    if (action.kind == plan::ActionKind::kPatch && action.type == kServices) {
      const Json body = action.body.make().value();
      const std::string selected = string_at(body, {"spec", "selector", "ray.io/cluster"});
      if (action.key.name == switched && !selected.empty()) moved_to = selected;
    }
  }
  if (!moved_to.empty() && serving != nullptr && serving->name() != moved_to) {
    const Cluster* next = state.clusters.find_alive(moved_to);
    if (next == nullptr) {
      out.push_back("the services select a cluster that does not exist");
    } else if (!incremental && serve_endpoints(*serving) > 0 && serve_endpoints(*next) == 0) {
      out.push_back("the services leave endpoints for none");
    }
  }
  for (const Action& action : actions_of(plan)) {
    const bool deletes = action.kind == plan::ActionKind::kDelete && action.type == raycluster::kRayClusters;
    const Cluster* deleted = deletes ? state.clusters.find(action.key.name) : nullptr;
    if (deleted != nullptr && !ends && is_routed_to(state, *deleted)) out.emplace_back("a routed cluster is deleted");
    if (!deletes || ends || serving == nullptr || action.key.name != serving->name()) continue;
    if (moved_to.empty() || moved_to == serving->name()) out.push_back("the cluster that serves is deleted");
  }
  return out;
}

/// A configuration is sent only to a cluster whose record says so.
std::vector<std::string> wrong_requests(const Plan& plan, World& world) {
  std::vector<std::string> out;
  std::set<std::string> names;
  int puts = 0;
  for (const plan::WorkloadRequest& request : plan.requests) {
    if (!names.insert(request.name).second) out.push_back("two requests of one name: " + request.name);
    if (request.method != "PUT") continue;
    ++puts;
    const std::string cluster = request.name.substr(request.name.find('/') + 1);
    const ServeRecord record =
        ServeRecord::parse(string_at(world.clusters()[cluster], {"metadata", "annotations", kServeConfig}));
    if (record.attempt != request.attempt) out.push_back(fmt::format("attempt {} is not recorded", request.attempt));
  }
  const bool incremental = world.observed().service.spec().incremental.has_value();
  if (puts > (incremental ? 2 : 1)) out.emplace_back("too many clusters get a configuration");
  if (plan.requests.size() > 8) out.emplace_back("too many requests");
  return out;
}

TEST_F(RayServiceLaws, EqualObservationsHaveEqualPlans) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    for (int round = 0; round < 4; ++round) {
      RayServiceObserved reversed = world.observed();
      std::ranges::reverse(reversed.clusters);
      std::ranges::reverse(reversed.services);
      const Plan plan = plan_of(world);
      EXPECT_EQ(to_json(plan).dump(), to_json(plan_rayservice(reversed, {})).dump());
      world.carry_out(plan);
      world.advance();
    }
  });
}

TEST_F(RayServiceLaws, EveryWorldThatHealsSettlesAndThenNothingIsWritten) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    generator.heal(world);
    ASSERT_LE(settle(world), kMaxRounds) << plan_of(world).reason;
    EXPECT_THAT(differences(world), IsEmpty());
    const std::size_t writes = world.writes();
    const std::size_t sent = world.sent().size();
    for (int round = 0; round < 3; ++round) {
      const Plan plan = plan_of(world);
      EXPECT_TRUE(plan.empty()) << to_json(plan).dump(2);
      world.carry_out(plan);
      world.advance();
    }
    EXPECT_EQ(world.writes(), writes);
    EXPECT_EQ(world.sent().size(), sent);
  });
}

TEST_F(RayServiceLaws, WhatServesIsNotEndedWhateverHappens) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    for (int round = 0; round < 30; ++round) {
      const Plan plan = plan_of(world);
      ASSERT_THAT(wrong_writes(world, plan), IsEmpty()) << to_json(plan).dump(2);
      const bool whole = generator.chance(80);
      if (world.carry_out(plan, whole ? SIZE_MAX : laws::cut(plan, generator))) {
        ASSERT_THAT(wrong_requests(plan, world), IsEmpty()) << to_json(plan).dump(2);
      }
      if (!whole) world.restart_operator();
      if (generator.chance(10)) generator.edit(world);
      if (generator.chance(15)) generator.disturb(world);
      if (generator.chance(70)) world.advance();
    }
    generator.heal(world);
    ASSERT_LE(settle(world), kMaxRounds) << plan_of(world).reason;
    EXPECT_THAT(differences(world), IsEmpty());
  });
}

TEST_F(RayServiceLaws, ACrashAfterAnyActionChangesNothingInTheEnd) {
  for_many_worlds([](Generator& generator) {
    World cut = generator.world();
    generator.heal(cut);
    for (int round = generator.below(12); round > 0; --round) {
      cut.carry_out(plan_of(cut));
      cut.advance();
    }
    World whole = cut;
    const Plan plan = plan_of(cut);
    cut.carry_out(plan, laws::cut(plan, generator));
    cut.restart_operator();
    ASSERT_LE(settle(cut), kMaxRounds) << plan_of(cut).reason;
    ASSERT_LE(settle(whole), kMaxRounds) << plan_of(whole).reason;
    EXPECT_THAT(differences(cut), IsEmpty());
    EXPECT_EQ(cut.active(), whole.active());
  });
}

TEST_F(RayServiceLaws, RefusedWritesHoldBackNoOthersAndAreMadeInTheEnd) {
  int refused = 0;
  for_many_worlds([&](Generator& generator) {
    World world = generator.world();
    refused += laws::reconcile_refused<World>(world, generator, {.violations = wrong_writes});
    generator.heal(world);
    ASSERT_LE(settle(world), kMaxRounds) << plan_of(world).reason;
    EXPECT_THAT(differences(world), IsEmpty());
  });
  EXPECT_GT(refused, world_count() / 10);
}

std::size_t running_clusters(World& world) {
  return static_cast<std::size_t>(std::ranges::count_if(world.clusters(), [](const auto& cluster) {
    return !bool_at(cluster.second, {"spec", "suspend"});
  }));
}

void set_cluster_suspend(World& world, bool suspend) {
  ++world.service()["metadata"]["generation"].get_ref<Json::number_integer_t&>();
  world.config()["suspend"] = suspend;
}

TEST_F(RayServiceLaws, SuspendedClustersReleaseTheirNodesAndOneOfThemOrAnotherRunsAgain) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    generator.heal(world);
    set_cluster_suspend(world, false);
    for (int round = 3 + generator.below(10); round > 0; --round) {
      world.carry_out(plan_of(world));
      if (generator.chance(80)) world.advance();
    }
    const std::size_t clusters = std::max<std::size_t>(world.clusters().size(), 1);
    set_cluster_suspend(world, true);
    if (generator.chance(50)) world.config()["headGroupSpec"]["template"]["metadata"]["labels"]["a"] = "b";
    for (int round = 0; round < 40; ++round) {
      const Plan plan = plan_of(world);
      if (!world.carry_out(plan, generator.chance(80) ? SIZE_MAX : laws::cut(plan, generator))) {
        world.restart_operator();
      }
      ASSERT_LE(world.clusters().size(), clusters) << to_json(plan).dump(2);
      world.advance();
    }
    EXPECT_EQ(running_clusters(world), 0U);
    EXPECT_THAT(world.pods(), IsEmpty());
    EXPECT_TRUE(plan_of(world).empty()) << to_json(plan_of(world)).dump(2);

    set_cluster_suspend(world, false);
    const bool changed = generator.chance(50);
    if (changed) world.config()["headGroupSpec"]["template"]["metadata"]["labels"]["a"] = "c";
    // The two clusters of an incremental upgrade run together, and a replaced one until it is deleted.
    const bool incremental = string_at(world.service(), {"spec", "upgradeStrategy", "type"}) == kIncrementalUpgrade;
    const std::size_t most = incremental ? (changed ? 3 : 2) : 1;
    for (int round = 0; round < kMaxRounds; ++round) {
      const Plan plan = plan_of(world);
      if (!world.carry_out(plan, generator.chance(90) ? SIZE_MAX : laws::cut(plan, generator))) {
        world.restart_operator();
      }
      ASSERT_LE(running_clusters(world), most) << to_json(plan).dump(2);
      world.advance();
    }
    ASSERT_LE(settle(world), kMaxRounds) << plan_of(world).reason;
    EXPECT_THAT(differences(world), IsEmpty());
  });
}

TEST_F(RayServiceLaws, ADeletedServiceIsReleasedWhateverIsCut) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    world.delete_service();
    for (int round = 0; round < kMaxRounds && !world.gone(); ++round) {
      const Plan plan = plan_of(world);
      world.carry_out(plan, laws::cut(plan, generator));
      world.advance();
    }
    ASSERT_TRUE(world.gone()) << plan_of(world).reason;
    EXPECT_THAT(world.clusters(), IsEmpty());
    EXPECT_TRUE(plan_of(world).empty());
  });
}

}  // namespace
}  // namespace tpuslice::rayservice
