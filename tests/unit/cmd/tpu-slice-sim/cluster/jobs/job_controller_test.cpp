#include "tests/unit/cmd/tpu-slice-sim/cluster/jobs/job_fixture.h"

namespace tpuslice::sim {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class JobControllerTest : public JobFixture {};

TEST_F(JobControllerTest, CreatesAPodForEveryIndex) {
  const Json created = apply(a_job("train").indexed(2).set("/spec/template/spec/initContainers",
                                                           Json::array({Json{{"name", "setup"}, {"image", "image"}}})));
  run_for(1ms);
  const std::vector<Json> pods = pods_of("train");
  ASSERT_THAT(pods, SizeIs(2));
  const Json& pod = pods[1];
  EXPECT_THAT(string_at(pod, {"metadata", "name"}), MatchesRegex("train-1-[a-z0-9]{5}"));
  EXPECT_EQ(string_at(pod, {"metadata", "generateName"}), "train-1-");
  EXPECT_EQ(string_at(pod, {"spec", "hostname"}), "train-1");
  const std::string uid = string_at(created, {"metadata", "uid"});
  const Json labels = {{"batch.kubernetes.io/job-name", "train"},
                       {"batch.kubernetes.io/controller-uid", uid},
                       {"batch.kubernetes.io/job-completion-index", "1"},
                       {"job-name", "train"},
                       {"controller-uid", uid}};
  for (const auto& [label, value] : labels.items()) EXPECT_EQ(pod["metadata"]["labels"][label], value) << label;
  EXPECT_EQ(index_of(pod), "1");
  const Json owner = {{"apiVersion", "batch/v1"}, {"kind", "Job"},
                      {"name", "train"},          {"uid", uid},
                      {"controller", true},       {"blockOwnerDeletion", true}};
  EXPECT_EQ(pod["metadata"]["ownerReferences"], Json::array({owner}));
  EXPECT_TRUE(held(pod));
  for (const char* kind : {"containers", "initContainers"}) {
    const Json& variable = pod["spec"][kind][0]["env"][0];
    EXPECT_EQ(variable["name"], "JOB_COMPLETION_INDEX");
    EXPECT_EQ(variable["valueFrom"]["fieldRef"]["fieldPath"],
              "metadata.labels['batch.kubernetes.io/job-completion-index']");
  }
}

TEST_F(JobControllerTest, KeepsTheIndexInThePodsOfJobsWithLongNames) {
  apply(a_job(std::string(61, 'x')).indexed(1));
  run_for(1s);
  const std::vector<Json> pods = pods_of(std::string(61, 'x'));
  ASSERT_THAT(pods, SizeIs(1));
  EXPECT_THAT(string_at(pods[0], {"metadata", "name"}), MatchesRegex("x{55}-0-[a-z0-9]{5}"));
}

TEST_F(JobControllerTest, CompletesAnIndexedJob) {
  apply(a_job("train").indexed(4).script("complete-after", "5s"));
  run_for(4s);
  EXPECT_EQ(status("train")["active"], 4);
  EXPECT_EQ(status("train")["ready"], 4);
  EXPECT_EQ(status("train")["uncountedTerminatedPods"], Json::object());
  run_for(1min);
  const Json found = status("train");
  EXPECT_THAT(conditions("train"),
              ElementsAre("SuccessCriteriaMet=True CompletionsReached", "Complete=True CompletionsReached"));
  EXPECT_EQ(found["succeeded"], 4);
  EXPECT_EQ(found["completedIndexes"], "0-3");
  EXPECT_EQ(found["ready"], 0);
  EXPECT_EQ(found["terminating"], 0);
  EXPECT_EQ(found["uncountedTerminatedPods"], Json::object());
  EXPECT_FALSE(found.contains("active"));
  EXPECT_FALSE(found.contains("failed"));
  EXPECT_EQ(string_at(found, {"startTime"}), "2026-01-01T00:00:00Z");
  EXPECT_NE(string_at(found, {"completionTime"}), "");
  for (const Json& pod : pods_of("train")) {
    EXPECT_EQ(string_at(pod, {"status", "phase"}), "Succeeded");
    EXPECT_FALSE(held(pod));
  }
  EXPECT_THAT(events_of("train"), ElementsAre("Normal Completed", "Normal SuccessfulCreate", "Normal SuccessfulCreate",
                                              "Normal SuccessfulCreate", "Normal SuccessfulCreate"));
}

TEST_F(JobControllerTest, CreatesPodsWithoutAnIndexForNonIndexedJobs) {
  apply(a_job("work").spec("completions", 3).spec("parallelism", 2).script("complete-after", "2s"));
  run_for(1ms);
  ASSERT_THAT(pods_of("work"), SizeIs(2));
  const Json pod = pods_of("work")[0];
  EXPECT_THAT(string_at(pod, {"metadata", "name"}), MatchesRegex("work-[a-z0-9]{5}"));
  EXPECT_FALSE(pod["spec"].contains("hostname"));
  EXPECT_FALSE(pod["spec"]["containers"][0].contains("env"));
  run_for(1min);
  EXPECT_EQ(status("work")["succeeded"], 3);
  EXPECT_FALSE(status("work").contains("completedIndexes"));
  EXPECT_THAT(pods_of("work"), SizeIs(3));
  EXPECT_TRUE(has_condition("work", "Complete"));
}

TEST_F(JobControllerTest, CreatesNoPodsAfterAPodOfAWorkQueueSucceeded) {
  apply(a_job("queue").spec("parallelism", 3));
  run_for(10s);
  ASSERT_THAT(live_pods_of("queue"), SizeIs(3));
  ASSERT_TRUE(cluster_.kill_container(key_of_pod(live_pods_of("queue")[0]), "main", 0).ok());
  run_for(10s);
  EXPECT_THAT(live_pods_of("queue"), SizeIs(2));
  EXPECT_THAT(conditions("queue"), IsEmpty());
  for (const Json& pod : live_pods_of("queue")) {
    ASSERT_TRUE(cluster_.kill_container(key_of_pod(pod), "main", 0).ok());
  }
  run_for(10s);
  EXPECT_TRUE(has_condition("queue", "Complete"));
  EXPECT_EQ(status("queue")["succeeded"], 3);
}

TEST_F(JobControllerTest, StartsTheLowestIndexesFirst) {
  apply(a_job("train").indexed(6).spec("parallelism", 2));
  run_for(5s);
  EXPECT_THAT(indexes_of("train"), ElementsAre("0", "1"));
  complete_index("train", "1");
  run_for(5s);
  EXPECT_THAT(indexes_of("train"), ElementsAre("0", "2"));
  EXPECT_EQ(status("train")["completedIndexes"], "1");
}

TEST_F(JobControllerTest, ScalesWithTheParallelism) {
  apply(a_job("train").indexed(4).spec("parallelism", 1));
  run_for(5s);
  ASSERT_TRUE(patch("train", {{"spec", {{"parallelism", 3}}}}).ok());
  run_for(5s);
  EXPECT_THAT(indexes_of("train"), ElementsAre("0", "1", "2"));
  ASSERT_TRUE(patch("train", {{"spec", {{"parallelism", 2}}}}).ok());
  run_for(5s);
  EXPECT_THAT(live_pods_of("train"), SizeIs(2));
  EXPECT_FALSE(status("train").contains("failed"));
}

TEST_F(JobControllerTest, RemovesTheHighestIndexesOfAnElasticJob) {
  apply(a_job("train").indexed(4));
  run_for(5s);
  ASSERT_TRUE(patch("train", {{"spec", {{"parallelism", 2}, {"completions", 2}}}}).ok());
  run_for(5s);
  EXPECT_THAT(indexes_of("train"), ElementsAre("0", "1"));
  ASSERT_TRUE(patch("train", {{"spec", {{"parallelism", 3}, {"completions", 3}}}}).ok());
  run_for(5s);
  EXPECT_THAT(indexes_of("train"), ElementsAre("0", "1", "2"));
}

TEST_F(JobControllerTest, CompletesAJobWithoutCompletions) {
  apply(a_job("none").indexed(0));
  run_for(5s);
  EXPECT_THAT(conditions("none"), Contains("Complete=True CompletionsReached"));
  EXPECT_THAT(pods_of("none"), IsEmpty());
}

TEST_F(JobControllerTest, HasNoPodsWhileSuspended) {
  apply(a_job("train").indexed(2).spec("suspend", true));
  run_for(10s);
  EXPECT_THAT(pods_of("train"), IsEmpty());
  EXPECT_THAT(conditions("train"), ElementsAre("Suspended=True JobSuspended"));
  EXPECT_FALSE(status("train").contains("startTime"));
  ASSERT_TRUE(patch("train", {{"spec", {{"suspend", false}}}}).ok());
  run_for(10s);
  EXPECT_THAT(indexes_of("train"), ElementsAre("0", "1"));
  EXPECT_THAT(conditions("train"), ElementsAre("Suspended=False JobResumed"));
  EXPECT_EQ(string_at(status("train"), {"startTime"}), "2026-01-01T00:00:10Z");
  ASSERT_TRUE(patch("train", {{"spec", {{"suspend", true}}}}).ok());
  run_for(10s);
  EXPECT_THAT(pods_of("train"), IsEmpty());
  EXPECT_THAT(conditions("train"), ElementsAre("Suspended=True JobSuspended"));
  EXPECT_FALSE(status("train").contains("startTime"));
  EXPECT_FALSE(status("train").contains("failed"));
  EXPECT_FALSE(status("train").contains("active"));
  EXPECT_THAT(events_of("train"), Contains("Normal Resumed"));
}

TEST_F(JobControllerTest, ReleasesItsPodsOnForegroundDeletion) {
  apply(a_job("train").indexed(2));
  run_for(5s);
  ASSERT_TRUE(cluster_.remove("jobs.batch", {"default", "train"}, "Foreground").ok());
  run_for(100ms);
  EXPECT_FALSE(job("train").is_null());
  run_for(5s);
  EXPECT_THAT(names("pods"), IsEmpty());
  EXPECT_TRUE(job("train").is_null());
}

TEST_F(JobControllerTest, ReleasesItsPodsOnBackgroundDeletion) {
  apply(a_job("train").indexed(2));
  run_for(5s);
  ASSERT_TRUE(cluster_.remove("jobs.batch", {"default", "train"}).ok());
  EXPECT_TRUE(job("train").is_null());
  run_for(5s);
  EXPECT_THAT(names("pods"), IsEmpty());
}

TEST_F(JobControllerTest, RemovesTheFinalizerFromOrphanedPods) {
  apply(a_job("train").indexed(2));
  run_for(5s);
  ASSERT_TRUE(cluster_.remove("jobs.batch", {"default", "train"}, "Orphan").ok());
  run_for(5s);
  const std::vector<Json> pods = pods_of("train");
  ASSERT_THAT(pods, SizeIs(2));
  EXPECT_FALSE(held(pods[0]));
  EXPECT_FALSE(pods[0]["metadata"].contains("ownerReferences"));
}

TEST_F(JobControllerTest, ReleasesItsPodsWhenTheirNamespaceIsDeleted) {
  apply({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "team"}}}});
  apply(a_job("train").indexed(2).set("/metadata/namespace", "team"));
  run_for(5s);
  EXPECT_THAT(names("pods", "team"), SizeIs(2));
  ASSERT_TRUE(cluster_.remove("namespaces", {"", "team"}).ok());
  run_for(10s);
  EXPECT_THAT(names("namespaces"), Not(Contains("team")));
}

TEST_F(JobControllerTest, IgnoresPodsOfAnEarlierJobWithTheSameName) {
  apply(a_job("train").indexed(2));
  run_for(5s);
  const std::vector<Json> before = pods_of("train");
  ASSERT_TRUE(cluster_.remove("jobs.batch", {"default", "train"}).ok());
  apply(a_job("train").indexed(2));
  run_for(10s);
  const std::vector<Json> after = pods_of("train");
  ASSERT_THAT(after, SizeIs(2));
  EXPECT_NE(after[0]["metadata"]["uid"], before[0]["metadata"]["uid"]);
  EXPECT_FALSE(status("train").contains("failed"));
}

TEST_F(JobControllerTest, IgnoresJobsManagedByAnotherController) {
  apply(a_job("train").indexed(2).spec("managedBy", "example.com/other"));
  run_for(10s);
  EXPECT_THAT(pods_of("train"), IsEmpty());
  EXPECT_EQ(status("train"), Json::object());
}

TEST_F(JobControllerTest, SyncsJobsManagedByItsOwnName) {
  apply(a_job("train").indexed(1).spec("managedBy", "kubernetes.io/job-controller"));
  run_for(10s);
  EXPECT_THAT(pods_of("train"), SizeIs(1));
}

TEST_F(JobControllerTest, SyncsJobsWithGeneratedNames) {
  Json manifest = a_job("unused").indexed(1);
  manifest["metadata"] = {{"generateName", "made-"}, {"namespace", "default"}};
  const auto created =
      cluster_.registry().create(*cluster_.registry().resources().find_id("jobs.batch"), Object(manifest));
  ASSERT_TRUE(created.ok());
  run_for(5s);
  const std::string name = created->key().name;
  EXPECT_THAT(name, MatchesRegex("made-[a-z0-9]{5}"));
  EXPECT_EQ(string_at(pods_of(name).at(0), {"spec", "hostname"}), name + "-0");
}

TEST_F(JobControllerTest, RetriesRefusedPodsWithBackOff) {
  std::vector<Instant> attempts;
  bool refuse = true;
  cluster_.set_webhooks([&](const AdmissionRequest& request) -> Result<Json> {
    const bool pod = request.operation == "CREATE" && request.resource->id() == "pods";
    if (pod) attempts.push_back(clock_.now());
    if (pod && refuse) return Error::of(ErrorCode::kForbidden, "not now");
    return request.object;
  });
  const Instant start = clock_.now();
  apply(a_job("train").indexed(4));
  run_for(20s);
  EXPECT_THAT(attempts, ElementsAre(start, start + 1s, start + 3s, start + 7s, start + 15s));
  EXPECT_THAT(events_of("train"), Contains("Warning FailedCreate"));
  refuse = false;
  run_for(12s);
  EXPECT_THAT(indexes_of("train"), ElementsAre("0", "1", "2", "3"));
}

TEST_F(JobControllerTest, CreatesTheMissingPodsAfterARefusal) {
  bool refuse = true;
  cluster_.set_webhooks([&](const AdmissionRequest& request) -> Result<Json> {
    const bool third = request.operation == "CREATE" && request.resource->id() == "pods" &&
                       string_at(request.object, {"spec", "hostname"}) == "train-2";
    if (third && refuse) return Error::of(ErrorCode::kForbidden, "not now");
    return request.object;
  });
  apply(a_job("train").indexed(8));
  run_for(1ms);
  // Of the batches 1, 2 and 4 the third has not been tried.
  EXPECT_THAT(indexes_of("train"), ElementsAre("0", "1"));
  refuse = false;
  run_for(1min);
  EXPECT_THAT(indexes_of("train"), SizeIs(8));
}

TEST_F(JobControllerTest, WritesNothingForARunningJob) {
  apply(a_job("train").indexed(4));
  run_for(30s);
  const Revision before = cluster_.storage().revision();
  run_for(60min);
  EXPECT_EQ(cluster_.storage().revision(), before);
}

TEST_F(JobControllerTest, SurvivesCompaction) {
  apply(a_job("train").indexed(4).spec("parallelism", 2));
  run_for(5s);
  complete_index("train", "0");
  cluster_.compact();
  run_for(5s);
  EXPECT_THAT(indexes_of("train"), ElementsAre("1", "2"));
  EXPECT_EQ(status("train")["completedIndexes"], "0");
}

TEST_F(JobControllerTest, CreatesAtMostFiveHundredPodsPerSync) {
  apply(a_job("many").indexed(600).set("/spec/template/spec/schedulingGates", Json::array({Json{{"name", "wait"}}})));
  run_for(1ms);
  EXPECT_THAT(pods_of("many"), SizeIs(500));
  run_for(5s);
  EXPECT_THAT(pods_of("many"), SizeIs(600));
}

TEST_F(JobControllerTest, DeletesFinishedJobsAfterTheirTtl) {
  apply(a_job("short").indexed(1).spec("ttlSecondsAfterFinished", 30).script("complete-after", "1s"));
  apply(a_job("stays").indexed(1).script("complete-after", "1s"));
  run_for(20s);
  EXPECT_TRUE(has_condition("short", "Complete"));
  run_for(20s);
  EXPECT_TRUE(job("short").is_null());
  EXPECT_THAT(pods_of("short"), IsEmpty());
  EXPECT_TRUE(has_condition("stays", "Complete"));
  EXPECT_THAT(pods_of("stays"), Not(IsEmpty()));
}

/// Its two time lines are read one after the other, as those of a real one.
class UnevenClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override { return fake.now(); }
  [[nodiscard]] Timestamp wall() const override { return fake.wall() - behind; }

  FakeClock fake;
  Duration behind{};
};

TEST(SimJobs, AreDeletedAfterTheirTtlIfMonotonicAndWallClockDiffer) {
  UnevenClock clock;
  Cluster cluster(clock);
  ASSERT_TRUE(
      cluster.apply(a_job("short").indexed(1).spec("ttlSecondsAfterFinished", 30).script("complete-after", "1s")).ok());
  cluster.run_for(clock.fake, 20s);
  clock.behind = 1us;
  cluster.run_for(clock.fake, 40s);
  EXPECT_EQ(cluster.get("jobs.batch", {"default", "short"}), nullptr);
}

TEST(SimJobs, HaveTheSameHistoryForTheSameSeed) {
  const auto history = [](std::uint64_t seed) {
    FakeClock clock;
    Cluster cluster(clock, {.seed = seed, .jitter = true});
    EXPECT_TRUE(cluster.apply(a_job("a").indexed(4).spec("parallelism", 2).script("complete-after", "3s")).ok());
    EXPECT_TRUE(cluster.apply(a_job("b").indexed(3).spec("backoffLimit", 4).script("fail-after", "2s")).ok());
    cluster.run_for(clock, 2min);
    std::string out;
    const std::vector<Change> changes = cluster.storage().changes({}, 0, 100'000).value();
    for (const Change& change : changes) out += change.resource + change.key.to_string() + change.object->dump();
    return out;
  };
  EXPECT_EQ(history(3), history(3));
  EXPECT_NE(history(3), history(4));
}

}  // namespace
}  // namespace tpuslice::sim
