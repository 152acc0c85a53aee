#include "controllers/plan/failed_writes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/plan_matchers.h"

namespace tpuslice::plan {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Timestamp kBegin = *parse_rfc3339("2026-01-01T00:00:00Z");
const Error kForbidden = Error::of(ErrorCode::kForbidden, "denied by a policy");
const Error kConflict = Error::conflict("it has changed");
const Error kUnavailable = Error::unavailable("HTTP 500");

Action release(const std::string& name, const std::string& uid = "u", const std::string& version = "1") {
  Action action =
      Action::patch(kPods, {"default", name}, {{"spec", {{"schedulingGates", Json::array()}}}}, {uid, version});
  action.failure_reason = "FailedPlaceSlice";
  return action;
}
Action reason(const std::string& name) {
  return Action::patch(kPods, {"default", name}, {{"metadata", {{"annotations", {{"a", "b"}}}}}}, {.uid = "u"});
}
Action removal(const std::string& name) { return Action::remove(kPods, {"default", name}, {.uid = "u"}); }
Action condition(const std::string& name) {
  Action action = reason(name);
  action.subresource = "status";
  action.best_effort = true;
  return action;
}

class FailedWritesTest : public ::testing::Test {
 protected:
  void fail(const Action& action, const Error& error, Duration when = {}) {
    writes_.record_failure(action, error, kBegin + when);
  }
  [[nodiscard]] Duration wait_after(const Action& action) const {
    const FailedWrite* const failed = writes_.find(action);
    return failed == nullptr ? Duration::zero() : failed->retry_at - failed->last;
  }
  [[nodiscard]] Plan held(Plan plan, Duration when) const {
    writes_.hold_back(plan, kBegin + when);
    return plan;
  }
  [[nodiscard]] bool is_sent(const Action& action, Duration when) const {
    return !held({.stages = {{{action}}}}, when).stages.empty();
  }

  FailedWrites writes_;
};

TEST_F(FailedWritesTest, WaitTwiceAsLongAfterEachRefusalUpToFiveMinutes) {
  std::vector<int> waits;
  Duration now = 0s;
  for (int i = 0; i < 12; ++i) {
    fail(release("a"), kForbidden, now);
    waits.push_back(static_cast<int>(wait_after(release("a")) / 1s));
    now += wait_after(release("a"));
  }
  EXPECT_THAT(waits, ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300));
  EXPECT_EQ(writes_.find(release("a"))->since, kBegin);
}

TEST_F(FailedWritesTest, AreRetriedWithinMillisecondsAFewTimesIfTheReasonShouldPass) {
  for (const Error& error : {kConflict, kUnavailable}) {
    writes_ = {};
    std::vector<int> waits;
    for (int i = 0; i < 8; ++i) {
      fail(release("a"), error);
      waits.push_back(static_cast<int>(wait_after(release("a")) / 1ms));
      EXPECT_EQ(writes_.find(release("a"))->keeps_failing(), i >= FailedWrites::kToleratedFailures);
    }
    EXPECT_THAT(waits, ElementsAre(50, 100, 200, 400, 800, 1000, 2000, 4000)) << error.message();
  }
}

TEST_F(FailedWritesTest, WaitHalfAMinuteAtMostForAServerThatFails) {
  for (int i = 0; i < 20; ++i) {
    fail(release("down"), kUnavailable);
    fail(release("changing"), kConflict);
  }
  EXPECT_EQ(wait_after(release("down")), Duration(30s));
  EXPECT_EQ(wait_after(release("changing")), Duration(5min));
}

// An API server that starts again refuses everything for a moment, until it has read the roles.
TEST_F(FailedWritesTest, BeginAgainWithAnAnswerAfterAnOutage) {
  for (int i = 0; i < 20; ++i) fail(release("a"), kUnavailable);
  fail(release("a"), kForbidden);
  EXPECT_EQ(wait_after(release("a")), Duration(1s));
  EXPECT_EQ(writes_.find(release("a"))->failures, 1);
}

TEST_F(FailedWritesTest, WaitAsLongAsTheServerAsks) {
  Error busy = Error::of(ErrorCode::kTooManyRequests, "busy");
  fail(release("a"), busy.with_retry_after(7s));
  EXPECT_EQ(wait_after(release("a")), Duration(7s));
  fail(release("a"), busy.with_retry_after(24h));
  EXPECT_EQ(wait_after(release("a")), Duration(5min)) << "but not for a day";
}

TEST_F(FailedWritesTest, AreForgottenAfterASuccess) {
  fail(release("a"), kForbidden);
  writes_.record_success(reason("a"));
  EXPECT_NE(writes_.find(release("a")), nullptr) << "another write to the same object";
  writes_.record_success(release("a"));
  EXPECT_EQ(writes_.find(release("a")), nullptr);
  EXPECT_TRUE(writes_.empty());
  EXPECT_EQ(writes_.size(), 0U);
}

TEST_F(FailedWritesTest, AreForgottenForAnObjectWithAnotherUid) {
  fail(release("a"), kForbidden);
  EXPECT_EQ(writes_.find(release("a", "successor")), nullptr);
  EXPECT_EQ(writes_.find({"default", "a"}, "FailedPlaceSlice", "successor"), nullptr);
  fail(release("a", "successor"), kForbidden, 1h);
  EXPECT_EQ(writes_.find(release("a", "successor"))->failures, 1);
  EXPECT_EQ(writes_.size(), 1U);
}

TEST_F(FailedWritesTest, AreNeitherOptionalNorCancelled) {
  fail(condition("a"), kForbidden);
  fail(release("a"), Error::of(ErrorCode::kCancelled, "stopped"));
  EXPECT_TRUE(writes_.empty());
}

TEST_F(FailedWritesTest, AreBounded) {
  for (std::size_t i = 0; i < FailedWrites::kMaxWrites + 10; ++i) {
    fail(release(fmt::format("p-{}", i)), kForbidden, std::chrono::milliseconds(i));
  }
  EXPECT_EQ(writes_.size(), FailedWrites::kMaxWrites);
  EXPECT_EQ(writes_.find(release("p-9")), nullptr) << "those that are due first are forgotten";
  EXPECT_NE(writes_.find(release("p-10")), nullptr);
  writes_ = {};
  fail(release("a"), Error::of(ErrorCode::kForbidden, "{}", std::string(100'000, 'x')));
  EXPECT_EQ(writes_.find(release("a"))->message.size(),
            FailedWrites::kMaxMessageBytes + std::string_view("...").size());
}

TEST_F(FailedWritesTest, AreForgottenIfNobodyTriesAgain) {
  fail(release("a"), kForbidden);
  fail(release("b"), kForbidden, 3h);
  EXPECT_EQ(writes_.find(release("a")), nullptr);
  EXPECT_EQ(writes_.size(), 1U);
}

TEST_F(FailedWritesTest, TellWhetherPatchesOfAnObjectAreRefused) {
  fail(removal("deletes"), kForbidden);
  fail(release("changing"), kConflict);
  fail(reason("a"), kForbidden);
  EXPECT_FALSE(writes_.refuses_patches({"default", "deletes"}, "u"));
  EXPECT_FALSE(writes_.refuses_patches({"default", "changing"}, "u"));
  EXPECT_TRUE(writes_.refuses_patches({"default", "a"}, "u"));
  EXPECT_FALSE(writes_.refuses_patches({"default", "a"}, "successor"));
}

// What is held back.

TEST_F(FailedWritesTest, AreNotSentBeforeTheyAreDue) {
  fail(release("a"), kForbidden);
  const Plan plan = held({.stages = {{{release("a"), release("b")}}}}, 400ms);
  EXPECT_THAT(stages_of(plan), ElementsAre(ElementsAre("patch Pod b")));
  EXPECT_EQ(plan.requeue_after, Duration(600ms));
  EXPECT_TRUE(is_sent(release("a"), 1s));
  EXPECT_TRUE(is_sent(reason("a"), 0s)) << "another write to the same object";
}

TEST_F(FailedWritesTest, AreSentAtOnceIfTheObjectHasChangedSinceAConflict) {
  fail(release("a", "u", "1"), kConflict);
  EXPECT_FALSE(is_sent(release("a", "u", "1"), 1ms)) << "the store lags behind";
  EXPECT_TRUE(is_sent(release("a", "u", "2"), 1ms));
  for (int i = 0; i < FailedWrites::kToleratedFailures; ++i) fail(release("a", "u", std::to_string(i)), kConflict);
  EXPECT_FALSE(is_sent(release("a", "u", "99"), 1ms)) << "it changes all the time";
}

TEST_F(FailedWritesTest, AreSentIfTheClockWasSetBack) {
  fail(release("a"), kForbidden, 24h);
  EXPECT_TRUE(is_sent(release("a"), 1h));
}

TEST_F(FailedWritesTest, HoldBackWhatDependsOnThem) {
  fail(removal("a"), kForbidden);
  Plan plan;
  plan.stages = {{{condition("a"), condition("b")}, true}, {{removal("a"), removal("b")}, true}, {{removal("c")}}};
  EXPECT_THAT(stages_of(held(plan, 1ms)), ElementsAre(ElementsAre("patch Pod b status"), ElementsAre("delete Pod b")))
      << "no condition without the deletion, and no later stage";
  plan.stages[1].continue_on_failure = true;
  EXPECT_THAT(stages_of(held(plan, 1ms)),
              ElementsAre(ElementsAre("patch Pod b status"), ElementsAre("delete Pod b"), ElementsAre("delete Pod c")));
}

TEST_F(FailedWritesTest, LeaveNoEventsOfAPlanThatSendsNothing) {
  fail(removal("a"), kForbidden);
  Plan plan;
  plan.events.push_back({EventType::kNormal, "SliceTornDown", "TearDownSlice", "x"});
  plan.stages = {{{condition("a")}}, {{removal("a"), removal("b")}, true}};
  EXPECT_THAT(held(plan, 1ms).events, SizeIs(1));
  plan.stages[1].actions.pop_back();
  const Plan nothing = held(plan, 1ms);
  EXPECT_THAT(nothing.stages, IsEmpty());
  EXPECT_THAT(nothing.events, IsEmpty());
}

TEST_F(FailedWritesTest, HoldBackTheEventThatSaysThatTheySucceeded) {
  fail(removal("a"), kForbidden);
  Plan plan;
  const auto shared = std::make_shared<const ActionEvents>(
      ActionEvents{.on_success = {{EventType::kNormal, "SliceTornDown", "TearDownSlice", "all pods are deleted"}},
                   .on_failure = {{EventType::kWarning, "SliceTornDown", "TearDownSlice", "not all"}}});
  plan.stages = {{{removal("a"), removal("b")}, true}, {{removal("c")}}};
  for (Action& action : plan.stages[0].actions) action.events = shared;
  const Plan sent = held(plan, 1ms);
  ASSERT_THAT(stages_of(sent), ElementsAre(ElementsAre("delete Pod b")));
  EXPECT_THAT(action_of(sent, "delete Pod b").events->on_success, IsEmpty());
  EXPECT_THAT(action_of(sent, "delete Pod b").events->on_failure, SizeIs(1));
  plan.stages[0].actions.erase(plan.stages[0].actions.begin());
  EXPECT_EQ(action_of(held(plan, 1ms), "delete Pod b").events, shared);
}

}  // namespace
}  // namespace tpuslice::plan
