// Scale-up: how the cluster autoscaler is asked for nodes on behalf of slices without a free domain. There are two
// means, scouts (scouts.h) and provisioning requests (provisioning_request.h); one planner decides for both which
// slices ask.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/placement/assignment.h"
#include "controllers/placement/scale_up/scale_up_bounds.h"

namespace tpuslice::placement {

enum class ScaleUp : std::uint8_t {
  kOff,                  ///< Not at all.
  kAuto,                 ///< Scouts, if the cluster has a cluster autoscaler (autoscaler_status.h).
  kScout,                ///< Scouts.
  kProvisioningRequest,  ///< Provisioning requests.
};

struct ScaleUpOptions {
  /// Unless it is kOff, a workload may choose another with the annotation tpuslice.dev/scale-up.
  ScaleUp mode = ScaleUp::kOff;
  bool scouts = true;  ///< False: none are made, whatever a workload chooses.
  /// Namespace of scouts, of provisioning requests and their PodTemplates, and of the ConfigMap of preemptions.
  std::string namespace_name;
  std::string provisioning_class = {};  ///< Class of provisioning requests; empty: none are made.
  std::string image = "registry.k8s.io/pause:3.10.1";
  /// Maximum of scouts with equivalent node requirements, and of one namespace; the same maximum holds for provisioning
  /// requests (scale_up_bounds.h).
  std::size_t max_scale_ups = 50;
  /// A scout without a node for this long counts as unsuccessful: it is kept, but is deleted first at the limit.
  /// So is a provisioning request that is not provisioned this long after its creation, or whose slice has no domain
  /// this long after it was provisioned. One that ended is created again this long after its end.
  Duration timeout = std::chrono::minutes(15);
  Duration delay = std::chrono::seconds(5);  ///< Younger slices ask for nothing.
  bool show_hints = false;                   ///< Waiting reasons say what an administrator could set.
};

/// Name of what asks for nodes for the slice, derived from its key: a scout, or a provisioning request and its
/// PodTemplate.
[[nodiscard]] std::string scale_up_name(const ObjectKey& slice);
/// The key of a slice, from the annotation tpu::kScaleUpFor of what asks for it; empty if it is malformed.
[[nodiscard]] ObjectKey slice_of_scale_up(const std::string& annotation);

/// Why no nodes can be asked for on behalf of a slice that lacks a domain, for its waiting reason: another controller
/// asks for them, or the autoscaler cannot bring them, as a Slice object makes the domain. Empty if they can.
[[nodiscard]] std::string scale_up_obstacle(const WaitingSlice& waiting);

/// How nodes are asked for; kOff for a slice that lacks no domain, does not want it, or has a scale_up_obstacle().
[[nodiscard]] ScaleUp scale_up_of(const WaitingSlice& waiting, const ScaleUpOptions& options);

struct ScaleUpPlan {
  std::vector<plan::Action> creates;
  std::vector<plan::Action> deletes;
  /// By slice, what its waiting reason says about new nodes.
  std::map<const Slice*, std::string> notes;
  std::set<const Slice*> asked;  ///< Slices for which nodes have been asked for, and may come.
  std::optional<Timestamp> changes_at;
};

/// A scout or provisioning request that exists.
struct ExistingScaleUp {
  ObjectKey key;
  std::string uid;
  std::optional<Timestamp> created;
  ObjectKey slice;  ///< For which it asks.
  bool terminating = false;
  bool kept = false;  ///< Else it is deleted. If so:
  ScaleUpState state = ScaleUpState::kOpen;
  std::optional<Timestamp> unsuccessful_at = {};  ///< When it will count as unsuccessful.
  std::optional<Timestamp> changes_at = {};       ///< When one of the above changes without a watch event.
  std::string note = {};                          ///< Added to the waiting reason of its slice.
};

/// One means of asking for nodes.
class ScaleUpMeans {
 public:
  /// By key.
  using WaitingSlices = std::map<ObjectKey, const WaitingSlice*>;

  ScaleUpMeans() = default;
  ScaleUpMeans(const ScaleUpMeans&) = delete;
  ScaleUpMeans& operator=(const ScaleUpMeans&) = delete;
  virtual ~ScaleUpMeans() = default;

  /// The type of the objects that ask for nodes.
  [[nodiscard]] virtual ResourceType type() const = 0;
  /// Nodes are asked for in this way.
  [[nodiscard]] virtual bool wants(const WaitingSlice& waiting) const = 0;
  /// Notes why nodes are not asked for, if the slice should know.
  virtual void note_refusal(const WaitingSlice& waiting, ScaleUpPlan& plan) const = 0;
  /// Those that exist, each with what becomes of it.
  [[nodiscard]] virtual std::vector<ExistingScaleUp> existing(const WaitingSlices& waiting) const = 0;
  /// What is created for a slice; absent if nothing can be now.
  [[nodiscard]] virtual std::optional<plan::Action> create(const WaitingSlice& waiting) = 0;
  /// The note of a slice for which something was just created.
  [[nodiscard]] virtual std::string note_of_new(const Slice& slice) const = 0;
};

/// - Each slice that wants it gets one scale-up, in the order of `waiting`, within ScaleUpBounds. All slices of a gang
///   get theirs or none.
/// - Those that are not kept are deleted, and unsuccessful ones when there are too many, the oldest first.
[[nodiscard]] ScaleUpPlan plan_scale_up(const std::vector<WaitingSlice>& waiting, ScaleUpMeans& means, Timestamp now,
                                        const ScaleUpOptions& options);

}  // namespace tpuslice::placement
