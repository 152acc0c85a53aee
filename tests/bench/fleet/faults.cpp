#include "tests/bench/fleet/faults.h"

#include <algorithm>

#include "tests/bench/fleet/draws.h"

namespace tpuslice::fleet_bench {
namespace {

constexpr double kHour = 3600;
constexpr double kDay = 24 * kHour;

// Unexpected interruptions: 419 in 54 days on 16,384 chips in "The Llama 3 Herd of Models" (2024), that is one in 528
// days for a host of 4 chips. "Revisiting Reliability in Large-Scale Machine Learning Research Clusters" (2024) and
// "Resiliency at Scale: Managing Google's TPUv4 Machine Learning Supercomputer" (2024) report rates of the same order.
constexpr double kFailuresPerHostDay = 419.0 / (54 * 16384) * kChipsPerHost;
/// Part of them in which only the process failed, such as software errors. An assumption.
constexpr double kProcessShare = 0.25;

// Assumptions: a repair takes at least as long as GKE waits before it repairs a node, a node pool is maintained eight
// times a year, and spot capacity is reclaimed every other day.
constexpr double kMedianRepair = kHour;
constexpr double kRepairSigma = 1;
constexpr double kMinRepair = 600;
constexpr double kMaxRepair = 2 * kDay;
constexpr double kMaintenanceEvery = 45 * kDay;
constexpr double kSpotLasts = 2 * kDay;
constexpr double kMeanSpotAbsence = 4 * kHour;

class FaultMaker {
 public:
  FaultMaker(const Fleet& fleet, std::uint64_t seed, double factor, Timestamp start, Timestamp end)
      : fleet_(fleet), seed_(seed), factor_(factor), start_(start), end_(end) {}

  std::vector<Fault> take() {
    Draws of_hosts(seed_, "hosts");
    for (NodeId node = 0; node < fleet_.node_count(); ++node) add_host_faults(of_hosts, node);
    Draws of_maintenance(seed_, "maintenance");
    Draws of_spot(seed_, "spot");
    for (const Pool& pool : fleet_.pools) {
      add_pool_faults(of_maintenance, pool, FaultKind::kMaintenance, kMaintenanceEvery);
      if (pool.spot) add_pool_faults(of_spot, pool, FaultKind::kSpotReclaimed, kSpotLasts);
    }
    std::ranges::stable_sort(out_, {}, &Fault::at);
    return std::move(out_);
  }

 private:
  [[nodiscard]] double length() const { return seconds_of(end_ - start_); }

  void add_host_faults(Draws& draws, NodeId node) {
    const double mean = kDay / kFailuresPerHostDay / factor_;
    for (double at = draws.exponential(mean); at < length(); at += draws.exponential(mean)) {
      if (draws.chance(kProcessShare)) {
        out_.push_back({start_ + whole_seconds(at), FaultKind::kProcessFails, node, 1, {}});
        continue;
      }
      const double down = std::clamp(draws.log_normal(kMedianRepair, kRepairSigma), kMinRepair, kMaxRepair);
      out_.push_back({start_ + whole_seconds(at), FaultKind::kHostLost, node, 1, whole_seconds(down)});
      at += down;
    }
  }

  void add_pool_faults(Draws& draws, const Pool& pool, FaultKind kind, double every) {
    for (double at = draws.exponential(every / factor_); at < length(); at += draws.exponential(every / factor_)) {
      const double down = kind == FaultKind::kMaintenance
                              ? draws.uniform(kHour, 3 * kHour)
                              : std::clamp(draws.exponential(kMeanSpotAbsence), kMinRepair, kDay);
      out_.push_back({start_ + whole_seconds(at), kind, pool.first_node, pool.nodes, whole_seconds(down)});
      at += down;
    }
  }

  const Fleet& fleet_;
  const std::uint64_t seed_;
  const double factor_;
  const Timestamp start_;
  const Timestamp end_;
  std::vector<Fault> out_;
};

}  // namespace

std::vector<Fault> make_faults(const Fleet& fleet, std::uint64_t seed, double factor, Timestamp start, Timestamp end) {
  if (factor <= 0) return {};
  return FaultMaker(fleet, seed, factor, start, end).take();
}

}  // namespace tpuslice::fleet_bench
