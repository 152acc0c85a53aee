// The groups of a RayCluster, for its validators.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/raycluster/rules/cluster_view.h"
#include "controllers/raycluster/rules/spec.h"
#include "tpu/rules/field_errors.h"

namespace tpuslice::rules {

/// A worker group as JSON and typed, and its path: "spec.workerGroupSpecs[0]".
using GroupVisitor = std::function<void(const Json&, const raycluster::WorkerGroup&, const std::string&)>;

/// Calls `visit` for each worker group that is an object.
void for_each_group(const ClusterView& cluster, const GroupVisitor& visit);

/// False, with an error, if the field of an object at `path` is set to anything but an int32 from 0.
bool check_count(const Json& json, std::string_view field, const std::string& path, FieldErrors& errors);

/// Checks the TPU slices of the cluster's groups.
void check_group_slices(const ClusterView& cluster, FieldErrors& errors);

}  // namespace tpuslice::rules
