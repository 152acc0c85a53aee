#include "controllers/jobset/jobset_kind.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "controllers/jobset/render.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "controllers/jobset/rules/jobset_rules.h"
#include "controllers/jobset/rules/spec.h"
#include "controllers/plan/service.h"
#include "tpu/labels.h"

namespace tpuslice::jobset {
namespace {

/// Otherwise a JobSet would be planned, and its status written, for each Job that starts or finishes.
constexpr Duration kPace = std::chrono::milliseconds(100);

}  // namespace

runtime::Controller& add_jobset(runtime::Manager& manager, Options options,
                                runtime::ControllerOptions controller_options, const std::string& namespace_name) {
  const runtime::WatchScope children{.namespace_name = namespace_name, .label_selector = std::string(kChildSelector)};
  manager.keep_annotations(
      {"jobset.sigs.k8s.io/", "alpha.jobset.sigs.k8s.io/", tpu::kAnnotationPrefix, tpu::kCompletionIndex});
  auto& jobsets = manager.store<ObjectView>(kJobSets, {.namespace_name = namespace_name});
  auto& jobs = manager.store<JobView>(kJobs, children);
  auto& services = manager.store<ServiceView>(kServices, {.namespace_name = namespace_name});
  auto& claims = manager.store<ObjectView>(kVolumeClaims, children);
  auto& pods = manager.store<PodView>(
      kPods, {.namespace_name = namespace_name, .label_selector = fmt::format("{},{}", kChildSelector, tpu::kSlice)});
  auto& priority_classes = manager.optional_store<ObjectView>(kPriorityClasses);
  controller_options.queue.pace = kPace;
  runtime::Controller& controller =
      manager.add(std::make_unique<JobSetReconciler>(
                      JobSetReconciler::Stores{jobsets, jobs.add_index(runtime::owner_uid<JobView>), services, claims,
                                               pods.add_index(jobset_name_of_waiting_pod),
                                               pods.add_index(jobset_name_of_pod_with_teardown_grace), priority_classes,
                                               priority_classes.add_index(key_of_default_class)},
                      std::move(options)),
                  std::move(controller_options));
  controller.watches(jobsets);
  controller.watches(jobs);
  controller.watches<ServiceView>(
      services, [](const ServiceView& service) { return plan::workloads_of(service, kJobSets.kind, kJobSetName); });
  controller.watches(claims);
  controller.watches<PodView>(pods, jobset_of_waiting_pod);
  return controller;
}

namespace {

bool rests(const Json& jobset) {
  return bool_at(jobset, {"spec", "suspend"}) || JobSetStatus::read(Object(jobset)).finished();
}

void add(runtime::Manager& manager, const kind::Settings& settings) {
  Options options;
  options.mutation = settings.mutation;
  add_jobset(manager, options, settings.controller, settings.watch_namespace);
}

}  // namespace

// Source of the Lease's name: pkg/config of jobset.
constinit const kind::Kind kKind{.type = kJobSets,
                                 .controller = "jobset",
                                 .upstream = {"JobSet's controller", "6d4f6a47.jobset.x-k8s.io", kJobSets},
                                 .admission = kAdmission,
                                 .rests = rests,
                                 .counters = kCounters,
                                 .add = add};

}  // namespace tpuslice::jobset
