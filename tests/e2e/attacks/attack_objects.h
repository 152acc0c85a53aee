// Objects of the attacking tenant, in namespace default.
#pragma once

#include <cstdint>
#include <string>

#include "api/types/object.h"

namespace tpuslice::testing {

inline constexpr ResourceType kRayClusterType{"ray.io", "v1", "RayCluster", "rayclusters"};
inline constexpr ResourceType kJobSetType{"jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"};
inline constexpr ResourceType kSetType{"leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets"};

[[nodiscard]] Json pod_template(const std::string& argument = "run");
[[nodiscard]] Json metadata(const std::string& name);
[[nodiscard]] Json ray_group(const std::string& name, std::int64_t replicas, std::int64_t hosts,
                             Json pods = pod_template());
[[nodiscard]] Object ray_cluster(const std::string& name, Json groups);
[[nodiscard]] Json replicated_job(const std::string& name, std::int64_t replicas, Json pods = pod_template());
[[nodiscard]] Object job_set(const std::string& name, Json jobs);
[[nodiscard]] Object leader_worker_set(const std::string& name, std::int64_t replicas, std::int64_t size,
                                       Json pods = pod_template());
/// A pod of a slice of one TPU generation, with `containers` TPU containers.
[[nodiscard]] Json tpu_pod(const std::string& name, int containers, const std::string& accelerator,
                           const std::string& topology);
/// A pod "plain" that asks for no TPUs.
[[nodiscard]] Json plain_pod(Json labels);
/// A StatefulSet without pods that looks like the worker set of that group.
[[nodiscard]] Object named_like_group(const std::string& set, std::int64_t group);
/// A pod that looks like one of a group of that size.
[[nodiscard]] Json group_pod(const std::string& name, const std::string& size);
/// An AdmissionReview of the creation of a pod, given as JSON.
[[nodiscard]] std::string review_of(const std::string& object);

}  // namespace tpuslice::testing
