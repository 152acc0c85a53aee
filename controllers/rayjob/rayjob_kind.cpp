#include "controllers/rayjob/rayjob_kind.h"

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "controllers/raycluster/raycluster_configuration.h"
#include "controllers/raycluster/raycluster_kind.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayjob/rayjob_metrics.h"
#include "controllers/rayjob/render.h"
#include "controllers/rayjob/rules/rayjob_labels.h"
#include "controllers/rayjob/rules/rayjob_rules.h"
#include "controllers/rayjob/rules/spec.h"
#include "tpu/labels.h"

namespace tpuslice::rayjob {
namespace {

/// Otherwise a RayJob would be planned for each pod of its cluster that changes.
constexpr Duration kPace = std::chrono::milliseconds(100);

using JobsByCluster = runtime::Index<ObjectView>;

/// The RayJobs that the index has for the cluster.
std::vector<ObjectKey> jobs_of(const JobsByCluster& jobs, const std::string& cluster) {
  std::vector<ObjectKey> out;
  for (const auto& job : jobs.lookup(cluster)) out.push_back(job->key);
  return out;
}

}  // namespace

runtime::Controller& add_rayjob(runtime::Manager& manager, runtime::SendToWorkload send, Options options,
                                runtime::ControllerOptions controller_options, const runtime::Namespaces& namespaces) {
  const auto scope = [&](std::string_view selector) {
    return runtime::WatchScope{.namespaces = namespaces, .label_selector = std::string(selector)};
  };
  manager.keep_annotations({tpu::kAnnotationPrefix, "ray.io/"});
  auto& jobs = manager.store<ObjectView>(kRayJobs, scope({}));
  auto& clusters = manager.store<ObjectView>(raycluster::kRayClusters, scope({}));
  auto& pods = manager.store<PodView>(kPods, scope(raycluster::kPodSelector));
  auto& submitters = manager.store<JobView>(kJobs, scope(kSubmitterSelector));
  auto& submitter_pods = manager.store<PodView>(kPods, scope(kSubmitterSelector));
  auto& services = manager.store<ObjectView>(kServices, scope(raycluster::kServiceSelector));
  runtime::WorkloadClient& dashboards = manager.workload_client(std::move(send));
  const JobsByCluster by_cluster = jobs.add_index(index_cluster);
  const JobsByCluster by_created_cluster = jobs.add_index(index_created_cluster);
  controller_options.queue.pace = kPace;
  runtime::Controller& controller = manager.add(
      std::make_unique<RayJobReconciler>(
          RayJobReconciler::Stores{jobs, clusters, pods.add_index(index_cluster_of_pod), submitters,
                                   submitter_pods.add_index(runtime::owner_uid<PodView>), services, dashboards},
          std::move(options)),
      std::move(controller_options));
  controller.watches(jobs);
  controller.watches<ObjectView>(clusters, [by_cluster](const ObjectView& cluster) {
    std::vector<ObjectKey> out = jobs_of(by_cluster, cluster.key.to_string());
    if (cluster.controller && cluster.controller->kind == kRayJobs.kind) {
      out.push_back({cluster.key.namespace_name, cluster.controller->name});
    }
    return out;
  });
  // Only the deletion of the last worker pod matters, and only to the RayJob that created their cluster.
  controller.watches<PodView>(pods, [by_cluster, by_created_cluster](const PodView& pod) {
    const auto cluster = index_cluster_of_pod(pod);
    const bool is_head = pod.label(raycluster::kRayNodeType) == raycluster::kHeadNode;
    return cluster ? jobs_of(is_head ? by_cluster : by_created_cluster, *cluster) : std::vector<ObjectKey>();
  });
  controller.watches(submitters);
  controller.watches<PodView>(submitter_pods, rayjob_of_submitter_pod);
  controller.watches(services);
  controller.sends_requests(dashboards);
  return controller;
}

namespace {

void add(runtime::Manager& manager, const kind::Settings& settings) {
  Options options;
  options.cluster_domain = settings.cluster_domain;
  options.head_cluster_ip = raycluster::configured_options(settings.configuration).head_cluster_ip;
  add_rayjob(manager, settings.send_to_workload, options, settings.controller, settings.watch_namespaces);
}

kind::WriteSeries upstream_metrics(runtime::Manager& manager, const kind::Settings& settings) {
  auto& jobs = manager.store<ObjectView>(kRayJobs, {.namespaces = settings.watch_namespaces});
  const auto retried = std::make_shared<RetriedAttempts>(manager.clock());
  jobs.add_listener([retried](const auto& before, const auto& after) { retried->changed(before, after); });
  return [&jobs, retried](SeriesWriter& out) { write_metrics(jobs.list(), *retried, out); };
}

constexpr std::array kCounters{&kFinishedRayJobs};

}  // namespace

// An operator that serves RayClusters serves RayJobs, too: two operators would work on the same objects.
constinit const kind::Kind kKind{.type = kRayJobs,
                                 .controller = "rayjob",
                                 .runs_with = "raycluster",
                                 .upstream = raycluster::kKubeRay,
                                 .admission = kAdmission,
                                 .finalizer = {kStopFinalizer},
                                 .counters = kCounters,
                                 .add = add,
                                 .upstream_metrics = upstream_metrics};

}  // namespace tpuslice::rayjob
