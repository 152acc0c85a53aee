#include "controllers/placement/failure_history.h"

#include <ostream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/placement/scenes.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

DomainName pool(const std::string& name) { return {kGkePool, name}; }

TEST(FailureHistory, ReportsDomainsWithTwoFailures) {
  FailureHistory history;
  history.record(pool("pool-a"), after(0s));
  EXPECT_THAT(history.recent(after(1min)), IsEmpty()) << "once is chance";
  history.record(pool("pool-a"), after(1min));
  history.record(pool("pool-b"), after(1min));
  EXPECT_THAT(history.recent(after(1min)), ElementsAre(Pair(pool("pool-a"), 2)));
}

TEST(FailureHistory, CountsFailuresWithinSecondsOnce) {
  FailureHistory history;
  for (int pod = 0; pod < 10; ++pod) history.record(pool("pool-a"), after(std::chrono::seconds(pod)));
  EXPECT_THAT(history.recent(after(1min)), IsEmpty()) << "one slice of ten hosts, lost once";
  history.record(pool("pool-a"), after(FailureHistory::kSameFailure));
  EXPECT_THAT(history.recent(after(1min)), ElementsAre(Pair(pool("pool-a"), 2)));
}

TEST(FailureHistory, DropsFailuresOutsideTheWindow) {
  FailureHistory history;
  for (const Duration when : {0min, 5min, 10min}) history.record(pool("pool-a"), after(when));
  EXPECT_THAT(history.recent(after(FailureHistory::kWindow - 1ns)), ElementsAre(Pair(pool("pool-a"), 3)));
  EXPECT_THAT(history.recent(after(FailureHistory::kWindow)), ElementsAre(Pair(pool("pool-a"), 2)));
  EXPECT_THAT(history.recent(after(FailureHistory::kWindow + 5min)), IsEmpty());
}

TEST(FailureHistory, ReportsUnstableDomainsAfterOneFailure) {
  FailureHistory history;
  history.record(pool("pool-a"), after(0s));
  history.record(pool("pool-b"), after(5min));
  EXPECT_THAT(history.unstable(after(FailureHistory::kUnstable - 1s)), ElementsAre(pool("pool-a"), pool("pool-b")));
  EXPECT_THAT(history.unstable(after(FailureHistory::kUnstable)), ElementsAre(pool("pool-b")));
}

TEST(FailureHistory, CountsAtMostEightFailuresPerDomain) {
  FailureHistory history;
  for (int minute = 0; minute < 20; ++minute) history.record(pool("pool-a"), after(std::chrono::minutes(minute)));
  EXPECT_THAT(history.recent(after(20min)), ElementsAre(Pair(pool("pool-a"), 8)));
  EXPECT_THAT(history.recent(after(19min + FailureHistory::kWindow - 1min)), IsEmpty()) << "the latest are kept";
  EXPECT_THAT(history.recent(after(18min + FailureHistory::kWindow - 1min)), ElementsAre(Pair(pool("pool-a"), 2)));
}

TEST(FailureHistory, DropsTheDomainWithTheOldestFailure) {
  FailureHistory history;
  const auto name = [](std::size_t i) { return pool(fmt::format("pool-{}", i)); };
  for (const Duration when : {0s, 31s}) {
    for (std::size_t i = 0; i < FailureHistory::kMaxDomains; ++i) {
      // The one in the middle is the oldest.
      history.record(name(i), after(when + (i == 500 ? 0s : 1s)));
    }
  }
  EXPECT_THAT(history.recent(after(1min)), SizeIs(FailureHistory::kMaxDomains));
  history.record(name(FailureHistory::kMaxDomains), after(2min));
  const DomainFailures counts = history.recent(after(2min));
  EXPECT_THAT(counts, SizeIs(FailureHistory::kMaxDomains - 1));
  EXPECT_FALSE(counts.contains(name(500)));
}

TEST(FailureHistory, IgnoresAnEmptyDomain) {
  FailureHistory history;
  for (const Duration when : {0s, 60s, 120s}) history.record(pool(""), after(when));
  EXPECT_THAT(history.recent(after(2min)), IsEmpty());
}

/// What is seen of one pod of a slice that runs, or is to run, in pool-a.
struct PodChangeCase {
  const char* name;
  SliceBuilder before;
  std::optional<SliceBuilder> after;  ///< Absent: the pod was deleted.
  const char* domain;
};
void PrintTo(const PodChangeCase& c, std::ostream* out) { *out << c.name; }
class FailedDomain : public ::testing::TestWithParam<PodChangeCase> {};

TEST_P(FailedDomain, APodThatChanged) {
  runtime::NodeStore nodes(kNodes);
  for (const NodePtr& node : a_pool("pool-a").nodes()) nodes.put(*node);
  const PodChangeCase& c = GetParam();
  EXPECT_EQ(failed_domain(nodes, c.before.pod(0), c.after ? c.after->pod(0) : nullptr).second, c.domain);
}

SliceBuilder that_runs() { return a_slice("train").runs_in("pool-a"); }
SliceBuilder that_is_sent() { return a_slice("train").placed_in("pool-a"); }

INSTANTIATE_TEST_SUITE_P(
    Changes, FailedDomain,
    ::testing::Values(PodChangeCase{"Failed", that_runs(), that_runs().fails(0), "pool-a"},
                      PodChangeCase{"FailedOnANodeThatIsGone", a_slice("train").runs_in("pool-z"),
                                    a_slice("train").runs_in("pool-z").fails(0), "pool-z"},
                      PodChangeCase{"HadFailedBefore", that_runs().fails(0), that_runs().fails(0).terminating(0), ""},
                      PodChangeCase{"FailedWhileTerminating", that_runs().terminating(0),
                                    that_runs().fails(0).terminating(0), ""},
                      PodChangeCase{"Succeeded", that_runs(), that_runs().succeeds(0), ""},
                      PodChangeCase{"DeletedWhileItRan", that_runs(), that_runs().terminating(0), ""},
                      PodChangeCase{"GoneWhileItRan", that_runs(), std::nullopt, ""},
                      PodChangeCase{"DeletedWithoutANode", that_is_sent(), that_is_sent().terminating(0), "pool-a"},
                      PodChangeCase{"GoneWithoutANode", that_is_sent(), std::nullopt, "pool-a"},
                      PodChangeCase{"Bound", that_is_sent(), that_runs(), ""},
                      PodChangeCase{"DeletedWhileItWaited", a_slice("train"), a_slice("train").terminating(0), ""},
                      PodChangeCase{"ReleasedToNoDomain", a_slice("train").placed_in(""), std::nullopt, ""},
                      PodChangeCase{"NeverPlacedByUs", that_runs().record(""), that_runs().record("").fails(0), ""}),
    [](const auto& test) { return test.param.name; });

TEST(FailedDomainOfAPod, IsEmptyForANewPod) {
  const runtime::NodeStore nodes(kNodes);
  EXPECT_EQ(failed_domain(nodes, nullptr, that_runs().fails(0).pod(0)), DomainName());
}

TEST(FailedDomainOfAPod, UsesTheTopologyKeyOfTheSlice) {
  const runtime::NodeStore nodes(kNodes);
  const SliceBuilder slice = a_slice("train").topology_key(kRow).placed_in("row-1");
  EXPECT_EQ(failed_domain(nodes, slice.pod(0), nullptr), (DomainName{kRow, "row-1"}));
}

class FailedDomainsOfANode : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<DomainName> domains(const NodePtr& before, const NodePtr& after) const {
    return failed_domains({slice_.pod(0)}, before, after);
  }

  const NodePtr ready_ = a_pool("pool-a").nodes().front();
  const NodePtr lost_ = a_pool("pool-a").node(0, not_ready).nodes().front();
  SliceBuilder slice_ = that_runs();
};

TEST_F(FailedDomainsOfANode, AreThoseOfThePodsOnALostNode) {
  EXPECT_THAT(domains(ready_, lost_), ElementsAre(pool("pool-a")));
  EXPECT_THAT(domains(ready_, nullptr), ElementsAre(pool("pool-a")));
}

TEST_F(FailedDomainsOfANode, AreEmptyForOtherChangesOfANode) {
  EXPECT_THAT(domains(nullptr, ready_), IsEmpty());
  EXPECT_THAT(domains(nullptr, lost_), IsEmpty());
  EXPECT_THAT(domains(lost_, ready_), IsEmpty());
  EXPECT_THAT(domains(lost_, nullptr), IsEmpty()) << "the failure was recorded when the node was lost";
  EXPECT_THAT(domains(ready_, a_pool("pool-a").node(0, cordoned).nodes().front()), IsEmpty());
  EXPECT_THAT(domains(ready_, a_pool("pool-a").node(0, unreadable).nodes().front()), IsEmpty());
}

TEST_F(FailedDomainsOfANode, AreEmptyWithoutPlacedPods) {
  EXPECT_THAT(failed_domains({}, ready_, lost_), IsEmpty());
  EXPECT_THAT(failed_domains({a_pod_without_slice("notebook", "pool-a-0")}, ready_, lost_), IsEmpty());
  slice_ = that_runs().succeeds(0);
  EXPECT_THAT(domains(ready_, lost_), IsEmpty());
  slice_ = that_runs().record("");
  EXPECT_THAT(domains(ready_, lost_), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::placement
