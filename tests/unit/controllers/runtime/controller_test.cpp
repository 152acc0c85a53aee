#include "controllers/runtime/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "api/base/clock.h"
#include "controllers/plan/changes.h"
#include "tests/unit/controllers/runtime/event_sinks.h"
#include "tests/unit/controllers/runtime/widget_reconciler.h"

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;

const plan::CounterDefinition kWidgetsCreated{"widgets_created_total", "Created."};
const plan::CounterDefinition kWidgetsPainted{"widgets_painted_total", "Painted.", "colour", {"red", "blue"}};
const plan::CounterDefinition kWidgetsSold{.name = "widgets_sold_total", .help = "Sold.", .object_label = "widget"};
constexpr std::array kWidgetCounters = {&kWidgetsCreated, &kWidgetsPainted, &kWidgetsSold};

/// Without watches: the stores hold what show() puts there.
class ControllerTest : public ::testing::Test {
 protected:
  ControllerTest() {
    auto reconciler = std::make_unique<WidgetReconciler>(widgets_, pods_);
    reconciler_ = reconciler.get();
    LogOptions log;
    log.clock = &clock_;
    log.format = LogFormat::kText;
    log.sink = [this](std::string_view line) { lines_.emplace_back(line); };
    controller_ = std::make_unique<Controller>(std::move(reconciler), ControllerOptions{.counters = kWidgetCounters},
                                               Controller::Dependencies{executor_, clock_, metrics_, Logger(log)});
    controller_->watches(widgets_);
    controller_->watches(pods_);
    widgets_.replace({}, 1);
    pods_.replace({}, 1);
  }

  void show_widget(Json spec) {
    show(api_.put(kWidgets, widget("w", std::move(spec))));
    api_.clear_calls();
  }
  void show(const Object& object) { widgets_.put(*ObjectView::decode(object.json().dump())); }
  void show_all() {
    for (const Object& object : api_.all(kWidgets)) show(object);
    for (const Object& object : api_.all(kPods)) pods_.put(*PodView::decode(object.json().dump()));
  }
  int settle() {
    int steps = 0;
    while (steps < 100 && controller_->step(clock_.now(), {})) ++steps;
    return steps;
  }
  Json status() const { return api_.find(kWidgets, {"default", "w"})->json().value("status", Json()); }
  std::vector<std::string> lines(const std::string& part) const {
    std::vector<std::string> found;
    for (const std::string& line : lines_) {
      if (line.find(part) != std::string::npos) found.push_back(line);
    }
    return found;
  }

  FakeClock clock_;
  Metrics metrics_;
  FakeApi api_;
  NoEvents events_;
  InlineParallel parallel_;
  const ExceptionBarrier barrier_{"executor", metrics_, clock_, Logger()};
  Executor executor_{api_, api_, parallel_, events_, barrier_};
  ObjectStore widgets_{kWidgets};
  PodStore pods_{kPods};
  WidgetReconciler* reconciler_ = nullptr;
  std::unique_ptr<Controller> controller_;
  std::vector<std::string> lines_;
};

TEST_F(ControllerTest, ExecutesPlansUntilNoWriteIsNeeded) {
  show_widget({{"replicas", 2}});
  settle();
  EXPECT_THAT(api_.writes(), ElementsAre("create default/w-0", "create default/w-1", "status default/w"));
  show_all();
  settle();
  EXPECT_EQ(status()["pods"], 2);
  show_all();
  api_.clear_calls();
  settle();
  EXPECT_THAT(api_.writes(), IsEmpty()) << "an idle object costs no write";
}

TEST_F(ControllerTest, LogsOneLineForEachPlanThatWrites) {
  show_widget({{"replicas", 2}});
  settle();
  ASSERT_THAT(lines("plan applied"), SizeIs(1));
  const std::string line = lines("plan applied")[0];
  EXPECT_THAT(line, HasSubstr("controllerKind=Widget namespace=default name=w reconcileID="));
  EXPECT_THAT(line, HasSubstr("reason=\"create 2 pods\""));
}

TEST_F(ControllerTest, DoesNotRetryWhatAPlanLeavesOutBecauseItFailed) {
  int refused = 0;
  api_.fault = [&](const FakeApi::Call& call) -> std::optional<Error> {
    if (call.verb != "create") return std::nullopt;
    ++refused;
    return Error::of(ErrorCode::kForbidden, "exceeded quota");
  };
  show_widget({{"replicas", 1}, {"wait", true}});
  for (int i = 0; i < 20; ++i) {
    settle();
    show_all();
    clock_.advance(100ms);
  }
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(status()["failure"], "FailedCreatePod");
  settle();
  EXPECT_FALSE(controller_->step(clock_.now(), {})) << "nothing is left to do";
}

TEST_F(ControllerTest, MeetsTheDeadlineOfAnObjectWhosePlansFail) {
  api_.fault = [](const FakeApi::Call& call) {
    return call.verb == "create" ? std::optional<Error>(Error::of(ErrorCode::kInvalid, "no")) : std::nullopt;
  };
  show_widget({{"replicas", 1}, {"requeue", 60}});
  settle();
  const int before = reconciler_->plans;
  clock_.advance(59s);
  settle();
  EXPECT_EQ(reconciler_->plans, before);
  clock_.advance(1s);
  settle();
  EXPECT_GT(reconciler_->plans, before) << "a terminal error is retried after ten minutes only";
}

TEST_F(ControllerTest, WaitsForRetryAfterBeforeTheDeadlineOfAPlanThatFailed) {
  api_.fault = [](const FakeApi::Call& call) -> std::optional<Error> {
    if (call.verb != "create") return std::nullopt;
    Error error = Error::of(ErrorCode::kTooManyRequests, "busy");
    error.with_retry_after(50s);
    return error;
  };
  show_widget({{"replicas", 1}, {"requeue", 1}});
  settle();
  const int before = reconciler_->plans;
  clock_.advance(49s);
  settle();
  EXPECT_EQ(reconciler_->plans, before);
}

TEST_F(ControllerTest, LinesOfOneReconcileHaveItsId) {
  const auto id_of = [](const std::string& line) {
    const std::size_t begin = line.find("reconcileID=");
    return begin == std::string::npos ? "" : line.substr(begin + 12, 36);
  };
  api_.fault = [](const FakeApi::Call&) { return std::optional(Error::unavailable("down")); };
  show_widget({{"replicas", 1}});
  controller_->step(clock_.now(), {});
  ASSERT_THAT(lines("reconcileID="), SizeIs(3)) << "plan applied, reconcile failed, failure not written";
  const std::string first = id_of(lines_[0]);
  EXPECT_THAT(first, MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  for (const std::string& line : lines_) EXPECT_EQ(id_of(line), first);
  clock_.advance(10s);
  lines_.clear();
  controller_->step(clock_.now(), {});
  ASSERT_THAT(lines("reconcileID="), Not(IsEmpty()));
  EXPECT_NE(id_of(lines_[0]), first);
}

TEST_F(ControllerTest, DoesNotPlanBeforeTheStoresShowItsWrites) {
  show_widget({{"replicas", 1}});
  settle();
  const int plans = reconciler_->plans;
  show(*api_.find(kWidgets, {"default", "w"}));
  settle();
  EXPECT_EQ(reconciler_->plans, plans) << "the pod is not in the store yet";
  show_all();
  clock_.advance(100ms);
  settle();
  EXPECT_EQ(reconciler_->plans, plans + 1);
  EXPECT_THAT(api_.all(kPods), SizeIs(1));
}

TEST_F(ControllerTest, SendsTheRequestsOfAPlanAfterItsWrites) {
  std::vector<std::string> sent;
  WorkloadClient workloads(
      [&](const std::string&, const http::Request& request, Duration, const std::stop_token&) {
        sent.push_back(request.target);
        return http::Response{200, {}, ""};
      },
      api_, clock_, metrics_);
  controller_->sends_requests(workloads);
  const auto settle_all = [&] {
    settle();
    while (workloads.step(clock_.now(), {})) {
    }
  };
  api_.fault = [](const FakeApi::Call& call) -> std::optional<Error> {
    if (call.verb == "create") return Error::unavailable("no quorum");
    return std::nullopt;
  };
  show_widget({{"replicas", 1}, {"ask", "/a"}});
  settle_all();
  EXPECT_THAT(sent, IsEmpty()) << "the pod could not be created";
  api_.fault = nullptr;
  show_all();
  clock_.advance(100ms);
  settle_all();
  EXPECT_THAT(sent, ElementsAre("/a"));
  EXPECT_EQ(controller_->next_due(), Instant::min()) << "an answer is there: plan again";
  show_all();
  settle_all();
  EXPECT_THAT(sent, ElementsAre("/a"));
  clock_.advance(100ms);
  settle_all();
  widgets_.erase({"default", "w"}, 1000);
  settle_all();
  EXPECT_EQ(workloads.answers({"widget", {"default", "w"}}).last("ask"), nullptr) << "it is deleted";
}

TEST_F(ControllerTest, MapsAChildToAnOwnerOfItsKindOnly) {
  Object other = widget("w");
  other.mutable_json()["kind"] = "Gadget";
  other.mutable_json()["metadata"]["uid"] = "g";
  Object gadget_pod = pod("gadget-pod", &other);
  gadget_pod.mutable_json()["metadata"]["uid"] = "p";
  settle();
  pods_.put(*PodView::decode(gadget_pod.json().dump()));
  EXPECT_EQ(controller_->next_due(), kNever);
  other.mutable_json()["kind"] = "Widget";
  Object widget_pod = pod("widget-pod", &other);
  widget_pod.mutable_json()["metadata"]["uid"] = "q";
  pods_.put(*PodView::decode(widget_pod.json().dump()));
  EXPECT_EQ(controller_->next_due(), Instant::min());
}

TEST_F(ControllerTest, WritesAFailureToTheStatusWhileTheStageKeepsFailing) {
  show_widget({{"replicas", 3}});
  api_.fault = [](const FakeApi::Call& call) -> std::optional<Error> {
    if (call.verb != "create") return std::nullopt;
    return Error::of(ErrorCode::kForbidden, "exceeded quota");
  };
  settle();
  EXPECT_THAT(api_.writes(), ElementsAre("create default/w-0", "status default/w"));
  EXPECT_EQ(status()["failure"], "FailedCreatePod");
  show_all();
  api_.clear_calls();
  clock_.advance(1s);
  settle();
  EXPECT_THAT(api_.writes(), ElementsAre("create default/w-0")) << "the status already says so";

  api_.fault = nullptr;
  for (int i = 0; i < 5; ++i) {
    show_all();
    clock_.advance(1s);
    settle();
  }
  EXPECT_EQ(status(), Json({{"pods", 3}}));
}

TEST_F(ControllerTest, BacksOffLongerWithEachFailure) {
  show_widget({{"replicas", 1}});
  api_.fault = [](const FakeApi::Call&) { return Error::unavailable("down"); };
  settle();
  Duration last = 0s;
  for (int i = 0; i < 8; ++i) {
    const Duration wait = controller_->next_due() - clock_.now();
    EXPECT_GT(wait, last);
    last = wait;
    clock_.advance(wait);
    EXPECT_EQ(settle(), 1);
  }
}

TEST_F(ControllerTest, WaitsAfterATerminalErrorUntilTheObjectChanges) {
  show_widget({{"replicas", 1}});
  bool refuses = true;
  api_.fault = [&](const FakeApi::Call& call) -> std::optional<Error> {
    if (!refuses || call.verb != "create") return std::nullopt;
    return Error::of(ErrorCode::kInvalid, "spec.containers: Required value");
  };
  settle();
  EXPECT_THAT(api_.writes(), ElementsAre("create default/w-0", "status default/w"));
  show_all();  // The status is a change of the object.
  settle();
  api_.clear_calls();
  EXPECT_EQ(controller_->next_due() - clock_.now(), 10min);
  clock_.advance(9min);
  settle();
  EXPECT_THAT(api_.writes(), IsEmpty());
  refuses = false;
  show_widget({{"replicas", 1}});
  settle();
  EXPECT_NE(api_.find(kPods, {"default", "w-0"}), std::nullopt);
}

TEST_F(ControllerTest, APlanWithoutTheRefusedWriteDoesNotWaitForIt) {
  show_widget({{"replicas", 2}, {"skip", true}});
  api_.fault = [](const FakeApi::Call& call) -> std::optional<Error> {
    if (call.verb != "create" || call.key.name != "w-0") return std::nullopt;
    return Error::of(ErrorCode::kInvalid, "spec.containers: Required value");
  };
  settle();
  show_all();
  clock_.advance(1s);
  settle();
  EXPECT_NE(api_.find(kPods, {"default", "w-1"}), std::nullopt);
}

TEST_F(ControllerTest, RetriesNoSoonerThanTheServerAsks) {
  show_widget({{"replicas", 1}});
  api_.fault = [](const FakeApi::Call&) {
    Error error = Error::of(ErrorCode::kTooManyRequests, "overloaded");
    error.with_retry_after(7s);
    return error;
  };
  settle();
  EXPECT_EQ(controller_->next_due() - clock_.now(), 7s);
}

TEST_F(ControllerTest, RetriesAConflictSoonWithoutCountingAnError) {
  show_widget({{"replicas", 1}});
  api_.fault = [](const FakeApi::Call& call) -> std::optional<Error> {
    if (call.verb != "create") return std::nullopt;
    return Error::conflict("a precondition failed");
  };
  settle();
  EXPECT_THAT(api_.writes(), ElementsAre("create default/w-0"));
  EXPECT_EQ(controller_->next_due() - clock_.now(), 5ms);
  EXPECT_EQ(controller_metrics(metrics_, "widget").errors.value(), 0);
  EXPECT_TRUE(status().is_null());
}

TEST_F(ControllerTest, RequeuesAfterTheTimeThatThePlanSets) {
  show_widget({{"requeue", 30}});
  settle();
  show_all();
  settle();
  EXPECT_EQ(controller_->next_due() - clock_.now(), 30s);
}

class ControllerCountsTest : public ControllerTest {
 protected:
  ControllerCountsTest() {
    show_widget({{"replicas", 0}});
    settle();
    reconciler_->counts_only = true;
  }
  /// One more pod of the widget; shows the stores, and returns how many times the status was written.
  std::size_t add_pod() {
    const Object widget = *api_.find(kWidgets, {"default", "w"});
    api_.put(kPods, pod("extra-" + std::to_string(pods_added_++), &widget));
    return reconcile();
  }
  std::size_t reconcile() {
    api_.clear_calls();
    show_all();
    settle();
    show_all();
    settle();
    return api_.writes().size();
  }

 private:
  int pods_added_ = 0;
};

TEST_F(ControllerCountsTest, WritesTheFirstAtOnceAndTheOthersAtIntervals) {
  EXPECT_EQ(add_pod(), 1U);
  for (int i = 0; i < 9; ++i) {
    clock_.advance(100ms);
    EXPECT_EQ(add_pod(), 0U) << i;
  }
  EXPECT_EQ(status()["pods"], 1);
  clock_.advance(100ms);
  EXPECT_EQ(reconcile(), 1U);
  EXPECT_EQ(status()["pods"], 10);
  clock_.advance(1s);
  EXPECT_EQ(reconcile(), 0U) << "nothing changed";
  EXPECT_EQ(add_pod(), 1U) << "the last write is a second ago";
}

TEST_F(ControllerCountsTest, AreRequeuedWhenTheyAreDue) {
  add_pod();
  clock_.advance(300ms);
  add_pod();
  EXPECT_EQ(controller_->next_due(), clock_.now() + 700ms);
}

TEST_F(ControllerCountsTest, DoNotDelayAStatusWithOtherChanges) {
  add_pod();
  reconciler_->counts_only = false;
  EXPECT_EQ(add_pod(), 1U);
  EXPECT_EQ(status()["pods"], 2);
}

TEST_F(ControllerCountsTest, OfARecreatedObjectAreWrittenAtOnce) {
  add_pod();
  widgets_.erase({"default", "w"}, 1'000'000);
  settle();
  EXPECT_EQ(add_pod(), 1U);
}

TEST_F(ControllerTest, RecordsTheMeasurementsOfAPlan) {
  show_widget({{"replicas", 2}});
  reconciler_->created = std::make_shared<const plan::ActionEvents>(
      plan::ActionEvents{.measurements = {plan::increment(kWidgetsCreated)}});
  reconciler_->measurements = {plan::increment(kWidgetsPainted, "blue"),
                               {plan::Measurement::Kind::kDuration, "widget_seconds", "Time.", {}, 3},
                               {plan::Measurement::Kind::kLevel, "widgets", "Now.", {{"kind", "round"}}, 7}};
  controller_->step(clock_.now(), {});
  const std::string text = metrics_.scrape();
  EXPECT_THAT(text, HasSubstr("widgets_created_total 1\n")) << "once for both pods";
  EXPECT_THAT(text, HasSubstr("widgets_painted_total{colour=\"blue\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("widget_seconds_bucket{le=\"4\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("widgets{kind=\"round\"} 7\n"));
}

TEST_F(ControllerTest, CountsActionsOnceOneOfThemSucceeded) {
  show_widget({{"replicas", 2}});
  reconciler_->created = std::make_shared<const plan::ActionEvents>(
      plan::ActionEvents{.measurements = {plan::increment(kWidgetsCreated)}});
  api_.fault = [](const FakeApi::Call& call) {
    return call.text().starts_with("create default/w-")
               ? std::optional<Error>(Error::of(ErrorCode::kForbidden, "no quota"))
               : std::nullopt;
  };
  controller_->step(clock_.now(), {});
  EXPECT_THAT(metrics_.scrape(), HasSubstr("widgets_created_total 0\n"));
  api_.fault = [](const FakeApi::Call& call) {
    return call.text() == "create default/w-1" ? std::optional<Error>(Error::of(ErrorCode::kForbidden, "no quota"))
                                               : std::nullopt;
  };
  clock_.advance(1min);
  controller_->step(clock_.now(), {});
  EXPECT_THAT(metrics_.scrape(), HasSubstr("widgets_created_total 1\n"));
}

TEST_F(ControllerTest, RecordsOnlyTheLevelsOfAPlanThatIsCutShort) {
  show_widget({{"replicas", 0}});
  reconciler_->measurements = {plan::increment(kWidgetsPainted, "blue"),
                               {plan::Measurement::Kind::kDuration, "widget_seconds", "Time.", {}, 3},
                               {plan::Measurement::Kind::kLevel, "widgets", "Now.", {}, 7}};
  ErrorCode refusal = ErrorCode::kConflict;
  api_.fault = [&](const FakeApi::Call& call) {
    return call.verb == "status" ? std::optional<Error>(Error::of(refusal, "the status is not written")) : std::nullopt;
  };
  for (const ErrorCode code : {ErrorCode::kConflict, ErrorCode::kCancelled}) {
    refusal = code;
    controller_->step(clock_.now(), {});
    EXPECT_THAT(metrics_.scrape(), HasSubstr("widgets_painted_total{colour=\"blue\"} 0\n"));
    EXPECT_THAT(metrics_.scrape(), Not(HasSubstr("widget_seconds_count")));
    EXPECT_THAT(metrics_.scrape(), HasSubstr("widgets 7\n"));
    clock_.advance(1min);
  }
  api_.fault = nullptr;
  EXPECT_TRUE(controller_->step(clock_.now(), {}));
  EXPECT_EQ(status()["pods"], 0);
  EXPECT_THAT(metrics_.scrape(), HasSubstr("widgets_painted_total{colour=\"blue\"} 1\n")) << "once for three plans";
  EXPECT_THAT(metrics_.scrape(), HasSubstr("widget_seconds_count 1\n"));
}

TEST_F(ControllerTest, HasCountersThatStartAtZeroForAllValuesOfTheirLabels) {
  const std::string text = metrics_.scrape();
  EXPECT_THAT(text, HasSubstr("widgets_created_total 0\n"));
  EXPECT_THAT(text, HasSubstr("widgets_painted_total{colour=\"red\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("widgets_painted_total{colour=\"blue\"} 0\n"));
}

TEST_F(ControllerTest, HasNoCounterThatIsMuted) {
  Metrics metrics;
  auto reconciler = std::make_unique<WidgetReconciler>(widgets_, pods_);
  reconciler->measurements = {plan::increment(kWidgetsPainted, "blue"),
                              plan::increment({"widgets_lost_total", "Lost."})};
  LogOptions log;
  log.clock = &clock_;
  log.sink = [this](std::string_view line) { lines_.emplace_back(line); };
  const ControllerOptions options{.counters = kWidgetCounters, .muted_counters = "widgets_"};
  Controller controller(std::move(reconciler), options, {executor_, clock_, metrics, Logger(log)});
  controller.watches(widgets_);
  show_widget({{"replicas", 0}});
  EXPECT_TRUE(controller.step(clock_.now(), {}));
  EXPECT_THAT(metrics.scrape(), Not(HasSubstr("widgets_")));
  EXPECT_THAT(lines("counter is not declared"), IsEmpty());
}

TEST_F(ControllerTest, CountsByObjectFromTheFirstIncrementOn) {
  EXPECT_THAT(metrics_.scrape(), Not(HasSubstr("widgets_sold_total")));
  show_widget({{"replicas", 0}});
  plan::Changes changes;
  changes.count_object(kWidgetsSold, {"default", "a"});
  reconciler_->measurements = changes.measurements;
  controller_->step(clock_.now(), {});
  EXPECT_THAT(metrics_.scrape(), HasSubstr("widgets_sold_total{namespace=\"default\",widget=\"a\"} 1\n"));
  EXPECT_THAT(lines("counter is not declared"), SizeIs(0));
}

TEST_F(ControllerTest, CreatesNoCounterThatIsNotDeclared) {
  show_widget({{"replicas", 0}});
  reconciler_->measurements = {plan::increment({"widgets_lost_total", "Lost."}),
                               plan::increment(kWidgetsPainted, "green")};
  controller_->step(clock_.now(), {});
  const std::string text = metrics_.scrape();
  EXPECT_THAT(text, Not(HasSubstr("widgets_lost_total")));
  EXPECT_THAT(text, Not(HasSubstr("green")));
  EXPECT_THAT(lines("counter is not declared"), SizeIs(2));
}

/// Regression: the queue of a replica that did not lead had every key that it had ever seen.
TEST_F(ControllerTest, QueuesNothingBeforeItsFirstStep) {
  for (int i = 0; i < 100; ++i) {
    const std::string name = "gone-" + std::to_string(i);
    show(api_.put(kWidgets, widget(name)));
    widgets_.erase({"default", name}, 1000);
  }
  show_widget({});
  controller_->resync();
  EXPECT_EQ(controller_->next_due(), kNever);
  clock_.advance(std::chrono::hours(24));
  settle();
  EXPECT_EQ(reconciler_->plans, 1) << "of the one that exists";
  EXPECT_THAT(metrics_.scrape(),
              HasSubstr("workqueue_queue_duration_seconds_sum{controller=\"widget\",name=\"widget\"} 0\n"));
}

TEST_F(ControllerTest, ResyncPlansEveryObjectAgain) {
  show_widget({});
  settle();
  show_all();
  settle();
  const int before = reconciler_->plans;
  controller_->resync();
  settle();
  EXPECT_EQ(reconciler_->plans, before + 1);
}

/// Regression: it ended the process.
TEST_F(ControllerTest, SurvivesAKeyFunctionThatThrows) {
  controller_->watches<PodView>(pods_, [](const PodView& pod) -> std::vector<ObjectKey> {
    if (pod.key.name == "bad") throw std::runtime_error("no owner");
    return {{"default", "of-" + pod.key.name}};
  });
  const auto show_pod = [&](const char* name) {
    Object shown = pod(name);
    shown.mutable_json()["metadata"]["uid"] = name;
    pods_.put(*PodView::decode(shown.json().dump()));
  };
  show_pod("bad");
  settle();
  show_pod("bad-2");
  EXPECT_EQ(controller_->next_due(), Instant::min());
  EXPECT_EQ(metrics_.counter("tpuslice_exceptions_total", "", {{"where", "controller"}}).value(), 1);
}

/// Regression: it ended the process. Its key must not stay in the hands of the worker either.
TEST_F(ControllerTest, SurvivesAnExceptionOutsideOfThePlan) {
  class ThrowingEvents final : public EventSink {
   public:
    void record(const plan::ObjectReference&, const plan::EventIntent&) override {
      if (++records == 1) throw std::runtime_error("no room for an event");
    }
    int records = 0;
  };
  ThrowingEvents events;
  const Executor executor(api_, api_, parallel_, events, barrier_);
  Controller controller(std::make_unique<WidgetReconciler>(widgets_, pods_), {},
                        {executor, clock_, metrics_, Logger()});
  controller.watches(widgets_);
  show(api_.put(kWidgets, widget("w", {{"replicas", 1}})));
  EXPECT_TRUE(controller.step(clock_.now(), {}));
  EXPECT_EQ(events.records, 1);
  EXPECT_EQ(controller_metrics(metrics_, "widget").active_workers.value(), 0);
  EXPECT_FALSE(controller.step(clock_.now(), {})) << "after a back-off";
  clock_.advance(1min);
  EXPECT_TRUE(controller.step(clock_.now(), {}));
}

TEST_F(ControllerTest, SurvivesAReconcilerThatThrows) {
  show_widget({{"throw", true}});
  settle();
  EXPECT_EQ(controller_metrics(metrics_, "widget").panics.value(), 1);
  EXPECT_EQ(metrics_.counter("tpuslice_exceptions_total", "", {{"where", "controller"}}).value(), 1);
  EXPECT_THAT(lines("reconcile failed"), ElementsAre(HasSubstr("Defect")));
  EXPECT_LT(controller_->next_due(), kNever);
}

}  // namespace
}  // namespace tpuslice::runtime
