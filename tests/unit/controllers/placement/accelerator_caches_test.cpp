// AcceleratorCaches: what a plan sees after changes of the stores is what a first reading of them would show.
#include "controllers/placement/accelerator_caches.h"

#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/chips.h"
#include "tests/support/plan_matchers.h"
#include "tests/unit/controllers/placement/scenes.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

using namespace std::chrono_literals;
using slice::Indexes;
using slice::kMissingPodsTimeout;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Caches : public ::testing::Test {
 protected:
  void show(const std::vector<NodePtr>& nodes) {
    for (const NodePtr& node : nodes) nodes_.put(*node);
  }
  void show(const std::vector<PodPtr>& pods) {
    for (const PodPtr& pod : pods) store_.put(*pod);
  }
  void change(const std::string& pod, const PodChange& change) {
    store_.put(*with(store_.get({"default", pod}), change));
  }
  void change_node(const std::string& node, const NodeChange& change) {
    nodes_.put(*with(nodes_.get({"", node}), change));
  }
  AcceleratorCache& cache(const char* accelerator = kV6e, const RemovedHosts& removed = {}, Duration now = 5s) {
    return caches_.update(accelerator, {removed, nullptr}, after(now)).cache;
  }
  /// What uses each node of the pools: "pool-a-0: default/job (train)".
  std::vector<std::string> uses(const char* accelerator = kV6e) {
    std::vector<std::string> out;
    for (const auto& [name, domain] : cache(accelerator).domains().of_key(kGkePool)) {
      for (const NodeUse* use : domain.nodes) {
        out.push_back(use->node->key.name + (use->is_free() ? "" : ": " + use->user()));
      }
    }
    return out;
  }
  SlicePhase phase(const std::string& slice) {
    const auto& slices = cache().slices();
    const auto found = slices.find({"default", slice});
    return found == slices.end() ? SlicePhase::kIdle : found->second.state.phase;
  }

  runtime::PodStore store_{kPods};
  runtime::PodStore other_store_{kPods};
  runtime::NodeStore nodes_{kNodes};
  const runtime::PodStores pods_{{&store_, &other_store_}};
  const Indexes indexes_{pods_};
  const AcceleratorIndexes by_accelerator_{pods_, nodes_};
  AcceleratorCaches caches_{pods_, nodes_, indexes_, {.scale_up = scout_options()}};
};

TEST_F(Caches, FollowPods) {
  show(a_pool("pool-a").nodes());
  show(a_slice("train").without(1).pods());
  EXPECT_EQ(phase("train"), SlicePhase::kForming);
  show(a_slice("train").pods());
  EXPECT_EQ(phase("train"), SlicePhase::kReady);
  EXPECT_THAT(uses(), ElementsAre("pool-a-0", "pool-a-1"));
  show(a_slice("train").placed_in("pool-a").pods());
  EXPECT_EQ(phase("train"), SlicePhase::kPlaced);
  EXPECT_THAT(uses(), ElementsAre("pool-a-0: default/job (train)", "pool-a-1: default/job (train)"));
  for (const PodPtr& pod : a_slice("train").pods()) store_.erase(pod->key, 1000);
  EXPECT_THAT(cache().slices(), IsEmpty());
  EXPECT_THAT(uses(), ElementsAre("pool-a-0", "pool-a-1"));
}

/// What a store keeps of a pod that it has no memory for, or cannot decode.
void minimal(PodView& pod) {
  PodView out;
  out.key = pod.key;
  out.uid = pod.uid;
  out.resource_version = pod.resource_version;
  out.labels = pod.labels;
  out.node_name = pod.node_name;
  out.phase = pod.phase;
  tpu::set_chips(out, tpu::chips_of(pod));
  out.minimal = true;
  pod = std::move(out);
}

TEST_F(Caches, AMinimalPodUsesItsNodeUntilItEnds) {
  show(a_pool("pool-a").nodes());
  show(a_slice("train").runs_in("pool-a").pods());
  change("train-1", minimal);
  EXPECT_THAT(uses(), ElementsAre("pool-a-0: default/job (train)", ::testing::HasSubstr("pool-a-1: default/")));
  change("train-0", minimal);
  EXPECT_THAT(uses(), ElementsAre(::testing::HasSubstr("pool-a-0: "), ::testing::HasSubstr("pool-a-1: ")));
  for (const char* pod : {"train-0", "train-1"}) {
    change(pod, [](PodView& view) { view.phase = PodPhase::kSucceeded; });
  }
  EXPECT_THAT(uses(), ElementsAre("pool-a-0", "pool-a-1")) << "the pool is not captured by pods that have ended";
}

TEST_F(Caches, AMinimalNodeIsInItsDomainWithWhatUsesIt) {
  show(a_pool("pool-a").nodes());
  show({a_pod_without_slice("notebook", "pool-a-1")});
  change_node("pool-a-1", unreadable);
  EXPECT_THAT(uses(), ElementsAre("pool-a-0", "pool-a-1: default/notebook"));
}

TEST_F(Caches, ASliceWithAMinimalPodNeitherWaitsNorIsPlaced) {
  show(a_pool("pool-a").nodes());
  show(a_slice("train").pods());
  ASSERT_EQ(phase("train"), SlicePhase::kReady);
  change("train-0", minimal);
  EXPECT_EQ(phase("train"), SlicePhase::kIdle);
  EXPECT_THAT(cache().unplaced(), IsEmpty()) << "it reserves and captures nothing";
  show(a_slice("train").pods());
  EXPECT_EQ(phase("train"), SlicePhase::kReady);
}

TEST_F(Caches, HoldTheNewestVersionOfAPodForThePreconditionsOfWrites) {
  show(a_slice("train").pods());
  (void)cache();
  change("train-0", [](PodView& pod) { pod.resource_version = "777"; });
  EXPECT_EQ(cache().slices().at({"default", "train"}).slice.host0()->resource_version, "777");
}

TEST_F(Caches, FollowNodes) {
  show(a_pool("pool-a").nodes());
  show(pods_of({a_slice("train").runs_in("pool-a"), a_slice("next")}));
  EXPECT_THAT(uses(), SizeIs(2));
  nodes_.erase({"", "pool-a-1"}, 1000);
  EXPECT_THAT(uses(), ElementsAre("pool-a-0: default/job (train)"));
  show(a_pool("pool-a").nodes());
  EXPECT_THAT(uses(), ElementsAre("pool-a-0: default/job (train)", "pool-a-1: default/job (train)"))
      << "its pod was there all the time";
  for (const char* node : {"pool-a-0", "pool-a-1"}) {
    change_node(node, [](NodeView& view) { view.labels[kGkePool] = "pool-b"; });
  }
  EXPECT_THAT(cache().slices().at({"default", "train"}).occupied, ElementsAre("pool-b"));
  change_node("pool-a-0", [](NodeView& view) { view.labels[std::string(tpu::kAcceleratorLabel)] = kV5p; });
  EXPECT_THAT(uses(), ElementsAre("pool-a-1: default/job (train)"));
  EXPECT_THAT(uses(kV5p), ElementsAre("pool-a-0")) << "the pod on it has selected the other accelerator";
}

TEST_F(Caches, CompareANodeAgainWhenItHasChanged) {
  show(a_pool("pool-a").nodes());
  const NodeRequirements requirements = node_requirements(a_slice("next").slice());
  const auto fit = [&] {
    AcceleratorCache& cache = this->cache();
    const auto& [name, domain] = *cache.domains().of_key(kGkePool).begin();
    return cache.comparison(requirements)->with(name, domain).obstacle;
  };
  EXPECT_EQ(fit(), Obstacle::kNone);
  change_node("pool-a-1", cordoned);
  EXPECT_EQ(fit(), Obstacle::kUnusable);
  nodes_.erase({"", "pool-a-1"}, 1000);
  EXPECT_EQ(fit(), Obstacle::kUnusable);
  show(a_pool("pool-a").nodes());
  EXPECT_EQ(fit(), Obstacle::kNone);
}

TEST_F(Caches, DoNotGrowWithDomainsThatAreGone) {
  Comparison comparison(node_requirements(a_slice("next").slice()));
  std::map<std::string, Domain> domains;
  for (int i = 0; i < 100; ++i) domains[fmt::format("pool-{}", i)].revision = 7;
  for (const auto& [name, domain] : domains) EXPECT_EQ(comparison.with(name, domain).obstacle, Obstacle::kMismatch);
  EXPECT_EQ(comparison.size(), 100U);
  comparison.forget_old_results(20);
  EXPECT_EQ(comparison.size(), 100U);
  comparison.forget_old_results(10);
  EXPECT_EQ(comparison.size(), 0U);
}

TEST_F(Caches, FollowPodsOfAnyAcceleratorAndWithoutTpus) {
  show(a_pool("pool-a").nodes());
  show(a_slice("next").pods());
  EXPECT_THAT(uses(), ElementsAre("pool-a-0", "pool-a-1"));
  show({a_pod_without_slice("notebook", "pool-a-1")});
  EXPECT_THAT(uses(), ElementsAre("pool-a-0", "pool-a-1: default/notebook"));
  EXPECT_THAT(cache().pods_without_tpus(), IsEmpty());
  show({with(a_pod_without_slice("driver", "pool-a-0"), [](PodView& pod) { tpu::set_chips(pod, 0); })});
  EXPECT_THAT(cache().pods_without_tpus(), SizeIs(1));
  store_.erase({"default", "driver"}, 1000);
  EXPECT_THAT(cache().pods_without_tpus(), IsEmpty());
}

TEST_F(Caches, FollowPodsThatWereNotAdmitted) {
  show(a_pool("pool-a").nodes());
  EXPECT_THAT(uses(), ElementsAre("pool-a-0", "pool-a-1"));
  show({with(a_pod_without_slice("notebook", "pool-a-1"), [](PodView& pod) { pod.labels.clear(); })});
  EXPECT_THAT(uses(), ElementsAre("pool-a-0", "pool-a-1: default/notebook"));
  store_.erase({"default", "notebook"}, 1000);
  EXPECT_THAT(uses(), ElementsAre("pool-a-0", "pool-a-1"));
}

TEST_F(Caches, DoNotLoseAPodThatMovesFromOneStoreToAnother) {
  show(a_slice("train").pods());
  (void)cache();
  for (const PodPtr& pod : a_slice("train").pods()) {
    other_store_.put(*pod);
    store_.erase(pod->key, 1000);
  }
  EXPECT_EQ(phase("train"), SlicePhase::kReady);
}

TEST_F(Caches, FollowTheHistoryOfRemovedHosts) {
  show(a_pool("pool-a").nodes());
  show(a_slice("train").runs_in("pool-a").without(1).pods());
  EXPECT_EQ(phase("train"), SlicePhase::kBroken);
  const RemovedHosts removed = {{{"default", "train"}, {{1, "uid-of-train-1"}}}};
  (void)cache(kV6e, removed);
  const auto& state = cache(kV6e, removed).slices().at({"default", "train"}).state;
  EXPECT_EQ(state.phase, SlicePhase::kPlaced) << state.reason;
  EXPECT_EQ(phase("train"), SlicePhase::kBroken) << "the history has forgotten it";
}

TEST_F(Caches, UpdateStatesThatDependOnTheTime) {
  show(a_slice("train").start(tpu::kHost0IfAlone).without(1).pods());
  const auto phase_at = [&](Duration now) {
    AcceleratorCache& at = cache(kV6e, {}, now);
    at.update_states(after(now));
    return at.unplaced().at(0)->state.phase;
  };
  EXPECT_EQ(phase_at(9s), SlicePhase::kForming);
  EXPECT_EQ(phase_at(kMissingPodsTimeout), SlicePhase::kReady);
}

TEST_F(Caches, AreReadAgainAfterTooManyChanges) {
  show(a_pool("pool-a").nodes());
  show(a_slice("train").pods());
  (void)cache();
  for (std::size_t round = 0; round <= runtime::ChangeLog<PodView>::kMaxChanges; ++round) {
    change("train-0", [&](PodView& pod) { pod.resource_version = std::to_string(1000 + round); });
  }
  show(a_slice("train").placed_in("pool-a").pods());
  EXPECT_EQ(phase("train"), SlicePhase::kPlaced);
  EXPECT_THAT(uses(), ElementsAre("pool-a-0: default/job (train)", "pool-a-1: default/job (train)"));
}

TEST_F(Caches, AreReadAgainWhenTheyWereDropped) {
  show(a_slice("train").pods());
  EXPECT_EQ(phase("train"), SlicePhase::kReady);
  (void)cache(kV5p);
  caches_.drop(kV6e);
  change("train-0", [](PodView& pod) { pod.deletion = start_of_time(); });
  EXPECT_EQ(phase("train"), SlicePhase::kForming);
  caches_.drop(kV6e);
  caches_.drop(kV5p);
  caches_.drop(kV5p);
  store_.erase({"default", "train-0"}, 1000);
  show(a_slice("train").pods());
  EXPECT_EQ(phase("train"), SlicePhase::kReady);
}

/// Random changes of pods and nodes. After each, the plan with the cache is the one that a first reading gives.
class RandomChanges : public Caches, public ::testing::WithParamInterface<unsigned> {
 protected:
  int pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }

  void change_something() {
    const std::string pool = fmt::format("pool-{}", pick(3));
    SliceBuilder slice = a_slice(fmt::format("train-{}", pick(4))).created(std::chrono::seconds(pick(20)));
    if (pick(3) == 0) slice.gang("gang", 2);
    if (pick(4) == 0) slice.topology_key(kRow).hosts(4);
    if (pick(6) == 0) slice.each([](PodView& pod) { pod.scheduling.edit().node_selector.clear(); });
    if (pick(6) == 0) slice.start(tpu::kHost0IfAlone).without(1);
    const auto put = [&](const PodPtr& pod) {
      const bool moves = pick(8) == 0;
      (moves ? other_store_ : store_).put(*with(pod, [&](PodView& view) {
        view.resource_version = std::to_string(++revision_);
      }));
      (moves ? store_ : other_store_).erase(pod->key, ++revision_);
    };
    switch (pick(8)) {
      case 0:
        for (const PodPtr& pod : slice.pods()) put(pod);
        break;
      case 1:
        for (const PodPtr& pod : slice.placed_in(pool).pods()) put(pod);
        break;
      case 2:
        for (const PodPtr& pod : slice.runs_in(pool).pods()) put(pod);
        break;
      case 3:
        put(slice.runs_in(pool).fails(0).pod(0));
        break;
      case 4:
        for (const PodPtr& pod : slice.pods()) {
          store_.erase(pod->key, ++revision_);
          other_store_.erase(pod->key, ++revision_);
        }
        break;
      case 5:
        put(a_pod_without_slice("notebook", pool + "-0"));
        put(with(a_pod_without_slice("driver", pool + "-1"), [&](PodView& pod) {
          tpu::set_chips(pod, 0);
          pod.labels[std::string(tpu::kSlice)] = slice.key().name;
        }));
        break;
      default:
        change_pool(pool);
    }
  }
  void change_pool(const std::string& pool) {
    const NodePtr node = a_pool(pool).nodes().at(static_cast<std::size_t>(pick(2)));
    if (pick(4) == 0) {
      nodes_.erase(node->key, ++revision_);
      return;
    }
    nodes_.put(*with(node, [&](NodeView& view) {
      view.resource_version = std::to_string(++revision_);
      view.ready = pick(4) > 0;
      view.unschedulable = pick(6) == 0;
      if (pick(3) > 0) view.labels[kRow] = fmt::format("row-{}", pick(2));
      if (pick(8) == 0) view.labels[kGkePool] = fmt::format("pool-{}", pick(3));
      if (view.unschedulable && !view.ready) unreadable(view);
    }));
  }
  [[nodiscard]] plan::Plan expected(Duration now) const {
    PlacementScene scene;
    scene.now = after(now);
    scene.nodes = by_accelerator_.nodes.lookup(kV6e);
    for (const char* accelerator : {kV6e, ""}) {
      for (const PodPtr& pod : by_accelerator_.pods.lookup(accelerator)) scene.pods.push_back(pod);
    }
    scene.pods_without_tpus = by_accelerator_.pods_without_tpus.lookup("");
    return plan_placement(scene, options_);
  }

  const PlacementOptions options_ = {.scale_up = scout_options(), .max_preemptions_per_hour = 1};
  std::mt19937 random_{GetParam()};
  int revision_ = 1000;
};

TEST_P(RandomChanges, GiveThePlanOfAFirstReading) {
  AcceleratorCaches caches(pods_, nodes_, indexes_, options_);
  int placed = 0;
  for (int round = 0; round < 300; ++round) {
    for (int changes = pick(4); changes >= 0; --changes) change_something();
    if (pick(50) == 0) caches.drop(kV6e);
    const Duration now = std::chrono::seconds(20 + round);
    PlacementObserved seen;
    seen.now = after(now);
    const plan::Plan plan = plan_placement(seen, caches.update(kV6e, {}, seen.now).cache, options_);
    ASSERT_THAT(plan, plan::EqualsPlan(expected(now))) << "round " << round;
    if (plan.reason.find("is placed in") != std::string::npos) ++placed;
  }
  EXPECT_GT(placed, 0);
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomChanges, ::testing::Range(1U, 21U));

TEST(AcceleratorCache, DoesNotPlanSlicesWithoutGates) {
  const auto ungated = [](PodView& pod) { pod.scheduling.edit().gates.clear(); };
  SceneCache scene(a_pool("pool-a").nodes(),
                   pods_of({a_slice("serve").each(ungated), a_slice("half").host(0, ungated), a_slice("train")}));
  std::vector<std::string> planned;
  for (const CachedSlice* each : scene.cache.unplaced()) planned.push_back(each->slice.key.name);
  EXPECT_THAT(planned, ElementsAre("half", "train"));
}

TEST(AcceleratorCache, DividesComparisonsAmongNamespaces) {
  const auto share_of = [](int namespaces) {
    std::vector<Slice> ready;
    for (int i = 0; i < namespaces; ++i) ready.push_back(a_slice("x").in(fmt::format("team-{}", i)).slice());
    return AcceleratorCache::max_requirements(pointers_to(ready));
  };
  EXPECT_EQ(share_of(1), 32U);
  EXPECT_EQ(share_of(10), 6U);
  EXPECT_EQ(share_of(1000), 1U);
}

}  // namespace
}  // namespace tpuslice::placement
