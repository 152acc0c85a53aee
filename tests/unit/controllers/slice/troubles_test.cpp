#include "controllers/slice/troubles.h"

#include <ostream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/slice/slices.h"

namespace tpuslice::slice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

DomainName pool(const std::string& name) { return {kGkePool, name}; }

TEST(Troubles, CountFromTheSecondOn) {
  Troubles troubles;
  troubles.add(pool("pool-a"), after(0s));
  EXPECT_THAT(troubles.recent(after(1min)), IsEmpty()) << "once is chance";
  troubles.add(pool("pool-a"), after(1min));
  troubles.add(pool("pool-b"), after(1min));
  EXPECT_THAT(troubles.recent(after(1min)), ElementsAre(Pair(pool("pool-a"), 2)));
}

TEST(Troubles, ThatFollowAtOnceAreTheSame) {
  Troubles troubles;
  for (int pod = 0; pod < 10; ++pod) troubles.add(pool("pool-a"), after(std::chrono::seconds(pod)));
  EXPECT_THAT(troubles.recent(after(1min)), IsEmpty()) << "one slice of ten hosts, lost once";
  troubles.add(pool("pool-a"), after(Troubles::kSame));
  EXPECT_THAT(troubles.recent(after(1min)), ElementsAre(Pair(pool("pool-a"), 2)));
}

TEST(Troubles, AreForgottenOneByOne) {
  Troubles troubles;
  for (const Duration when : {0min, 5min, 10min}) troubles.add(pool("pool-a"), after(when));
  EXPECT_THAT(troubles.recent(after(Troubles::kMemory - 1ns)), ElementsAre(Pair(pool("pool-a"), 3)));
  EXPECT_THAT(troubles.recent(after(Troubles::kMemory)), ElementsAre(Pair(pool("pool-a"), 2)));
  EXPECT_THAT(troubles.recent(after(Troubles::kMemory + 5min)), IsEmpty());
}

TEST(Troubles, OfOneDomainAreCountedNoFurtherThanEight) {
  Troubles troubles;
  for (int minute = 0; minute < 20; ++minute) troubles.add(pool("pool-a"), after(std::chrono::minutes(minute)));
  EXPECT_THAT(troubles.recent(after(20min)), ElementsAre(Pair(pool("pool-a"), 8)));
  EXPECT_THAT(troubles.recent(after(19min + Troubles::kMemory - 1min)), IsEmpty()) << "the latest are kept";
  EXPECT_THAT(troubles.recent(after(18min + Troubles::kMemory - 1min)), ElementsAre(Pair(pool("pool-a"), 2)));
}

TEST(Troubles, OfTheOldestDomainAreForgottenWhenThereAreTooMany) {
  Troubles troubles;
  const auto name = [](std::size_t i) { return pool(fmt::format("pool-{}", i)); };
  for (const Duration when : {0s, 31s}) {
    for (std::size_t i = 0; i < Troubles::kMostDomains; ++i) {
      // The one in the middle is the oldest.
      troubles.add(name(i), after(when + (i == 500 ? 0s : 1s)));
    }
  }
  EXPECT_THAT(troubles.recent(after(1min)), SizeIs(Troubles::kMostDomains));
  troubles.add(name(Troubles::kMostDomains), after(2min));
  const TroubleCounts counts = troubles.recent(after(2min));
  EXPECT_THAT(counts, SizeIs(Troubles::kMostDomains - 1));
  EXPECT_FALSE(counts.contains(name(500)));
}

TEST(Troubles, OfNoDomainAreNone) {
  Troubles troubles;
  for (const Duration when : {0s, 60s, 120s}) troubles.add(pool(""), after(when));
  EXPECT_THAT(troubles.recent(after(2min)), IsEmpty());
}

/// What is seen of one pod of a slice that runs, or is to run, in pool-a.
struct PodTrouble {
  const char* name;
  SliceBuilder before;
  std::optional<SliceBuilder> after;  ///< None: the pod is gone.
  const char* domain;
};
void PrintTo(const PodTrouble& c, std::ostream* out) { *out << c.name; }
class TroubleOf : public ::testing::TestWithParam<PodTrouble> {};

TEST_P(TroubleOf, APodThatChanged) {
  runtime::NodeStore nodes(kNodes);
  for (const NodePtr& node : a_pool("pool-a").nodes()) nodes.put(*node);
  const PodTrouble& c = GetParam();
  EXPECT_EQ(trouble_of(nodes, c.before.pod(0), c.after ? c.after->pod(0) : nullptr).second, c.domain);
}

SliceBuilder that_runs() { return a_slice("train").runs_in("pool-a"); }
SliceBuilder that_is_sent() { return a_slice("train").sent_to("pool-a"); }

INSTANTIATE_TEST_SUITE_P(
    Changes, TroubleOf,
    ::testing::Values(PodTrouble{"Failed", that_runs(), that_runs().fails(0), "pool-a"},
                      PodTrouble{"FailedOnANodeThatIsGone", a_slice("train").runs_in("pool-z"),
                                 a_slice("train").runs_in("pool-z").fails(0), "pool-z"},
                      PodTrouble{"HadFailedBefore", that_runs().fails(0), that_runs().fails(0).leaves(0), ""},
                      PodTrouble{"FailedBecauseItWasToldToEnd", that_runs().leaves(0), that_runs().fails(0).leaves(0),
                                 ""},
                      PodTrouble{"Succeeded", that_runs(), that_runs().succeeds(0), ""},
                      PodTrouble{"DeletedWhileItRan", that_runs(), that_runs().leaves(0), ""},
                      PodTrouble{"GoneWhileItRan", that_runs(), std::nullopt, ""},
                      PodTrouble{"DeletedWithoutANode", that_is_sent(), that_is_sent().leaves(0), "pool-a"},
                      PodTrouble{"GoneWithoutANode", that_is_sent(), std::nullopt, "pool-a"},
                      PodTrouble{"Bound", that_is_sent(), that_runs(), ""},
                      PodTrouble{"DeletedWhileItWaited", a_slice("train"), a_slice("train").leaves(0), ""},
                      PodTrouble{"ReleasedToNoDomain", a_slice("train").sent_to(""), std::nullopt, ""},
                      PodTrouble{"NeverPlacedByUs", that_runs().record(""), that_runs().record("").fails(0), ""}),
    [](const auto& test) { return test.param.name; });

TEST(TroubleOfAPod, IsNoneWhenItIsSeenForTheFirstTime) {
  const runtime::NodeStore nodes(kNodes);
  EXPECT_EQ(trouble_of(nodes, nullptr, that_runs().fails(0).pod(0)), DomainName());
}

TEST(TroubleOfAPod, IsOfTheDomainByTheTopologyKeyOfItsSlice) {
  const runtime::NodeStore nodes(kNodes);
  const SliceBuilder slice = a_slice("train").topology_key(kRow).sent_to("row-1");
  EXPECT_EQ(trouble_of(nodes, slice.pod(0), nullptr), (DomainName{kRow, "row-1"}));
}

class TroublesOfANode : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<DomainName> told(const NodePtr& before, const NodePtr& after) const {
    return troubles_of({slice_.pod(0)}, before, after);
  }

  const NodePtr ready_ = a_pool("pool-a").nodes().front();
  const NodePtr lost_ = a_pool("pool-a").node(0, not_ready).nodes().front();
  SliceBuilder slice_ = that_runs();
};

TEST_F(TroublesOfANode, AreTheDomainsOfItsPodsWhenItIsLostOrGone) {
  EXPECT_THAT(told(ready_, lost_), ElementsAre(pool("pool-a")));
  EXPECT_THAT(told(ready_, nullptr), ElementsAre(pool("pool-a")));
}

TEST_F(TroublesOfANode, AreNoneWhenItComesOrChangesOtherwise) {
  EXPECT_THAT(told(nullptr, ready_), IsEmpty());
  EXPECT_THAT(told(nullptr, lost_), IsEmpty());
  EXPECT_THAT(told(lost_, ready_), IsEmpty());
  EXPECT_THAT(told(lost_, nullptr), IsEmpty()) << "it was told when the node was lost";
  EXPECT_THAT(told(ready_, a_pool("pool-a").node(0, cordoned).nodes().front()), IsEmpty());
}

TEST_F(TroublesOfANode, AreNoneWhereNothingRunsThatWePlaced) {
  EXPECT_THAT(troubles_of({}, ready_, lost_), IsEmpty());
  EXPECT_THAT(troubles_of({a_foreign_pod("notebook", "pool-a-0")}, ready_, lost_), IsEmpty());
  slice_ = that_runs().succeeds(0);
  EXPECT_THAT(told(ready_, lost_), IsEmpty());
  slice_ = that_runs().record("");
  EXPECT_THAT(told(ready_, lost_), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::slice
