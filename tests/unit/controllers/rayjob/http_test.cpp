// HTTPMode: the operator submits, and asks before it does so again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "controllers/rayjob/rules/rayjob_labels.h"
#include "controllers/rayjob/submission.h"
#include "tests/support/error_matchers.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/rayjob/world.h"

namespace tpuslice::rayjob {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

std::ptrdiff_t posts(World& world) {
  const std::vector<std::string> sent = world.take_requests();
  return std::ranges::count(sent, "POST /api/jobs/");
}

World with_ready_cluster(const Json& spec = Json::object()) {
  World world(a_rayjob(spec));
  world.patch_spec({{"submissionMode", "HTTPMode"}});
  world.settle();
  world.start_cluster();
  return world;
}

TEST(HttpSubmission, AsksSubmitsAndFollows) {
  World world = with_ready_cluster();
  world.settle();
  EXPECT_EQ(world.state(), "Running RUNNING");
  EXPECT_TRUE(world.submitter().is_null());
  EXPECT_EQ(world.take_requests().front(), "GET /api/jobs/" + world.job_id());
  world.ray.set_job(world.job_id(), "SUCCEEDED", "");
  world.pass(3s);
  world.settle();
  EXPECT_EQ(world.state(), "Complete SUCCEEDED");
  EXPECT_EQ(posts(world), 0);
}

TEST(HttpSubmission, IsNotMadeByAnAttemptThatBeganInAnotherMode) {
  World world(a_rayjob());
  world.settle();
  world.start_cluster();
  world.patch_spec({{"submissionMode", "HTTPMode"}});
  world.settle();
  EXPECT_FALSE(world.submitter().is_null());
  EXPECT_EQ(posts(world), 0);

  World interactive(a_rayjob({{"submissionMode", "InteractiveMode"}}));
  interactive.settle();
  interactive.start_cluster();
  interactive.settle();
  interactive.patch_spec({{"submissionMode", "HTTPMode"}, {"jobId", "mine"}});
  interactive.ray.set_job("mine", "RUNNING", "");
  interactive.settle();
  EXPECT_EQ(interactive.state(), "Running RUNNING");
  EXPECT_EQ(posts(interactive), 0);
}

TEST(HttpSubmission, StaysThatOfTheAttempt) {
  World world = with_ready_cluster();
  world.patch_spec({{"submissionMode", "K8sJobMode"}});
  world.settle();
  EXPECT_EQ(world.state(), "Running RUNNING");
  EXPECT_TRUE(world.submitter().is_null());
  EXPECT_EQ(posts(world), 1);
}

TEST(HttpSubmission, WithoutAnAnswerIsNotRepeatedIfItWasCarriedOut) {
  World world = with_ready_cluster();
  world.step();
  world.step();
  world.advance();  // 404
  world.step();
  world.ray.set_fault(FakeRay::Fault::kSlow);
  world.advance();  // Submitted, but nothing is received.
  world.ray.set_fault(FakeRay::Fault::kNone);
  world.settle();
  EXPECT_EQ(world.state(), "Running RUNNING");
  EXPECT_EQ(posts(world), 1);
  EXPECT_EQ(world.status("jobStatusCheckFailureStartTime"), "");
}

TEST(HttpSubmission, IsRepeatedWithBackOffIfItWasNotCarriedOut) {
  World world = with_ready_cluster();
  world.step();
  world.step();
  world.advance();
  world.step();
  world.ray.set_fault(FakeRay::Fault::kFailing);
  world.advance();
  EXPECT_EQ(posts(world), 1);
  world.ray.set_fault(FakeRay::Fault::kNone);
  world.settle();
  EXPECT_EQ(posts(world), 0) << "too early";
  EXPECT_NE(world.status("jobStatusCheckFailureStartTime"), "");
  EXPECT_EQ(world.plan().requeue_after, Duration(3s));
  world.pass(3s);
  world.settle();
  EXPECT_EQ(posts(world), 1);
  EXPECT_EQ(world.state(), "Running RUNNING");
  EXPECT_EQ(world.status("jobStatusCheckFailureStartTime"), "");
}

TEST(HttpSubmission, OfARestartedOperatorAsksFirst) {
  World world = with_ready_cluster();
  world.step();
  world.step();
  world.advance();
  world.step();
  world.advance();
  world.restart_operator();
  world.settle();
  EXPECT_EQ(world.state(), "Running RUNNING");
  EXPECT_EQ(posts(world), 1);
}

TEST(HttpSubmission, HasTheBodyOfRaysApi) {
  const Json spec = {{"spec",
                      {{"entrypoint", "python train.py"},
                       {"runtimeEnvYAML", "pip: [jax]\nenv_vars: {A: b}\n"},
                       {"metadata", {{"owner", "me"}}},
                       {"entrypointNumCpus", 0.5},
                       {"entrypointNumGpus", 0},
                       {"entrypointResources", "{\"TPU\": 4}"}}}};
  EXPECT_EQ(build_submission(RayJobSpec::read(spec), "id").value(),
            Json::parse(R"({"entrypoint": "python train.py", "submission_id": "id", "metadata": {"owner": "me"},
                            "runtime_env": {"pip": ["jax"], "env_vars": {"A": "b"}}, "entrypoint_num_cpus": 0.5,
                            "entrypoint_resources": {"TPU": 4}})"));
}

TEST(HttpSubmission, NeedsObjects) {
  for (const auto& [field, value] : {std::pair("runtimeEnvYAML", "[a]"), std::pair("runtimeEnvYAML", "{"),
                                     std::pair("entrypointResources", "[1]"), std::pair("entrypointResources", "x")}) {
    const Json job = {{"spec", {{field, value}}}};
    EXPECT_THAT(build_submission(RayJobSpec::read(job), "id"),
                IsError(ErrorCode::kInvalidArgument, HasSubstr(std::string("spec.") + field)));
  }
}

}  // namespace
}  // namespace tpuslice::rayjob
