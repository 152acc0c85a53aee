// tpu-slice-placement-bench: see docs/performance.md.
#include <malloc.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/base/check.h"
#include "controllers/placement/placement_reconciler.h"
#include "tests/bench/cpu_clock.h"
#include "tests/support/slice/slices.h"

namespace tpuslice::bench {
namespace {

using slice::a_pool;
using slice::a_slice;
using slice::PodPtr;

constexpr int kHosts = 4;  ///< Of each slice and node pool.
constexpr int kRounds = 50;

/// Slices run in all node pools, and others wait, with their waiting reasons.
class Cluster {
 public:
  Cluster(int pools, int waiting) : pools_(pools) {
    std::vector<NodeView> nodes;
    std::vector<PodView> pods;
    const auto add = [&](const slice::SliceBuilder& slice) {
      for (const PodPtr& pod : slice.pods()) pods.push_back(*pod);
    };
    for (int pool = 0; pool < pools; ++pool) {
      const std::string name = fmt::format("pool-{}", pool);
      for (const auto& node : a_pool(name).size(kHosts).nodes()) nodes.push_back(*node);
      add(a_slice(slice_name(pool)).hosts(kHosts).runs_in(name));
    }
    for (int each = 0; each < waiting; ++each) add(a_slice(slice_name(pools + each)).hosts(kHosts));
    nodes_.replace(std::move(nodes), 1);
    pods_.replace(std::move(pods), 1);
    const std::size_t before = mallinfo2().uordblks;
    const plan::Plan reasons = plan().first;
    cache_bytes_ = mallinfo2().uordblks - before;
    apply(reasons);
  }

  /// Of the placement controller, with the first plan.
  [[nodiscard]] std::size_t cache_bytes() const { return cache_bytes_; }

  /// A plan, and its CPU time in milliseconds.
  std::pair<plan::Plan, double> plan() {
    const double before = cpu_seconds_of(CLOCK_THREAD_CPUTIME_ID);
    Result<plan::Plan> plan = placement_.plan({{"", slice::kV6e}, slice::after(std::chrono::hours(1)), std::nullopt});
    const double seconds = cpu_seconds_of(CLOCK_THREAD_CPUTIME_ID) - before;
    TPUSLICE_CHECK(plan.ok());
    return {*std::move(plan), seconds * 1e3};
  }
  /// The same without the cache of the last plans.
  double plan_again() {
    const PodPtr pod = pods_.get({"default", slice_name(0) + "-0"});
    for (std::size_t i = 0; i <= runtime::ChangeLog<PodView>::kMaxChanges; ++i) pods_.put(*pod);
    return plan().second;
  }
  /// A pod of a running slice is terminating now.
  void terminate_pod(int slice) {
    PodView pod = *pods_.get({"default", slice_name(slice % pools_) + "-0"});
    pod.deletion = slice::start_of_time();
    pods_.put(std::move(pod));
  }

 private:
  static std::string slice_name(int slice) { return fmt::format("train-{}", slice); }
  void apply(const plan::Plan& plan) {
    std::vector<PodPtr> pods;
    for (const plan::Stage& stage : plan.stages) {
      for (const plan::Action& action : stage.actions) pods.push_back(pods_.get(action.key));
    }
    slice::apply_plan(plan, pods);
    for (const PodPtr& pod : pods) pods_.put(*pod);
  }

  const int pools_;
  std::size_t cache_bytes_ = 0;
  runtime::PodStore pods_{kPods};
  runtime::NodeStore nodes_{kNodes};
  const slice::Indexes indexes_{runtime::PodStores({&pods_})};
  const placement::PlacementReconciler placement_{runtime::PodStores({&pods_}),         nodes_, indexes_,
                                                  std::make_shared<slice::Workloads>(), {},     {}};
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void measure(int nodes, int waiting) {
  Cluster cluster(nodes / kHosts, waiting);
  std::vector<double> first;
  std::vector<double> later;
  for (int round = 0; round < kRounds; ++round) {
    cluster.terminate_pod(round);
    later.push_back(cluster.plan().second);
    if (round % 5 == 0) first.push_back(cluster.plan_again());
  }
  const double of_all = median(first);
  const double of_change = median(later);
  fmt::print("| {} | {} | {} | {:.2f} | {:.2f} | {:.0f} | {:.2f} |\n", nodes, nodes / kHosts, waiting, of_all,
             of_change, of_all / of_change, static_cast<double>(cluster.cache_bytes()) / (1 << 20));
}

}  // namespace
}  // namespace tpuslice::bench

int main() {
  fmt::print(
      "| nodes | slices running | slices waiting | plan that reads all, ms | plan after a change, ms | ratio | cache, "
      "MiB |\n");
  fmt::print("|---|---|---|---|---|---|---|\n");
  for (const int nodes : {1000, 5000, 15000}) {
    for (const int waiting : {1, 1000}) tpuslice::bench::measure(nodes, waiting);
  }
  return 0;
}
