// The pods of the slices of a workload, read from the API server.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "api/client/client.h"
#include "api/types/object.h"
#include "cmd/kubectl-tpu/context.h"
#include "cmd/kubectl-tpu/target.h"

namespace tpuslice::plugin {

/// Passes the objects of a list to `visit`, page by page and without managedFields, until it returns false. Errors: as
/// client::Reader::list.
[[nodiscard]] Status for_each_object(client::Client& api, const ResourceType& type, client::ListOptions options,
                                     const std::function<bool(Object object)>& visit, const std::stop_token& stop);

/// All pages of a list, without managedFields. Errors: as client::Reader::list; ResponseTooLong for more than
/// `max_objects`.
[[nodiscard]] Result<std::vector<Object>> list_all(client::Client& api, const ResourceType& type,
                                                   client::ListOptions options, std::size_t max_objects,
                                                   const std::stop_token& stop);

/// Label selector of the pods of slices.
inline constexpr std::string_view kInSlice = "tpuslice.dev/slice,tpuslice.dev/slice!=none";

struct Workload {
  ResourceType type;
  Object object;
  /// "rayjob/train"
  [[nodiscard]] std::string name() const;
};

/// The workload that the user means. A name without a kind is looked for among all kinds. Errors: NotFound; Forbidden;
/// InvalidArgument if several kinds have the name.
[[nodiscard]] Result<Workload> find_workload(Context& context, const std::string& text);

/// A workload whose controller creates pods.
struct PodOwner {
  std::string kind;  ///< "RayCluster"
  std::string name;
};

/// The workloads, of `workload`'s namespace, that have its pods: the RayClusters of a RayJob, RayService or RayCronJob,
/// the LeaderWorkerSets of a DisaggregatedSet, else the workload itself.
[[nodiscard]] Result<std::vector<PodOwner>> pod_owners_of(client::Client& api, const Workload& workload,
                                                          const std::stop_token& stop);

/// The pods of slices of the workload, ordered by slice and host index. Errors: as list_all().
[[nodiscard]] Result<std::vector<Object>> slice_pods_of(Context& context, const Workload& workload);

/// The containers of a pod, or of a pod template, that ask for TPUs. None if a quantity is invalid.
[[nodiscard]] std::vector<const Json*> tpu_containers_of(const Json& pod);

/// Index of the host that a pod of a slice is; -1 if it is none.
[[nodiscard]] int host_index_of(const Object& pod);

/// Name of the pod's slice: "v6e-0".
[[nodiscard]] std::string slice_name_of(const Object& pod);

}  // namespace tpuslice::plugin
