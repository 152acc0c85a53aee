// A leader that is paused for longer than its lease, as by swapping or a VM migration, while another replica takes
// over.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/faults/fault_plane.h"
#include "tests/e2e/faults/ray_namespace.h"
#include "tests/support/operator_process.h"

namespace tpuslice::testing {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

class PausedLeader : public FaultTest {
 protected:
  [[nodiscard]] static std::string holder() {
    const auto lease = client().get(kLeases, {"tpu-slice-system", "tpu-slice-operator"});
    return lease ? string_at(lease->json(), {"spec", "holderIdentity"}) : "";
  }
  /// Whether `user` sends a write within a second. The process must not be paused with a request in flight, which
  /// nothing can cancel.
  [[nodiscard]] static bool is_writing(const std::string& user) {
    const std::size_t before = writes_of(user).size();
    return eventually([&] { return writes_of(user).size() > before; }, 1s);
  }
  [[nodiscard]] static bool leads(OperatorProcess& op) {
    return op.metric("leader_election_master_status").value_or(0) == 1;
  }
};

TEST_F(PausedLeader, WritesNothingAfterAnotherReplicaLeads) {
  RayNamespace old(client(), "leader-old");
  RayNamespace late(client(), "leader-late");
  for (RayNamespace* space : {&old, &late}) ASSERT_TRUE(space->create().ok());
  const auto a = start_operator(true, "operator-a");
  ASSERT_TRUE(a.ok()) << a.error().message();
  ASSERT_TRUE(eventually([&] { return leads(**a); }));
  const std::string first = holder();
  const auto b = start_operator(true, "operator-b");
  ASSERT_TRUE(b.ok()) << b.error().message();
  ASSERT_TRUE(old.apply().ok());
  ASSERT_TRUE(eventually([&] { return old.ready(); }));
  ASSERT_TRUE(eventually([&] { return !is_writing("operator-a"); }));
  EXPECT_THAT(writes_of("operator-b"), IsEmpty());

  (*a)->pause();
  const std::vector<std::string> until_lost = writes_of("operator-a");
  // Work that the other replica completes before this one resumes.
  const std::set<std::string> before = old.worker_uids();
  ASSERT_TRUE(old.fail_worker(0).ok());
  ASSERT_TRUE(late.apply().ok());
  ASSERT_TRUE(eventually([&] { return holder() != first; }, 60s));
  EXPECT_TRUE(eventually([&] { return leads(**b); }));
  ASSERT_TRUE(eventually([&] { return old.rebuilt(before); })) << old.digest();
  ASSERT_TRUE(eventually([&] { return late.ready(); })) << late.digest();

  // Work that both replicas observe.
  const std::set<std::string> rebuilt = old.worker_uids();
  ASSERT_TRUE(old.fail_worker(1).ok());
  (*a)->resume();
  EXPECT_TRUE(eventually([&] { return !leads(**a); }));
  EXPECT_TRUE(eventually([&] { return old.rebuilt(rebuilt); })) << old.digest();
  EXPECT_EQ(writes_of("operator-a"), until_lost);
  EXPECT_THAT(writes_of("operator-b"), Contains("201 create pods leader-late/" + late.children().front()));

  // It stands by, and leads again once the other has released the lease.
  EXPECT_TRUE((*a)->running());
  EXPECT_TRUE((*b)->stop().ok());
  EXPECT_TRUE(eventually([&] { return leads(**a); }, 60s));
  const std::set<std::string> again = old.worker_uids();
  ASSERT_TRUE(old.fail_worker(0).ok());
  EXPECT_TRUE(eventually([&] { return old.rebuilt(again); })) << old.digest();
  EXPECT_TRUE((*a)->stop().ok());
}

}  // namespace
}  // namespace tpuslice::testing
