#include "tests/e2e/runner/invariant_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_api.h"

namespace tpuslice::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Objects come from observe() only: the API server is unavailable.
class InvariantWatchTest : public ::testing::Test {
 protected:
  InvariantWatchTest() {
    api_.fault = [](const testing::FakeApi::Call&) { return Error::unavailable("down"); };
    watch_ = std::make_unique<InvariantWatch>(api_, kPods, "default", invariant());
  }
  static Distinctness invariant() {
    return {.target = {.resource = "pods"},
            .fields = {FieldPath::parse(".slice").value(), FieldPath::parse(".host").value()},
            .except_with = FieldPath::parse(".gates").value()};
  }
  static Json pod(const std::string& uid, const std::string& host, const std::string& phase = "Running") {
    return {{"metadata", {{"name", "pod-" + uid}, {"uid", uid}}},
            {"slice", "s"},
            {"host", host},
            {"status", {{"phase", phase}}}};
  }

  testing::FakeApi api_;
  std::unique_ptr<InvariantWatch> watch_;
};

TEST_F(InvariantWatchTest, ReportsTwoLiveObjectsWithEqualValues) {
  watch_->observe(pod("1", "0"), false);
  watch_->observe(pod("2", "1"), false);
  EXPECT_THAT(watch_->violations(), IsEmpty());
  watch_->observe(pod("3", "1", "Pending"), false);
  ASSERT_THAT(watch_->violations(), SizeIs(1));
  EXPECT_THAT(watch_->violations().front(), HasSubstr("pod-2 (2) pod-3 (3)"));
  EXPECT_EQ(watch_->changes(), 3U);
}

TEST_F(InvariantWatchTest, IgnoresDeletedAndTerminalObjects) {
  watch_->observe(pod("1", "0"), false);
  watch_->observe(pod("1", "0"), true);
  watch_->observe(pod("2", "0"), false);
  watch_->observe(pod("2", "0", "Failed"), false);
  watch_->observe(pod("3", "0", "Succeeded"), false);
  watch_->observe(pod("4", "0"), false);
  EXPECT_THAT(watch_->violations(), IsEmpty());
}

TEST_F(InvariantWatchTest, ChecksAnObjectOnceItHasNoExceptionField) {
  Json gated = pod("2", "0", "Pending");
  gated["gates"] = Json::array({"slice"});
  watch_->observe(pod("1", "0"), false);
  watch_->observe(gated, false);
  EXPECT_THAT(watch_->violations(), IsEmpty());
  gated.erase("gates");
  watch_->observe(gated, false);
  EXPECT_THAT(watch_->violations(), SizeIs(1));
}

TEST_F(InvariantWatchTest, CountsLiveObjects) {
  InvariantWatch watch(api_, kPods, "default", {.target = {.resource = "pods"}, .at_most = 2});
  for (const char* uid : {"1", "2"}) watch.observe(pod(uid, uid), false);
  watch.observe(pod("2", "2"), true);
  watch.observe(pod("3", "3"), false);
  EXPECT_THAT(watch.violations(), IsEmpty());
  watch.observe(pod("4", "4"), false);
  ASSERT_THAT(watch.violations(), SizeIs(1));
  EXPECT_THAT(watch.violations().front(), HasSubstr("3 live pods are"));
}

TEST_F(InvariantWatchTest, FollowsAnObjectWhoseValuesChange) {
  watch_->observe(pod("1", "0"), false);
  watch_->observe(pod("1", "1"), false);
  watch_->observe(pod("2", "0"), false);
  EXPECT_THAT(watch_->violations(), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::e2e
