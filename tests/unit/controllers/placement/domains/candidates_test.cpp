#include "controllers/placement/domains/candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/placement/decisions.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// The candidates of a slice, and all that they refer to.
class CandidatesOf {
 public:
  CandidatesOf(const SliceBuilder& slice, const std::vector<NodePtr>& nodes, const std::vector<PodPtr>& pods = {},
               DomainFailures failures = {}, std::set<std::string> scout_nodes = {})
      : slice_(slice.slice()),
        failures_(std::move(failures)),
        scout_nodes_(std::move(scout_nodes)),
        inventory(nodes, pods),
        candidates(inventory, node_requirements(slice_), {failures_, scout_nodes_}) {}

  std::vector<std::string> take_all() {
    std::vector<std::string> out;
    for (std::string domain = candidates.take_free(); !domain.empty(); domain = candidates.take_free()) {
      out.push_back(std::move(domain));
    }
    return out;
  }

 private:
  const Slice slice_;
  const DomainFailures failures_;
  const std::set<std::string> scout_nodes_;

 public:
  SceneInventory inventory;
  Candidates candidates;
};

TEST(Candidates, AreTakenByFailuresThenName) {
  CandidatesOf of(a_slice("x"), lettered_pools(4), {},
                  {{{kGkePool, "pool-a"}, 3}, {{kGkePool, "pool-c"}, 2}, {{kRow, "pool-b"}, 9}});
  EXPECT_THAT(of.take_all(), ElementsAre("pool-b", "pool-d", "pool-c", "pool-a"));
  EXPECT_EQ(of.candidates.take_free(), "");
}

NodeChange labelled(const std::string& label, const std::string& value) {
  return [=](NodeView& node) { node.labels["cloud.google.com/" + label] = value; };
}

TEST(Candidates, HaveWhatThePodsRequest) {
  const auto has = [](std::int64_t cpu) {
    return [=](NodeView& node) { node.allocatable.edit() = {{"cpu", cpu * 1000}, {"google.com/tpu", 4}}; };
  };
  const auto requests = [](PodView& pod) { pod.scheduling.edit().requests = {{"cpu", 200'000}}; };
  const std::vector<NodePtr> nodes = nodes_of({a_pool("a-small").each(has(180)), a_pool("b-large").each(has(200)),
                                               a_pool("c").node(0, has(200)).node(1, has(199))});
  CandidatesOf of(a_slice("x").each(requests), nodes);
  EXPECT_THAT(of.take_all(), ElementsAre("b-large"));
  EXPECT_EQ(of.candidates.usable(), 1);
  EXPECT_THAT(of.candidates.explain(1, "default"),
              HasSubstr("a-small: node a-small-0 has 180 cpu, a pod requests 200; "));
}

TEST(Candidates, OfTwoPodsANodeHaveTheRequestsOfBoth) {
  const auto has_eight_chips = [](NodeView& node) {
    node.allocatable.edit() = {{"cpu", 180'000}, {"google.com/tpu", 8}};
  };
  const auto requests = [](std::int64_t cpu) {
    return [=](PodView& pod) { pod.scheduling.edit().requests = {{"cpu", cpu * 1000}}; };
  };
  const std::vector<NodePtr> nodes =
      nodes_of({a_pool("a").size(1).label(tpu::kAcceleratorLabel, kTpu7x).each(has_eight_chips)});
  const SliceBuilder slice = a_slice("x").selects(tpu::kAcceleratorLabel, kTpu7x);
  EXPECT_THAT(CandidatesOf(SliceBuilder(slice).each(requests(90)), nodes).take_all(), ElementsAre("a"));
  EXPECT_THAT(CandidatesOf(SliceBuilder(slice).each(requests(91)), nodes).take_all(), IsEmpty());
  EXPECT_THAT(CandidatesOf(SliceBuilder(slice).host(0, requests(100)).host(1, requests(80)), nodes).take_all(),
              ElementsAre("a"));
}

TEST(Candidates, AreTakenInTheOrderOfTheirCapacity) {
  const std::vector<NodePtr> nodes =
      nodes_of({a_pool("a-spot").each(labelled("gke-spot", "true")), a_pool("b-on-demand"),
                a_pool("c-preemptible").node(1, labelled("gke-preemptible", "true")),
                a_pool("d-reserved").each(labelled("reservation-name", "r"))});
  EXPECT_THAT(CandidatesOf(a_slice("x"), nodes).take_all(),
              ElementsAre("d-reserved", "b-on-demand", "a-spot", "c-preemptible"));
}

TEST(Candidates, AreTakenByThePreferredNodeAffinityBeforeTheirCapacity) {
  const auto prefers = [](PodView& pod) {
    pod.scheduling.edit().preferred_affinity = R"([
      {"weight": 10, "preference": {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z1", "z2"]}]}},
      {"weight": 5, "preference": {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z2"]}]}},
      {"weight": 100, "preference": {"matchExpressions": [{"key": "zone", "operator": "Nonsense"}]}}])";
  };
  const std::vector<NodePtr> nodes = nodes_of({a_pool("a").label("zone", "z3"), a_pool("b").label("zone", "z1"),
                                               a_pool("c").label("zone", "z2").each(labelled("gke-spot", "true"))});
  EXPECT_THAT(CandidatesOf(a_slice("x").each(prefers), nodes).take_all(), ElementsAre("c", "b", "a"));
  EXPECT_THAT(CandidatesOf(a_slice("x"), nodes).take_all(), ElementsAre("a", "b", "c"));
}

TEST(Candidates, AreTakenOfOneBlockForAGang) {
  const auto in_block = [](const std::string& pool, const std::string& block) {
    return a_pool(pool).label("cloud.google.com/gce-topology-block", block);
  };
  const std::vector<NodePtr> nodes =
      nodes_of({in_block("a1", "a"), in_block("b1", "b"), in_block("b2", "b"), in_block("c1", "c"), in_block("c2", "c"),
                in_block("c3", "c"), a_pool("d"), in_block("b0", "b").each(labelled("gke-spot", "true"))});
  const auto first_of = [&](std::size_t needed, std::size_t listed, const ExcludedDomains& excluded = {}) {
    CandidatesOf of(a_slice("x"), nodes);
    of.candidates.prefer_block(needed, excluded);
    std::vector<std::string> all = of.take_all();
    all.resize(listed);
    return all;
  };
  EXPECT_THAT(first_of(1, 1), ElementsAre("a1"));
  EXPECT_THAT(first_of(2, 2), ElementsAre("b1", "b2")) << "the smallest block that is large enough";
  EXPECT_THAT(first_of(3, 3), ElementsAre("c1", "c2", "c3")) << "b0 is no equal of b1 and b2";
  EXPECT_THAT(first_of(4, 8), ElementsAre("c1", "c2", "c3", "a1", "b1", "b2", "d", "b0")) << "none is large enough";
  EXPECT_THAT(first_of(2, 2, {{"b1", "rejected"}}), ElementsAre("c1", "c2"));
}

TEST(Candidates, OfPartitionsLeaveLargePartitionsFree) {
  constexpr const char* kSmall = "cloud.google.com/gke-tpu-slice-4x4-id";
  constexpr const char* kLarge = "cloud.google.com/gke-tpu-slice-8x8-id";
  const auto quarter = [&](const std::string& pool, const std::string& large) {
    return a_pool(pool).label(kSmall, pool).label(kLarge, large);
  };
  // One large partition is free, another has one quarter in use.
  const std::vector<NodePtr> nodes = nodes_of({quarter("a1", "a"), quarter("a2", "a"), quarter("b1", "b"),
                                               quarter("b2", "b"), quarter("c1", "c"), quarter("c2", "c")});
  CandidatesOf of(a_slice("x").topology_key(kSmall), nodes, {a_pod_without_slice("user", "b1-0")});
  EXPECT_THAT(of.take_all(), ElementsAre("b2", "a1", "a2", "c1", "c2"));
}

TEST(Candidates, WithoutAConcernAreTakenFirst) {
  const auto maintenance = [](Duration in) {
    return labelled("scheduled-maintenance-time",
                    std::to_string(std::chrono::system_clock::to_time_t(start_of_time() + in)));
  };
  const std::vector<NodePtr> nodes =
      nodes_of({a_pool("a-degraded").node(1, labelled("gke-tpu-partition-4x4x4-state", "DEGRADED")),
                a_pool("b-maintained").node(0, maintenance(24h)), a_pool("c-spot").each(labelled("gke-spot", "true")),
                a_pool("d-later").node(0, maintenance(25h)),
                a_pool("e-healthy").each(labelled("gke-tpu-partition-4x4x4-state", "HEALTHY")),
                a_pool("f-invalid").each(labelled("scheduled-maintenance-time", "soon"))});
  CandidatesOf of(a_slice("x"), nodes);
  EXPECT_THAT(of.take_all(), ElementsAre("d-later", "e-healthy", "f-invalid", "c-spot", "a-degraded", "b-maintained"));
  EXPECT_EQ(of.candidates.concern("a-degraded"), "has label cloud.google.com/gke-tpu-partition-4x4x4-state=DEGRADED");
  EXPECT_EQ(of.candidates.concern("b-maintained"), "has maintenance scheduled for 2026-01-02T00:00:00Z");
  EXPECT_EQ(of.candidates.concern("d-later"), "");
}

TEST(Candidates, ThatEndAreNotFreeSoonIfASliceWithAnotherKeyStartsThere) {
  CandidatesOf of(a_row_slice("x"), numbered_rows(1, 2),
                  a_slice("w").runs_in("pool-11").terminating(0).terminating(1).pods());
  EXPECT_THAT(of.candidates.ending(), ElementsAre("row-1"));
  of.inventory.occupy(kGkePool, "pool-12", "default/small");
  EXPECT_THAT(of.candidates.ending(), IsEmpty());
}

TEST(Candidates, WithScoutsAreTakenLast) {
  CandidatesOf of(a_slice("x"), lettered_pools(3), {}, {{{kGkePool, "pool-c"}, 8}}, {"pool-a-1", "no-such-node"});
  EXPECT_THAT(of.take_all(), ElementsAre("pool-b", "pool-c", "pool-a"));
}

TEST(Candidates, StartWithThePreferredOneAndKeepTheOrderOfTheOthers) {
  CandidatesOf of(a_slice("x"), lettered_pools(4));
  EXPECT_EQ(of.candidates.take_free({}, "pool-c"), "pool-c");
  EXPECT_THAT(of.take_all(), ElementsAre("pool-a", "pool-b", "pool-d"));
}

TEST(Candidates, IgnoreAPreferenceForADomainThatIsNotFree) {
  CandidatesOf of(a_slice("x"), lettered_pools(3), a_slice("old").runs_in("pool-c").pods());
  EXPECT_EQ(of.candidates.take_free({}, "pool-c"), "pool-a");
  EXPECT_EQ(of.candidates.take_free({}, "no-such-pool"), "pool-b");
  EXPECT_EQ(of.candidates.take_free({}, "pool-c"), "");
}

TEST(Candidates, AreSkippedOnceOthersUseThem) {
  CandidatesOf of(a_slice("x"), lettered_pools(2));
  EXPECT_EQ(of.candidates.usable(), 2U);
  of.inventory.occupy(kGkePool, "pool-a", "default/job (y)");
  EXPECT_THAT(of.take_all(), ElementsAre("pool-b"));
}

TEST(Candidates, ThatArePutBackAreTakenNext) {
  CandidatesOf of(a_slice("x"), lettered_pools(3));
  const std::string first = of.candidates.take_free();
  const std::string second = of.candidates.take_free();
  of.candidates.put_back(second);
  of.candidates.put_back(first);
  EXPECT_THAT(of.take_all(), ElementsAre("pool-a", "pool-b", "pool-c"));
}

TEST(Candidates, CountUsableDomainsOnce) {
  CandidatesOf of(
      a_slice("x"),
      nodes_of({a_pool("pool-a"), a_pool("pool-b"), a_pool("pool-c").node(0, not_ready), a_pool("pool-d").size(3),
                a_pool("pool-e").each([](NodeView& node) { node.labels.erase(std::string(kGkePool)); })}),
      a_slice("old").runs_in("pool-b").pods());
  EXPECT_EQ(of.candidates.usable(), 2U) << "one is free, one occupied";
  EXPECT_THAT(of.take_all(), ElementsAre("pool-a"));
  EXPECT_EQ(of.candidates.usable(), 2U);
  EXPECT_THAT(of.candidates.occupied(), ElementsAre("pool-b"));
}

TEST(OccupiedCandidates, AreTakenByTheirNumberOfFreeNodes) {
  CandidatesOf of(
      a_row_slice("x"), numbered_rows(3, 2),
      pods_of({a_slice("a").runs_in("pool-11"), a_slice("b").runs_in("pool-12"), a_slice("c").runs_in("pool-21"),
               a_slice("d").runs_in("pool-31"), a_slice("e").runs_in("pool-32")}));
  EXPECT_THAT(of.take_all(), IsEmpty());
  EXPECT_EQ(of.candidates.take_occupied(), "row-2");
  EXPECT_THAT(of.candidates.occupied(), UnorderedElementsAre("row-1", "row-3"));
  of.candidates.remove("row-1");
  EXPECT_EQ(of.candidates.take_occupied(), "row-3");
  EXPECT_EQ(of.candidates.take_occupied(), "");
}

TEST(CandidatesReason, SaysHowManyAreFreeIfSeveralAreNeeded) {
  CandidatesOf of(a_slice("x"), lettered_pools(2), a_slice("old").in("team").runs_in("pool-b").pods());
  EXPECT_EQ(of.candidates.explain(2, "default"),
            "2 node pools match, 1 free at once, 2 needed: pool-a is free; pool-b runs a workload of another "
            "namespace");
  EXPECT_THAT(of.candidates.explain(2, ""), HasSubstr("pool-b runs team/job (old)"));
}

TEST(CandidatesReason, IsThatOfThePodsIfTheyDifferTooMuch) {
  SliceBuilder slice = a_slice("x").hosts(10);
  for (int host = 0; host < 10; ++host) {
    slice.host(host, [=](PodView& pod) { pod.scheduling.edit().node_selector["rack"] = std::to_string(host); });
  }
  CandidatesOf of(slice, a_pool("pool-a").size(10).nodes());
  EXPECT_THAT(of.take_all(), IsEmpty());
  EXPECT_EQ(of.candidates.usable(), 0U);
  EXPECT_EQ(
      of.candidates.explain(1, ""),
      "its pods have more than 8 different node selectors, affinities, tolerations, requests or numbers of chips");
}

}  // namespace
}  // namespace tpuslice::placement
