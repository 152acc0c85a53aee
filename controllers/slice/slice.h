// Slice: the pods of one TPU slice, grouped by the labels and annotations that admission wrote.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/types/views.h"
#include "controllers/plan/plan.h"

namespace tpuslice::slice {

using PodPtr = std::shared_ptr<const PodView>;
using NodePtr = std::shared_ptr<const NodeView>;

/// By slice and host index, the uid of each pod that had succeeded before it was deleted, while other hosts run on. The
/// watches show it (removed_hosts.h), and it is recorded on a host that runs (tpu::kRemovedHosts).
using RemovedHosts = std::map<ObjectKey, std::map<int, std::string>>;

/// When host 0 may be placed before the other hosts exist.
enum class Start : std::uint8_t {
  kTogether,           ///< Never.
  kOthersFollowHost0,  ///< At once: the slice's controller creates the others once host 0 has a node.
  kHost0IfAlone,       ///< If no other host is created for a while: their controller may wait for host 0.
  kHostByHost,         ///< Treated like kHost0IfAlone; once all hosts exist, losing one tears the slice down.
};

struct Slice {
  ObjectKey key;             ///< Namespace, and value of the label tpuslice.dev/slice.
  std::string topology_key;  ///< Node label whose values are whole slices.
  Start start = Start::kTogether;
  std::string gang;     ///< Name of its gang; empty for a slice that starts alone.
  int gang_slices = 1;  ///< Number of slices of the gang.
  int size = 0;         ///< Number of hosts.
  /// When it, or a slice of its workload that it replaces, began to wait for nodes: its place in the queue.
  Timestamp queued_since = Timestamp::max();

  std::vector<PodPtr> hosts;           ///< Live or succeeded; at most one for each host index, ordered by it.
  std::map<int, std::string> removed;  ///< Hosts that were deleted after they had succeeded, by index: their uids.
  std::vector<PodPtr> companions;      ///< Live pods without TPUs that start with the slice.
  std::vector<PodPtr> terminating;     ///< With TPUs.
  std::vector<PodPtr> failed;          ///< With TPUs.
  std::vector<PodPtr> surplus;         ///< Live pods with a duplicate host index, or one beyond the slice.

  /// All hosts exist, or have succeeded.
  [[nodiscard]] bool has_all_hosts() const { return std::cmp_equal(hosts.size() + removed.size(), size); }
  /// The host whose release records that the slice is placed; null if host 0 does not exist. Another host where host 0
  /// has succeeded: a suspended Job that is resumed recreates the pods of the other indexes only.
  [[nodiscard]] PodPtr host0() const;
  [[nodiscard]] std::int32_t priority() const;
  /// When the last of its live pods was created.
  [[nodiscard]] Timestamp last_created() const;
  /// When the first of its live pods was created.
  [[nodiscard]] Timestamp first_created() const;
  /// queued_since, if that was before the first of its live pods was created. A slice of a gang that has it has run.
  [[nodiscard]] std::optional<Timestamp> inherited_place() const;
  /// Null for a slice without pods.
  [[nodiscard]] PodPtr any_pod() const;
  /// Live hosts and companions.
  [[nodiscard]] std::vector<PodPtr> live() const;
  /// Live hosts without the gate.
  [[nodiscard]] std::vector<PodPtr> started() const;
};

/// `pods` have the label `key.name` and are in the namespace.
[[nodiscard]] Slice read_slice(const ObjectKey& key, const std::vector<PodPtr>& pods, const RemovedHosts& removed = {});

/// The value of tpu::kRemovedHosts; empty if none was removed. Of so many hosts that it fits into an annotation.
[[nodiscard]] std::string record_of_removed_hosts(const Slice& slice);

/// The pods by the key of their slice, in order. Pods without a slice are skipped.
[[nodiscard]] std::map<ObjectKey, std::vector<PodPtr>> group_by_slice(const std::vector<PodPtr>& pods);

/// Whether the pod is neither terminal nor terminating.
[[nodiscard]] bool is_live(const PodView& pod);
/// Placement considers the pod: it has the slice label, of a slice or not; or it was not admitted, but uses chips of a
/// node.
[[nodiscard]] bool is_considered(const PodView& pod);
/// The accelerator of a node's labels, or of a node selector; empty without one.
[[nodiscard]] const std::string& accelerator_of(const StringMap& labels);
/// Whether its labels have an accelerator, which it may not advertise yet.
[[nodiscard]] bool has_tpus(const NodeView& node);
/// Belongs to a slice.
[[nodiscard]] bool in_slice(const PodView& pod);
/// The key of its slice.
[[nodiscard]] ObjectKey slice_key(const PodView& pod);
/// Has our scheduling gate.
[[nodiscard]] bool is_gated(const PodView& pod);
/// Absent without TPUs. It is the completion index for a pod mutated by the Job template (tpuslice.dev/mutated-by).
[[nodiscard]] std::optional<int> host_index(const PodView& pod);
/// Workload and slice of a pod, for messages: "default/train (tpu-0)"; the pod's key if it has no slice.
[[nodiscard]] std::string display_name(const PodView& pod);
/// The same name, for display; the key of a slice without pods.
[[nodiscard]] std::string display_name(const Slice& slice);
/// A display_name() as `viewer`, a namespace, may see it: "a workload of another namespace" unless it is one of its
/// own. An empty viewer sees all.
[[nodiscard]] std::string visible_name(const std::string& name, std::string_view viewer);
/// "tpu-0"
[[nodiscard]] std::string short_name(const Slice& slice);

/// Slice::queued_since, as the pod has it.
[[nodiscard]] Timestamp queued_since(const PodView& pod);

/// When the slice was placed, as recorded on its pods.
[[nodiscard]] Timestamp placed_at(const Slice& slice);

/// Value of the annotation tpuslice.dev/slice-members: a hash of the hosts' uids, or kOpenMembers while hosts are
/// missing.
[[nodiscard]] std::string members_of(const Slice& slice);
inline constexpr std::string_view kOpenMembers = "open";

/// The workload of the pod (tpu/workload_ref.h), or the pod itself if it has none.
[[nodiscard]] plan::ObjectReference workload_of(const PodView& pod);

}  // namespace tpuslice::slice
