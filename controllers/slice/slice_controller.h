// Adds the controller of single slices to a Manager.
#pragma once

#include <functional>
#include <memory>

#include "controllers/runtime/manager.h"
#include "controllers/runtime/write_backoff.h"
#include "controllers/slice/indexes.h"
#include "controllers/slice/removed_hosts.h"
#include "controllers/slice/slice_options.h"
#include "controllers/slice/workloads.h"

namespace tpuslice::slice {

/// What the controllers of placement and of single slices share. The stores are those of the Manager.
struct SliceStores {
  runtime::PodStores pods;
  runtime::NodeStore& nodes;  ///< All, as those without TPUs show a disruption (node_health.h).
  std::shared_ptr<const Workloads> workloads;
  Indexes indexes{pods};
  std::shared_ptr<RemovedHostHistory> removed_hosts = std::make_shared<RemovedHostHistory>();
  /// Shared, since placement leaves out a slice of which the other controller could not release a pod.
  std::shared_ptr<runtime::WriteBackoff> write_backoff = std::make_shared<runtime::WriteBackoff>();
  /// runtime::ControllerOptions::on_interruption of both controllers.
  std::function<void(const plan::Interruption&)> on_interruption = nullptr;
};

/// Adds watches of the pods that admission has labelled and of the nodes. Shares the pod watches of controllers that
/// were added before.
[[nodiscard]] SliceStores add_slice_stores(runtime::Manager& manager, Workloads workloads = {});

/// Adds the controller that releases and tears down slices, and the one that deletes other pods on lost nodes. After
/// all controllers that watch pods.
void add_slices(runtime::Manager& manager, const SliceStores& stores, Options options = {},
                runtime::ControllerOptions controller_options = {});

}  // namespace tpuslice::slice
