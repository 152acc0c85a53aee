// The RayCluster kind, as the operator knows it (controllers/kind/kind.h), and its controller, wired into a Manager.
#pragma once

#include <string>

#include "controllers/kind/kind.h"
#include "controllers/raycluster/raycluster_reconciler.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/runtime/manager.h"

namespace tpuslice::raycluster {

extern const kind::Kind kKind;

/// KubeRay. Source of the Lease's name: ray-operator/main.go.
inline constexpr kind::Upstream kKubeRay{"KubeRay", "ray-operator-leader", kRayClusters, "kuberay_"};

/// Adds watches of RayClusters, their pods and their services, and the controller that reads them. Only objects with
/// the labels of a RayCluster's children are cached, and only of `namespaces`.
runtime::Controller& add_raycluster(runtime::Manager& manager, Options options = {},
                                    runtime::ControllerOptions controller_options = {},
                                    const runtime::Namespaces& namespaces = {});

}  // namespace tpuslice::raycluster
