#include "controllers/runtime/key_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/json.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/recent_plans.h"
#include "tests/support/error_matchers.h"
#include "tests/unit/controllers/runtime/event_sinks.h"
#include "tests/unit/controllers/runtime/widget_reconciler.h"

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(KeyQuery, HasItsParameters) {
  const auto query = parse_key_query("/debug/keys?controller=jobset&namespace=team-a&name=train&limit=7");
  ASSERT_TRUE(query.ok()) << query.error().message();
  EXPECT_EQ(query->controller, "jobset");
  EXPECT_EQ(query->namespace_name, "team-a");
  EXPECT_EQ(query->name, "train");
  EXPECT_EQ(query->limit, 7U);
  EXPECT_EQ(parse_key_query("/debug/keys")->limit, 100U);
}

TEST(KeyQuery, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(parse_key_query("/debug/keys?kind=JobSet").error().message(),
              HasSubstr("unknown parameter \"kind\"; known are controller, namespace, name and limit"));
  for (const char* limit : {"0", "1001", "-1", "many", ""}) {
    EXPECT_THAT(parse_key_query(std::string("/debug/keys?limit=") + limit), IsError(ErrorCode::kInvalidArgument))
        << limit;
  }
}

TEST(RecentPlans, AreThoseOfTheLastKeys) {
  RecentPlans plans;
  const auto key = [](std::size_t i) { return ObjectKey{"default", std::to_string(i)}; };
  for (std::size_t i = 0; i < RecentPlans::kMaxKeys; ++i) plans.record(key(i), {{}, "first", {}, 0});
  plans.record(key(0), {{}, "second", {}, 0});
  plans.record(key(RecentPlans::kMaxKeys), {{}, "first", {}, 0});
  EXPECT_EQ(plans.of(key(0))->reason, "second");
  EXPECT_FALSE(plans.of(key(1))) << "it was planned the longest time ago";
  EXPECT_TRUE(plans.of(key(2)));
  EXPECT_THAT(plans.keys(), SizeIs(RecentPlans::kMaxKeys));
  EXPECT_EQ(plans.keys().front(), key(RecentPlans::kMaxKeys));
}

TEST(RecentPlans, HaveTextsOfLimitedLength) {
  RecentPlans plans;
  plans.record({"default", "w"}, {{}, std::string(100'000, 'r'), std::string(100'000, 'e'), 0});
  EXPECT_THAT(plans.of({"default", "w"})->reason, SizeIs(RecentPlans::kMaxText));
  EXPECT_THAT(plans.of({"default", "w"})->error, SizeIs(RecentPlans::kMaxText));
}

class KeyReportTest : public ::testing::Test {
 protected:
  KeyReportTest() {
    controller_.watches(widgets_);
    controller_.watches(pods_);
    widgets_.replace({}, 1);
    pods_.replace({}, 1);
  }
  void show_widget(const std::string& name, Json spec) {
    widgets_.put(*ObjectView::decode(api_.put(kWidgets, widget(name, std::move(spec))).json().dump()));
  }
  void settle() {
    while (controller_.step(clock_.now(), {})) continue;
  }
  KeyReport only_report() {
    const auto reports = controller_.report({});
    EXPECT_THAT(reports, SizeIs(1));
    return reports.empty() ? KeyReport() : reports.front();
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
  Controller controller_{std::make_unique<WidgetReconciler>(widgets_, pods_), ControllerOptions{},
                         Controller::Dependencies{executor_, clock_, metrics_, {}}};
};

TEST_F(KeyReportTest, HasTheLastPlanAndTheWritesThatAreNotSeen) {
  show_widget("w", {{"replicas", 2}});
  settle();
  const KeyReport report = only_report();
  EXPECT_EQ(report.controller, "widget");
  EXPECT_EQ(report.key.to_string(), "default/w");
  ASSERT_TRUE(report.last_plan);
  EXPECT_EQ(report.last_plan->reason, "create 2 pods");
  EXPECT_THAT(report.last_plan->error, IsEmpty());
  EXPECT_EQ(report.last_plan->writes, 3U);
  EXPECT_EQ(report.unseen_writes, 3U);
}

TEST_F(KeyReportTest, HasTheLastErrorAndTheNextRetry) {
  api_.fault = [](const FakeApi::Call& call) -> std::optional<Error> {
    if (call.verb != "create") return std::nullopt;
    return Error::of(ErrorCode::kForbidden, "exceeded quota");
  };
  show_widget("w", {{"replicas", 1}});
  ASSERT_TRUE(controller_.step(clock_.now(), {}));
  const KeyReport report = only_report();
  ASSERT_TRUE(report.last_plan);
  EXPECT_THAT(report.last_plan->error, HasSubstr("exceeded quota"));
  EXPECT_EQ(report.queue.state, QueuedKey::State::kScheduled);
  EXPECT_GT(report.queue.time, Duration::zero());
  EXPECT_EQ(report.queue.retries, 1);
}

TEST_F(KeyReportTest, SaysWhyPlanningFailed) {
  show_widget("w", {{"throw", true}});
  ASSERT_TRUE(controller_.step(clock_.now(), {}));
  EXPECT_THAT(only_report().last_plan->error, HasSubstr("widget default/w: controller: exception: reconciler bug"));
}

TEST_F(KeyReportTest, HasKeysThatWaitToBePlanned) {
  settle();  // Nothing is queued before the first step.
  show_widget("w", {{"replicas", 1}});
  clock_.advance(3s);
  const KeyReport report = only_report();
  EXPECT_FALSE(report.last_plan);
  EXPECT_EQ(report.queue.state, QueuedKey::State::kQueued);
  EXPECT_EQ(report.queue.time, 3s);
}

TEST_F(KeyReportTest, IsOfTheKeysThatTheQueryNames) {
  for (const char* name : {"a", "b", "c"}) show_widget(name, {});
  settle();
  const auto names = [&](const KeyQuery& query) {
    std::vector<std::string> out;
    for (const KeyReport& each : controller_.report(query)) out.push_back(each.key.name);
    return out;
  };
  EXPECT_THAT(names({}), ElementsAre("a", "b", "c"));
  EXPECT_THAT(names({.namespace_name = "default", .name = "b"}), ElementsAre("b"));
  EXPECT_THAT(names({.namespace_name = "other"}), IsEmpty());
  EXPECT_THAT(names({.namespace_name = "default", .name = "unknown"}), IsEmpty());
  EXPECT_THAT(names({.limit = 2}), SizeIs(2));
}

TEST_F(KeyReportTest, IsPrintedAsJson) {
  show_widget("w", {{"replicas", 2}});
  settle();
  const Json printed = Json::parse(to_json(controller_.report({})));
  ASSERT_EQ(printed["keys"].size(), 1U);
  const Json& key = printed["keys"][0];
  EXPECT_EQ(key["controller"], "widget");
  EXPECT_EQ(key["namespace"], "default");
  EXPECT_EQ(key["name"], "w");
  EXPECT_EQ(key["lastPlan"]["reason"], "create 2 pods");
  EXPECT_EQ(key["lastPlan"]["writes"], 3);
  EXPECT_EQ(key["writesNotSeen"], 3);
  EXPECT_TRUE(key["queue"].contains("state"));
}

}  // namespace
}  // namespace tpuslice::runtime
