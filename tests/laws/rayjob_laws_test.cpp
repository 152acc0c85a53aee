// The four laws for RayJobs, over generated observations: deterministic, fixpoint, safety, crash anywhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "api/types/conditions.h"
#include "controllers/ray/dashboard.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayjob/rayjob_plan.h"
#include "controllers/rayjob/rayjob_status.h"
#include "controllers/rayjob/rules/rayjob_labels.h"
#include "controllers/rayjob/rules/spec.h"
#include "tests/laws/laws.h"
#include "tests/laws/rayjob_generator.h"
#include "tests/laws/rayjob_violations.h"
#include "tests/laws/refusals.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::rayjob {
namespace {

using plan::Plan;
using testing::Contains;
using testing::IsEmpty;
using namespace std::chrono_literals;

// Three attempts, each with a cluster, a Ray job and a submitter, and the longest time to live.
constexpr int kMaxRounds = 150;

class RayJobLaws : public laws::Laws<Generator, 300, 10'000> {};

Plan plan_of(const World& world) {
  ++RayJobLaws::seen();
  return world.plan();
}

bool is_finished(const World& world) { return RayJobStatus::read(Object(world.job())).finished(); }

/// The Ray job has ended, perhaps before its submitter.
bool is_ended(const World& world) { return is_finished(world) || ray::is_terminal(world.status("jobStatus")); }

/// Carries out the first `limit` writes of the plan. Returns what is wrong.
std::vector<std::string> carry_out(const Plan& plan, std::size_t limit, World& world) {
  const std::set<std::string> names = world.cluster_names();
  const std::size_t overlaps = world.violations().size();
  world.carry_out(plan, limit);
  if (world.violations().size() == overlaps || world.cluster_names() == names) return {};
  // A cluster that others deleted gets its own name again; the one of another attempt may not overlap.
  return world.violations();
}

/// Plans and carries out until the RayJob is finished and nothing is written or due any more. Returns what is wrong.
/// `submissions`: of an operator that was not restarted just before.
std::vector<std::string> settle(World& world, const std::string& end = "SUCCEEDED", SubmissionRecord submissions = {}) {
  for (int round = 0; round < kMaxRounds; ++round) {
    const Plan plan = plan_of(world);
    if (std::vector<std::string> broken = violations(world, plan); !broken.empty()) return broken;
    if (std::vector<std::string> broken = submissions.check(world, plan); !broken.empty()) return broken;
    if (std::vector<std::string> broken = carry_out(plan, SIZE_MAX, world); !broken.empty()) return broken;
    if (world.gone()) return {};
    if (std::vector<std::string> broken = submissions.answer(world); !broken.empty()) return broken;
    progress(world, end);
    world.pass(3s);
    if (is_finished(world) && plan.empty() && !plan.requeue_after && plan_of(world).empty())
      return defects_at_rest(world);
  }
  return {fmt::format("does not rest: {} {}", world.state(), plan_of(world).reason)};
}

/// No attempt, or one that has nothing of Ray yet.
bool has_no_ray_job(const World& world) {
  const std::string deployment = world.status("jobDeploymentStatus");
  return deployment.empty() || deployment == kSuspended || deployment == kValidationFailed ||
         deployment == kSuspending || deployment == kRetrying;
}

TEST_F(RayJobLaws, GeneratorCoversAllStates) {
  std::map<std::string, int> states;
  std::map<std::string, int> reasons;
  for_many_worlds([&](Generator& generator) {
    World world = generator.world();
    for (int round = 0; round < 15; ++round) {
      ++states[world.status("jobDeploymentStatus")];
      ++reasons[world.status("reason")];
      world.step();
      world.advance();
      if (generator.chance(20)) generator.disturb(world);
      generator.advance(world);
    }
  });
  if (!has_all_worlds()) return;
  for (const std::string_view state :
       {kInitializing, kRunning, kComplete, kFailed, kSuspending, kSuspended, kRetrying}) {
    EXPECT_GT(states[std::string(state)], 10) << state;
  }
  for (const std::string_view state : {kWaiting, kValidationFailed}) EXPECT_GT(states[std::string(state)], 0) << state;
  for (const std::string_view reason : {kAppFailed, kDeadlineExceeded, kJobLost, kSubmissionFailed}) {
    EXPECT_GT(reasons[std::string(reason)], 0) << reason;
  }
}

TEST_F(RayJobLaws, EqualObservationsHaveEqualPlans) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    for (int round = 0; round < 4; ++round) {
      RayJobObserved again = World(world).observed();
      again.job = Object(Json::parse(again.job.json().dump()));
      const Plan plan = plan_of(world);
      ASSERT_EQ(to_json(plan).dump(), to_json(plan_rayjob(again, world.options)).dump());
      world.carry_out(plan);
      world.advance();
      generator.advance(world);
    }
  });
}

TEST_F(RayJobLaws, EveryWorldThatHealsFinishesAndIsNotWrittenAgain) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    generator.heal(world);
    const bool will_succeed = has_no_ray_job(world);
    ASSERT_THAT(settle(world), IsEmpty()) << world.job().dump(1);
    EXPECT_TRUE(!will_succeed || world.state().starts_with("Complete SUCCEEDED")) << world.job().dump(1);
    const std::size_t writes = world.writes();
    for (int round = 0; round < 3; ++round) {
      const Plan plan = plan_of(world);
      ASSERT_TRUE(plan.empty()) << to_json(plan).dump(2);
      world.carry_out(plan);
      world.advance();
      world.pass(1min);
    }
    EXPECT_EQ(world.writes(), writes);
  });
}

TEST_F(RayJobLaws, ARayJobThatRunsIsNotWritten) {
  int running = 0;
  for_many_worlds([&](Generator& generator) {
    World world = generator.world();
    generator.heal(world);
    for (int round = 0; round < kMaxRounds && world.state() != "Running RUNNING" && !is_finished(world); ++round) {
      world.step();
      world.advance();
      progress(world, {});
      world.pass(3s);
    }
    world.settle();
    if (world.state() != "Running RUNNING") return;  // It has ended before.
    ++running;
    const std::size_t writes = world.writes();
    for (int round = 0; round < 10; ++round) {
      const Plan plan = plan_of(world);
      ASSERT_TRUE(plan.empty()) << to_json(plan).dump(2);
      world.carry_out(plan);
      world.advance();
      world.pass(3s);
    }
    EXPECT_EQ(world.writes(), writes);
  });
  EXPECT_GT(running, world_count() / 3);
}

TEST_F(RayJobLaws, NoPlanViolatesAnInvariantWhateverHappens) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    world.restart_operator();
    SubmissionRecord submissions;
    for (int round = 0; round < 40 && !world.gone(); ++round) {
      const Plan plan = plan_of(world);
      ASSERT_THAT(violations(world, plan), IsEmpty()) << to_json(plan).dump(2) << world.job().dump(1);
      ASSERT_THAT(submissions.check(world, plan), IsEmpty()) << plan.reason;
      const bool whole = generator.chance(80);
      ASSERT_THAT(carry_out(plan, whole ? SIZE_MAX : laws::cut(plan, generator), world), IsEmpty()) << plan.reason;
      if (!whole) world.restart_operator();
      if (generator.chance(80)) {
        ASSERT_THAT(submissions.answer(world), IsEmpty()) << plan.reason;
      }
      if (generator.chance(10)) generator.edit(world);
      if (generator.chance(15)) generator.disturb(world);
      generator.advance(world);
    }
    if (world.gone()) return;
    generator.heal(world);
    ASSERT_THAT(settle(world), IsEmpty()) << world.job().dump(1);
  });
}

TEST_F(RayJobLaws, NothingIsSubmittedWhileTheOutcomeOfASubmissionIsUnknown) {
  int submitted = 0;
  for_many_worlds([&](Generator& generator) {
    using enum FakeRay::Fault;
    const bool http = generator.chance(60);
    World world(a_rayjob({{"submissionMode", http ? "HTTPMode" : "K8sJobMode"}}));
    SubmissionRecord submissions;
    for (int round = 0; round < 40 && !is_finished(world); ++round) {
      const Plan plan = plan_of(world);
      ASSERT_THAT(violations(world, plan), IsEmpty()) << to_json(plan).dump(2);
      ASSERT_THAT(submissions.check(world, plan), IsEmpty());
      world.carry_out(plan);
      world.ray.set_fault(generator.chance(60) ? kNone : generator.chance(60) ? kSlow : kFailing);
      ASSERT_THAT(submissions.answer(world), IsEmpty()) << plan.reason;
      world.ray.set_fault(kNone);
      // A new submitter has not submitted before the next plan.
      const bool created = !actions_of(plan).empty();
      if (!created && generator.chance(40)) progress(world, {});
      if (!created && generator.chance(20)) world.delete_submitter();
      if (generator.chance(10)) world.restart_operator();
      world.pass(std::chrono::seconds(generator.below(4)));
    }
    for (const auto& [id, count] : world.ray.submissions) {
      EXPECT_TRUE(!http || count == 1) << id;
      ++submitted;
    }
  });
  EXPECT_GT(submitted, world_count() / 2);
}

TEST_F(RayJobLaws, ObjectsOfOtherOwnersThatHaveTheNamesOfChildrenStay) {
  for_many_worlds([](Generator& generator) {
    World world(generator.job());
    world.patch_spec({{"suspend", false}, {"activeDeadlineSeconds", 60}});
    world.step();
    const bool selects = RayJobSpec::read(world.job()).selects_cluster;
    if (!selects && generator.chance(60)) world.add_foreign_cluster(world.status("rayClusterName"));
    if (generator.chance(60)) world.add_foreign_submitter();
    if (generator.chance(60)) world.add_foreign_service();
    const Json cluster = world.cluster();
    const std::string name = string_at(cluster, {"metadata", "name"});
    const Json submitter = world.submitter();
    const Json service = world.service();
    for (int round = 0; round < 30 && !world.gone(); ++round) {
      const Plan plan = plan_of(world);
      ASSERT_THAT(violations(world, plan), IsEmpty()) << to_json(plan).dump(2);
      world.carry_out(plan);
      world.advance();
      if (generator.chance(10)) generator.edit(world);
      generator.advance(world);
    }
    // A later attempt has a cluster of another name.
    EXPECT_TRUE(cluster.is_null() || world.objects(raycluster::kRayClusters)[name] == cluster) << name;
    EXPECT_TRUE(submitter.is_null() || world.submitter() == submitter) << world.submitter().dump(1);
    EXPECT_TRUE(service.is_null() || world.service() == service) << world.service().dump(1);
  });
}

TEST_F(RayJobLaws, AStatusThatIsFinalStaysWhateverRaySays) {
  int ended = 0;
  for_many_worlds([&](Generator& generator) {
    World world = generator.world();
    generator.heal(world);
    for (int round = 0; round < kMaxRounds && !is_ended(world); ++round) {
      world.step();
      world.advance();
      if (!has_ended_in_ray(world)) progress(world, generator.chance(50) ? "FAILED" : "STOPPED");
      world.pass(3s);
    }
    ended += world.status("jobDeploymentStatus") == kRunning ? 1 : 0;
    for (int round = 0; round < 12 && !world.gone(); ++round) {
      const std::string id = world.job_id();
      if (!id.empty()) world.ray.set_job(id, generator.chance(50) ? "RUNNING" : "SUCCEEDED", "changed");
      if (generator.chance(20)) world.ray.forget_job(id);
      if (generator.chance(10)) world.restart_operator();
      const Plan plan = plan_of(world);
      ASSERT_THAT(violations(world, plan), IsEmpty()) << to_json(plan).dump(2);
      world.carry_out(plan);
      world.advance();
      world.pass(3s);
    }
  });
  EXPECT_GT(ended, world_count() / 10) << "Ray jobs whose submitters still run";
}

TEST_F(RayJobLaws, ACrashAfterAnyActionChangesNothingInTheEnd) {
  for_many_worlds([](Generator& generator) {
    World cut = generator.world();
    generator.heal(cut);
    SubmissionRecord submissions;
    for (int round = generator.below(15); round > 0; --round) {
      cut.step();
      ASSERT_THAT(submissions.answer(cut), IsEmpty());
      progress(cut, generator.chance(30) ? "FAILED" : "");
      cut.pass(3s);
    }
    World whole = cut;
    const Plan plan = plan_of(cut);
    cut.carry_out(plan, laws::cut(plan, generator));
    cut.restart_operator();
    const std::string end = generator.chance(50) ? "SUCCEEDED" : "FAILED";
    ASSERT_THAT(settle(cut, end), IsEmpty());
    ASSERT_THAT(settle(whole, end, submissions), IsEmpty());
    EXPECT_EQ(summary_of(cut), summary_of(whole));
  });
}

TEST_F(RayJobLaws, RefusedWritesHoldBackNoOthersAndAreMadeInTheEnd) {
  int refused = 0;
  for_many_worlds([&](Generator& generator) {
    World world = generator.world();
    world.restart_operator();
    SubmissionRecord submissions;
    const auto advance = [&](World& each) {
      EXPECT_THAT(submissions.answer(each), IsEmpty());
      generator.advance(each);
    };
    refused += laws::reconcile_refused<World>(world, generator, {.violations = violations, .advance = advance});
    if (world.gone()) return;
    generator.heal(world);
    ASSERT_THAT(settle(world), IsEmpty()) << world.job().dump(1);
  });
  EXPECT_GT(refused, world_count() / 10);
}

TEST_F(RayJobLaws, ADeletedRayJobIsReleasedOnceItsRayJobIsStopped) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    generator.heal(world);
    for (int round = generator.below(20); round > 0; --round) {
      world.step();
      world.advance();
      progress(world, {});
    }
    const std::string id = world.job_id();
    const bool runs = world.status("jobStatus") == "RUNNING" && !world.observed().pods.empty() &&
                      world.ray.jobs.contains(id) && world.observed().cluster != nullptr;
    world.delete_job();
    world.take_requests();
    std::vector<std::string> sent;
    for (int round = 0; round < kMaxRounds && !world.gone(); ++round) {
      const Plan plan = plan_of(world);
      ASSERT_THAT(violations(world, plan), IsEmpty()) << to_json(plan).dump(2);
      const bool whole = generator.chance(50);
      if (whole) world.carry_out(plan);
      if (!whole) world.restart_operator();
      world.advance();
      for (std::string& request : world.take_requests()) sent.push_back(std::move(request));
      world.pass(1s);
    }
    ASSERT_TRUE(world.gone()) << plan_of(world).reason;
    EXPECT_TRUE(plan_of(world).empty());
    if (runs) {
      EXPECT_THAT(sent, Contains("POST /api/jobs/" + id + "/stop"));
    }
  });
}

TEST_F(RayJobLaws, ASilentDashboardHoldsADeletedRayJobForALimitedTime) {
  for_many_worlds([](Generator& generator) {
    World world = generator.world();
    world.ray.set_fault(generator.chance(50) ? FakeRay::Fault::kFailing : FakeRay::Fault::kSlow);
    world.delete_job();
    const Timestamp due = world.now() + world.options.stop_timeout;
    while (!world.gone()) {
      ASSERT_LE(world.now(), due);
      const Plan plan = plan_of(world);
      if (!plan.empty()) {
        world.carry_out(plan);
        continue;
      }
      ASSERT_TRUE(plan.requeue_after);
      world.carry_out(plan);
      world.advance();
      world.pass(*plan.requeue_after);
    }
  });
}

TEST_F(RayJobLaws, WhatADashboardOrAClusterSaysDoesNotMakeAPlanLarge) {
  const std::string text(1U << 20U, 'x');
  for_many_worlds([&](Generator& generator) {
    World world = generator.world();
    if (!world.cluster().is_null()) {
      world.set_cluster_condition("tpuslice.dev/SlicesPlaced", "False", text.substr(0, kMaxConditionMessage));
    }
    for (int round = 0; round < 8; ++round) {
      if (!world.job_id().empty()) world.ray.set_job(world.job_id(), generator.chance(80) ? "RUNNING" : "FAILED", text);
      const Plan plan = plan_of(world);
      ASSERT_THAT(violations(world, plan), IsEmpty());
      for (const plan::EventIntent& event : events_of(plan)) EXPECT_LE(event.message.size(), 8U << 10U);
      EXPECT_LE(plan.reason.size(), 4U << 10U);
      world.carry_out(plan);
      world.advance();
      generator.advance(world);
    }
  });
}

}  // namespace
}  // namespace tpuslice::rayjob
