// One line for each attack: what it costs the operator, what another tenant notices, the message to the tenant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/e2e/attacks/attacks.h"

namespace tpuslice::testing {
namespace {

/// The memory limit of deploy/operator is 256 MiB.
constexpr double kMaxMebibytes = 96;
constexpr double kMaxCpuSeconds = 1;

/// The tests share one control plane and one operator.
class OneTenant : public ::testing::TestWithParam<Attack> {
 protected:
  static void SetUpTestSuite() {
    if (!plane_) plane_ = AttackPlane::start();
  }
  void SetUp() override {
    if (!*plane_ && plane_->error().code() == ErrorCode::kNotFound) GTEST_SKIP() << plane_->error().message();
    ASSERT_TRUE(plane_->ok()) << plane_->error().message();
    ASSERT_TRUE(plane().op().running()) << "the operator has exited";
  }
  void TearDown() override {
    if (!plane_->ok()) return;
    plane().clean_up();
    if (HasFailure()) plane().plane().keep_dir();
  }

  static AttackPlane& plane() { return *plane_->value(); }

  void attack() {
    std::string message;
    const AttackCost cost = plane().measure([&] { message = GetParam().run(plane()); });
    fmt::print("{:46} {:6.1f} MiB {:6.2f} CPU s   admitted in {:4.1f} ms, p99 {:5.1f} ms   {}\n", GetParam().name,
               cost.peak_mib, cost.cpu_seconds, cost.median_ms, cost.p99_ms, message.substr(0, 160));
    EXPECT_THAT(message, ::testing::HasSubstr(GetParam().message));
    EXPECT_LE(cost.peak_mib, kMaxMebibytes);
    EXPECT_LE(cost.cpu_seconds, kMaxCpuSeconds);
    EXPECT_TRUE(plane().op().running());
  }

 private:
  inline static std::optional<Result<std::unique_ptr<AttackPlane>>> plane_;
};

TEST_P(OneTenant, DoesNotHarmOthers) { attack(); }

INSTANTIATE_TEST_SUITE_P(Admission, OneTenant, ::testing::ValuesIn(attacks_on_admission()),
                         [](const auto& test) { return test.param.name; });

class OneTenantUnchecked : public OneTenant {
 protected:
  void SetUp() override {
    OneTenant::SetUp();
    if (HasFatalFailure() || IsSkipped() || allowed_) return;
    const Status all = plane().allow_all();
    ASSERT_TRUE(all.ok()) << all.error().message();
    allowed_ = true;
  }

 private:
  inline static bool allowed_ = false;
};

TEST_P(OneTenantUnchecked, DoesNotHarmOthers) { attack(); }

INSTANTIATE_TEST_SUITE_P(Controllers, OneTenantUnchecked, ::testing::ValuesIn(attacks_on_controllers()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tpuslice::testing
