#include "controllers/runtime/manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "api/base/clock.h"
#include "api/base/pause.h"
#include "tests/support/eventually.h"
#include "tests/unit/controllers/runtime/widget_reconciler.h"

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using ::tpuslice::testing::eventually;

const ObjectKey kLease{"tpu-slice-system", "tpu-slice-operator"};

/// An operator for Widgets.
struct Operator {
  Operator(FakeApi& api, const Clock& clock, const std::string& identity, std::size_t threads = 0)
      : manager({api, api}, {api, api}, clock, metrics, Logger(), options(identity, threads)),
        widgets(manager.store<ObjectView>(kWidgets)),
        pods(manager.store<PodView>(kPods, {.label_selector = "app"})),
        controller(manager.add(std::make_unique<WidgetReconciler>(widgets, pods))) {
    controller.watches(widgets);
    controller.watches(pods);
  }
  static ManagerOptions options(const std::string& identity, std::size_t threads) {
    ManagerOptions options;
    options.election.identity = identity;
    options.action_threads = threads;
    options.stop_grace = 200ms;
    return options;
  }

  Metrics metrics;
  Manager manager;
  ObjectStore& widgets;
  PodStore& pods;
  Controller& controller;
};

TEST(Manager, OneStepReconcilesTheCluster) {
  FakeApi api;
  const FakeClock clock;
  Operator op(api, clock, "a");
  api.put(kWidgets, widget("w", {{"replicas", 3}}));
  EXPECT_FALSE(op.manager.ready());
  EXPECT_GT(op.manager.step(clock.now()), clock.now());
  EXPECT_TRUE(op.manager.ready());
  EXPECT_TRUE(op.manager.leading());
  EXPECT_THAT(api.all(kPods), SizeIs(3));
  EXPECT_EQ(api.find(kWidgets, {"default", "w"})->json()["status"]["pods"], 3);
  EXPECT_THAT(api.all(kEvents), SizeIs(2)) << "one of the Lease";
  api.clear_calls();
  op.manager.step(clock.now());
  EXPECT_THAT(api.writes(), IsEmpty());
}

TEST(Manager, IndexesJobsByTheirController) {
  FakeApi api;
  const FakeClock clock;
  Metrics metrics;
  Manager manager({api, api}, {api, api}, clock, metrics, Logger(), Operator::options("a", 0));
  const Index<JobView> jobs_by_owner =
      manager.store<JobView>(kJobs, {.label_selector = "app"}).add_index(owner_uid<JobView>);
  const Object owner = api.put(kWidgets, widget("w"));
  api.put(kJobs, Object({{"metadata",
                          {{"name", "w-0"},
                           {"namespace", "default"},
                           {"ownerReferences", Json::array({owner.as_controller().to_json()})}}},
                         {"spec", {{"parallelism", 4}}}}));
  manager.step(clock.now());
  const auto owned = jobs_by_owner.lookup(owner.uid());
  ASSERT_THAT(owned, SizeIs(1));
  EXPECT_EQ(owned[0]->key.name, "w-0");
  EXPECT_EQ(owned[0]->parallelism, 4);
}

/// Counts the watches by their first lists.
class ManagerStores : public ::testing::Test {
 protected:
  std::vector<std::string> selectors(const ResourceType& type) {
    manager_.step(clock_.now());
    std::vector<std::string> found;
    for (const FakeApi::Call& call : api_.calls()) {
      if (call.verb == "list" && call.type == type) found.push_back(call.body.get<std::string>());
    }
    return found;
  }
  static std::vector<PodStore*> stores_of(const PodStores& pods) { return {pods.begin(), pods.end()}; }
  static std::optional<std::string> marked(const PodView& pod) {
    if (pod.label("mark").empty()) return std::nullopt;
    return "marked";
  }

  FakeApi api_;
  const FakeClock clock_;
  Metrics metrics_;
  Manager manager_{{api_, api_}, {api_, api_}, clock_, metrics_, Logger(), Operator::options("a", 0)};
};

TEST_F(ManagerStores, StoresOfOneScopeAreShared) {
  ServiceStore& services = manager_.store<ServiceView>(kServices);
  EXPECT_EQ(&manager_.store<ServiceView>(kServices), &services);
  EXPECT_EQ(&manager_.store<ServiceView>(kServices, {.label_selector = "app"}), &services)
      << "a store without a selector holds these objects, too";
  EXPECT_THAT(selectors(kServices), ElementsAre(""));
}

TEST_F(ManagerStores, StoresOfDifferentScopesAreSeparate) {
  const NodeStore& some = manager_.store<NodeView>(kNodes, {.label_selector = "tpu"});
  EXPECT_NE(&manager_.store<NodeView>(kNodes, {.label_selector = "gpu"}), &some);
  EXPECT_NE(&manager_.store<NodeView>(kNodes), &some) << "a store with a selector does not hold all nodes";
  EXPECT_THAT(selectors(kNodes), ElementsAre("tpu", "gpu", ""));
}

TEST_F(ManagerStores, ASharedStoreHasAllIndexes) {
  NodeStore& nodes = manager_.store<NodeView>(kNodes);
  const Index<NodeView> first = nodes.add_index([](const NodeView&) { return std::optional<std::string>("a"); });
  const Index<NodeView> second =
      manager_.store<NodeView>(kNodes).add_index([](const NodeView&) { return std::optional<std::string>("b"); });
  NodeView node;
  node.key.name = "n";
  nodes.put(node);
  EXPECT_THAT(first.lookup("a"), SizeIs(1));
  EXPECT_THAT(first.lookup("b"), IsEmpty());
  EXPECT_THAT(second.lookup("b"), SizeIs(1));
}

TEST_F(ManagerStores, ViewsKeepOnlyRegisteredAnnotations) {
  manager_.keep_annotations({"a.example.com/"});
  const PodStore& pods = manager_.store<PodView>(kPods);
  manager_.keep_annotations({"b.example.com/"});
  Object annotated = pod("x");
  annotated.mutable_json()["metadata"]["annotations"] = {
      {"a.example.com/size", "1"}, {"b.example.com/size", "2"}, {"c.example.com/size", "3"}};
  api_.put(kPods, annotated);
  manager_.step(clock_.now());
  EXPECT_THAT(pods.get({"default", "x"})->annotations,
              UnorderedElementsAre(Pair("a.example.com/size", "1"), Pair("b.example.com/size", "2")));
}

TEST_F(ManagerStores, ViewsKeepTheKeysOfTheOptions) {
  ManagerOptions options = Operator::options("a", 0);
  options.kept_keys = {"example.com/device"};
  Metrics metrics;
  Manager manager({api_, api_}, {api_, api_}, clock_, metrics, Logger(), options);
  const PodStore& pods = manager.store<PodView>(kPods);
  Object asking = pod("x");
  asking.mutable_json()["spec"]["containers"] = Json::array(
      {{{"name", "c"}, {"resources", {{"limits", {{"example.com/device", "2"}, {"example.com/other", "3"}}}}}}});
  api_.put(kPods, asking);
  manager.step(clock_.now());
  const auto seen = pods.get({"default", "x"});
  EXPECT_EQ(amount_of(seen->scheduling->resources, "example.com/device"), 2);
  EXPECT_EQ(amount_of(seen->scheduling->resources, "example.com/other"), 0);
}

TEST_F(ManagerStores, NoPodIsWatchedTwice) {
  auto& one = manager_.store<PodView>(kPods, {.label_selector = "app"});
  auto& two = manager_.store<PodView>(kPods, {.label_selector = "type in (a,b)"});
  const PodStores all = manager_.pods_with("mark");
  const PodIndex pods = all.add_index(marked);
  ASSERT_THAT(stores_of(all), SizeIs(3));
  EXPECT_THAT(selectors(kPods), ElementsAre("app", "type in (a,b)", "mark,!app,type notin (a,b)"));

  PodView pod;
  pod.key = {"default", "x"};
  pod.labels = {{"app", "1"}};
  one.put(pod);
  EXPECT_THAT(pods.lookup("marked"), IsEmpty());
  pod.labels["mark"] = "1";
  one.put(pod);
  pod.key.name = "y";
  two.put(pod);
  EXPECT_THAT(pods.lookup("marked"), SizeIs(2));
}

TEST_F(ManagerStores, PodsWithALabelIncludeAStoreThatSelectsIt) {
  manager_.store<PodView>(kPods, {.label_selector = "app,mark"});
  const PodStores all = manager_.pods_with("mark");
  EXPECT_THAT(stores_of(all), SizeIs(2));
  EXPECT_THAT(selectors(kPods), ElementsAre("app,mark", "mark,!app"));
}

TEST_F(ManagerStores, StoresOfOneNamespaceOrSeveralLabelsAreNotReused) {
  manager_.store<PodView>(kPods, {.namespaces = {"team"}, .label_selector = "app"});
  manager_.store<PodView>(kPods, {.label_selector = "app,type"});
  const PodStores all = manager_.pods_with("mark");
  EXPECT_THAT(stores_of(all), SizeIs(1));
  EXPECT_THAT(selectors(kPods), ElementsAre("app", "app,type", "mark"));
}

TEST(Manager, IsDeterministic) {
  std::vector<std::string> first;
  for (int run = 0; run < 3; ++run) {
    FakeApi api;
    FakeClock clock;
    Operator op(api, clock, "a");
    for (const char* name : {"x", "y", "z"}) api.put(kWidgets, widget(name, {{"replicas", 4}}));
    for (int i = 0; i < 10; ++i) {
      op.manager.step(clock.now());
      clock.advance(1s);
    }
    if (run == 0) first = api.writes();
    EXPECT_EQ(api.writes(), first);
    EXPECT_GT(first.size(), 12U);
  }
}

TEST(Manager, OnlyTheLeaderWritesButAllReplicasFillTheirStores) {
  FakeApi api;
  FakeClock clock;
  Operator a(api, clock, "a");
  Operator b(api, clock, "b");
  a.manager.step(clock.now());
  api.put(kWidgets, widget("w", {{"replicas", 1}}));
  b.manager.step(clock.now());
  EXPECT_THAT(api.all(kPods), IsEmpty());
  EXPECT_TRUE(b.manager.ready());
  EXPECT_EQ(b.widgets.size(), 1U);
  EXPECT_EQ(b.controller.next_due(), kNever) << "a queue without workers grows for ever";
  // a no longer renews; b leads once the lease has expired.
  for (int i = 0; i < 30 && !b.manager.leading(); ++i) {
    clock.advance(1s);
    b.manager.step(clock.now());
  }
  EXPECT_THAT(api.all(kPods), SizeIs(1));
  EXPECT_FALSE(a.manager.leading());
  a.manager.step(clock.now());
  api.put(kWidgets, widget("w2", {{"replicas", 1}}));
  a.manager.step(clock.now());
  EXPECT_EQ(a.controller.next_due(), kNever) << "it stands by";
  // b no longer renews; a leads again.
  for (int i = 0; i < 30 && !a.manager.leading(); ++i) {
    clock.advance(1s);
    a.manager.step(clock.now());
  }
  EXPECT_THAT(api.all(kPods), SizeIs(2));
}

/// Regression: only objects that a leader had found too large got an event.
TEST(Manager, ReportsAfterATakeOverWhatWasQuarantinedBefore) {
  FakeApi api;
  FakeClock clock;
  Operator a(api, clock, "a");
  Operator b(api, clock, "b");
  a.manager.step(clock.now());
  api.put(kWidgets, widget("big", {{"text", std::string(2U << 20U, 'x')}}));
  b.manager.step(clock.now());
  const auto reports = [&] {
    std::vector<std::string> names;
    for (const Object& event : api.all(kEvents)) {
      if (string_at(event.json(), {"reason"}) != "FailedDecode") continue;
      names.push_back(string_at(event.json(), {"regarding", "name"}));
    }
    return names;
  };
  ASSERT_EQ(b.widgets.size(), 1U);
  EXPECT_TRUE(b.widgets.get({"default", "big"})->minimal);
  EXPECT_THAT(reports(), IsEmpty());
  for (int i = 0; i < 60; ++i) {
    clock.advance(1s);
    b.manager.step(clock.now());
  }
  ASSERT_TRUE(b.manager.leading());
  EXPECT_THAT(reports(), ElementsAre("big"));
}

/// Regression: a process that was paused for longer than its lease continued its plan until its workers were stopped.
TEST(Manager, SendsNothingAfterItsLeaseExpiredDuringAPause) {
  FakeApi api;
  FakeClock clock;
  Operator op(api, clock, "a");
  api.on_write = [&](const FakeApi::Call& call, const std::stop_token&) {
    if (call.type == kPods) clock.advance(1min);
  };
  api.put(kWidgets, widget("w", {{"replicas", 3}}));
  op.manager.step(clock.now());
  EXPECT_THAT(api.all(kPods), SizeIs(1)) << "the request in flight";
  EXPECT_THAT(api.writes(), ElementsAre("create tpu-slice-system/tpu-slice-operator", "create default/w-0",
                                        HasSubstr("create tpu-slice-system/tpu-slice-operator.")))
      << "no event about pods that another replica will create, but that this one became leader";
}

/// Regression: a leader that was paused submitted, stopped and reconfigured workloads after its successor had.
TEST(Manager, SendsNoRequestToWorkloadsAfterItsLeaseExpiredDuringAPause) {
  FakeApi api;
  FakeClock clock;
  Operator op(api, clock, "a");
  std::vector<std::string> sent;
  op.controller.sends_requests(
      op.manager.workload_client([&](const std::string&, const http::Request& request, Duration,
                                     const std::stop_token&) -> Result<http::Response> {
        sent.push_back(request.method + " " + request.target);
        clock.advance(1min);
        return http::Response{200, {}, ""};
      }));
  for (const char* name : {"x", "y"}) api.put(kWidgets, widget(name, {{"ask", "/submit"}, {"method", "POST"}}));
  op.manager.step(clock.now());
  EXPECT_THAT(sent, ElementsAre("POST /submit")) << "the request in flight";
}

TEST(Manager, RecordsOnTheLeaseWhoLeads) {
  FakeApi api;
  const FakeClock clock;
  Operator op(api, clock, "a");
  op.manager.step(clock.now());
  ASSERT_THAT(api.all(kEvents), SizeIs(1));
  const Json event = api.all(kEvents)[0].json();
  EXPECT_EQ(string_at(event, {"regarding", "kind"}), "Lease");
  EXPECT_EQ(string_at(event, {"regarding", "uid"}), api.find(kLeases, kLease)->uid());
  EXPECT_EQ(string_at(event, {"reason"}), "LeaderElection");
  EXPECT_EQ(string_at(event, {"note"}), "a became leader");
}

TEST(Manager, ServesWithoutThePermissionToWatchAnOptionalType) {
  FakeApi api;
  FakeClock clock;
  Operator op(api, clock, "a");
  ObjectStore& roles = op.manager.optional_store<ObjectView>(kRoles);
  op.controller.watches_optional(roles);
  api.fault = [](const FakeApi::Call& call) -> std::optional<Error> {
    if (!(call.type == kRoles)) return std::nullopt;
    return Error::of(ErrorCode::kForbidden, "cannot list roles");
  };
  api.put(kWidgets, widget("w", {{"replicas", 1}}));
  op.manager.step(clock.now());
  EXPECT_TRUE(op.manager.ready());
  EXPECT_THAT(api.all(kPods), SizeIs(1));
  EXPECT_FALSE(roles.synced());
  api.fault = nullptr;
  for (int i = 0; i < 5; ++i) {
    clock.advance(1s);
    op.manager.step(clock.now());
  }
  EXPECT_TRUE(roles.synced());
}

TEST(Manager, AnOptionalStoreThatAnotherControllerNeedsIsRequired) {
  FakeApi api;
  const FakeClock clock;
  Operator op(api, clock, "a");
  ObjectStore& roles = op.manager.optional_store<ObjectView>(kRoles);
  EXPECT_EQ(&op.manager.store<ObjectView>(kRoles), &roles);
  api.fault = [](const FakeApi::Call& call) -> std::optional<Error> {
    if (!(call.type == kRoles)) return std::nullopt;
    return Error::of(ErrorCode::kForbidden, "cannot list roles");
  };
  op.manager.step(clock.now());
  EXPECT_FALSE(op.manager.ready());
}

TEST(Manager, IsReadyWhileAControllerWaitsForItsCrd) {
  FakeApi api;
  FakeClock clock;
  Operator op(api, clock, "a");
  api.fault = [](const FakeApi::Call& call) -> std::optional<Error> {
    if (!(call.type == kWidgets)) return std::nullopt;
    return Error::not_found("the server could not find the requested resource");
  };
  api.put(kWidgets, widget("w", {{"replicas", 1}}));
  op.manager.step(clock.now());
  EXPECT_TRUE(op.manager.ready());
  EXPECT_FALSE(op.controller.synced());
  api.fault = nullptr;
  for (int i = 0; i < 5; ++i) {
    clock.advance(1s);
    op.manager.step(clock.now());
  }
  EXPECT_THAT(api.all(kPods), SizeIs(1));
}

/// A manager on threads, in real time.
class ManagerThreads : public ::testing::Test {
 protected:
  void start(std::size_t threads = 4) {
    operator_ = std::make_unique<Operator>(api_, clock_, "a", threads);
    result_ = std::async(std::launch::async, [this] { return operator_->manager.run(stop_.get_token()); });
  }

  FakeApi api_;
  const RealClock clock_;
  std::unique_ptr<Operator> operator_;
  std::stop_source stop_;
  std::future<void> result_;
};

TEST_F(ManagerThreads, ReconcileAndStopWithTheLeaseReleasedLast) {
  for (int i = 0; i < 10; ++i) api_.put(kWidgets, widget("w" + std::to_string(i), {{"replicas", 5}}));
  start();
  EXPECT_TRUE(eventually([&] { return api_.all(kPods).size() == 50; }));
  const Instant stopped = clock_.now();
  stop_.request_stop();
  result_.get();
  EXPECT_LT(clock_.now() - stopped, 5s);
  EXPECT_EQ(api_.find(kLeases, kLease)->json()["spec"]["holderIdentity"], "");
  EXPECT_EQ(api_.writes().back(), "replace tpu-slice-system/tpu-slice-operator");
}

/// Regression: the lease was not released, and events were dropped, if a request took more than 0.75 s.
TEST_F(ManagerThreads, ReleaseTheLeaseOfASlowApiServer) {
  std::atomic<bool> slow = false;
  api_.on_write = [&slow](const FakeApi::Call&, const std::stop_token& stop) {
    if (slow) pause(1s, stop);
  };
  start();
  EXPECT_TRUE(eventually([&] { return operator_->manager.leading(); }));
  slow = true;
  stop_.request_stop();
  result_.get();
  EXPECT_EQ(api_.find(kLeases, kLease)->json()["spec"]["holderIdentity"], "");
}

TEST_F(ManagerThreads, CancelHangingRequestsAfterTheGracePeriod) {
  api_.on_write = [this](const FakeApi::Call& call, const std::stop_token& stop) {
    if (call.type == kPods) pause(1min, stop);
  };
  api_.put(kWidgets, widget("w", {{"replicas", 1}}));
  std::atomic<bool> watched = false;
  api_.fault = [&](const FakeApi::Call& call) -> std::optional<Error> {
    if (call.type == kPods && call.verb == "watch") watched = true;
    return std::nullopt;
  };
  start();
  EXPECT_TRUE(eventually([&] { return watched && operator_->manager.leading() && operator_->controller.synced(); }));
  const Instant stopped = clock_.now();
  stop_.request_stop();
  result_.get();
  EXPECT_LT(clock_.now() - stopped, 5s);
}

TEST_F(ManagerThreads, StandByWhenTheLeaseIsLostAndLeadAgain) {
  start();
  EXPECT_TRUE(eventually([&] { return operator_->manager.leading(); }));
  const auto set_holder = [this](const char* holder) {
    Object lease = *api_.find(kLeases, kLease);
    lease.mutable_json()["spec"]["holderIdentity"] = holder;
    api_.put(kLeases, lease);
  };
  set_holder("other");
  EXPECT_TRUE(eventually([&] { return !operator_->manager.leading(); }));
  EXPECT_TRUE(operator_->manager.healthy());
  api_.put(kWidgets, widget("w", {{"replicas", 1}}));
  EXPECT_TRUE(eventually([&] { return operator_->widgets.size() == 1; })) << "its stores stay current";
  EXPECT_THAT(api_.all(kPods), IsEmpty());
  EXPECT_EQ(operator_->controller.next_due(), kNever);
  set_holder("");
  EXPECT_TRUE(eventually([&] { return api_.all(kPods).size() == 1; })) << "with all objects in its stores";
  stop_.request_stop();
  result_.get();
}

/// A worker of an earlier term would write what it planned then.
TEST_F(ManagerThreads, LeadAgainOnlyAfterAllWorkersHaveEnded) {
  std::atomic<bool> hanging = false;
  std::atomic<bool> released = false;
  api_.on_write = [&](const FakeApi::Call& call, const std::stop_token&) {
    if (!(call.type == kPods)) return;
    hanging = true;
    while (!released) pause(10ms, {});  // It cannot be cancelled.
  };
  api_.put(kWidgets, widget("w", {{"replicas", 1}}));
  start();
  EXPECT_TRUE(eventually([&] { return hanging.load(); }));
  Object lease = *api_.find(kLeases, kLease);
  lease.mutable_json()["spec"]["holderIdentity"] = "";
  api_.put(kLeases, lease);
  EXPECT_TRUE(eventually([&] { return !operator_->manager.leading(); }, 30s));
  pause(5s, {});
  EXPECT_FALSE(operator_->manager.leading()) << "although the lease is free";
  released = true;
  EXPECT_TRUE(eventually([&] { return operator_->manager.leading(); }));
  stop_.request_stop();
  result_.get();
}

}  // namespace
}  // namespace tpuslice::runtime
