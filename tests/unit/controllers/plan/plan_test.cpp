#include "controllers/plan/plan.h"

#include <gtest/gtest.h>

namespace tpuslice::plan {
namespace {

Object pod(const std::string& name) {
  return Object({{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", name}, {"namespace", "default"}}}});
}

TEST(Plan, PrintsEveryMember) {
  Plan plan;
  plan.reason = "replace worker a";
  Action deletion = Action::remove(kPods, {"default", "a"}, {.uid = "u1", .resource_version = "7"});
  deletion.grace_seconds = 0;
  deletion.failure_reason = "FailedDeletePod";
  plan.stages.push_back({{deletion}});
  plan.stages.push_back(
      {{Action::create(kPods, pod("a")), Action::patch(kPods, {"default", "b"}, {{"x", 1}}, {"u2"})}});
  plan.status = StatusPatch{{{"ready", 1}}};
  plan.events.push_back({EventType::kWarning, "R", "A", "m"});
  plan.requeue_after = std::chrono::milliseconds(1500);

  const Json expected = Json::parse(R"({
    "reason": "replace worker a",
    "stages": [
      [{"action": "delete", "resource": "pods", "object": "default/a", "uid": "u1", "resourceVersion": "7",
        "gracePeriodSeconds": 0, "failureReason": "FailedDeletePod"}],
      [{"action": "create", "resource": "pods", "object": "default/a",
        "body": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "default"}}},
       {"action": "patch", "resource": "pods", "object": "default/b", "body": {"x": 1}, "uid": "u2"}]
    ],
    "status": {"ready": 1},
    "events": [{"type": "Warning", "reason": "R", "action": "A", "message": "m"}],
    "requeueAfterSeconds": 1.5})");
  EXPECT_EQ(to_json(plan), expected) << to_json(plan).dump(2);
}

TEST(Plan, PrintsSubresourceAndPropagationWhereTheyAreSet) {
  Action deletion = Action::remove(kJobs, {"default", "a"}, {"u1"});
  deletion.propagation = Propagation::kForeground;
  Action status = Action::patch(kJobs, {"default", "b"}, {{"status", {{"startTime", nullptr}}}}, {"u2"});
  status.subresource = "status";
  Plan plan;
  plan.stages.push_back({{deletion, status}});
  EXPECT_EQ(to_json(plan)["stages"][0], Json::parse(R"([
    {"action": "delete", "resource": "jobs.batch", "object": "default/a", "uid": "u1",
     "propagationPolicy": "Foreground"},
    {"action": "patch", "resource": "jobs.batch", "object": "default/b", "subresource": "status",
     "body": {"status": {"startTime": null}}, "uid": "u2"}])"));
}

TEST(Plan, IsEmptyWithoutWrites) {
  Plan plan;
  plan.reason = "nothing to do";
  EXPECT_TRUE(plan.empty());
  EXPECT_EQ(to_json(plan), Json::parse(R"({"reason": "nothing to do", "stages": [], "events": []})"));
}

}  // namespace
}  // namespace tpuslice::plan
