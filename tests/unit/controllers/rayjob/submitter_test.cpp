#include "controllers/rayjob/submitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/plan/conditions.h"
#include "controllers/rayjob/rules/rayjob_labels.h"
#include "controllers/rayjob/submitter_script.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/rayjob/world.h"

namespace tpuslice::rayjob {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using namespace std::chrono_literals;

/// With a ready cluster, and so a submitter.
World with_submitter(const Json& spec = Json::object(), const Json& options = Json::object()) {
  World world(a_rayjob(spec));
  if (!options.empty()) world.patch_spec({{"rayClusterSpec", options}});
  world.settle();
  world.start_cluster();
  world.settle();
  return world;
}

const Json& pod_of(const World& world) { return world.submitter()["spec"]["template"]; }
const Json& container_of(const World& world) { return pod_of(world)["spec"]["containers"][0]; }

std::string variable(const Json& container, std::string_view name) {
  for (const Json& each : array_at(container, {"env"})) {
    if (string_at(each, {"name"}) == name) return each.contains("value") ? string_at(each, {"value"}) : each.dump();
  }
  return "absent";
}

TEST(Submitter, IsAJobWithTheImageOfTheHeadAndNoShell) {
  const World world = with_submitter();
  const Json& job = world.submitter();
  EXPECT_EQ(job["metadata"]["name"], "train");
  EXPECT_EQ(job["metadata"]["labels"]["ray.io/originated-from-crd"], "RayJob");
  EXPECT_EQ(job["spec"]["backoffLimit"], 2);
  const Json& head = world.job()["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0];
  const Json& container = container_of(world);
  EXPECT_EQ(container["name"], "ray-job-submitter");
  EXPECT_EQ(container["image"], head["image"]);
  EXPECT_EQ(container["command"], Json({"python3", "-c", kSubmitterScript})) << "not every image has python";
  EXPECT_EQ(container["resources"]["requests"], Json({{"cpu", "500m"}, {"memory", "200Mi"}}));
  EXPECT_EQ(container["resources"]["limits"], Json({{"cpu", "1"}, {"memory", "1Gi"}}));
  EXPECT_EQ(variable(container, "RAY_DASHBOARD_ADDRESS"), world.status("dashboardURL"));
  EXPECT_EQ(variable(container, "RAY_JOB_SUBMISSION_ID"), world.job_id());
  EXPECT_EQ(variable(container, "PYTHONUNBUFFERED"), "1");
  EXPECT_EQ(pod_of(world)["spec"]["restartPolicy"], "Never");
}

TEST(Submitter, PullsItsImageAsTheHeadDoes) {
  Json cluster = a_rayjob()["spec"]["rayClusterSpec"];
  Json& head = cluster["headGroupSpec"]["template"]["spec"];
  head["imagePullSecrets"] = Json::array({{{"name", "registry"}}});
  head["containers"][0]["imagePullPolicy"] = "Always";
  const World world = with_submitter({{"rayClusterSpec", cluster}});
  EXPECT_EQ(pod_of(world)["spec"]["imagePullSecrets"], head["imagePullSecrets"]);
  EXPECT_EQ(container_of(world)["imagePullPolicy"], "Always");
}

TEST(Submitter, IsNotRunAgainForAJobThatFailed) {
  const World world = with_submitter();
  EXPECT_EQ(world.submitter()["spec"]["podFailurePolicy"]["rules"],
            Json::parse(R"([{"action": "FailJob", "onExitCodes": {"containerName": "ray-job-submitter",
                             "operator": "In", "values": [10]}}])"));
}

TEST(Submitter, HasTheSubmissionAsKubernetesDoesNotChangeIt) {
  const World world = with_submitter({{"entrypoint", "echo $(RAY_JOB_SUBMISSION_ID) '$HOME' && python -c \"x\""}});
  const std::string value = variable(container_of(world), kSubmissionVariable);
  EXPECT_THAT(value, HasSubstr("echo $$(RAY_JOB_SUBMISSION_ID) '$$HOME' && python"));
  EXPECT_THAT(std::string(kSubmitterScript), Not(HasSubstr("$")));
  EXPECT_THAT(std::string(kSubmitterScript), HasSubstr(std::string(kSubmissionVariable)));
  EXPECT_THAT(std::string(kSubmitterScript), HasSubstr(fmt::format("JOB_NOT_SUCCEEDED = {}", kJobNotSucceeded)));
}

TEST(Submitter, OfTheUserKeepsItsCommandAndGetsARestartPolicy) {
  const World world = with_submitter(
      {{"submitterConfig", {{"backoffLimit", 0}}},
       {"submitterPodTemplate",
        {{"metadata", {{"labels", {{"a", "b"}}}}},
         {"spec", {{"containers", Json::array({{{"name", "mine"}, {"image", "i"}, {"command", {"run"}}}})}}}}}});
  EXPECT_EQ(world.submitter()["spec"]["backoffLimit"], 0);
  EXPECT_FALSE(world.submitter()["spec"].contains("podFailurePolicy"));
  EXPECT_EQ(pod_of(world)["spec"]["restartPolicy"], "Never");
  EXPECT_EQ(pod_of(world)["metadata"]["labels"]["a"], "b");
  EXPECT_EQ(pod_of(world)["metadata"]["labels"]["ray.io/originated-from-cr-name"], "train");
  EXPECT_EQ(container_of(world)["command"], Json({"run"}));
  EXPECT_EQ(variable(container_of(world), kSubmissionVariable), "absent");
  EXPECT_EQ(variable(container_of(world), "RAY_JOB_SUBMISSION_ID"), world.job_id());
}

TEST(Submitter, OfTheUserWithoutCommandGetsOurs) {
  const World world = with_submitter(
      {{"submitterPodTemplate",
        {{"spec",
          {{"restartPolicy", "OnFailure"}, {"containers", Json::array({{{"name", "mine"}, {"image", "i"}}})}}}}}});
  EXPECT_EQ(container_of(world)["command"][0], "python3");
  EXPECT_EQ(pod_of(world)["spec"]["restartPolicy"], "OnFailure");
  EXPECT_FALSE(world.submitter()["spec"].contains("podFailurePolicy")) << "needs Never";
}

TEST(Submitter, HasTheTokenOfItsCluster) {
  const World world = with_submitter(Json::object(), {{"rayVersion", "2.52.0"}, {"authOptions", {{"mode", "token"}}}});
  EXPECT_EQ(variable(container_of(world), "RAY_AUTH_MODE"), "token");
  EXPECT_THAT(variable(container_of(world), "RAY_AUTH_TOKEN"), HasSubstr(world.status("rayClusterName")));
}

TEST(Submitter, CannotBeMadeWithoutAnImage) {
  World world(a_rayjob());
  world.settle();
  world.start_cluster();
  world.set_head_image("");
  world.settle();
  EXPECT_EQ(world.state(), "Initializing");
  EXPECT_THAT(world.condition(plan::kChildrenReady), HasSubstr("has no image"));
}

TEST(Submitter, ThatCannotStartIsNamedWithItsContainer) {
  World world = with_submitter();
  const auto problem = [&] {
    world.pass(3s);
    world.settle();
    return world.condition(plan::kChildrenReady);
  };
  world.add_submitter_pod("train-a", "Pending", {{"waiting", {{"reason", "InvalidImageName"}, {"message", "bad"}}}});
  EXPECT_EQ(problem(), "False SubmitterPending: pod train-a: container ray-job-submitter: InvalidImageName: bad");
  world.pass(10s);
  const Json error = {{"reason", "StartError"}, {"exitCode", 128}, {"message", "exec: \"python3\": not found"}};
  world.add_submitter_pod("train-b", "Failed", {{"terminated", error}});
  const std::string failed =
      "pod train-b: container ray-job-submitter: StartError, exit code 128: exec: \"python3\": not found";
  EXPECT_EQ(problem(), "False SubmitterPending: " + failed);
  EXPECT_EQ(world.state(), "Running");
  world.end_submitter("Failed");
  world.settle();
  EXPECT_EQ(world.state(), "Failed SubmissionFailed");
  EXPECT_EQ(world.status("message"),
            "Job submission has failed. Reason: BackoffLimitExceeded. Message: it failed; " + failed);
}

TEST(Submitter, ThatRunsIsNotNamed) {
  World world = with_submitter();
  world.add_submitter_pod("train-a", "Running", {{"running", Json::object()}});
  world.pass(3s);
  world.settle();
  EXPECT_THAT(world.condition(plan::kChildrenReady), StartsWith("True"));
}

TEST(SidecarSubmitter, SaysHowItsContainerFailed) {
  World world(a_rayjob({{"submissionMode", "SidecarMode"}}));
  world.settle();
  world.start_cluster();
  world.settle();
  world.end_sidecar("StartError");
  world.pass(3s);
  world.settle();
  EXPECT_THAT(world.status("message"), HasSubstr("-head: container ray-job-submitter: StartError, exit code 1"));
}

TEST(SidecarSubmitter, IsAContainerOfTheHeadThatIsNotReplaced) {
  World world(a_rayjob({{"submissionMode", "SidecarMode"}}));
  world.settle();
  EXPECT_EQ(world.cluster()["metadata"]["annotations"]["ray.io/disable-provisioned-head-restart"], "true");
  const Json& pod = world.cluster()["spec"]["headGroupSpec"]["template"]["spec"];
  EXPECT_EQ(pod["restartPolicy"], "Never");
  const Json& container = pod["containers"].back();
  EXPECT_EQ(container["name"], "ray-job-submitter");
  EXPECT_EQ(variable(container, "RAY_DASHBOARD_ADDRESS"), "127.0.0.1:8265");
  EXPECT_EQ(variable(container, "RAY_JOB_SUBMISSION_ID"), world.job_id());
  world.start_cluster();
  world.settle();
  EXPECT_EQ(world.state(), "Running");
  EXPECT_TRUE(world.submitter().is_null());
}

struct SidecarEnd {
  const char* name;
  const char* job;        ///< By Ray; empty: unknown.
  const char* container;  ///< Reason of its end; empty: it runs.
  const char* state;
};
class SidecarEnds : public testing::TestWithParam<SidecarEnd> {};

TEST_P(SidecarEnds, AsRaySays) {
  World world(a_rayjob({{"submissionMode", "SidecarMode"}}));
  world.settle();
  world.start_cluster();
  world.settle();
  const auto& [name, job, container, state] = GetParam();
  if (*job != '\0') world.ray.set_job(world.job_id(), job, "");
  if (*container != '\0') world.end_sidecar(container);
  world.pass(3s);
  world.settle();
  EXPECT_EQ(world.state(), state);
}

INSTANTIATE_TEST_SUITE_P(Of, SidecarEnds,
                         testing::Values(SidecarEnd{"Succeeded", "SUCCEEDED", "Completed", "Complete SUCCEEDED"},
                                         SidecarEnd{"CopiesTheLog", "SUCCEEDED", "", "Running SUCCEEDED"},
                                         SidecarEnd{"Failed", "FAILED", "Error", "Failed FAILED AppFailed"},
                                         SidecarEnd{"LogEndedEarly", "RUNNING", "Error", "Running RUNNING"},
                                         SidecarEnd{"NotSubmitted", "", "Error", "Failed SubmissionFailed"}),
                         [](const auto& test) { return std::string(test.param.name); });

/// Regression: the head pod was never Ready after that, so the RayJob stayed in Initializing (KubeRay issue 4945).
TEST(SidecarSubmitter, MayEndBeforeTheWorkersAreReady) {
  for (const bool succeeds : {true, false}) {
    World world(a_rayjob({{"submissionMode", "SidecarMode"}}));
    world.settle();
    world.start_cluster();
    world.set_cluster_status({{"state", ""}});
    world.settle();
    EXPECT_EQ(world.state(), "Initializing");
    world.ray.set_job(world.job_id(), succeeds ? "SUCCEEDED" : "FAILED", "");
    world.end_sidecar(succeeds ? "Completed" : "Error");
    world.pass(3s);
    world.settle();
    EXPECT_EQ(world.state(), succeeds ? "Complete SUCCEEDED" : "Failed FAILED AppFailed");
  }
}

TEST(SidecarSubmitter, IsLostWithTheHead) {
  World world(a_rayjob({{"submissionMode", "SidecarMode"}, {"backoffLimit", 1}}));
  world.settle();
  world.start_cluster();
  world.settle();
  world.lose_head();
  world.step();
  EXPECT_EQ(world.state(), "Retrying JobLost");
}

TEST(SidecarSubmitter, IsLostWithTheRayContainerOfTheHead) {
  World world(a_rayjob({{"submissionMode", "SidecarMode"}, {"backoffLimit", 1}}));
  world.settle();
  world.start_cluster();
  world.settle();
  world.end_sidecar("Error", true);
  world.step();
  EXPECT_EQ(world.state(), "Retrying JobLost");
  EXPECT_THAT(world.status("message"), HasSubstr("has terminated (OOMKilled, exit code 1)"));
}

}  // namespace
}  // namespace tpuslice::rayjob
