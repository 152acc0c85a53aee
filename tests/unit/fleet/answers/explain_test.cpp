#include "fleet/answers/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/tables/texts.h"
#include "tests/support/error_matchers.h"
#include "tests/support/fleet_document.h"

namespace tpuslice::fleet {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::FleetDocument;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

WorkloadExplanation explained(const FleetDocument& document, const std::string& text, const std::string& space = {}) {
  const auto out = explain_workload(*read_snapshot(document.json()), *read_reference(text), space);
  EXPECT_TRUE(out.ok()) << out.error().message();
  return *out;
}

FleetDocument a_queue() {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).pool({.name = "v6e-b"}).pool({.name = "v6e-c", .not_ready = {1}});
  document.pool({.name = "v6e-d", .topology = "8x8", .hosts = 16});
  document.slice({.workload = "train", .namespace_name = "ml", .pool = "v6e-a", .since = 52min});
  document.slice({.workload = "eval", .namespace_name = "nlp", .pool = "v6e-b", .deadline = 7200, .since = 60min});
  document.slice({.workload = "big", .slice = "big-0", .gang = 2, .since = 10min});
  document.slice({.workload = "big", .slice = "big-1", .gang = 2, .since = 10min});
  document.slice({.workload = "third", .since = 5min});
  return document;
}

TEST(Explain, SaysWhyEachPoolIsNotForTheSlice) {
  const WorkloadExplanation out = explained(a_queue(), "jobset/big");
  EXPECT_EQ(out.answer, Answer::kNotNow);
  EXPECT_EQ(out.waiting, 2);
  EXPECT_THAT(out.domains,
              ElementsAre(ExplainedDomain{"v6e-a", true, false, "ml/jobset/train (train-0), 52m, no deadline"},
                          ExplainedDomain{"v6e-b", true, false, "nlp/jobset/eval (eval-0), 60m, ends by 13:02"},
                          ExplainedDomain{"v6e-c", true, false, "node v6e-c-1 is not Ready for 6h"},
                          ExplainedDomain{"v6e-d", false, false, "it is v6e 8x8"}));
}

TEST(Explain, NamesThoseBeforeItInTheQueue) {
  const WorkloadExplanation out = explained(a_queue(), "jobset/third");
  ASSERT_EQ(out.ahead.size(), 1U);
  EXPECT_EQ(out.ahead[0].position, 1);
  EXPECT_EQ(out.ahead[0].workload, "default/jobset/big");
  EXPECT_EQ(out.ahead[0].text, "2 slices wait");
}

TEST(Explain, TriesWhatWouldHelp) {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).pool({.name = "v6e-b", .not_ready = {1}}).pool({.name = "v6e-c", .cordoned = {3}});
  document.slice({.workload = "train", .pool = "v6e-a"}).slice({.workload = "first", .since = 20min});
  document.slice({.workload = "second", .since = 10min});
  EXPECT_THAT(explained(document, "jobset/first").helps,
              ElementsAre("repair node v6e-b-1 (it starts at once)", "kubectl uncordon v6e-c-3 (it starts at once)",
                          "a higher priority: no, preemption is off"));
  EXPECT_THAT(explained(document, "jobset/second").helps,
              ElementsAre("repair node v6e-b-1 (alone not enough)", "kubectl uncordon v6e-c-3 (alone not enough)",
                          StartsWith("a higher priority: it comes earlier")));
}

TEST(Explain, KnowsWhenADeadlineFreesAPool) {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).slice({.workload = "train", .pool = "v6e-a", .deadline = 3600});
  document.slice({.workload = "next", .since = 5min});
  EXPECT_THAT(explained(document, "jobset/next").earliest, StartsWith("12:32 at the latest"));
  FleetDocument without;
  without.pool({.name = "v6e-a"}).slice({.workload = "train", .pool = "v6e-a"}).slice({.workload = "next"});
  EXPECT_THAT(explained(without, "jobset/next").earliest, StartsWith("not known: 1 of its node pools is used"));
}

TEST(Explain, ASliceThatCannotStartNeedsSomeone) {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).slice({.workload = "serve", .topology = "8x8", .hosts = 16});
  const WorkloadExplanation out = explained(document, "jobset/serve");
  EXPECT_EQ(out.answer, Answer::kNever);
  EXPECT_THAT(out.helps, Contains("1 more node pool of v6e 8x8"));
  EXPECT_EQ(out.autoscaler, "none found; nodes are not asked for (--scale-up=auto)");
  EXPECT_THAT(explanation_text(out, FleetDocument::now()), HasSubstr("Starts:     not as the cluster is"));
}

TEST(Explain, FindsAWorkloadByTheNamesOfAllItsObjects) {
  FleetDocument document;
  document.pool({.name = "v6e-a"});
  document.slice({.workload = "train-x7k", .kind = "RayCluster", .api_version = "ray.io/v1", .pool = "v6e-a"});
  document.workload("RayCluster", "train-x7k", "RayJob", "train");
  for (const char* name : {"rayjob/train", "raycluster/train-x7k", "pod/train-x7k-0-2", "slice/train-x7k-0"}) {
    const WorkloadExplanation out = explained(document, name);
    EXPECT_EQ(out.workload, (WorkloadName{"default", "RayJob", "train"})) << name;
    EXPECT_EQ(out.answer, Answer::kYes);
    EXPECT_THAT(out.domains, IsEmpty());
  }
}

TEST(Explain, AWorkloadOfTwoNamespacesNeedsANamespace) {
  FleetDocument document;
  document.slice({.workload = "train", .namespace_name = "a"}).slice({.workload = "train", .namespace_name = "b"});
  const Snapshot snapshot = *read_snapshot(document.json());
  EXPECT_THAT(explain_workload(snapshot, {"jobset", "train"}, "").error().message(), HasSubstr("add --namespace"));
  EXPECT_TRUE(explain_workload(snapshot, {"jobset", "train"}, "b").ok());
  EXPECT_EQ(explain_workload(snapshot, {"jobset", "train"}, "c").error().code(), ErrorCode::kNotFound);
}

TEST(Explain, APoolSaysWhatItsRepairWouldStart) {
  FleetDocument document;
  document.pool({.name = "v6e-c", .not_ready = {1}}).slice({.workload = "next"});
  document.history({{"time", "2026-01-01T02:00:00Z"}, {"pool", "v6e-c"}, {"what", "TornDown"}, {"why", "node lost"}});
  const auto out = explain_pool(*read_snapshot(document.json()), "v6e-c");
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->answer, Answer::kNever);
  EXPECT_THAT(out->problems, ElementsAre("node v6e-c-1 is not Ready for 6h"));
  EXPECT_THAT(out->starts, ElementsAre("default/jobset/next (next-0)"));
  EXPECT_EQ(out->history.size(), 1U);
  EXPECT_THAT(explain_pool(*read_snapshot(document.json()), "none"), IsError(ErrorCode::kNotFound));
}

TEST(Explain, TheTextBeginsWithTheAnswer) {
  EXPECT_THAT(
      explanation_text(explained(a_queue(), "jobset/third"), FleetDocument::now()),
      StartsWith("jobset/third waits: 1 slice of 4 hosts (v6e 4x4), for 5m, 2nd in the queue.  [QueuedBehind]\n"));
  EXPECT_THAT(explanation_text(explained(a_queue(), "jobset/train", "ml"), FleetDocument::now()),
              StartsWith("jobset/train runs: 1 slice of 4 hosts (v6e 4x4), for 52m.\n"));
}

}  // namespace
}  // namespace tpuslice::fleet
