#include "controllers/raycluster/redis_cleanup/redis_cleanup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/raycluster/names.h"
#include "controllers/raycluster/raycluster_plan.h"
#include "controllers/raycluster/redis_cleanup/job.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

using plan::Action;
using plan::Plan;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kFinalizer = "ray.io/gcs-ft-redis-cleanup-finalizer";

std::vector<std::string> event_reasons(const Plan& plan) {
  std::vector<std::string> out;
  for (const plan::EventIntent& event : events_of(plan)) out.push_back(event.reason);
  return out;
}

/// Message of the event that is sent once the action has succeeded.
std::string event_message(const Plan& plan, std::string_view reason) {
  for (const plan::ActionEvents* events : reports_of(plan)) {
    for (const plan::EventIntent& event : events->on_success) {
      if (event.reason == reason) return event.message;
    }
  }
  return "(no event)";
}

class RedisCleanup : public testing::Test {
 protected:
  RedisCleanup() {
    cluster_["spec"]["gcsFaultToleranceOptions"] = {{"redisAddress", "redis:6379"}};
    cluster_["metadata"]["finalizers"] = {"example.com/first", kFinalizer};
  }
  void delete_cluster() { cluster_["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"; }
  /// The cluster with all its pods.
  [[nodiscard]] RayClusterObserved running() const { return all_running(Object(cluster_)); }
  /// The cluster without pods, its deletion `age` ago.
  [[nodiscard]] RayClusterObserved empty(Duration age = {}) const {
    RayClusterObserved seen = nothing_yet(Object(cluster_));
    seen.now += age;
    return seen;
  }
  [[nodiscard]] Plan plan(const RayClusterObserved& seen) const { return plan_raycluster(seen, options_); }
  [[nodiscard]] Json job() const {
    const Object cluster(cluster_);
    Json json = build_redis_cleanup_job(RayClusterSpec::read(cluster), {}).value().json();
    json["metadata"]["uid"] = "uid-of-job";
    return json;
  }
  [[nodiscard]] RayClusterObserved with_job(const Json& job) const {
    RayClusterObserved seen = empty();
    seen.cleanup_job = std::make_shared<const JobView>(JobView::from_json(job).value());
    return seen;
  }
  [[nodiscard]] RayClusterObserved with_finished_job(const char* condition) const {
    Json finished = job();
    finished["status"]["conditions"] = Json::array(
        {{{"type", condition}, {"status", "True"}, {"reason", "DeadlineExceeded"}, {"message", "too slow"}}});
    return with_job(finished);
  }
  /// Expects that the plan removes the finalizer, and nothing else.
  static void expect_released(const Plan& plan) {
    ASSERT_THAT(writes_of(plan), ElementsAre("patch RayCluster train"));
    const Action action = action_of(plan, "patch RayCluster train");
    EXPECT_EQ(action.body.make().value(), Json({{"metadata", {{"finalizers", {"example.com/first"}}}}}));
    EXPECT_EQ(action.preconditions, (plan::Preconditions{"uid-of-train", "1"}));
    EXPECT_FALSE(plan.status.has_value());
    EXPECT_THAT(plan.events, IsEmpty()) << "nothing is said of a removal that fails";
  }

  Json cluster_ = a_cluster("train", {{.name = "cpu", .replicas = 1, .hosts = 1, .accelerator = ""}});
  Options options_;
};

TEST_F(RedisCleanup, HasAFinalizerBeforeThereIsAPod) {
  cluster_["metadata"]["finalizers"] = {"example.com/first"};
  const Plan first = plan(empty());
  ASSERT_EQ(first.stages.size(), 3U) << "finalizer, service, pods";
  EXPECT_THAT(stages_of(first)[0], ElementsAre("patch RayCluster train"));
  const Action patch = action_of(first, "patch RayCluster train");
  EXPECT_EQ(patch.body.make().value(), Json({{"metadata", {{"finalizers", {"example.com/first", kFinalizer}}}}}));
  EXPECT_EQ(patch.preconditions, (plan::Preconditions{"uid-of-train", "1"}));
  cluster_["metadata"].erase("finalizers");
  EXPECT_EQ(action_of(plan(empty()), "patch RayCluster train").body.make().value(),
            Json({{"metadata", {{"finalizers", {kFinalizer}}}}}));
}

TEST_F(RedisCleanup, AddsItsFinalizerOnce) {
  RayClusterObserved seen = running();
  edit(seen.cluster)["status"] = plan(seen).status->status;
  EXPECT_THAT(plan(seen), plan::IsEmptyPlan());
}

TEST_F(RedisCleanup, HasNoFinalizerIfItIsSwitchedOffOrTheClusterIsNotFaultTolerant) {
  cluster_["metadata"].erase("finalizers");
  options_.redis_cleanup = false;
  EXPECT_THAT(writes_of(plan(empty()), "patch RayCluster"), IsEmpty());
  options_.redis_cleanup = true;
  cluster_["spec"].erase("gcsFaultToleranceOptions");
  EXPECT_THAT(writes_of(plan(empty()), "patch RayCluster"), IsEmpty());
}

TEST_F(RedisCleanup, OfADeletedClusterDeletesItsPodsFirst) {
  delete_cluster();
  RayClusterObserved seen = running();
  const Plan first = plan(seen);
  EXPECT_THAT(writes_of(first),
              ElementsAre("delete Pod " + seen.pods[0]->key.name, "delete Pod " + seen.pods[1]->key.name));
  EXPECT_FALSE(first.status.has_value());
  EXPECT_EQ(first.requeue_after, kDefaultDeletionTimeout);
  for (auto& pod : seen.pods) {
    change(pod, [&](PodView& view) { view.deletion = seen.now; });
  }
  EXPECT_THAT(writes_of(plan(seen)), IsEmpty()) << "the head still terminates";
  seen.pods.erase(seen.pods.begin());
  EXPECT_THAT(writes_of(plan(seen)), ElementsAre("create Job train-redis-cleanup")) << "workers do not write to Redis";
}

TEST_F(RedisCleanup, WaitsForTheJob) {
  delete_cluster();
  const Plan waiting = plan(with_job(job()));
  EXPECT_THAT(waiting, plan::IsEmptyPlan());
  EXPECT_EQ(waiting.requeue_after, kDefaultDeletionTimeout);
}

TEST_F(RedisCleanup, ReleasesTheClusterWhenTheJobHasCompleted) {
  delete_cluster();
  const Plan last = plan(with_finished_job("Complete"));
  expect_released(last);
  EXPECT_THAT(event_reasons(last), ElementsAre("FailedToUpdateFinalizer")) << "sent only if the patch fails";
}

TEST_F(RedisCleanup, ReleasesTheClusterWithAnEventWhenTheJobHasFailed) {
  delete_cluster();
  for (const char* condition : {"Failed", "FailureTarget"}) {
    const Plan last = plan(with_finished_job(condition));
    expect_released(last);
    EXPECT_EQ(
        event_message(last, "RedisCleanupFailed"),
        "Redis cleanup Job default/train-redis-cleanup failed (DeadlineExceeded: too slow); Redis storage namespace "
        "\"uid-of-train\" may need manual cleanup");
  }
}

TEST_F(RedisCleanup, ReleasesTheClusterAfterTheTimeout) {
  delete_cluster();
  struct Case {
    Json annotation;
    std::chrono::seconds timeout;
  };
  for (const Case& c : {Case{nullptr, std::chrono::seconds(300)}, Case{"20", std::chrono::seconds(20)},
                        Case{"0", std::chrono::seconds(300)}, Case{"-5", std::chrono::seconds(300)},
                        Case{"5m", std::chrono::seconds(300)}, Case{"99999999999999", std::chrono::seconds(300)}}) {
    if (!c.annotation.is_null()) cluster_["metadata"]["annotations"]["ray.io/gcs-ft-deletion-timeout"] = c.annotation;
    EXPECT_THAT(plan(empty(c.timeout - std::chrono::milliseconds(1))), Not(plan::HasEvent("ForceDeletedStuckCluster")));
    const Plan late = plan(empty(c.timeout));
    expect_released(late);
    EXPECT_EQ(
        event_message(late, "ForceDeletedStuckCluster"),
        fmt::format("Force-removed GCS FT finalizer after {}s due to Redis cleanup timeout; Redis storage namespace "
                    "\"uid-of-train\" may need manual cleanup",
                    c.timeout.count()));
  }
}

TEST_F(RedisCleanup, DoesNotWaitForAHeadThatNeverTerminates) {
  delete_cluster();
  RayClusterObserved seen = running();
  for (auto& pod : seen.pods) {
    change(pod, [&](PodView& view) { view.deletion = seen.now; });
  }
  seen.now += kDefaultDeletionTimeout;
  expect_released(plan(seen));
}

TEST_F(RedisCleanup, IsSkippedWithAnEventWhereItCannotBeMade) {
  delete_cluster();
  const Json before = cluster_;
  const auto expect_skipped = [&](const RayClusterObserved& seen, const std::string& why) {
    const Plan plan = this->plan(seen);
    expect_released(plan);
    EXPECT_THAT(event_message(plan, "RedisCleanupSkipped"), HasSubstr(why));
    cluster_ = before;
  };
  cluster_["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue";
  expect_skipped(running(), "spec.managedBy is kueue.x-k8s.io/multikueue");
  cluster_["spec"].erase("gcsFaultToleranceOptions");
  expect_skipped(running(), "not fault-tolerant with Redis any more");
  cluster_["spec"]["gcsFaultToleranceOptions"]["backend"] = "rocksdb";
  expect_skipped(running(), "not fault-tolerant with Redis any more");
  cluster_["spec"]["headGroupSpec"]["template"]["spec"]["containers"] = Json::array();
  expect_skipped(empty(), "spec.headGroupSpec.template.spec.containers has no container");
  cluster_["spec"] = 7;
  expect_skipped(empty(), "not fault-tolerant");
  RayClusterObserved seen = empty();
  seen.last_failure =
      plan::Failure{.reason = "FailedRedisCleanupJob", .message = "it is refused", .namespace_terminating = true};
  expect_skipped(seen, "the namespace is being terminated");
  options_.redis_cleanup = false;
  expect_skipped(running(), "redisCleanup is false");
}

TEST_F(RedisCleanup, IsMadeForASpecThatIsRefused) {
  delete_cluster();
  cluster_["spec"]["workerGroupSpecs"][0]["minReplicas"] = 3;
  cluster_["spec"]["workerGroupSpecs"][0]["maxReplicas"] = 1;
  EXPECT_THAT(writes_of(plan(empty())), ElementsAre("create Job train-redis-cleanup"));
}

TEST_F(RedisCleanup, LeavesPodsAndRedisToAClusterDeletedWithCascadeOrphan) {
  delete_cluster();
  cluster_["metadata"]["finalizers"] = {"orphan", kFinalizer};
  const Plan orphaning = plan(running());
  EXPECT_THAT(writes_of(orphaning), ElementsAre("patch RayCluster train"));
  EXPECT_THAT(event_message(orphaning, "RedisCleanupSkipped"), HasSubstr("--cascade=orphan"));

  // The garbage collector was faster.
  cluster_["metadata"]["finalizers"] = {kFinalizer};
  RayClusterObserved seen = running();
  for (auto& pod : seen.pods) {
    change(pod, [](PodView& view) {
      view.controller.reset();
      view.has_owner = false;
    });
  }
  EXPECT_THAT(writes_of(plan(seen)), ElementsAre("patch RayCluster train"))
      << "the head runs on, with its state in Redis";
}

TEST_F(RedisCleanup, WaitsWhileTheGarbageCollectorDeletesDependentsFirst) {
  delete_cluster();
  cluster_["metadata"]["finalizers"] = {kFinalizer, "foregroundDeletion"};
  EXPECT_THAT(writes_of(plan(empty())), IsEmpty());
}

TEST_F(RedisCleanup, WaitsUntilJobsAreWatched) {
  delete_cluster();
  RayClusterObserved seen = empty();
  seen.jobs_watched = false;
  EXPECT_THAT(plan(seen), plan::IsEmptyPlan());
  EXPECT_TRUE(plan(seen).requeue_after.has_value());
}

TEST_F(RedisCleanup, WaitsForAJobOfTheSameNameToGo) {
  delete_cluster();
  Json other = job();
  other["metadata"]["ownerReferences"][0]["uid"] = "uid-of-an-earlier-train";
  EXPECT_THAT(plan(with_job(other)), plan::IsEmptyPlan());
  other["metadata"].erase("ownerReferences");
  const Plan waiting = plan(with_job(other));
  EXPECT_THAT(waiting, plan::IsEmptyPlan());
  EXPECT_THAT(waiting.reason, HasSubstr("job default/train-redis-cleanup has no controller"));
  EXPECT_EQ(waiting.requeue_after, plan::kConflictRetry);
}

TEST_F(RedisCleanup, HasAJobWithTheRayContainerOfTheHead) {
  Json& pod = cluster_["spec"]["headGroupSpec"]["template"]["spec"];
  pod["containers"].push_back({{"name", "sidecar"}, {"image", "s"}});
  pod["nodeSelector"] = {{"a", "b"}};
  pod["restartPolicy"] = "Always";
  cluster_["spec"]["rayVersion"] = "2.52.0";
  cluster_["spec"]["authOptions"]["mode"] = "token";
  const Json built = job();
  EXPECT_EQ(built["metadata"]["name"], "train-redis-cleanup");
  EXPECT_EQ(built["metadata"]["labels"]["ray.io/node-type"], "redis-cleanup");
  EXPECT_EQ(built["metadata"]["labels"]["ray.io/cluster"], "train");
  EXPECT_EQ(built["metadata"]["annotations"],
            Json({{"ray.io/ft-enabled", "true"}, {"ray.io/external-storage-namespace", "uid-of-train"}}));
  EXPECT_EQ(built["metadata"]["ownerReferences"][0]["uid"], "uid-of-train");
  EXPECT_EQ(built["spec"]["backoffLimit"], 0);
  EXPECT_EQ(built["spec"]["activeDeadlineSeconds"], 300);
  const Json& job_template = built["spec"]["template"];
  EXPECT_EQ(job_template["metadata"]["labels"]["ray.io/node-type"], "redis-cleanup");
  EXPECT_EQ(job_template["spec"]["restartPolicy"], "Never");
  EXPECT_EQ(job_template["spec"]["nodeSelector"], Json({{"a", "b"}}));
  ASSERT_EQ(job_template["spec"]["containers"].size(), 1U);
  const Json& container = job_template["spec"]["containers"][0];
  EXPECT_EQ(container["image"], "rayproject/ray:2.49.1");
  EXPECT_EQ(container["command"], Json({"/bin/bash", "-c", "--"}));
  EXPECT_THAT(container["args"][0].get<std::string>(), HasSubstr("cleanup_redis_storage"));
  EXPECT_EQ(container["resources"], Json::parse(R"({"limits": {"cpu": "200m", "memory": "256Mi"},
                                                    "requests": {"cpu": "200m", "memory": "256Mi"}})"));
  EXPECT_FALSE(container.contains("livenessProbe"));
  EXPECT_FALSE(container.contains("readinessProbe"));
  std::vector<std::string> names;
  for (const Json& variable : container["env"]) names.push_back(variable["name"]);
  EXPECT_THAT(names, testing::IsSupersetOf({"RAY_REDIS_ADDRESS", "RAY_external_storage_namespace",
                                            "RAY_redis_db_connect_retries", "RAY_redis_db_connect_wait_milliseconds"}));
  EXPECT_THAT(names, Not(testing::Contains("RAY_AUTH_TOKEN"))) << "its Secret may be deleted already";
}

TEST_F(RedisCleanup, HasAJobNameOfAtMost63Characters) {
  cluster_["metadata"]["name"] = "abcd-" + std::string(48, 'x');
  EXPECT_EQ(job()["metadata"]["name"], "r" + std::string(48, 'x') + "-redis-cleanup");
}

}  // namespace
}  // namespace tpuslice::raycluster
