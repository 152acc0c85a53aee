// Events of actions: what the executor reports of one action, or of several that share it.
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/executor.h"
#include "tests/unit/controllers/runtime/event_sinks.h"
#include "tests/unit/controllers/runtime/widgets.h"

namespace tpuslice::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ActionEventsTest : public ::testing::Test {
 protected:
  ActionEventsTest() : owner_(api_.put(kWidgets, widget("w"))) { api_.clear_calls(); }

  /// The events that are sent.
  std::vector<std::string> apply(std::vector<plan::Stage> stages, const std::stop_token& stop = {}) {
    plan::Plan plan;
    plan.stages = std::move(stages);
    plan.events = {{plan::EventType::kNormal, "Always", "", "message"}};
    report_ =
        executor_.apply(plan, {{kWidgets.api_version(), "Widget", owner_.key(), owner_.uid(), {}}, kWidgets, {}}, stop);
    return events_.seen;
  }
  /// Creates the pod, and reports that alone.
  [[nodiscard]] plan::Action create(const std::string& name) const { return create(name, events_about(name)); }
  [[nodiscard]] plan::Action create(const std::string& name,
                                    const std::shared_ptr<const plan::ActionEvents>& events) const {
    plan::Action action = plan::Action::create(kPods, pod(name, &owner_));
    action.events = events;
    return action;
  }
  /// Creates these pods, and reports that together.
  [[nodiscard]] std::vector<plan::Action> create_all(const std::vector<std::string>& names) const {
    const auto shared = events_about("pods");
    std::vector<plan::Action> out;
    for (const std::string& name : names) out.push_back(create(name, shared));
    return out;
  }
  static std::shared_ptr<const plan::ActionEvents> events_about(const std::string& what) {
    return std::make_shared<const plan::ActionEvents>(
        plan::ActionEvents{.on_success = {{plan::EventType::kNormal, "Created", "", what}},
                           .on_failure = {{plan::EventType::kWarning, "Failed", "", what}}});
  }
  void fail(std::map<std::string, ErrorCode> pods) {
    api_.fault = [pods = std::move(pods)](const FakeApi::Call& call) {
      const auto found = pods.find(call.key.name);
      return found == pods.end() ? std::nullopt
                                 : std::optional<Error>(Error::of(found->second, "{} is refused", call.key.name));
    };
  }

  FakeApi api_;
  EventTexts events_;
  InlineParallel parallel_;
  FakeClock clock_;
  Metrics metrics_;
  const ExceptionBarrier barrier_{"executor", metrics_, clock_, Logger()};
  Executor executor_{api_, api_, parallel_, events_, barrier_};
  Object owner_;
  ExecutionReport report_;
};

TEST_F(ActionEventsTest, FollowTheOutcomeOfTheAction) {
  fail({{"b", ErrorCode::kForbidden}});
  EXPECT_THAT(apply({{{create("a"), create("b"), create("c")}}}),
              ElementsAre("w Created: a", "w Failed: b, b is refused", "w Always: message"))
      << "c was not sent";
}

TEST_F(ActionEventsTest, SendTheErrorAfterAColon) {
  fail({{"a", ErrorCode::kForbidden}});
  EXPECT_THAT(apply({{{create("a", events_about("pod a:"))}}}),
              ElementsAre("w Failed: pod a: a is refused", "w Always: message"));
}

TEST_F(ActionEventsTest, OfSeveralActionsReportOnceThatAllSucceeded) {
  std::vector<plan::Action> actions = create_all({"a", "b", "c"});
  const plan::Action last = actions.back();
  actions.pop_back();
  EXPECT_THAT(apply({{actions}, {{last}}}), ElementsAre("w Created: pods", "w Always: message"));
}

TEST_F(ActionEventsTest, OfSeveralActionsReportTheFirstError) {
  fail({{"b", ErrorCode::kForbidden}, {"c", ErrorCode::kInvalid}});
  EXPECT_THAT(apply({{create_all({"a", "b", "c", "d"}), true}}),
              ElementsAre("w Failed: pods, b is refused", "w Always: message"));
  EXPECT_TRUE(api_.find(kPods, {"default", "d"})) << "the actions are independent";
}

// Regression: the success was that of the last pod, and the failure that of the first.
TEST_F(ActionEventsTest, OfBatchesReportTheFailureOfOne) {
  fail({{"b", ErrorCode::kForbidden}});
  EXPECT_THAT(apply({{create_all({"a", "b", "c", "d"})}}),
              ElementsAre("w Failed: pods, b is refused", "w Always: message"));
  EXPECT_TRUE(api_.find(kPods, {"default", "a"})) << "the first batch is one action";
}

TEST_F(ActionEventsTest, OfSeveralActionsCountOnceOneSucceeded) {
  const std::vector<plan::Action> actions = create_all({"a", "b"});
  fail({{"b", ErrorCode::kForbidden}});
  apply({{actions, true}});
  plan::Plan plan;
  plan.stages = {{actions, true}};
  EXPECT_TRUE(report_.events(plan).front().began);
  EXPECT_FALSE(report_.events(plan).front().succeeded);
  ASSERT_TRUE(api_.remove(kPods, {"default", "a"}, {}, {}).ok());
  fail({{"a", ErrorCode::kForbidden}, {"b", ErrorCode::kForbidden}});
  apply({{actions, true}});
  EXPECT_FALSE(report_.events(plan).front().began);
}

TEST_F(ActionEventsTest, AreNotSentForAConflict) {
  fail({{"b", ErrorCode::kConflict}});
  EXPECT_THAT(apply({{{create("a"), create("b")}}}), ElementsAre("w Created: a")) << "the next plan sends the others";
  EXPECT_TRUE(report_.cut_short());
}

TEST_F(ActionEventsTest, OfSeveralActionsAreNotSentForAConflict) {
  fail({{"b", ErrorCode::kConflict}});
  EXPECT_THAT(apply({{create_all({"a", "b"})}}), IsEmpty());
}

TEST_F(ActionEventsTest, AreAllSentIfAnotherActionHasAConflict) {
  fail({{"a", ErrorCode::kConflict}, {"b", ErrorCode::kForbidden}});
  EXPECT_THAT(apply({{{create("a"), create("b")}, true}}),
              ElementsAre("w Failed: b, b is refused", "w Always: message"));
  EXPECT_FALSE(report_.cut_short()) << "the failure is an input of the next plan";
}

TEST_F(ActionEventsTest, AreThoseOfSentActionsIfThePlanIsCutShort) {
  fail({{"b", ErrorCode::kCancelled}});
  EXPECT_THAT(apply({{{create("a")}}, {{create("b")}}}), ElementsAre("w Created: a"))
      << "the replica that completes the plan sends the others";
  EXPECT_TRUE(report_.cut_short());
}

TEST_F(ActionEventsTest, OfSeveralActionsAreNotSentIfThePlanIsCutShort) {
  std::stop_source stop;
  api_.on_write = [&](const FakeApi::Call&, const std::stop_token&) { stop.request_stop(); };
  EXPECT_THAT(apply({{create_all({"a", "b"})}}, stop.get_token()), IsEmpty());
}

TEST_F(ActionEventsTest, AreNotSentForAnOptionalActionThatFails) {
  fail({{"a", ErrorCode::kForbidden}});
  std::vector<plan::Action> actions = {create("a"), create("b")};
  for (plan::Action& action : actions) action.best_effort = true;
  EXPECT_THAT(apply({{actions}}), ElementsAre("w Created: b", "w Always: message"));
  EXPECT_TRUE(report_.ok());
}

TEST_F(ActionEventsTest, AreNotSentForActionsOfALaterStage) {
  fail({{"a", ErrorCode::kForbidden}});
  EXPECT_THAT(apply({{{create("a")}}, {{create("b")}}}), ElementsAre("w Failed: a, a is refused", "w Always: message"));
}

}  // namespace
}  // namespace tpuslice::runtime
