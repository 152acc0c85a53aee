// KubeRay's metrics of RayJobs. Names, types and labels are those of ray_job_metrics.go of v1.7.0.
#include "controllers/rayjob/rayjob_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/rayjob/rules/rayjob_labels.h"
#include "controllers/rayjob/rules/spec.h"
#include "controllers/runtime/watch/store.h"

namespace tpuslice::rayjob {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

ObjectView rayjob(const std::string& name, Json status, const std::string& uid = {}) {
  return *ObjectView::from_json(
      {{"metadata", {{"name", name}, {"namespace", "team-a"}, {"uid", uid.empty() ? "uid-" + name : uid}}},
       {"spec", {{"entrypoint", "python Retrying.py"}}},
       {"status", std::move(status)}});
}

class RayJobMetrics : public ::testing::Test {
 protected:
  RayJobMetrics() {
    store_.add_listener([this](const auto& before, const auto& after) { retried_.changed(before, after); });
  }
  [[nodiscard]] std::string started() const { return format_rfc3339(clock_.wall()); }
  [[nodiscard]] std::string metrics() const {
    std::string text;
    SeriesWriter out(text);
    write_metrics(store_.list(), retried_, out);
    return text;
  }

  FakeClock clock_;
  RetriedAttempts retried_{clock_};
  runtime::ObjectStore store_{kRayJobs};
};

TEST_F(RayJobMetrics, AreKubeRays) {
  store_.put(rayjob("a", {{"jobDeploymentStatus", "Complete"},
                          {"startTime", "2026-03-01T10:00:00Z"},
                          {"endTime", "2026-03-01T10:10:00Z"},
                          {"failed", 1},
                          {"succeeded", 1}}));
  store_.put(rayjob("b", {{"jobDeploymentStatus", "Failed"},
                          {"startTime", "2026-03-01T10:00:00Z"},
                          {"endTime", "2026-03-01T10:00:07Z"},
                          {"failed", 1}}));
  store_.put(rayjob("c", Json()));
  EXPECT_EQ(
      metrics(),
      "# HELP kuberay_job_deployment_status 1, with the state of the RayJob.\n"
      "# TYPE kuberay_job_deployment_status gauge\n"
      "kuberay_job_deployment_status{deployment_status=\"Complete\",name=\"a\",namespace=\"team-a\",uid=\"uid-a\"} 1\n"
      "kuberay_job_deployment_status{deployment_status=\"Failed\",name=\"b\",namespace=\"team-a\",uid=\"uid-b\"} 1\n"
      "kuberay_job_deployment_status{deployment_status=\"\",name=\"c\",namespace=\"team-a\",uid=\"uid-c\"} 1\n"
      "# HELP kuberay_job_execution_duration_seconds Seconds from the start of an attempt of the RayJob until it "
      "completed, failed, or was retried.\n"
      "# TYPE kuberay_job_execution_duration_seconds gauge\n"
      "kuberay_job_execution_duration_seconds{job_deployment_status=\"Complete\",name=\"a\",namespace=\"team-a\","
      "retry_count=\"1\",uid=\"uid-a\"} 600\n"
      "kuberay_job_execution_duration_seconds{job_deployment_status=\"Failed\",name=\"b\",namespace=\"team-a\","
      "retry_count=\"0\",uid=\"uid-b\"} 7\n"
      "# HELP kuberay_job_info 1 for each RayJob.\n"
      "# TYPE kuberay_job_info gauge\n"
      "kuberay_job_info{name=\"a\",namespace=\"team-a\",uid=\"uid-a\"} 1\n"
      "kuberay_job_info{name=\"b\",namespace=\"team-a\",uid=\"uid-b\"} 1\n"
      "kuberay_job_info{name=\"c\",namespace=\"team-a\",uid=\"uid-c\"} 1\n");
}

TEST_F(RayJobMetrics, KeepTheDurationsOfAttemptsThatWereRetried) {
  const std::string first = started();
  store_.put(rayjob("a", {{"jobDeploymentStatus", "Running"}, {"startTime", first}, {"failed", 0}}));
  clock_.advance(30s);
  store_.put(rayjob("a", {{"jobDeploymentStatus", "Retrying"}, {"startTime", first}, {"failed", 1}}));
  clock_.advance(30s);
  store_.put(rayjob("a", {{"jobDeploymentStatus", "Retrying"}, {"startTime", first}, {"failed", 1}, {"message", "x"}}));
  const std::string second = started();
  store_.put(rayjob("a", {{"jobDeploymentStatus", "Running"}, {"startTime", second}, {"failed", 1}}));
  clock_.advance(10s);
  store_.put(rayjob("a", {{"jobDeploymentStatus", "Failed"},
                          {"startTime", second},
                          {"endTime", format_rfc3339(clock_.wall())},
                          {"failed", 2}}));
  EXPECT_THAT(metrics(),
              HasSubstr("kuberay_job_execution_duration_seconds{job_deployment_status=\"Retrying\",name=\"a\","
                        "namespace=\"team-a\",retry_count=\"0\",uid=\"uid-a\"} 30\n"
                        "kuberay_job_execution_duration_seconds{job_deployment_status=\"Failed\",name=\"a\","
                        "namespace=\"team-a\",retry_count=\"1\",uid=\"uid-a\"} 10\n"));
}

TEST_F(RayJobMetrics, ForgetTheAttemptsOfARayJobThatIsGone) {
  const auto retry = [&](const std::string& uid) {
    store_.put(rayjob("a", {{"jobDeploymentStatus", "Running"}, {"startTime", started()}}, uid));
    store_.put(rayjob("a", {{"jobDeploymentStatus", "Retrying"}, {"startTime", started()}, {"failed", 1}}, uid));
  };
  retry("1");
  EXPECT_THAT(retried_.of("1"), SizeIs(1));
  store_.erase({"team-a", "a"}, 5);
  EXPECT_THAT(retried_.of("1"), IsEmpty());
  EXPECT_EQ(metrics(), "");
  retry("2");
  store_.put(rayjob("a", Json(), "3"));  // Deleted and created again while no watch was open.
  EXPECT_THAT(retried_.of("2"), IsEmpty());
}

TEST_F(RayJobMetrics, KeepTheLastAttemptsOnly) {
  for (int failed = 1; failed <= 15; ++failed) {
    store_.put(rayjob("a", {{"jobDeploymentStatus", "Running"}, {"startTime", started()}, {"failed", failed - 1}}));
    store_.put(rayjob("a", {{"jobDeploymentStatus", "Retrying"}, {"startTime", started()}, {"failed", failed}}));
  }
  const auto kept = retried_.of("uid-a");
  ASSERT_THAT(kept, SizeIs(RetriedAttempts::kMaxAttempts));
  EXPECT_EQ(kept.front().retries, 5);
  EXPECT_EQ(kept.back().retries, 14);
}

/// The attempt of a RayJob that is listed while it is retried has ended at an unknown time.
TEST_F(RayJobMetrics, HaveNoDurationOfAnAttemptWhoseEndWasNotSeen) {
  store_.put(rayjob("a", {{"jobDeploymentStatus", "Retrying"}, {"startTime", started()}, {"failed", 1}}));
  EXPECT_THAT(metrics(), Not(HasSubstr("duration")));
  store_.put(rayjob("b", {{"jobDeploymentStatus", "Complete"}, {"startTime", started()}}));
  EXPECT_THAT(metrics(), Not(HasSubstr("duration"))) << "without endTime";
}

}  // namespace
}  // namespace tpuslice::rayjob
