#include "tests/unit/cmd/tpu-slice-sim/cluster/jobs/job_fixture.h"

#include "cmd/tpu-slice-sim/cluster/jobs/job_policies.h"

namespace tpuslice::sim {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class JobFailureTest : public JobFixture {
 protected:
  /// When each of the given pods was created, relative to `start`.
  [[nodiscard]] std::vector<Duration> creation_times(const std::string& name) {
    std::vector<Duration> out;
    for (const Json& pod : pods_of(name)) {
      out.push_back(*parse_rfc3339(string_at(pod, {"metadata", "creationTimestamp"})) - start_);
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  const Timestamp start_ = clock_.wall();
};

TEST_F(JobFailureTest, SetsFailureTargetFirstAndFailedOnceAllPodsAreTerminal) {
  apply(a_job("train").indexed(3).spec("backoffLimit", 0));
  run_for(5s);
  fail_index("train", "1");
  ASSERT_TRUE(run_until([&] { return has_condition("train", "FailureTarget"); }, 5s));
  EXPECT_THAT(conditions("train"), ElementsAre("FailureTarget=True BackoffLimitExceeded"));
  EXPECT_EQ(status("train")["terminating"], 2);
  EXPECT_EQ(status("train")["failed"], 3);
  EXPECT_EQ(status("train")["ready"], 0);
  EXPECT_FALSE(status("train").contains("active"));
  ASSERT_TRUE(run_until([&] { return has_condition("train", "Failed"); }, 5s));
  EXPECT_THAT(conditions("train"),
              ElementsAre("FailureTarget=True BackoffLimitExceeded", "Failed=True BackoffLimitExceeded"));
  EXPECT_EQ(status("train")["terminating"], 0);
  EXPECT_EQ(status("train")["uncountedTerminatedPods"], Json::object());
  EXPECT_FALSE(status("train").contains("completionTime"));
  ASSERT_THAT(pods_of("train"), SizeIs(1));
  EXPECT_EQ(index_of(pods_of("train")[0]), "1");
  EXPECT_FALSE(held(pods_of("train")[0]));
  EXPECT_THAT(events_of("train"), Contains("Warning BackoffLimitExceeded"));
}

TEST_F(JobFailureTest, IsNotFinalWhileAPodTerminatesOnALostNode) {
  apply(a_job("train").indexed(2).spec("backoffLimit", 0));
  run_for(5s);
  const std::string node = string_at(pods_of("train")[0], {"spec", "nodeName"});
  ASSERT_TRUE(cluster_.set_node_ready(node, false).ok());
  fail_index("train", "1");
  run_for(1min);
  EXPECT_THAT(conditions("train"), ElementsAre("FailureTarget=True BackoffLimitExceeded"));
  ASSERT_TRUE(cluster_.set_node_ready(node, true).ok());
  run_for(1min);
  EXPECT_TRUE(has_condition("train", "Failed"));
}

TEST_F(JobFailureTest, CreatesANewPodAfterADoublingBackOff) {
  apply(a_job("train").indexed(1).script("fail-after", "0s"));
  run_for(3min);
  // A pod runs for a second and is counted a second later; the pause begins when it ended.
  const std::vector<Duration> created = creation_times("train");
  ASSERT_THAT(created, SizeIs(5));
  EXPECT_EQ(created[1] - created[0], 10s);
  EXPECT_EQ(created[2] - created[1], 20s);
  EXPECT_EQ(created[3] - created[2], 40s);
  EXPECT_EQ(created[4] - created[3], 80s);
}

TEST(PodBackOff, DoublesFromTenSecondsToTenMinutes) {
  EXPECT_EQ(pod_back_off(0), 0s);
  EXPECT_EQ(pod_back_off(1), 10s);
  EXPECT_EQ(pod_back_off(2), 20s);
  EXPECT_EQ(pod_back_off(6), 320s);
  EXPECT_EQ(pod_back_off(7), 10min);
  EXPECT_EQ(pod_back_off(1000), 10min);
}

TEST_F(JobFailureTest, ResetsTheBackOffAfterASuccess) {
  apply(a_job("train").indexed(3).spec("parallelism", 1).spec("completions", 3));
  run_for(5s);
  fail_index("train", "0");
  run_for(20s);
  complete_index("train", "0");
  run_for(5s);
  ASSERT_THAT(indexes_of("train"), ElementsAre("1"));
  fail_index("train", "1");
  run_for(9s);
  EXPECT_THAT(indexes_of("train"), IsEmpty());
  run_for(3s);
  EXPECT_THAT(indexes_of("train"), ElementsAre("1"));
}

TEST_F(JobFailureTest, CountsADeletedPodAsFailed) {
  apply(a_job("train").indexed(2));
  run_for(5s);
  ASSERT_TRUE(cluster_.remove("pods", key_of_pod(pods_of("train")[0])).ok());
  run_for(20s);
  EXPECT_THAT(indexes_of("train"), ElementsAre("0", "1"));
  EXPECT_EQ(status("train")["failed"], 1);
}

TEST_F(JobFailureTest, ReplacesTerminatingPods) {
  apply(a_job("train").indexed(1));
  run_for(5s);
  ASSERT_TRUE(cluster_.set_node_ready(string_at(pods_of("train")[0], {"spec", "nodeName"}), false).ok());
  ASSERT_TRUE(cluster_.remove("pods", key_of_pod(pods_of("train")[0])).ok());
  run_for(20s);
  EXPECT_THAT(pods_of("train"), SizeIs(2));
  EXPECT_EQ(status("train")["terminating"], 1);
  EXPECT_EQ(status("train")["active"], 1);
  EXPECT_EQ(status("train")["failed"], 1);
}

TEST_F(JobFailureTest, WaitsForTerminalPodsIfOnlyFailedOnesAreReplaced) {
  apply(a_job("train").indexed(1).spec("podReplacementPolicy", "Failed"));
  run_for(5s);
  const std::string node = string_at(pods_of("train")[0], {"spec", "nodeName"});
  ASSERT_TRUE(cluster_.set_node_ready(node, false).ok());
  ASSERT_TRUE(cluster_.remove("pods", key_of_pod(pods_of("train")[0])).ok());
  run_for(1min);
  EXPECT_THAT(pods_of("train"), SizeIs(1));
  EXPECT_EQ(status("train")["terminating"], 1);
  EXPECT_FALSE(status("train").contains("failed"));
  ASSERT_TRUE(cluster_.set_node_ready(node, true).ok());
  run_for(1min);
  EXPECT_THAT(indexes_of("train"), ElementsAre("0"));
  EXPECT_EQ(status("train")["failed"], 1);
}

TEST_F(JobFailureTest, CountsAPodThatWasNeverBound) {
  apply(a_job("train")
            .indexed(1)
            .spec("podReplacementPolicy", "Failed")
            .set("/spec/template/spec/nodeSelector", {{"no", "where"}}));
  run_for(5s);
  ASSERT_TRUE(cluster_.remove("pods", key_of_pod(pods_of("train")[0])).ok());
  run_for(20s);
  EXPECT_THAT(indexes_of("train"), ElementsAre("0"));
  EXPECT_EQ(status("train")["failed"], 1);
}

TEST_F(JobFailureTest, CountsContainerRestartsWithRestartPolicyOnFailure) {
  apply(a_job("train").indexed(2).spec("backoffLimit", 2).restart_policy("OnFailure"));
  run_for(5s);
  const auto kill = [&](std::size_t pod) {
    ASSERT_TRUE(cluster_.kill_container(key_of_pod(live_pods_of("train")[pod]), "main").ok());
  };
  kill(0);
  run_for(5s);
  EXPECT_EQ(status("train")["active"], 2);
  EXPECT_FALSE(status("train").contains("failed"));
  EXPECT_THAT(conditions("train"), IsEmpty());
  kill(1);
  run_for(5s);
  EXPECT_THAT(conditions("train"),
              ElementsAre("FailureTarget=True BackoffLimitExceeded", "Failed=True BackoffLimitExceeded"));
  EXPECT_EQ(status("train")["failed"], 2);
}

TEST_F(JobFailureTest, FailsAtTheActiveDeadline) {
  apply(a_job("train").indexed(2).spec("activeDeadlineSeconds", 30));
  run_for(29s);
  EXPECT_THAT(conditions("train"), IsEmpty());
  run_for(5s);
  EXPECT_THAT(conditions("train"), ElementsAre("FailureTarget=True DeadlineExceeded", "Failed=True DeadlineExceeded"));
  EXPECT_THAT(live_pods_of("train"), IsEmpty());
}

TEST_F(JobFailureTest, DoesNotCountSuspendedTimeTowardsTheDeadline) {
  apply(a_job("train").indexed(1).spec("activeDeadlineSeconds", 30));
  run_for(20s);
  ASSERT_TRUE(patch("train", {{"spec", {{"suspend", true}}}}).ok());
  run_for(60s);
  EXPECT_THAT(conditions("train"), ElementsAre("Suspended=True JobSuspended"));
  ASSERT_TRUE(patch("train", {{"spec", {{"suspend", false}}}}).ok());
  run_for(29s);
  EXPECT_THAT(conditions("train"), ElementsAre("Suspended=False JobResumed"));
  run_for(5s);
  EXPECT_TRUE(has_condition("train", "Failed"));
}

class JobIndexFailureTest : public JobFailureTest {};

TEST_F(JobIndexFailureTest, CountsFailuresPerIndex) {
  apply(a_job("train").indexed(3).spec("backoffLimitPerIndex", 1));
  run_for(5s);
  EXPECT_EQ(status("train")["failedIndexes"], "");
  const auto failures = [&](const std::string& index) {
    for (const Json& pod : live_pods_of("train")) {
      if (index_of(pod) == index) {
        return string_at(pod, {"metadata", "annotations", "batch.kubernetes.io/job-index-failure-count"});
      }
    }
    return std::string("none");
  };
  EXPECT_EQ(failures("1"), "0");
  fail_index("train", "1");
  run_for(3s);
  // It stays, uncounted, until its successor has taken over its number of failures.
  EXPECT_FALSE(status("train").contains("failed"));
  EXPECT_TRUE(held(pods_of("train")[1]));
  run_for(12s);
  EXPECT_EQ(failures("1"), "1");
  EXPECT_EQ(failures("2"), "0");
  EXPECT_EQ(status("train")["failed"], 1);
  EXPECT_FALSE(held(pods_of("train")[1]) && held(pods_of("train")[2]));
  fail_index("train", "1");
  run_for(1min);
  EXPECT_EQ(failures("1"), "none");
  EXPECT_EQ(status("train")["failedIndexes"], "1");
  EXPECT_EQ(status("train")["failed"], 2);
  EXPECT_THAT(conditions("train"), IsEmpty());
  complete_index("train", "0");
  complete_index("train", "2");
  run_for(5s);
  EXPECT_THAT(conditions("train"), ElementsAre("FailureTarget=True FailedIndexes", "Failed=True FailedIndexes"));
  EXPECT_EQ(status("train")["completedIndexes"], "0,2");
}

TEST_F(JobIndexFailureTest, HasABackOffPerIndex) {
  apply(a_job("train").indexed(3).spec("backoffLimitPerIndex", 1));
  run_for(5s);
  fail_index("train", "0");
  run_for(6s);
  fail_index("train", "2");
  run_for(5s);
  EXPECT_THAT(indexes_of("train"), ElementsAre("0", "1"));
  run_for(7s);
  EXPECT_THAT(indexes_of("train"), ElementsAre("0", "1", "2"));
}

TEST_F(JobIndexFailureTest, FailsTheJobWhenTooManyIndexesFailed) {
  apply(a_job("train").indexed(4).spec("backoffLimitPerIndex", 0).spec("maxFailedIndexes", 1));
  run_for(5s);
  fail_index("train", "3");
  run_for(5s);
  EXPECT_THAT(conditions("train"), IsEmpty());
  fail_index("train", "0");
  run_for(5s);
  EXPECT_THAT(conditions("train"),
              ElementsAre("FailureTarget=True MaxFailedIndexesExceeded", "Failed=True MaxFailedIndexesExceeded"));
  EXPECT_EQ(status("train")["failedIndexes"], "0,3");
}

class JobPolicyTest : public JobFailureTest {
 protected:
  static Json rules(const char* text) { return {{"rules", Json::parse(text)}}; }
};

TEST_F(JobPolicyTest, FailsTheJobAtOnceForAnExitCode) {
  apply(a_job("train").indexed(2).spec(
      "podFailurePolicy",
      rules(
          R"([{"action": "FailJob", "onExitCodes": {"containerName": "main", "operator": "In", "values": [42, 43]}}])")));
  run_for(5s);
  fail_index("train", "0", 43);
  run_for(5s);
  EXPECT_THAT(conditions("train"), ElementsAre("FailureTarget=True PodFailurePolicy", "Failed=True PodFailurePolicy"));
  EXPECT_THAT(string_at(status("train"), {"conditions", "1", "message"}),
              MatchesRegex("Container main for pod default/train-0-[a-z0-9]+ failed with exit code 43 matching FailJob "
                           "rule at index 0"));
}

TEST_F(JobPolicyTest, DoesNotCountIgnoredFailures) {
  apply(a_job("train")
            .indexed(2)
            .spec("backoffLimit", 0)
            .spec("podFailurePolicy",
                  rules(R"([{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}])")));
  run_for(5s);
  ASSERT_TRUE(cluster_.delete_node(string_at(pods_of("train")[0], {"spec", "nodeName"})).ok());
  run_for(30s);
  EXPECT_THAT(indexes_of("train"), ElementsAre("0", "1"));
  EXPECT_FALSE(status("train").contains("failed"));
  fail_index("train", "0", 1);
  run_for(5s);
  EXPECT_TRUE(has_condition("train", "Failed"));
}

TEST_F(JobPolicyTest, AppliesTheFirstMatchingRule) {
  apply(a_job("train")
            .indexed(2)
            .spec("backoffLimit", 1)
            .spec("podFailurePolicy", rules(R"([{"action": "Count", "onExitCodes": {"operator": "In", "values": [1]}},
                                    {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [9]}}])")));
  run_for(5s);
  fail_index("train", "0", 1);
  run_for(20s);
  EXPECT_EQ(status("train")["failed"], 1);
  EXPECT_THAT(conditions("train"), IsEmpty());
  fail_index("train", "0", 2);
  run_for(5s);
  EXPECT_TRUE(has_condition("train", "Failed"));
  EXPECT_THAT(conditions("train"), Contains("Failed=True PodFailurePolicy"));
}

TEST_F(JobPolicyTest, FailsAnIndexForAnExitCode) {
  apply(a_job("train")
            .indexed(2)
            .spec("backoffLimitPerIndex", 5)
            .spec("podFailurePolicy",
                  rules(R"([{"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [42]}}])")));
  run_for(5s);
  fail_index("train", "1", 42);
  run_for(1min);
  EXPECT_EQ(status("train")["failedIndexes"], "1");
  EXPECT_THAT(indexes_of("train"), ElementsAre("0"));
}

TEST_F(JobPolicyTest, RecordsIgnoredFailuresOnThePod) {
  apply(a_job("train")
            .indexed(1)
            .spec("backoffLimitPerIndex", 0)
            .spec("podFailurePolicy",
                  rules(R"([{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [7]}}])")));
  run_for(5s);
  fail_index("train", "0", 7);
  run_for(20s);
  ASSERT_THAT(live_pods_of("train"), SizeIs(1));
  const Json annotations = live_pods_of("train")[0]["metadata"]["annotations"];
  EXPECT_EQ(annotations["batch.kubernetes.io/job-index-failure-count"], "0");
  EXPECT_EQ(annotations["batch.kubernetes.io/job-index-ignored-failure-count"], "1");
  EXPECT_FALSE(status("train").contains("failed"));
}

TEST_F(JobPolicyTest, CompletesTheJobByItsSuccessPolicy) {
  apply(a_job("train").indexed(4).spec("successPolicy", rules(R"([{"succeededIndexes": "0"}, {"succeededIndexes": "1-3",
                                                  "succeededCount": 2}])")));
  run_for(5s);
  complete_index("train", "1");
  run_for(5s);
  EXPECT_THAT(conditions("train"), IsEmpty());
  complete_index("train", "3");
  ASSERT_TRUE(run_until([&] { return has_condition("train", "SuccessCriteriaMet"); }, 5s));
  EXPECT_FALSE(has_condition("train", "Complete")) << "two pods are still ending";
  run_for(5s);
  EXPECT_THAT(conditions("train"), ElementsAre("SuccessCriteriaMet=True SuccessPolicy", "Complete=True SuccessPolicy"));
  EXPECT_EQ(string_at(status("train"), {"conditions", "0", "message"}), "Matched rules at index 1");
  EXPECT_EQ(status("train")["completedIndexes"], "1,3");
  EXPECT_FALSE(status("train").contains("failed"));
  EXPECT_THAT(live_pods_of("train"), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::sim
