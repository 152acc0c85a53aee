// Builders of slices and node pools as the stores hold them.
//
//   a_slice("train-0").hosts(4).priority(10).pods();                   // gated, as admission leaves them
//   a_slice("train-0").hosts(4).runs_in("pool-a").fails(2).pods();     // running, then host 2 failed
//   a_pool("pool-a").size(4).node(1, cordoned).nodes();
//
// Times count from start_of_time().
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/plan/plan.h"
#include "controllers/slice/slice.h"

namespace tpuslice::slice {

inline constexpr const char* kV6e = "tpu-v6e-slice";
inline constexpr const char* kV5p = "tpu-v5p-slice";
/// The accelerator whose hosts may share a node.
inline constexpr const char* kTpu7x = "tpu7x";
inline constexpr const char* kGkePool = "cloud.google.com/gke-nodepool";
/// A topology key of larger domains: several pools have one value.
inline constexpr const char* kRow = "example.com/row";

/// 2026-01-01T00:00:00Z.
[[nodiscard]] Timestamp start_of_time();
[[nodiscard]] Timestamp after(Duration passed);

using PodChange = std::function<void(PodView&)>;
using NodeChange = std::function<void(NodeView&)>;

/// A copy of the pod, changed.
[[nodiscard]] PodPtr with(const PodPtr& pod, const PodChange& change);
[[nodiscard]] NodePtr with(const NodePtr& node, const NodeChange& change);

/// Pods "<slice>-<host>" of 4 chips each, of a Job named job, in namespace default.
class SliceBuilder {
 public:
  explicit SliceBuilder(std::string name) : key_{"default", std::move(name)} {}

  SliceBuilder& in(std::string space);
  SliceBuilder& hosts(int count);
  SliceBuilder& chips(int of_each_pod);
  SliceBuilder& topology_key(std::string key);
  SliceBuilder& created(Duration when);
  SliceBuilder& priority(int value);
  SliceBuilder& gang(std::string name, int slices);
  /// tpu::kOthersFollowHost0 or kHost0IfAlone.
  SliceBuilder& start(std::string_view how);
  SliceBuilder& selects(std::string_view label, std::string value);
  /// kubernetes.io/hostname in the node selectors of the hosts, by host index; "" without one.
  SliceBuilder& on(const std::vector<std::string>& hostnames);
  /// activeDeadlineSeconds of each host.
  SliceBuilder& deadline(Duration time);

  /// All hosts are released to the domain, or without one if it is "", at time `when`.
  SliceBuilder& placed_in(std::string domain, Duration when = {});
  /// The same, and they run on the nodes of the domain.
  SliceBuilder& runs_in(std::string domain, Duration when = {});
  /// Sets another value of tpuslice.dev/slice-members.
  SliceBuilder& record(std::string members);
  /// Of a placed slice: this host is still gated.
  SliceBuilder& gated(int host);
  /// Of a running slice: this host has no node yet.
  SliceBuilder& unscheduled(int host);

  // Later changes.
  SliceBuilder& without(int host);
  SliceBuilder& fails(int host, std::string reason = {});
  SliceBuilder& succeeds(int host);
  SliceBuilder& terminating(int host);
  /// A new gated pod with the same name.
  SliceBuilder& replaced(int host);
  SliceBuilder& host(int host, PodChange change);
  SliceBuilder& each(PodChange change);
  /// A gated pod without TPU.
  SliceBuilder& companion(const std::string& name, const PodChange& change = {});
  /// One more pod, a changed copy of host 0 as created.
  SliceBuilder& extra(const std::string& name, const PodChange& change);

  [[nodiscard]] const ObjectKey& key() const { return key_; }
  [[nodiscard]] std::vector<PodPtr> pods() const;
  [[nodiscard]] PodPtr pod(int host) const;
  [[nodiscard]] Slice slice() const { return read_slice(key_, pods()); }

 private:
  [[nodiscard]] PodView as_created(int host) const;
  [[nodiscard]] std::string members() const;
  void release(PodView& pod, int host, const std::string& members) const;

  ObjectKey key_;
  int hosts_ = 2;
  int chips_ = 4;
  std::string topology_key_ = kGkePool;
  Duration created_{};
  int priority_ = 0;
  StringMap annotations_;
  StringMap selector_;
  std::optional<std::string> domain_;  ///< Absent: not placed.
  Duration placed_{};
  bool bound_ = false;
  std::optional<std::string> record_;
  std::set<int> gated_;
  std::set<int> unscheduled_;
  std::set<int> missing_;
  std::vector<PodChange> of_each_;
  std::multimap<int, PodChange> changes_;
  std::vector<PodView> others_;
};

[[nodiscard]] SliceBuilder a_slice(std::string name);

/// Nodes "<pool>-<n>" of 4 chips each, Ready.
class PoolBuilder {
 public:
  explicit PoolBuilder(std::string name) : name_(std::move(name)) {}

  PoolBuilder& size(int nodes);
  PoolBuilder& chips(int of_each_node);
  PoolBuilder& label(std::string_view key, std::string value);
  PoolBuilder& without(int node);
  PoolBuilder& node(int node, NodeChange change);
  PoolBuilder& each(NodeChange change);
  /// Nodes have the label kubernetes.io/hostname, which is their name.
  PoolBuilder& hostnames();

  [[nodiscard]] std::vector<NodePtr> nodes() const;

 private:
  std::string name_;
  int size_ = 2;
  int chips_ = 4;
  StringMap labels_;
  std::set<int> missing_;
  std::vector<NodeChange> of_each_;
  std::multimap<int, NodeChange> changes_;
};

[[nodiscard]] PoolBuilder a_pool(std::string name);

// Changes of nodes.
void cordoned(NodeView& node);
void not_ready(NodeView& node);
void without_chips(NodeView& node);
void unreadable(NodeView& node);  ///< Only a minimal view is left.

/// A pod with chips on a node, without slice, as labelled by admission.
[[nodiscard]] PodPtr a_pod_without_slice(const std::string& name, const std::string& node);

[[nodiscard]] std::vector<PodPtr> pods_of(std::initializer_list<SliceBuilder> slices);
[[nodiscard]] std::vector<Slice> read_slices(const std::vector<PodPtr>& pods);
[[nodiscard]] std::vector<Slice> slices_of(std::initializer_list<SliceBuilder> slices);
[[nodiscard]] std::vector<const Slice*> pointers_to(const std::vector<Slice>& slices);
[[nodiscard]] std::vector<NodePtr> nodes_of(std::initializer_list<PoolBuilder> pools);

/// Applies the writes of a plan to pods and checks their preconditions, and that no pod is deleted twice. Created pods
/// have been created at `now`.
void apply_plan(const plan::Plan& plan, std::vector<PodPtr>& pods, Timestamp now = start_of_time());

}  // namespace tpuslice::slice
