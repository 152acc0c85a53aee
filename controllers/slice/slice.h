// Slice: the pods that make up one TPU slice, as their labels and annotations say, whoever created them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/types/views.h"
#include "controllers/runtime/plan.h"

namespace tpuslice::slice {

using PodPtr = std::shared_ptr<const PodView>;
using NodePtr = std::shared_ptr<const NodeView>;

/// When the first host of a slice may start although others are not there.
enum class Start : std::uint8_t {
  kTogether,        ///< Never.
  kFirstHostFirst,  ///< At once: the slice's controller creates the others when host 0 has a node.
  kFirstHostAlone,  ///< When no others have come for a while: their controller may be waiting for it.
};

/// Holds the pods it was read from.
struct Slice {
  ObjectKey key;             ///< Namespace, and value of the label tpuslice.dev/slice.
  std::string topology_key;  ///< Node label whose values are whole slices.
  Start start = Start::kTogether;
  std::string gang;  ///< Of slices that start together; empty for one that starts by itself.
  int gang_slices = 1;

  std::vector<PodPtr> hosts;       ///< By host index: the pod that works, or has worked to its end, as that host.
  std::vector<PodPtr> companions;  ///< Live pods without TPU that start with the slice.
  std::vector<PodPtr> leaving;     ///< Pods with TPU that are being deleted.
  std::vector<PodPtr> failed;
  std::vector<PodPtr> surplus;  ///< Live pods whose host index is taken, or beyond the slice.

  [[nodiscard]] std::int32_t priority() const;
  /// When the last of its pods was created; from then on it waits for nodes only.
  [[nodiscard]] Timestamp complete_since() const;
  /// When the first of its pods was created: its place in the queue.
  [[nodiscard]] Timestamp waiting_since() const;
  /// A pod to speak for the slice; null if it has none.
  [[nodiscard]] PodPtr any() const;
  /// Hosts and companions that are neither ended nor being deleted.
  [[nodiscard]] std::vector<PodPtr> live() const;
  /// Live hosts that have been let go, or never were held.
  [[nodiscard]] std::vector<PodPtr> started() const;
};

/// `pods` have the label `key.name` and are in the namespace.
[[nodiscard]] Slice read_slice(const ObjectKey& key, const std::vector<PodPtr>& pods);

/// The slices of these pods, by key; pods of no slice are left out.
[[nodiscard]] std::vector<Slice> read_slices(const std::vector<PodPtr>& pods);

/// The pod is there to stay and has not ended.
[[nodiscard]] bool is_live(const PodView& pod);
/// The pod waits for us.
[[nodiscard]] bool is_gated(const PodView& pod);
/// Which host of its slice the pod is; absent without TPU. A pod that was never admitted, as its Job's template was
/// made right (tpuslice.dev/born), is the one of its completion index.
[[nodiscard]] std::optional<int> host_index(const PodView& pod);
/// The annotation, or "".
[[nodiscard]] const std::string& annotation(const PodView& pod, std::string_view name);
/// The slice a pod belongs to, for people: "default/train (tpu-0)", or the pod where it belongs to none.
[[nodiscard]] std::string user_of(const PodView& pod);
/// The same of a slice that has pods.
[[nodiscard]] std::string name_of(const Slice& slice);
/// "tpu-0"
[[nodiscard]] std::string short_name(const Slice& slice);

/// What tpuslice.dev/slice-members of these hosts is: another one if one of them is replaced. kOpenMembers while not
/// all are there.
[[nodiscard]] std::string members_of(const Slice& slice);
inline constexpr std::string_view kOpenMembers = "open";

/// The object that people look at: the JobSet, or the controller of the pods.
[[nodiscard]] runtime::ObjectReference workload_of(const PodView& pod);

}  // namespace tpuslice::slice
