// Stores that are not synced and leadership.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/manager.h"
#include "tests/support/fake_api.h"
#include "tests/unit/controllers/runtime/widget_reconciler.h"
#include "tests/unit/controllers/runtime/widgets.h"

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tpuslice::testing::FakeApi;

class ManagerSync : public ::testing::Test {
 protected:
  ManagerSync() {
    ObjectStore& widgets = manager_.store<ObjectView>(kWidgets);
    PodStore& pods = manager_.store<PodView>(kPods, {.label_selector = "app"});
    Controller& controller = manager_.add(std::make_unique<WidgetReconciler>(widgets, pods));
    controller.watches(widgets);
    controller.watches(pods);
  }
  static ManagerOptions options() {
    ManagerOptions options;
    options.election.identity = "a";
    options.action_threads = 0;
    return options;
  }

  FakeApi api_;
  FakeClock clock_;
  Metrics metrics_;
  Manager manager_{{api_, api_}, {api_, api_}, clock_, metrics_, Logger(), options()};
};

TEST_F(ManagerSync, DoesNotLeadBeforeItsStoresAreSynced) {
  bool answers = false;
  api_.fault = [&](const FakeApi::Call& call) -> std::optional<Error> {
    if (answers || !(call.type == kWidgets)) return std::nullopt;
    return Error::unavailable("no answer");
  };
  manager_.step(clock_.now());
  clock_.advance(20s);
  manager_.step(clock_.now());
  EXPECT_FALSE(manager_.leading());
  EXPECT_THAT(manager_.not_synced(), ElementsAre("widgets.example.com"));
  answers = true;
  clock_.advance(20s);
  manager_.step(clock_.now());
  EXPECT_TRUE(manager_.leading());
}

TEST_F(ManagerSync, LeadsAfterATimeOutAlthoughOneResourceCannotBeListed) {
  manager_.store<ObjectView>(kRoles);
  api_.fault = [](const FakeApi::Call& call) -> std::optional<Error> {
    if (!(call.type == kRoles)) return std::nullopt;
    return Error::of(ErrorCode::kForbidden, "cannot list roles");
  };
  api_.put(kWidgets, widget("w", {{"replicas", 1}}));
  for (int i = 0; i < 59; ++i) {
    manager_.step(clock_.now());
    clock_.advance(1s);
  }
  EXPECT_FALSE(manager_.leading());
  EXPECT_THAT(api_.all(kPods), IsEmpty());
  for (int i = 0; i < 5; ++i) {
    manager_.step(clock_.now());
    clock_.advance(1s);
  }
  EXPECT_TRUE(manager_.leading());
  EXPECT_THAT(api_.all(kPods), SizeIs(1)) << "the controllers of other resources run";
}

TEST_F(ManagerSync, ControllersStopWhileATypeIsNotServed) {
  api_.put(kWidgets, widget("w", {{"replicas", 1}}));
  const auto pass = [this](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      manager_.step(clock_.now());
      clock_.advance(1s);
    }
  };
  pass(5);
  ASSERT_THAT(api_.all(kPods), SizeIs(1));
  api_.fault = [](const FakeApi::Call& call) -> std::optional<Error> {
    if (!(call.type == kWidgets)) return std::nullopt;
    return Error::not_found("the server could not find the requested resource");
  };
  pass(800);  // The open watch ends.
  ASSERT_TRUE(api_.remove(kPods, api_.all(kPods).front().key(), {}, {}).ok());
  pass(60);
  EXPECT_THAT(api_.all(kPods), IsEmpty());
  EXPECT_TRUE(manager_.ready()) << "as at a start without the CRD";
  api_.fault = nullptr;
  pass(60);
  EXPECT_THAT(api_.all(kPods), SizeIs(1));
}

/// A controller of two namespaces.
class ManagerOfTwoNamespaces : public ::testing::Test {
 protected:
  ManagerOfTwoNamespaces() {
    const Namespaces both{"x", "y"};
    ObjectStore& widgets = manager_.store<ObjectView>(kWidgets, {.namespaces = both});
    PodStore& pods = manager_.store<PodView>(kPods, {.namespaces = both, .label_selector = "app"});
    Controller& controller = manager_.add(std::make_unique<WidgetReconciler>(widgets, pods));
    controller.watches(widgets);
    controller.watches(pods);
    for (const char* space : {"x", "y", "z"}) {
      Object made = widget("w", {{"replicas", 1}});
      made.mutable_json()["metadata"]["namespace"] = space;
      api_.put(kWidgets, std::move(made));
    }
  }
  static ManagerOptions options() {
    ManagerOptions options;
    options.leader_elect = false;
    options.action_threads = 0;
    return options;
  }
  void pass(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      manager_.step(clock_.now());
      clock_.advance(1s);
    }
  }
  [[nodiscard]] std::vector<std::string> pods() const {
    std::vector<std::string> out;
    for (const Object& pod : api_.all(kPods)) out.push_back(pod.key().to_string());
    return out;
  }

  FakeApi api_;
  FakeClock clock_;
  Metrics metrics_;
  Manager manager_{{api_, api_}, {api_, api_}, clock_, metrics_, Logger(), options()};
};

TEST_F(ManagerOfTwoNamespaces, ServesBothAndNoOther) {
  pass(3);
  EXPECT_TRUE(manager_.ready());
  EXPECT_THAT(pods(), ElementsAre("x/w-0", "y/w-0"));
  for (const FakeApi::Call& call : api_.calls()) {
    if (call.verb != "list") continue;
    EXPECT_THAT(call.key.namespace_name, ::testing::AnyOf("x", "y"));
  }
}

TEST_F(ManagerOfTwoNamespaces, ServesOneWhileTheOtherCannotBeRead) {
  bool allowed = false;
  api_.fault = [&](const FakeApi::Call& call) -> std::optional<Error> {
    if (allowed || call.key.namespace_name != "y" || call.verb == "create") return std::nullopt;
    return Error::of(ErrorCode::kForbidden, "cannot list in y");
  };
  pass(70);
  EXPECT_THAT(pods(), ElementsAre("x/w-0"));
  EXPECT_FALSE(manager_.ready());
  EXPECT_THAT(manager_.not_synced(), ElementsAre("widgets.example.com in y", "pods in y"));
  ASSERT_THAT(manager_.broken_watches(), SizeIs(2));
  EXPECT_THAT(manager_.broken_watches().front(), ::testing::StartsWith("widgets.example.com in y for "));
  EXPECT_EQ(watch_metrics(metrics_, {"pods", "app", "x"}).connected.value(), 1);
  EXPECT_EQ(watch_metrics(metrics_, {"pods", "app", "y"}).connected.value(), 0);
  allowed = true;
  pass(60);
  EXPECT_THAT(pods(), ElementsAre("x/w-0", "y/w-0"));
  EXPECT_TRUE(manager_.ready());
}

/// Otherwise all children of the object would be taken for missing.
TEST_F(ManagerOfTwoNamespaces, PlansNoObjectWhoseChildrenCannotBeRead) {
  bool allowed = false;
  api_.fault = [&](const FakeApi::Call& call) -> std::optional<Error> {
    if (allowed || !(call.type == kPods) || call.key.namespace_name != "y" || call.verb == "create") {
      return std::nullopt;
    }
    return Error::of(ErrorCode::kForbidden, "cannot list pods in y");
  };
  pass(10);
  EXPECT_THAT(pods(), ElementsAre("x/w-0"));
  allowed = true;
  pass(60);
  EXPECT_THAT(pods(), ElementsAre("x/w-0", "y/w-0"));
}

TEST_F(ManagerOfTwoNamespaces, ANamespaceThatDoesNotExistIsEmpty) {
  Manager manager({api_, api_}, {api_, api_}, clock_, metrics_, Logger(), options());
  const ObjectStore& widgets = manager.store<ObjectView>(kWidgets, {.namespaces = {"none", "x"}});
  manager.step(clock_.now());
  EXPECT_TRUE(manager.ready());
  EXPECT_TRUE(widgets.synced());
  EXPECT_EQ(widgets.size(), 1U);
}

TEST_F(ManagerOfTwoNamespaces, SharesTheStoreOfTheSameNamespaces) {
  const ObjectStore& widgets = manager_.store<ObjectView>(kWidgets, {.namespaces = {"x", "y"}});
  EXPECT_EQ(&widgets, &manager_.store<ObjectView>(kWidgets, {.namespaces = {"x", "y"}}));
  EXPECT_NE(&widgets, &manager_.store<ObjectView>(kWidgets, {.namespaces = {"x"}}));
}

}  // namespace
}  // namespace tpuslice::runtime
