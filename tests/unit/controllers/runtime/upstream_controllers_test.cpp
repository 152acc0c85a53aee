#include "controllers/runtime/upstream_controllers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/clock.h"
#include "tests/support/fake_api.h"
#include "tests/support/fake_reviews.h"

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kLeaseName = "6d4f6a47.jobset.x-k8s.io";
constexpr const char* kNamespace = "jobset-system";
const ObjectKey kController{kNamespace, "jobset-controller-manager-7d"};

class UpstreamControllersTest : public ::testing::Test {
 protected:
  UpstreamControllersTest() {
    LogOptions log;
    log.clock = &clock_;
    log.sink = [this](std::string_view line) { lines_.emplace_back(line); };
    log_ = Logger(log);
    reviews_.controllers = {"system:serviceaccount:jobset-system:jobset"};
    start();
  }
  /// A process that has read no Lease yet.
  void start() {
    leases_.emplace(kLeases);
    upstream_.emplace(api_, reviews_, clock_, metrics_, log_);
    upstream_->add({.name = "JobSet's controller",
                    .lease = kLeaseName,
                    .kind = {"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"},
                    .controllers = {"jobset"}},
                   *leases_);
  }
  void sync() { leases_->replace({}, 1); }
  static void add_pod(testing::FakeApi& api, const ObjectKey& key, const std::string& account) {
    api.put(kPods, Object({{"metadata", {{"name", key.name}, {"namespace", key.namespace_name}}},
                           {"spec", {{"serviceAccountName", account}}}}));
  }
  void install() { add_pod(api_, kController, "jobset"); }
  /// The Lease is written, now, by the API server's clock.
  void renew(const std::string& holder = kController.name + "_1", const std::string& namespace_name = kNamespace) {
    const Object lease = api_.put(kLeases, Object({{"metadata", {{"name", kLeaseName}, {"namespace", namespace_name}}},
                                                   {"spec",
                                                    {{"holderIdentity", holder},
                                                     {"leaseDurationSeconds", 15},
                                                     {"renewTime", format_rfc3339_micro(clock_.wall())}}}}));
    if (!watched_) return;
    leases_->put(minimal_ ? ObjectView::decode_minimal(lease.json().dump()).value()
                          : ObjectView::from_json(lease.json()).value());
  }
  Instant step() { return upstream_->step(clock_.now(), {}); }
  void advance(Duration by) {
    clock_.advance(by);
    step();
  }
  [[nodiscard]] bool may_run() const { return upstream_->may_run("jobset"); }
  [[nodiscard]] bool left() const { return upstream_->left("jobset"); }
  [[nodiscard]] double conflict() {
    return metrics_.scrape().find("tpuslice_controller_conflict{controller=\"jobset\"} 1") != std::string::npos ? 1 : 0;
  }

  FakeClock clock_;
  testing::FakeApi api_;
  testing::FakeReviews reviews_;
  Metrics metrics_;
  std::vector<std::string> lines_;
  Logger log_;
  bool watched_ = true;   ///< False: the store does not see changes.
  bool minimal_ = false;  ///< Leases do not fit into the memory budget.
  std::optional<ObjectStore> leases_;
  std::optional<UpstreamControllers> upstream_;
};

TEST_F(UpstreamControllersTest, ControllersRunOnceNoLeaseIsKnownToExist) {
  step();
  EXPECT_FALSE(may_run());
  EXPECT_FALSE(left());
  EXPECT_TRUE(upstream_->may_run("slice")) << "no upstream controller serves it";
  sync();
  EXPECT_EQ(step(), kNever);
  EXPECT_TRUE(may_run());
  EXPECT_EQ(conflict(), 0);
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(UpstreamControllersTest, ALiveLeaseStopsTheController) {
  install();
  sync();
  step();
  int changes = 0;
  upstream_->on_change([&] { ++changes; });
  renew();
  step();
  EXPECT_FALSE(may_run());
  EXPECT_TRUE(left());
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(conflict(), 1);
  ASSERT_THAT(lines_, SizeIs(1));
  EXPECT_THAT(lines_[0], HasSubstr("jobset-system/6d4f6a47.jobset.x-k8s.io"));
  EXPECT_THAT(lines_[0], HasSubstr("--controllers=*,-jobset"));
  EXPECT_THAT(lines_[0], HasSubstr("--take-over=jobset"));
  for (int i = 0; i < 20; ++i) {
    clock_.advance(2s);
    renew();
    step();
  }
  EXPECT_THAT(lines_, SizeIs(1));
  EXPECT_EQ(reviews_.count(), 1U) << "a holder is checked once";
}

TEST_F(UpstreamControllersTest, ALiveLeaseIsFoundAtTheStart) {
  install();
  renew();
  step();
  EXPECT_FALSE(may_run()) << "before the Leases are read";
  sync();
  renew();
  step();
  EXPECT_FALSE(may_run());
  EXPECT_TRUE(left());
}

TEST_F(UpstreamControllersTest, TheControllerRunsAgainWhenTheLeaseIsReleasedOrDeleted) {
  install();
  sync();
  for (const bool released : {true, false}) {
    renew();
    step();
    ASSERT_FALSE(may_run());
    clock_.advance(2s);
    if (released) {
      renew("");
    } else {
      leases_->erase({kNamespace, kLeaseName}, 1000);
    }
    step();
    EXPECT_TRUE(may_run());
    EXPECT_FALSE(left());
    EXPECT_THAT(lines_.back(), HasSubstr("taken over"));
  }
}

// An update of upstream's controller, or a node that is lost, must not hand its objects over.
TEST_F(UpstreamControllersTest, ARestartOfTheUpstreamControllerIsNoHandOver) {
  install();
  sync();
  renew();
  step();
  ASSERT_TRUE(api_.remove(kPods, kController, {}, {}).ok());
  advance(9min);
  EXPECT_TRUE(left());
  const ObjectKey next{kNamespace, "jobset-controller-manager-8e"};
  add_pod(api_, next, "jobset");
  renew(next.name + "_2");
  step();
  EXPECT_TRUE(left());
  advance(9min);
  EXPECT_TRUE(left());
  advance(1min);
  EXPECT_TRUE(may_run()) << "it is gone for good";
}

TEST_F(UpstreamControllersTest, ALeaseThatWasNotRenewedForLongDoesNotDelayTheStart) {
  install();
  renew();
  clock_.advance(11min);
  start();
  sync();
  leases_->put(ObjectView::from_json(api_.find(kLeases, {kNamespace, kLeaseName})->json()).value());
  step();
  EXPECT_TRUE(may_run());
  renew();  // Its controller comes back.
  step();
  EXPECT_TRUE(left());
}

TEST_F(UpstreamControllersTest, ABrokenWatchIsNoHandOver) {
  install();
  sync();
  renew();
  step();
  watched_ = false;
  for (int minute = 0; minute < 25; ++minute) {
    clock_.advance(1min);
    renew();
    step();
    ASSERT_TRUE(left()) << minute;
  }
  api_.fault = [](const testing::FakeApi::Call& call) -> std::optional<Error> {
    if (call.type == kLeases) return Error::unavailable("no route");
    return std::nullopt;
  };
  advance(1h);
  EXPECT_TRUE(left()) << "the Lease cannot be read";
  api_.fault = nullptr;
  advance(1min);
  EXPECT_TRUE(left()) << "it was renewed since it was last read";
  advance(11min);
  EXPECT_TRUE(may_run());
}

/// Regression: a Lease that does not fit into the memory budget counted as one without a holder.
TEST_F(UpstreamControllersTest, ALeaseOfWhichTheStoreHasAMinimalViewIsRead) {
  install();
  minimal_ = true;
  api_.fault = [](const testing::FakeApi::Call& call) -> std::optional<Error> {
    if (call.type == kLeases) return Error::unavailable("no route");
    return std::nullopt;
  };
  sync();
  renew();
  EXPECT_LE(step(), clock_.now() + 10s);
  EXPECT_FALSE(may_run()) << "it is not known who holds it";
  EXPECT_FALSE(left());
  api_.fault = nullptr;
  advance(10s);
  EXPECT_TRUE(left());
  api_.clear_calls();
  for (int second = 0; second < 60; ++second) {
    renew();
    advance(1s);
  }
  EXPECT_TRUE(left());
  EXPECT_EQ(api_.calls().size(), 6U) << "however often it is written";
  renew("");
  advance(10s);
  EXPECT_TRUE(may_run());
}

TEST_F(UpstreamControllersTest, ALeaseThatIsGoneWhenItIsReadDelaysNothing) {
  sync();
  minimal_ = true;
  renew();
  ASSERT_TRUE(api_.remove(kLeases, {kNamespace, kLeaseName}, {}, {}).ok());
  step();
  EXPECT_TRUE(may_run());
}

/// Regression: once a second, while the API server failed.
TEST_F(UpstreamControllersTest, ALeaseThatCannotBeReadIsReadAgainAfterAWhile) {
  install();
  sync();
  renew();
  step();
  watched_ = false;
  api_.fault = [](const testing::FakeApi::Call& call) -> std::optional<Error> {
    if (call.type == kLeases) return Error::unavailable("no route");
    return std::nullopt;
  };
  advance(10min);
  api_.clear_calls();
  for (int second = 0; second < 60; ++second) advance(1s);
  EXPECT_TRUE(left());
  EXPECT_EQ(api_.calls().size(), 6U);
}

// A user who may edit a namespace may create Leases and pods in it.
TEST_F(UpstreamControllersTest, LeasesOfUsersDoNotCount) {
  sync();
  step();
  add_pod(api_, {"team", "fake"}, "default");
  renew("fake_1", "team");
  renew("none_1", "other");
  renew("../../../secrets_1", "third");
  step();
  EXPECT_TRUE(may_run());
  EXPECT_FALSE(left());
  EXPECT_EQ(reviews_.reviews().at(0)["spec"]["user"], "system:serviceaccount:team:default");
  EXPECT_THAT(lines_, SizeIs(3));
  EXPECT_THAT(lines_, Contains(HasSubstr("lease ignored")));
  // A new holder every second costs two requests a minute for each namespace.
  api_.clear_calls();
  for (int second = 0; second < 300; ++second) {
    renew(fmt::format("fake_{}", second), "team");
    advance(1s);
  }
  EXPECT_TRUE(may_run());
  EXPECT_LE(reviews_.count(), 7U);
  EXPECT_LE(api_.calls().size(), 6U + 2U * 6U);
  // Upstream's own is found among them.
  install();
  renew();
  step();
  EXPECT_TRUE(left());
}

TEST_F(UpstreamControllersTest, WhatCannotBeCheckedChangesNothing) {
  install();
  reviews_.error = Error::unavailable("no route");
  sync();
  renew();
  step();
  EXPECT_FALSE(may_run());
  EXPECT_FALSE(left());
  EXPECT_THAT(lines_, Contains(HasSubstr("no route")));
  reviews_.error.reset();
  advance(11s);
  EXPECT_TRUE(left());
}

/// Regression: without the permission they never ran.
TEST_F(UpstreamControllersTest, ControllersRunIfHoldersMayNotBeChecked) {
  install();
  sync();
  renew();
  reviews_.error = Error::of(ErrorCode::kForbidden, "create subjectaccessreviews: forbidden");
  EXPECT_LE(step(), clock_.now() + 30s);
  advance(29s);
  EXPECT_FALSE(may_run());
  advance(1s);
  EXPECT_TRUE(may_run());
  EXPECT_THAT(lines_.back(), HasSubstr(R"("missing_permission":"create subjectaccessreviews.authorization.k8s.io")"));
  reviews_.error.reset();
  advance(10s);
  EXPECT_TRUE(left()) << "it can be checked now";
}

TEST_F(UpstreamControllersTest, ControllersRunIfPodsOfHoldersMayNotBeRead) {
  install();
  sync();
  renew();
  api_.fault = [](const testing::FakeApi::Call& call) -> std::optional<Error> {
    if (call.type == kPods) return Error::of(ErrorCode::kForbidden, "get pods: forbidden");
    return std::nullopt;
  };
  step();
  advance(30s);
  EXPECT_TRUE(may_run());
  EXPECT_THAT(lines_.back(), HasSubstr(R"("missing_permission":"get pods")"));
}

TEST_F(UpstreamControllersTest, ControllersWaitForTheApiServerToCheckAHolder) {
  install();
  sync();
  renew();
  reviews_.error = Error::unavailable("no route");
  step();
  advance(2min);
  EXPECT_FALSE(may_run()) << "no permission is missing";
  EXPECT_FALSE(left());
}

TEST_F(UpstreamControllersTest, ControllersRunIfTheLeasesCannotBeRead) {
  EXPECT_LT(step(), kNever);
  advance(29s);
  EXPECT_FALSE(may_run());
  advance(1s);
  EXPECT_TRUE(may_run());
  EXPECT_THAT(lines_, Contains(HasSubstr("leases not read")));
  install();
  sync();
  renew();
  step();
  EXPECT_TRUE(left()) << "they can be read now";
}

}  // namespace
}  // namespace tpuslice::runtime
