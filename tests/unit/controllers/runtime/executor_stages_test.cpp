// Actions and stages whose failure does not hold back others: Action::best_effort, Stage::continue_on_failure; and
// Action::strategic.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/executor.h"
#include "tests/unit/controllers/runtime/widgets.h"

namespace tpuslice::runtime {
namespace {

using ::testing::ElementsAre;

class ApiWithPatchTypes final : public FakeApi {
 public:
  Result<Object> patch(const ResourceType& type, const ObjectKey& key, client::PatchType patch_type, const Json& body,
                       const client::PatchOptions& options, std::stop_token stop) override {
    patch_types.push_back(patch_type);
    return FakeApi::patch(type, key, patch_type, body, options, std::move(stop));
  }

  std::vector<client::PatchType> patch_types;
};

class EventReasons final : public EventSink {
 public:
  void record(const plan::ObjectReference& /*regarding*/, const plan::EventIntent& event) override {
    seen.push_back(event.reason);
  }
  std::vector<std::string> seen;
};

class ExecutorStages : public ::testing::Test {
 protected:
  ExecutorStages() : owner_(api_.put(kWidgets, widget("w"))) {
    for (const char* name : {"a", "b", "c"}) api_.put(kPods, pod(name, &owner_));
    api_.clear_calls();
  }

  ExecutionReport apply(std::vector<plan::Stage> stages, const std::stop_token& stop = {}) {
    plan_.stages = std::move(stages);
    return executor_.apply(plan_, {{kWidgets.api_version(), "Widget", owner_.key(), owner_.uid(), {}}, kWidgets, {}},
                           stop);
  }
  [[nodiscard]] plan::Action condition(const std::string& name) const {
    plan::Action action = plan::Action::patch(kPods, {"default", name}, {{"status", {{"phase", "Failed"}}}},
                                              {.uid = api_.find(kPods, {"default", name})->uid()});
    action.subresource = "status";
    action.best_effort = true;
    return action;
  }
  [[nodiscard]] plan::Action label(const std::string& name) const {
    plan::Action action = plan::Action::patch(kPods, {"default", name}, {{"metadata", {{"labels", {{"l", "v"}}}}}},
                                              {.uid = api_.find(kPods, {"default", name})->uid()});
    action.failure_reason = "FailedLabel";
    return action;
  }
  [[nodiscard]] plan::Action remove(const std::string& name) const {
    return plan::Action::remove(kPods, {"default", name}, {.uid = api_.find(kPods, {"default", name})->uid()});
  }
  void fail(std::set<std::string> calls, ErrorCode code = ErrorCode::kForbidden) {
    api_.fault = [calls = std::move(calls), code](const FakeApi::Call& call) {
      return calls.contains(call.text()) ? std::optional<Error>(Error::of(code, "no")) : std::nullopt;
    };
  }

  ApiWithPatchTypes api_;
  EventReasons events_;
  InlineParallel parallel_;
  FakeClock clock_;
  Metrics metrics_;
  const ExceptionBarrier barrier_{"executor", metrics_, clock_, Logger()};
  Executor executor_{api_, api_, parallel_, events_, barrier_};
  Object owner_;
  plan::Plan plan_;
};

// Best-effort actions.

TEST_F(ExecutorStages, GoOnAfterAnOptionalActionFailed) {
  fail({"status default/a"});
  const ExecutionReport report = apply({{{condition("a"), condition("b")}}, {{remove("a"), remove("b")}}});
  EXPECT_TRUE(report.ok());
  EXPECT_FALSE(report.failure.has_value());
  EXPECT_THAT(api_.writes(),
              ElementsAre("status default/a", "status default/b", "delete default/a", "delete default/b"));
}

TEST_F(ExecutorStages, GoOnIfThePodOfAnOptionalActionIsGone) {
  const plan::Action action = condition("a");
  ASSERT_TRUE(api_.remove(kPods, {"default", "a"}, {}, {}).ok());
  api_.clear_calls();
  EXPECT_TRUE(apply({{{action}}, {{remove("b")}}}).ok());
  EXPECT_FALSE(api_.find(kPods, {"default", "b"}));
}

TEST_F(ExecutorStages, WriteTheStatusAfterAnOptionalActionFailed) {
  fail({"status default/a"});
  plan_.status = plan::StatusPatch{{{"ready", 1}}};
  EXPECT_TRUE(apply({{{condition("a")}}}).status_written);
}

TEST_F(ExecutorStages, StopAfterAFailureBesideAnOptionalOne) {
  fail({"status default/a", "patch default/b"});
  const ExecutionReport report = apply({{{condition("a"), label("b")}}, {{remove("c")}}});
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_EQ(report.failure->reason, "FailedLabel");
  EXPECT_TRUE(api_.find(kPods, {"default", "c"})) << "the next stage did not start";
}

TEST_F(ExecutorStages, CreateTheOtherObjectsIfANameIsTaken) {
  api_.put(kPods, pod("x"));  // Without an owner.
  const auto create = [&](const char* name) { return plan::Action::create(kPods, pod(name, &owner_)); };
  const ExecutionReport report = apply({{{create("x"), create("y"), create("z")}}, {{remove("b")}}});
  EXPECT_FALSE(report.ok());
  EXPECT_TRUE(api_.find(kPods, {"default", "z"}));
  EXPECT_TRUE(api_.find(kPods, {"default", "b"})) << "the next stage did not start";
}

TEST_F(ExecutorStages, TellThatAPodWasDeletedWithoutItsOptionalCondition) {
  fail({"status default/a"});
  plan::Action action = remove("a");
  action.events = std::make_shared<const plan::ActionEvents>(
      plan::ActionEvents{.on_success = {{plan::EventType::kNormal, "Deleted", "Delete", "x"}},
                         .on_failure = {{plan::EventType::kWarning, "FailedDelete", "Delete", "x"}}});
  EXPECT_TRUE(apply({{{condition("a")}}, {{action}}}).ok());
  EXPECT_THAT(events_.seen, ElementsAre("Deleted"));
}

// Stages that do not hold back the next.

plan::Stage going_on(std::vector<plan::Action> actions) { return {std::move(actions), true, true}; }

TEST_F(ExecutorStages, ContinueOnFailureIfSet) {
  fail({"patch default/a"});
  const ExecutionReport report = apply({going_on({label("a"), label("b")}), going_on({remove("c")})});
  EXPECT_THAT(api_.writes(), ElementsAre("patch default/a", "patch default/b", "delete default/c"));
  ASSERT_TRUE(report.failure.has_value()) << "the failure is reported all the same";
  EXPECT_EQ(report.failure->reason, "FailedLabel");
  EXPECT_FALSE(report.ok());
}

TEST_F(ExecutorStages, HoldBackTheNextStageByDefault) {
  fail({"patch default/a"});
  const ExecutionReport report = apply({{{label("a"), label("b")}, true}, going_on({remove("c")})});
  EXPECT_FALSE(report.ok());
  EXPECT_THAT(api_.writes(), ElementsAre("patch default/a", "patch default/b")) << "independent, but not continuing";
}

TEST_F(ExecutorStages, AreHeldBackByALaterStageThatDoesNotContinue) {
  fail({"patch default/a", "patch default/b"});
  apply({going_on({label("a")}), {{label("b")}}, {{remove("c")}}});
  EXPECT_THAT(api_.writes(), ElementsAre("patch default/a", "patch default/b"));
}

TEST_F(ExecutorStages, AreRetriedForTheErrorThatMayPassFirst) {
  const std::map<std::string, ErrorCode> codes = {
      {"a", ErrorCode::kConflict}, {"b", ErrorCode::kInvalid}, {"c", ErrorCode::kUnavailable}};
  api_.fault = [&](const FakeApi::Call& call) {
    return std::optional<Error>(Error::of(codes.at(call.key.name), "{} failed", call.key.name));
  };
  const ExecutionReport report = apply({going_on({label("a"), label("b"), label("c")})});
  EXPECT_EQ(report.error->code(), ErrorCode::kUnavailable) << "an object that is refused for good delays no other";
  EXPECT_EQ(report.failure->message, "b failed") << "the first one that depends on the object";
  EXPECT_EQ(apply({going_on({label("a"), label("b")})}).error->code(), ErrorCode::kInvalid);
}

TEST_F(ExecutorStages, WriteNoStatusAfterAFailure) {
  fail({"patch default/a"});
  plan_.status = plan::StatusPatch{{{"ready", 1}}};
  EXPECT_FALSE(apply({going_on({label("a")})}).status_written);
}

TEST_F(ExecutorStages, DoNotContinueOnceStopped) {
  std::stop_source stop;
  api_.on_write = [&](const FakeApi::Call&, const std::stop_token&) { stop.request_stop(); };
  const ExecutionReport report = apply({going_on({label("a")}), going_on({remove("c")})}, stop.get_token());
  EXPECT_THAT(api_.writes(), ElementsAre("patch default/a"));
  EXPECT_FALSE(report.ok());
}

// Strategic merge patches.

TEST_F(ExecutorStages, SendAStrategicMergePatchOnlyWhereTheActionSaysSo) {
  plan::Action strategic = condition("a");
  strategic.strategic = true;
  apply({{{strategic}}, {{label("b")}}});
  EXPECT_THAT(api_.patch_types, ElementsAre(client::PatchType::kStrategic, client::PatchType::kMerge));
}

TEST(PlanJson, ShowsWhatIsStrategicOrOptional) {
  plan::Action action = plan::Action::patch(kPods, {"default", "a"}, Json::object(), {.uid = "u"});
  plan::Plan plan;
  plan.stages = {{{action}}};
  Json shown = plan::to_json(plan)["stages"][0][0];
  EXPECT_FALSE(shown.contains("patchType"));
  EXPECT_FALSE(shown.contains("optional"));
  plan.stages[0].actions[0].strategic = true;
  plan.stages[0].actions[0].best_effort = true;
  shown = plan::to_json(plan)["stages"][0][0];
  EXPECT_EQ(shown["patchType"], "strategic");
  EXPECT_EQ(shown["optional"], true);
}

}  // namespace
}  // namespace tpuslice::runtime
