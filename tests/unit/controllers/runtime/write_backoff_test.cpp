// Controllers whose writes back off one by one: ControllerOptions::write_backoff.
#include "controllers/runtime/write_backoff.h"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/controller.h"
#include "tests/unit/controllers/runtime/event_sinks.h"
#include "tests/unit/controllers/runtime/widgets.h"

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// One key, whose plan labels each pod that is not labelled yet.
class Labeller final : public plan::Reconciler {
 public:
  explicit Labeller(const PodStore& pods) : pods_(pods) {}

  [[nodiscard]] std::string name() const override { return "labeller"; }
  [[nodiscard]] ResourceType resource() const override { return kWidgets; }
  [[nodiscard]] Result<plan::Plan> plan(const plan::ReconcileInput& input) const override {
    plan::Plan plan;
    plan::Stage stage{{}, true, true};
    for (const auto& pod : pods_.list()) {
      if (!pod->label("l").empty()) continue;
      stage.actions.push_back(plan::Action::patch(kPods, pod->key, {{"metadata", {{"labels", {{"l", "v"}}}}}},
                                                  {pod->uid, pod->resource_version}));
      stage.actions.back().failure_reason = "FailedLabel";
    }
    plan.reason = "pods are labelled";
    if (!stage.actions.empty()) plan.stages.push_back(std::move(stage));
    EXPECT_FALSE(input.last_failure.has_value());
    return plan;
  }

 private:
  const PodStore& pods_;
};

class WriteBackoffTest : public ::testing::Test {
 protected:
  WriteBackoffTest() {
    LogOptions log;
    log.clock = &clock_;
    log.format = LogFormat::kText;
    log.sink = [this](std::string_view line) { lines_.emplace_back(line); };
    controller_ =
        std::make_unique<Controller>(std::make_unique<Labeller>(pods_), ControllerOptions{.write_backoff = backoff_},
                                     Controller::Dependencies{executor_, clock_, metrics_, Logger(log)});
    controller_->watches<PodView>(pods_, [](const PodView&) { return std::vector{ObjectKey{"", "all"}}; });
    pods_.replace({}, 1);
    for (const char* name : {"a", "b", "c"}) api_.put(kPods, pod(name));
    show();
    api_.clear_calls();
  }

  /// The store shows the pods as they are.
  void show() {
    for (const Object& object : api_.all(kPods)) pods_.put(*PodView::decode(object.json().dump()));
  }
  /// Another writer changes a pod.
  void touch(const std::string& name) {
    Object changed = *api_.find(kPods, {"default", name});
    changed.mutable_json()["metadata"]["annotations"]["touched"] = std::to_string(++touches_);
    api_.put(kPods, std::move(changed));
  }
  void fail(const std::string& name, ErrorCode code) {
    faults_[name] = code;
    api_.fault = [this](const FakeApi::Call& call) -> std::optional<Error> {
      const auto fault = faults_.find(call.key.name);
      if (fault == faults_.end()) return std::nullopt;
      return Error::of(fault->second, "{} is refused", call.key.name);
    };
  }
  void step_until_idle() {
    int steps = 0;
    while (controller_->step(clock_.now(), {})) {
      show();
      ASSERT_LT(++steps, 50) << "it tries again and again";
    }
  }
  void run_for(Duration time, Duration step = 50ms) {
    for (Duration passed{}; passed < time; passed += step) {
      step_until_idle();
      clock_.advance(step);
    }
  }
  [[nodiscard]] std::size_t patches(const std::string& name) const {
    const auto writes = api_.writes();
    return static_cast<std::size_t>(std::ranges::count(writes, "patch default/" + name));
  }

  FakeClock clock_;
  Metrics metrics_;
  FakeApi api_;
  NoEvents events_;
  InlineParallel parallel_;
  const ExceptionBarrier barrier_{"executor", metrics_, clock_, Logger()};
  Executor executor_{api_, api_, parallel_, events_, barrier_};
  PodStore pods_{kPods};
  const std::shared_ptr<WriteBackoff> backoff_ = std::make_shared<WriteBackoff>();
  std::unique_ptr<Controller> controller_;
  std::map<std::string, ErrorCode> faults_;
  std::vector<std::string> lines_;
  int touches_ = 0;
};

TEST_F(WriteBackoffTest, AnObjectThatRefusesDelaysNoOther) {
  fail("a", ErrorCode::kInvalid);
  fail("b", ErrorCode::kUnavailable);
  run_for(200ms);
  EXPECT_EQ(patches("a"), 1U) << "refused: after a second";
  EXPECT_GE(patches("b"), 2U) << "within milliseconds, not after the ten minutes of a terminal error";
  EXPECT_EQ(patches("c"), 1U);
  faults_.erase("b");
  run_for(1s);
  EXPECT_EQ(api_.find(kPods, {"default", "b"})->label("l"), "v");
}

TEST_F(WriteBackoffTest, ARefusedWriteIsNotRepeatedWithEachChange) {
  fail("a", ErrorCode::kForbidden);
  for (int i = 0; i < 600; ++i) {
    touch("b");
    show();
    run_for(100ms, 100ms);
  }
  EXPECT_LE(patches("a"), 6U) << "in a minute: after 0, 1, 3, 7, 15 and 31 s";
  EXPECT_GE(patches("a"), 5U);
}

TEST_F(WriteBackoffTest, AnObjectThatChangesAllTheTimeBacksOff) {
  api_.on_write = [this](const FakeApi::Call& call, const std::stop_token&) {
    if (call.key.name == "a") touch("a");
  };
  run_for(1min);
  EXPECT_LE(patches("a"), 13U);
  EXPECT_GE(patches("a"), 8U);
  EXPECT_TRUE(backoff_->failed_writes()->find({"default", "a"}, "FailedLabel", pods_.get({"default", "a"})->uid));
  api_.on_write = nullptr;
  run_for(5min, 1s);
  EXPECT_EQ(api_.find(kPods, {"default", "a"})->label("l"), "v");
  EXPECT_TRUE(backoff_->failed_writes()->empty());
}

TEST_F(WriteBackoffTest, AConflictIsTriedAgainAsSoonAsTheStoreShowsTheChange) {
  touch("a");
  ASSERT_TRUE(controller_->step(clock_.now(), {}));
  while (controller_->step(clock_.now(), {})) {
  }
  EXPECT_EQ(patches("a"), 1U) << "not before";
  show();
  step_until_idle();
  EXPECT_EQ(patches("a"), 2U);
  EXPECT_EQ(api_.find(kPods, {"default", "a"})->label("l"), "v");
  EXPECT_THAT(lines_, Not(Contains(HasSubstr("reconcile failed"))));
}

TEST_F(WriteBackoffTest, ANewObjectOfTheSameNameIsTriedAtOnce) {
  fail("a", ErrorCode::kForbidden);
  run_for(20s);
  const std::size_t before = patches("a");
  faults_.clear();
  ASSERT_TRUE(api_.remove(kPods, {"default", "a"}, {}, {}).ok());
  api_.put(kPods, pod("a"));
  show();
  step_until_idle();
  EXPECT_EQ(patches("a"), before + 1);
}

TEST_F(WriteBackoffTest, IsSharedByControllersAndReadAsOfOneTime) {
  const auto before = backoff_->failed_writes();
  fail("a", ErrorCode::kForbidden);
  step_until_idle();
  EXPECT_TRUE(before->empty());
  EXPECT_EQ(backoff_->failed_writes()->size(), 1U);
  EXPECT_THAT(api_.writes(), SizeIs(3));
  // Another controller of the same writes.
  Controller other(std::make_unique<Labeller>(pods_), ControllerOptions{.write_backoff = backoff_},
                   Controller::Dependencies{executor_, clock_, metrics_, Logger()});
  other.watches<PodView>(pods_, [](const PodView&) { return std::vector{ObjectKey{"", "all"}}; });
  api_.clear_calls();
  touch("b");
  show();
  while (other.step(clock_.now(), {})) {
  }
  EXPECT_THAT(api_.writes(), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::runtime
