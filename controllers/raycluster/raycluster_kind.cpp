#include "controllers/raycluster/raycluster_kind.h"

#include <memory>
#include <utility>
#include <vector>

#include "controllers/raycluster/adoption.h"
#include "controllers/raycluster/children/children.h"
#include "controllers/raycluster/raycluster_configuration.h"
#include "controllers/raycluster/raycluster_metrics.h"
#include "controllers/raycluster/redis_cleanup/redis_cleanup.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/raycluster/rules/raycluster_rules.h"
#include "controllers/raycluster/upgrade.h"
#include "tpu/labels.h"

namespace tpuslice::raycluster {
namespace {

/// The cluster that controls the pod, or may adopt it.
std::vector<ObjectKey> cluster_of_pod(const PodView& pod) {
  if (const std::optional<ObjectKey> cluster = cluster_of_orphan(pod)) return {*cluster};
  const auto& owner = pod.controller;
  if (!owner || owner->kind != kRayClusters.kind || owner->api_version != kRayClusters.api_version()) return {};
  return {{pod.key.namespace_name, owner->name}};
}

}  // namespace

runtime::Controller& add_raycluster(runtime::Manager& manager, Options options,
                                    runtime::ControllerOptions controller_options,
                                    const runtime::Namespaces& namespaces) {
  runtime::WatchScope pod_scope;
  pod_scope.namespaces = namespaces;
  pod_scope.label_selector = kPodSelector;
  runtime::WatchScope service_scope;
  service_scope.namespaces = namespaces;
  service_scope.label_selector = kServiceSelector;
  manager.keep_annotations({tpu::kAnnotationPrefix, "ray.io/"});  // kSpecHash, and the labels of pods.
  auto& clusters = manager.store<ObjectView>(kRayClusters, {.namespaces = namespaces});
  auto& pods = manager.store<PodView>(kPods, pod_scope);
  auto& services = manager.store<ObjectView>(kServices, service_scope);
  runtime::WatchScope child_scope;
  child_scope.namespaces = namespaces;
  child_scope.label_selector = kChildSelector;
  // Most clusters have no such children, and must not depend on permissions that only those of others need.
  std::vector<runtime::ObjectStore*> children;
  children.reserve(kChildTypes.size());
  for (const ChildType& child : kChildTypes) {
    children.push_back(&manager.optional_store<ObjectView>(child.type, child_scope));
  }
  auto& cleanup_jobs = manager.optional_store<JobView>(
      kJobs, {.namespaces = namespaces, .label_selector = std::string(kCleanupJobSelector)});
  runtime::Controller& controller =
      manager.add(std::make_unique<RayClusterReconciler>(
                      RayClusterReconciler::Stores{clusters,
                                                   pods.add_index(runtime::owner_uid<PodView>),
                                                   pods.add_index(orphan_index),
                                                   services,
                                                   services.add_index(runtime::owner_uid<ObjectView>),
                                                   {children.begin(), children.end()},
                                                   &cleanup_jobs},
                      std::move(options)),
                  std::move(controller_options));
  controller.watches(clusters);
  controller.watches<PodView>(pods, cluster_of_pod);
  controller.watches(services);
  for (runtime::ObjectStore* store : children) controller.watches_optional(*store);
  controller.watches_optional(cleanup_jobs);
  return controller;
}

namespace {

std::vector<rules::FieldError> check_section(const Json& section) {
  Options options;
  return read_configuration(section, options);
}

bool rests(const Json& cluster) {
  return bool_at(cluster, {"spec", "suspend"}) ||
         is_condition_true(array_at(cluster, {"status", "conditions"}), kSuspendingCondition);
}

void add(runtime::Manager& manager, const kind::Settings& settings) {
  Options options = configured_options(settings.configuration);
  options.cluster_domain = settings.cluster_domain;
  options.mutation = settings.mutation;
  add_raycluster(manager, options, settings.controller, settings.watch_namespaces);
}

kind::WriteSeries upstream_metrics(runtime::Manager& manager, const kind::Settings& settings) {
  const auto& clusters = manager.store<ObjectView>(kRayClusters, {.namespaces = settings.watch_namespaces});
  return [&clusters](SeriesWriter& out) { write_metrics(clusters.list(), out); };
}

}  // namespace

constinit const kind::Kind kKind{.type = kRayClusters,
                                 .controller = "raycluster",
                                 .upstream = kKubeRay,
                                 .admission = kAdmission,
                                 .rests = rests,
                                 .finalizer = {.name = kRedisCleanupFinalizer, .keep_on_terminating = true},
                                 .section = kConfigurationSection,
                                 .check_section = check_section,
                                 .add = add,
                                 .upstream_metrics = upstream_metrics};

}  // namespace tpuslice::raycluster
