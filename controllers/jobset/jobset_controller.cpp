#include "controllers/jobset/jobset_controller.h"

#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tpuslice::jobset {
namespace {

/// While its Jobs start or end, a JobSet would otherwise be planned, and its status written, for each of them.
constexpr Duration kPace = std::chrono::milliseconds(100);

}  // namespace

runtime::Controller& add_jobset(runtime::Manager& manager, Options options,
                                runtime::ControllerOptions controller_options, const std::string& namespace_name) {
  const runtime::WatchScope children{.namespace_name = namespace_name, .label_selector = std::string(kChildSelector)};
  runtime::ObjectStore& jobsets = manager.objects(kJobSets, {.namespace_name = namespace_name});
  runtime::JobStore& jobs = manager.jobs(children, runtime::owner_index<JobView>);
  runtime::ServiceStore& services = manager.services({.namespace_name = namespace_name});
  runtime::ObjectStore& claims = manager.objects(kVolumeClaims, children, runtime::owner_index<ObjectView>);
  std::vector<runtime::PodStore*> pods;
  if (options.mutation.gate) {  // Others do not make slices wait.
    const runtime::WatchScope of_slices{.namespace_name = namespace_name,
                                        .label_selector = fmt::format("{},{}", kChildSelector, tpu::kSlice)};
    pods.push_back(&manager.pods(of_slices, waiting_index));
  }
  controller_options.queue.pace = kPace;
  runtime::Controller& controller = manager.add(
      std::make_unique<JobSetReconciler>(
          JobSetReconciler::Stores{jobsets, jobs, services, claims, runtime::PodStores(pods)}, std::move(options)),
      std::move(controller_options));
  controller.watches(jobsets);
  controller.watches(jobs);
  controller.watches(services);
  controller.watches(claims);
  for (runtime::PodStore* store : pods) controller.watches<PodView>(*store, jobset_of_waiting);
  return controller;
}

}  // namespace tpuslice::jobset
