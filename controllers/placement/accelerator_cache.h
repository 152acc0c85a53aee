// AcceleratorCache: the slices and domains of one accelerator as the stores show them. It is kept from one plan to the
// next and follows the changes, so that a plan costs what has changed, and not all pods and nodes.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/placement/assignment.h"
#include "controllers/placement/domains/comparison.h"
#include "controllers/placement/domains/domains.h"
#include "controllers/placement/former_place.h"
#include "controllers/placement/placement_options.h"
#include "controllers/placement/slices.h"

namespace tpuslice::placement {

/// A slice and what is derived from it.
struct CachedSlice {
  Slice slice;
  SliceState state;                 ///< At the time of the last update_states().
  bool has_waiting_reason = false;  ///< On one of its live pods.
  bool has_gate = false;            ///< One of its live pods is gated.
  /// Why some of its pods have no nodes although no plan of placement is about it: it is placed, or has no gates.
  std::optional<plan::WaitingCode> waits_started;
  std::vector<std::string> occupied;  ///< Domains that it occupies.
};

/// What earlier changes of pods have shown.
struct Remembered {
  RemovedHosts removed_hosts = {};
  std::shared_ptr<const FormerPlaces> places = {};  ///< Null: none.
};

/// All pods and nodes that are considered.
struct ClusterState {
  std::vector<NodePtr> nodes = {};
  std::vector<PodPtr> pods = {};  ///< With TPUs. Those on nodes, and those of slices.
  /// All other bound pods with the slice label. The anti-affinity of slices keeps them out of the domains of these
  /// pods.
  std::vector<PodPtr> pods_without_tpus = {};
  Remembered remembered = {};
};

/// Not thread-safe.
class AcceleratorCache {
 public:
  /// Those that were used last are kept. Each holds a result for each domain.
  static constexpr std::size_t kMaxComparisons = 64;

  /// Distinct node requirements of one namespace that are compared with all domains in one plan, at most 32: each
  /// namespace has an equal share, at least one. Slices with further ones wait, so that no namespace, nor a number of
  /// them, delays the others.
  [[nodiscard]] static std::size_t max_requirements(const std::vector<const Slice*>& ready);

  AcceleratorCache(std::string accelerator, PlacementOptions options)
      : accelerator_(std::move(accelerator)), options_(std::move(options)) {}

  [[nodiscard]] const std::string& accelerator() const { return accelerator_; }

  /// Replaces everything. Equal to set_node() and set_slice() for each node and slice.
  void read(const ClusterState& cluster, Timestamp now);
  /// Null: the node no longer exists. `pods`: all pods on it that are considered, sorted by key.
  void set_node(const std::string& name, const NodePtr& node, const std::vector<PodPtr>& pods);
  /// `pods`: all of the slice, sorted by key; empty: the slice no longer exists. After set_node() for the nodes
  /// that have changed.
  void set_slice(const ObjectKey& key, const std::vector<PodPtr>& pods, const Remembered& remembered, Timestamp now);
  /// Updates the states that depend on the time.
  void update_states(Timestamp now);

  [[nodiscard]] const std::map<ObjectKey, CachedSlice>& slices() const { return slices_; }
  [[nodiscard]] const PlacedSlices& placed() const { return placed_; }
  /// The slices that a plan may be about, by key: neither placed nor idle, nor without gates.
  [[nodiscard]] std::vector<const CachedSlice*> unplaced() const;
  /// Number of slices by CachedSlice::waits_started.
  [[nodiscard]] const std::map<plan::WaitingCode, std::size_t>& waiting_started() const { return waiting_started_; }
  /// Pods without TPUs on the nodes, by node name, sorted by key.
  [[nodiscard]] const std::map<std::string, std::vector<PodPtr>>& pods_without_tpus() const {
    return pods_without_tpus_;
  }
  [[nodiscard]] Domains& domains() { return domains_; }
  /// The comparison of these requirements with the domains. It is kept for the next plan while they are among those
  /// that were used last.
  [[nodiscard]] std::shared_ptr<Comparison> comparison(const NodeRequirements& requirements);

 private:
  struct ByKey {
    bool operator()(const CachedSlice* a, const CachedSlice* b) const { return a->slice.key < b->slice.key; }
  };

  /// The pod needs nodes of this accelerator: it selects it, or none.
  [[nodiscard]] bool is_concerned(const PodView& pod) const;
  void occupy_domains(CachedSlice& cached);
  void vacate_domains(CachedSlice& cached);
  void add_to_lists(const CachedSlice& cached);
  void remove_from_lists(const CachedSlice& cached);

  const std::string accelerator_;
  const PlacementOptions options_;
  std::map<ObjectKey, CachedSlice> slices_;
  PlacedSlices placed_;
  std::set<const CachedSlice*, ByKey> unplaced_;
  std::map<plan::WaitingCode, std::size_t> waiting_started_;
  std::map<std::string, std::vector<PodPtr>> pods_without_tpus_;
  Domains domains_;
  std::list<std::shared_ptr<Comparison>> comparisons_;  ///< The one that was used last is first.
};

}  // namespace tpuslice::placement
