#include "cmd/tpu-slice-sim/report/slice_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cmd/tpu-slice-sim/report/host_pods.h"

namespace tpuslice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SliceLinesTest : public ::testing::Test {
 protected:
  /// Whether the change is summarized; the lines are added to lines_.
  bool change(const Json& before, const Json& after, sim::ChangeType type = sim::ChangeType::kModified,
              const std::string& resource = "pods") {
    sim::Change change;
    change.type = type;
    change.resource = resource;
    change.key = {"default", string_at(after, {"metadata", "name"})};
    change.object = stored(after);
    if (!before.is_null()) change.previous = stored(before);
    return slices_.report(change, lines_);
  }
  void create_both() {
    for (int host = 0; host < 2; ++host) EXPECT_TRUE(change(nullptr, host_pod(host), sim::ChangeType::kAdded));
  }
  void start_both() {
    for (int host = 0; host < 2; ++host) EXPECT_TRUE(change(host_pod(host), ready_pod(host)));
  }

  SliceLines slices_;
  std::vector<std::string> lines_;
};

TEST_F(SliceLinesTest, HaveALineForEachStageOfAllHosts) {
  create_both();
  start_both();
  EXPECT_THAT(lines_, ElementsAre("slice train-0: 2 pods created, gated", "slice train-0: on v6e-a, whole",
                                  "slice train-0: 2 of 2 Ready"));
}

TEST_F(SliceLinesTest, BeginAgainAfterTheSliceIsTornDown) {
  create_both();
  start_both();
  lines_.clear();
  Json ending = ready_pod(1);
  ending["metadata"]["deletionTimestamp"] = "2026-01-01T00:01:00Z";
  EXPECT_TRUE(change(ready_pod(1), ending));
  EXPECT_TRUE(change(ending, ending, sim::ChangeType::kDeleted));
  EXPECT_TRUE(change(nullptr, host_pod(1), sim::ChangeType::kAdded));
  EXPECT_THAT(lines_, ElementsAre("slice train-0: its pods are deleted", "slice train-0: 2 pods created, gated"));
  EXPECT_TRUE(change(ready_pod(0), ready_pod(0), sim::ChangeType::kDeleted));
  EXPECT_TRUE(change(ready_pod(1), ready_pod(1), sim::ChangeType::kDeleted));
  EXPECT_EQ(lines_.back(), "slice train-0: gone");
}

TEST_F(SliceLinesTest, LeaveFailuresToTheTimeline) {
  create_both();
  start_both();
  Json failed = ready_pod(1);
  failed["status"]["phase"] = "Failed";
  EXPECT_FALSE(change(ready_pod(1), failed));
  Json unready = ready_pod(0);
  unready["status"]["conditions"][0]["status"] = "False";
  EXPECT_FALSE(change(ready_pod(0), unready));
}

// The pod of an Indexed Job stays when it has failed.
TEST_F(SliceLinesTest, DoNotCountPodsThatHaveFailed) {
  create_both();
  start_both();
  lines_.clear();
  Json failed = ready_pod(1);
  failed["status"] = {{"phase", "Failed"}};
  EXPECT_FALSE(change(ready_pod(1), failed));
  EXPECT_TRUE(change(failed, failed)) << "its failure has a line";
  Json created = host_pod(1);
  Json ready = ready_pod(1);
  for (Json* pod : {&created, &ready}) (*pod)["metadata"]["name"] = "train-0-1-again";
  EXPECT_TRUE(change(nullptr, created, sim::ChangeType::kAdded));
  EXPECT_TRUE(change(created, ready));
  EXPECT_TRUE(change(failed, failed, sim::ChangeType::kDeleted));
  EXPECT_THAT(lines_, ElementsAre("slice train-0: 2 pods created, gated", "slice train-0: on v6e-a, whole",
                                  "slice train-0: 2 of 2 Ready"));
}

TEST_F(SliceLinesTest, SayOnceThatASliceOfFailedPodsIsGone) {
  create_both();
  for (int host = 0; host < 2; ++host) {
    Json failed = ready_pod(host);
    failed["status"] = {{"phase", "Failed"}};
    EXPECT_FALSE(change(host_pod(host), failed));
  }
  lines_.clear();
  for (int host = 0; host < 2; ++host) {
    Json failed = ready_pod(host);
    failed["status"] = {{"phase", "Failed"}};
    EXPECT_TRUE(change(failed, failed, sim::ChangeType::kDeleted));
  }
  EXPECT_THAT(lines_, ElementsAre("slice train-0: gone"));
}

TEST_F(SliceLinesTest, SayThatASliceIsReadyAgain) {
  create_both();
  start_both();
  lines_.clear();
  Json unready = ready_pod(0);
  unready["status"]["conditions"][0]["status"] = "False";
  EXPECT_FALSE(change(ready_pod(0), unready));
  EXPECT_TRUE(change(unready, ready_pod(0)));
  EXPECT_THAT(lines_, ElementsAre("slice train-0: 2 of 2 Ready"));
}

TEST_F(SliceLinesTest, SayOnceThatASliceHasSucceeded) {
  create_both();
  start_both();
  lines_.clear();
  Json succeeded = ready_pod(0);
  for (int host = 0; host < 2; ++host) {
    succeeded = ready_pod(host);
    succeeded["status"] = {{"phase", "Succeeded"}};
    EXPECT_TRUE(change(ready_pod(host), succeeded));
  }
  EXPECT_TRUE(change(succeeded, succeeded));
  EXPECT_THAT(lines_, ElementsAre("slice train-0: succeeded"));
}

TEST_F(SliceLinesTest, LeaveOtherObjectsToTheTimeline) {
  Json head = ready_pod(0);
  head["metadata"].erase("labels");
  EXPECT_FALSE(change(nullptr, head, sim::ChangeType::kAdded));
  EXPECT_FALSE(change(nullptr, head, sim::ChangeType::kAdded, "nodes"));
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(SliceLinesTest, LeaveOutEventsThatSayTheSame) {
  const auto event = [](const char* kind, const char* type, const char* reason) {
    return Json{{"metadata", {{"name", "e"}}}, {"regarding", {{"kind", kind}}}, {"type", type}, {"reason", reason}};
  };
  const auto summarized = [&](const Json& json) {
    return change(nullptr, json, sim::ChangeType::kAdded, "events.events.k8s.io");
  };
  EXPECT_TRUE(summarized(event("RayCluster", "Normal", "CreatedWorkerPod")));
  EXPECT_TRUE(summarized(event("Pod", "Normal", "SliceWaiting")));
  EXPECT_FALSE(summarized(event("RayCluster", "Normal", "SliceWaiting")));
  EXPECT_FALSE(summarized(event("RayCluster", "Warning", "FailedToCreateWorkerPod")));
}

}  // namespace
}  // namespace tpuslice
