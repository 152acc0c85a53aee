#include "controllers/drain/lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_api.h"

namespace tpuslice::drain {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

const ObjectKey kLease{"tpu-slice-system", "tpu-slice-operator"};

class DrainLease : public ::testing::Test {
 protected:
  Result<std::unique_ptr<OperatorLease>> acquire(Duration limit = 0s) {
    return OperatorLease::acquire({.identity = "drain"}, api_, api_, clock_, metrics_, log_, limit, {});
  }
  std::string holder() {
    const auto lease = api_.find(kLeases, kLease);
    return lease ? string_at(lease->json(), {"spec", "holderIdentity"}) : "no lease";
  }
  void put_lease(const std::string& holder, int seconds) {
    api_.put(kLeases, Object(Json({{"metadata", {{"name", kLease.name}, {"namespace", kLease.namespace_name}}},
                                   {"spec", {{"holderIdentity", holder}, {"leaseDurationSeconds", seconds}}}})));
  }
  void put_operator_pod(const std::string& phase) {
    api_.put(kPods,
             Object(Json({{"metadata", {{"name", "op-1"}, {"namespace", "ops"}}}, {"status", {{"phase", phase}}}})));
  }

  testing::FakeApi api_;
  RealClock clock_;
  Metrics metrics_;
  const Logger log_;
};

TEST_F(DrainLease, IsHeldUntilTheEndOfTheDrain) {
  auto lease = acquire();
  ASSERT_TRUE(lease.ok()) << lease.error().message();
  EXPECT_EQ(holder(), "drain");
  EXPECT_GT((*lease)->left(), 10s);
  EXPECT_FALSE((*lease)->lost().stop_requested());
  lease->reset();
  EXPECT_EQ(holder(), "");
}

TEST_F(DrainLease, OfAnOperatorThatRunsIsNotTaken) {
  put_lease("replica-1", 15);
  const auto lease = acquire();
  EXPECT_THAT(
      lease,
      IsError(ErrorCode::kConflict,
              "lease tpu-slice-system/tpu-slice-operator is held by replica-1; stop the operator first: kubectl -n "
              "tpu-slice-system scale deployment/tpu-slice-operator --replicas=0"));
  EXPECT_EQ(holder(), "replica-1");
}

TEST_F(DrainLease, OfAKilledOperatorIsTakenWhenItHasExpired) {
  put_lease("replica-1", 1);
  const auto lease = acquire(10s);
  ASSERT_TRUE(lease.ok()) << lease.error().message();
  EXPECT_EQ(holder(), "drain");
}

// Without --leader-elect the operator holds no lease.
TEST_F(DrainLease, IsNotTakenWhileAPodRunsTheOperator) {
  put_operator_pod("Running");
  const auto lease = acquire();
  EXPECT_THAT(lease, IsError(ErrorCode::kConflict, AllOf(HasSubstr("pod ops/op-1 runs the operator"),
                                                         HasSubstr("kubectl -n ops scale deployment"))));
  EXPECT_EQ(holder(), "no lease");
  put_operator_pod("Succeeded");
  EXPECT_TRUE(acquire().ok());
}

TEST_F(DrainLease, IsLostWhenAnotherTakesIt) {
  const auto lease = acquire();
  ASSERT_TRUE(lease.ok()) << lease.error().message();
  put_lease("other", 15);
  EXPECT_TRUE(testing::eventually([&] { return (*lease)->lost().stop_requested(); }));
  EXPECT_EQ((*lease)->left(), Duration::zero());
}

}  // namespace
}  // namespace tpuslice::drain
