// One line for each attack: what it costs the operator, what another tenant notices, the message to the tenant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/e2e/attacks/attacks.h"

namespace tpuslice::testing {
namespace {

constexpr double kMaxCpuSeconds = 2;
/// Of the admission of a pod.
constexpr double kMaxMilliseconds = 1000;

/// The tests share one control plane and one operator. They end before main() does: afterwards the threads of the HTTP
/// client cannot be joined.
class SharedPlane final : public ::testing::Environment {
 public:
  void TearDown() override { plane_.reset(); }

  [[nodiscard]] Result<std::unique_ptr<AttackPlane>>& start() {
    if (!plane_) plane_ = AttackPlane::start();
    return *plane_;
  }

 private:
  std::optional<Result<std::unique_ptr<AttackPlane>>> plane_;
};

SharedPlane& shared_plane() {
  static auto* const plane = new SharedPlane();  // NOLINT: GoogleTest owns it.
  return *plane;
}

const auto* const kRegistered = ::testing::AddGlobalTestEnvironment(&shared_plane());

class OneTenant : public ::testing::TestWithParam<Attack> {
 protected:
  void SetUp() override {
    const auto& started = shared_plane().start();
    if (!started && started.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << started.error().message();
    ASSERT_TRUE(started.ok()) << started.error().message();
    ASSERT_TRUE(plane().op().running()) << "the operator has exited";
  }
  void TearDown() override {
    if (!shared_plane().start()) return;
    plane().clean_up();
    if (HasFailure()) plane().plane().keep_dir();
  }

  static AttackPlane& plane() { return **shared_plane().start(); }

  AttackCost attack() {
    std::string message;
    const AttackCost cost = plane().measure([&] { message = GetParam().run(plane()); });
    fmt::print("{:46} {:6.1f} MiB {:6.2f} CPU s   admitted in {:4.1f} ms, p99 {:5.1f} ms   {}\n", GetParam().name,
               cost.peak_mib, cost.cpu_seconds, cost.median_ms, cost.p99_ms, message.substr(0, 160));
    EXPECT_THAT(message, ::testing::HasSubstr(GetParam().message));
    EXPECT_TRUE(plane().op().running());
    return cost;
  }
  void attack_cheaply() {
    const AttackCost cost = attack();
    EXPECT_LE(cost.peak_mib, kMaxMebibytes);
    EXPECT_LE(cost.cpu_seconds, kMaxCpuSeconds);
  }
};

TEST_P(OneTenant, DoesNotHarmOthers) { attack_cheaply(); }

INSTANTIATE_TEST_SUITE_P(Admission, OneTenant, ::testing::ValuesIn(attacks_on_admission()),
                         [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(LongNames, OneTenant, ::testing::ValuesIn(attacks_with_long_names()),
                         [](const auto& test) { return test.param.name; });

class Crowds : public OneTenant {
 protected:
  /// The other suites measure an operator that has not held all connections.
  static void TearDownTestSuite() {
    if (!shared_plane().start()) return;
    plane().op().kill();
    const Status restarted = plane().op().restart();
    EXPECT_TRUE(restarted.ok()) << restarted.error().message();
  }
};

TEST_P(Crowds, DelayNoAdmission) {
  const AttackCost cost = attack();
  EXPECT_LE(cost.peak_mib, kMaxMebibytesOfCrowds);
  EXPECT_LE(cost.slowest_ms, kMaxMilliseconds);
}

INSTANTIATE_TEST_SUITE_P(Addresses, Crowds, ::testing::ValuesIn(attacks_of_crowds()),
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

TEST_P(OneTenantUnchecked, DoesNotHarmOthers) { attack_cheaply(); }

INSTANTIATE_TEST_SUITE_P(Controllers, OneTenantUnchecked, ::testing::ValuesIn(attacks_on_controllers()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tpuslice::testing
