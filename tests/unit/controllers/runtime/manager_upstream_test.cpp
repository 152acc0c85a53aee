// The manager beside an upstream controller of the same kind.
#include <atomic>
#include <future>

#include <gtest/gtest.h>

#include "api/base/pause.h"
#include "controllers/runtime/manager.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_reviews.h"
#include "tests/unit/controllers/runtime/widget_reconciler.h"

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;
using ::tpuslice::testing::eventually;

const ObjectKey kUpstreamLease{"upstream", "widget-leader"};

class ApiWithReviews final : public FakeApi {
 public:
  Result<Object> create(const ResourceType& type, Object object, const client::CreateOptions& options,
                        std::stop_token stop) override {
    if (type.group == "authorization.k8s.io") return reviews.create(type, object, options, std::move(stop));
    return FakeApi::create(type, object, options, std::move(stop));
  }

  testing::FakeReviews reviews;
};

class ManagerBesideUpstream : public ::testing::Test {
 protected:
  ManagerBesideUpstream() {
    api_.reviews.controllers = {"system:serviceaccount:upstream:widgets"};
    api_.put(kPods, Object({{"metadata", {{"name", "upstream-0"}, {"namespace", "upstream"}}},
                            {"spec", {{"serviceAccountName", "widgets"}}}}));
  }
  void make(const Clock& clock) {
    ManagerOptions options;
    options.election.identity = "a";
    options.action_threads = 0;
    options.stop_grace = 200ms;
    manager_ = std::make_unique<Manager>(Api(api_, api_), Api(api_, api_), clock, metrics_, Logger(), options);
    auto& widgets = manager_->store<ObjectView>(kWidgets);
    auto& pods = manager_->store<PodView>(kPods, {.label_selector = "app"});
    Controller& controller = manager_->add(std::make_unique<WidgetReconciler>(widgets, pods));
    controller.watches(widgets);
    controller.watches(pods);
    manager_->defer_to({.name = "Upstream",
                        .lease = kUpstreamLease.name,
                        .kind = {"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"},
                        .controllers = {controller.name()}});
  }
  void set_holder(const std::string& holder, const Clock& clock) {
    api_.put(kLeases,
             Object({{"metadata", {{"name", kUpstreamLease.name}, {"namespace", kUpstreamLease.namespace_name}}},
                     {"spec", {{"holderIdentity", holder}, {"renewTime", format_rfc3339_micro(clock.wall())}}}}));
  }
  [[nodiscard]] std::size_t pods() const { return api_.all(kPods).size() - 1; }

  ApiWithReviews api_;
  Metrics metrics_;
  std::unique_ptr<Manager> manager_;
};

TEST_F(ManagerBesideUpstream, LeavesObjectsToAnUpstreamControllerFromTheStart) {
  const FakeClock clock;
  make(clock);
  set_holder("upstream-0_1", clock);
  api_.put(kWidgets, widget("w", {{"replicas", 2}}));
  manager_->step(clock.now());
  EXPECT_TRUE(manager_->leading());
  EXPECT_TRUE(manager_->ready()) << "the webhook serves";
  EXPECT_EQ(pods(), 0U);
  set_holder("", clock);
  manager_->step(clock.now());
  EXPECT_EQ(pods(), 2U);
}

TEST_F(ManagerBesideUpstream, StopsAndContinuesWhileObjectsRun) {
  FakeClock clock;
  make(clock);
  api_.put(kWidgets, widget("w", {{"replicas", 2}}));
  manager_->step(clock.now());
  ASSERT_EQ(pods(), 2U);
  const std::vector<Object> before = api_.all(kPods);

  set_holder("upstream-0_1", clock);
  manager_->step(clock.now());
  api_.put(kWidgets, widget("w", {{"replicas", 3}}));
  api_.clear_calls();
  for (int i = 0; i < 30; ++i) {
    clock.advance(1s);
    manager_->step(clock.now());
  }
  EXPECT_EQ(pods(), 2U);
  EXPECT_TRUE(manager_->upstream().left("widget"));

  set_holder("", clock);
  clock.advance(1s);
  manager_->step(clock.now());
  EXPECT_EQ(pods(), 3U);
  for (const Object& pod : before) EXPECT_EQ(api_.find(kPods, pod.key())->uid(), pod.uid());
}

TEST_F(ManagerBesideUpstream, StopsItsThreadsInTheMiddleOfAPlan) {
  const RealClock clock;
  make(clock);
  std::atomic<bool> writing = false;
  std::atomic<bool> cancelled = false;
  api_.on_write = [&](const FakeApi::Call& call, const std::stop_token& stop) {
    if (!(call.type == kPods) || cancelled) return;
    writing = true;
    pause(1min, stop);
    cancelled = stop.stop_requested();
  };
  api_.put(kWidgets, widget("w", {{"replicas", 1}}));
  std::stop_source stop;
  auto result = std::async(std::launch::async, [&] { return manager_->run(stop.get_token()); });
  EXPECT_TRUE(eventually([&] { return writing.load(); }));
  set_holder("upstream-0_1", clock);
  EXPECT_TRUE(eventually([&] { return cancelled.load(); })) << "the plan is cut";
  EXPECT_TRUE(manager_->upstream().left("widget"));
  EXPECT_EQ(pods(), 0U);
  set_holder("", clock);
  EXPECT_TRUE(eventually([&] { return pods() == 1; }));
  stop.request_stop();
  result.get();
}

}  // namespace
}  // namespace tpuslice::runtime
