// The Ingress of a RayCluster, by which clients outside the Kubernetes cluster reach Ray's dashboard.
#pragma once

#include "api/types/views.h"
#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::raycluster {

/// The Ingress that headGroupSpec.ingressOptions asks for. It has the annotations of the cluster;
/// kubernetes.io/ingress.class among them becomes its class.
[[nodiscard]] Object build_ingress(const RayClusterSpec& spec);

/// An Ingress without a class gets the default class of the Kubernetes cluster when it is created, and keeps it.
void keep_ingress_class(const ObjectView& live, Object& desired);

}  // namespace tpuslice::raycluster
