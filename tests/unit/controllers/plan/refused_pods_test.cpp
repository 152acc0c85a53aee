#include "controllers/plan/refused_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/conditions.h"
#include "controllers/plan/waiting_conditions.h"

namespace tpuslice::plan {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

const Timestamp kRefusedAt(1'800'000'000s);
const LackingPods kJob{"Job", "train-w-0", "uid-of-job"};

Json conditions_since(Timestamp since, const char* reason = "PodsPending", const char* message = "pods are created") {
  return Json::array({{{"type", kSlicesPlaced},
                       {"status", "False"},
                       {"reason", reason},
                       {"message", message},
                       {"lastTransitionTime", format_rfc3339(since)}}});
}

struct Asked {
  std::string text;
  Changes changes;
};

Asked ask_about(const LackingPods& owner, const Json& conditions, const WorkloadAnswers& answers = {}) {
  Asked out;
  out.text = explain_lacking_pods(owner, conditions, answers, kRefusedAt, out.changes);
  return out;
}

Asked ask_about_job(const Json& conditions, const WorkloadAnswers& answers = {}) {
  return ask_about(kJob, conditions, answers);
}

WorkloadAnswers answered(Json content, int status = 200) {
  WorkloadAnswer answer;
  answer.request = ask_about_job(conditions_since(kRefusedAt - 1min)).changes.requests.at(0);
  answer.status = status;
  answer.content = std::move(content);
  return WorkloadAnswers({std::make_shared<const WorkloadAnswer>(std::move(answer))});
}

Json refusal(const std::string& message, Timestamp time = kRefusedAt - 5s) {
  return {{"message", message}, {"time", format_rfc3339(time)}};
}

TEST(RefusedPods, AreAskedForOnlyWhilePodsHaveBeenMissingForAWhile) {
  const Json fresh = conditions_since(kRefusedAt - 4s);
  EXPECT_THAT(ask_about_job(fresh).changes.requests, IsEmpty());
  EXPECT_EQ(ask_about_job(fresh).changes.requeue_after, 6s);
  EXPECT_THAT(ask_about_job(Json::array()).changes.requests, IsEmpty()) << "the first plan of the workload";
  Json placed = conditions_since(kRefusedAt - 1min);
  placed[0]["status"] = "True";
  EXPECT_THAT(ask_about_job(placed).changes.requests, IsEmpty());
  EXPECT_FALSE(ask_about_job(placed).changes.requeue_after);
  const Asked late = ask_about_job(conditions_since(kRefusedAt - 10s));
  ASSERT_EQ(late.changes.requests.size(), 1U);
  EXPECT_EQ(late.changes.requests[0].events->uid, "uid-of-job");
  EXPECT_EQ(late.changes.requests[0].events->reason, "FailedCreate");
  EXPECT_FALSE(late.changes.requeue_after) << "a changed answer requeues";
}

TEST(RefusedPods, AreExplainedByTheApiServersWords) {
  const Json conditions = conditions_since(kRefusedAt - 1min);
  const auto text = [&](const std::string& message) {
    return ask_about_job(conditions, answered(refusal(message))).text;
  };
  EXPECT_EQ(
      text("Error creating: pods \"train-w-0-0-\" is forbidden: no PriorityClass with name missing was found"),
      "Job train-w-0 lacks pods: pods \"train-w-0-*\" is forbidden: no PriorityClass with name missing was found");
  EXPECT_EQ(text("(combined from similar events): Error creating: Pod \"train-w-0-3-x7k2p\" is invalid: spec: Invalid"),
            "Job train-w-0 lacks pods: Pod \"train-w-0-*\" is invalid: spec: Invalid");
  EXPECT_EQ(text("create Pod train-w-0-1 in StatefulSet train-w-0 failed error: admission webhook \"x.y\" denied the "
                 "request: pod-train-w-0-1"),
            "Job train-w-0 lacks pods: admission webhook \"x.y\" denied the request: pod-train-w-0-1")
      << "only whole names of pods are shortened";
  EXPECT_EQ(text("timeout"), "Job train-w-0 lacks pods: timeout");
}

TEST(RefusedPods, AreNotExplainedByAnOldEvent) {
  const Json conditions = conditions_since(kRefusedAt - 1h);
  EXPECT_THAT(ask_about_job(conditions, answered(refusal("x", kRefusedAt - 20min))).text, IsEmpty());
  EXPECT_THAT(ask_about_job(conditions, answered(Json::object())).text, IsEmpty());
  const Asked recent = ask_about_job(conditions, answered(refusal("x", kRefusedAt - 19min)));
  EXPECT_EQ(recent.text, "Job train-w-0 lacks pods: x");
  EXPECT_EQ(recent.changes.requeue_after, 1min) << "no other event may come";
}

TEST(RefusedPods, AreThoseSinceTheJobWasResumed) {
  const Json conditions = conditions_since(kRefusedAt - 1h);
  LackingPods resumed = kJob;
  resumed.since = kRefusedAt - 3s;
  EXPECT_THAT(ask_about(resumed, conditions).changes.requests, IsEmpty());
  EXPECT_EQ(ask_about(resumed, conditions).changes.requeue_after, 7s);
  resumed.since = kRefusedAt - 1min;
  EXPECT_THAT(ask_about(resumed, conditions, answered(refusal("x", kRefusedAt - 2min))).text, IsEmpty());
  EXPECT_EQ(ask_about(resumed, conditions, answered(refusal("x"))).text, "Job train-w-0 lacks pods: x");
}

TEST(RefusedPods, KeepTheirExplanationWhileThereIsNoAnswer) {
  EXPECT_EQ(ask_about_job(conditions_since(kRefusedAt - 1min, "PodsRefused", "Job train-w-0 lacks pods: x")).text,
            "Job train-w-0 lacks pods: x")
      << "as after a restart of the operator";
  EXPECT_THAT(ask_about_job(conditions_since(kRefusedAt - 1min)).text, IsEmpty());
  EXPECT_THAT(ask_about_job(conditions_since(kRefusedAt - 1min), answered({}, 0)).text, IsEmpty())
      << "without the permission";
}

}  // namespace
}  // namespace tpuslice::plan
