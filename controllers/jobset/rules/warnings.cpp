#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "controllers/jobset/rules/service_ports.h"
#include "controllers/jobset/rules/validator.h"
#include "controllers/jobset/rules/validator_parts.h"
#include "tpu/catalog.h"
#include "tpu/labels.h"
#include "tpu/node_label.h"
#include "tpu/rules/field_errors.h"
#include "tpu/rules/tpu_rules.h"
#include "tpu/slice_shape.h"

namespace tpuslice::rules {
namespace {

constexpr std::size_t kMaxWarningLength = 252;  // Plus "...": the API server cuts at 256.
constexpr std::int64_t kDefaultLimit = 6;       // Kubernetes' backoffLimit of a Job.
constexpr std::string_view kNumSlices = "MEGASCALE_NUM_SLICES";

/// Calls `visit` with the value and path of every literal MEGASCALE_NUM_SLICES.
void for_each_slice_count(const ReplicatedJob& job,
                          const std::function<void(const std::string&, const std::string&)>& visit) {
  const Json& containers = array_at(*job.pod_template, {"spec", "containers"});
  for (std::size_t index = 0; index < containers.size(); ++index) {
    const Json& variables = array_at(containers[index], {"env"});
    for (std::size_t position = 0; position < variables.size(); ++position) {
      const Json& variable = variables[position];
      if (string_at(variable, {"name"}) != kNumSlices || find_set(variable, {"valueFrom"}) != nullptr) continue;
      visit(string_at(variable, {"value"}),
            fmt::format("{}.spec.containers[{}].env[{}].value", job.job_path("template"), index, position));
    }
  }
}

/// Several slices that are not declared independent.
bool is_multislice(const ReplicatedJob& job) {
  bool opted_out = false;
  for_each_slice_count(job, [&](const std::string& count, const std::string&) { opted_out = count.empty(); });
  return job.replicas > 1 && !opted_out;
}

/// Warnings about a Job that is a multi-host slice.
void warn_slice(const JobSetSpec& spec, const ReplicatedJob& job, std::vector<std::string>& warnings) {
  if (!spec.dns) {
    warnings.push_back(
        fmt::format("spec.network.enableDNSHostnames: is false, so the hosts of {} cannot find each other", job.path));
  }
  const bool is_set = find_set(*job.json, {"template", "spec", "backoffLimit"}) != nullptr;
  const std::int64_t limit =
      int32_at(*job.json, {"template", "spec", "backoffLimit"}).value_or(is_set ? 0 : kDefaultLimit);
  if (limit > 0 && string_at(*job.json, {"template", "spec", "podReplacementPolicy"}) != "Failed") {
    warnings.push_back(
        fmt::format("{}: {}{}; a host that restarts alone cannot rejoin its slice: set backoffLimit: 0, "
                    "so that one failed host fails the slice",
                    job.job_path("backoffLimit"), is_set ? "is " : "is absent, which means ", limit));
  }
  const auto accelerator = tpu::find_accelerator(tpu::node_label(*job.pod_template, tpu::kAcceleratorLabel));
  if (accelerator.ok() && (*accelerator)->generation == tpu::Generation::kV3 && is_multislice(job)) {
    warnings.push_back(
        fmt::format("{}.replicas: {} slices cannot train together on {}; set {} to \"\" if they are "
                    "independent",
                    job.path, job.replicas, (*accelerator)->label, kNumSlices));
  }
}

/// Warning about the number of slices that a container declares; empty if it is right. A multislice job of single hosts
/// is the pods of one Job, or Jobs of one pod each: which of them several Jobs of several pods are, a pod does not
/// show.
std::string warn_slice_count(const ReplicatedJob& job, const std::string& count, const std::string& path) {
  const std::int64_t pods = tpu::selected_hosts(*job.pod_template) == 1 ? job.completions.value_or(1) : 1;
  if (pods > 1 && job.replicas > 1) {
    return fmt::format(
        "{}: {} is set for {} Jobs of {} single-host slices each, so slice ids are not unique: set {}.replicas or "
        "completions to 1",
        path, kNumSlices, job.replicas, pods, job.path);
  }
  const std::int64_t slices = std::max(pods, job.replicas);
  if (count == std::to_string(slices)) return {};
  const std::string field = pods > 1 ? job.job_path("completions") : job.path + ".replicas";
  return fmt::format("{}: {} is {}, but {} is {}", path, kNumSlices, count, field, slices);
}

/// Warnings about any Job.
void warn_job(const ReplicatedJob& job, std::vector<std::string>& warnings) {
  if (find_set(*job.json, {"template", "spec", "ttlSecondsAfterFinished"}) == nullptr) return;
  warnings.push_back(
      fmt::format("{}: has no effect, the JobSet needs its finished Jobs; set spec.ttlSecondsAfterFinished, which "
                  "deletes the JobSet with them",
                  job.job_path("ttlSecondsAfterFinished")));
}

/// Warnings about a Job whose pods request TPUs.
void warn_tpu_pods(const JobSetSpec& spec, const ReplicatedJob& job, std::vector<std::string>& warnings) {
  const std::string unselected = warn_unselected_nodes(*job.pod_template, job.job_path("template"));
  if (!unselected.empty() && !spec.suspended) warnings.push_back(unselected);
  if (lacks_cluster_dns(*job.pod_template)) {
    warnings.push_back(
        fmt::format("{}.spec.dnsPolicy: with hostNetwork, names of other pods resolve only with "
                    "ClusterFirstWithHostNet",
                    job.job_path("template")));
  }
  for_each_slice_count(job, [&](const std::string& count, const std::string& path) {
    if (count.empty()) return;  // Independent slices.
    std::string warning = warn_slice_count(job, count, path);
    if (!warning.empty()) warnings.push_back(std::move(warning));
  });
}

}  // namespace

std::vector<std::string> warn_jobset(const Json& jobset) {
  std::vector<std::string> warnings;
  const JobSetSpec spec = JobSetSpec::read(jobset);
  if (spec.in_order) {
    warnings.emplace_back(
        "spec.startupPolicy: is deprecated; set the order with spec.replicatedJobs[*].dependsOn instead of InOrder");
  }
  if (spec.dns && jobset::service_ports(spec, kMaxServicePorts + 1).size() > kMaxServicePorts) {
    warnings.push_back(fmt::format(
        "spec.replicatedJobs: the headless service has the first {} ports that containers declare", kMaxServicePorts));
  }
  for (const ReplicatedJob& job : spec.jobs) {
    warn_job(job, warnings);
    if (job.pod_template == nullptr || !asks_for_tpus(*job.pod_template)) continue;
    warn_tpu_pods(spec, job, warnings);
    if (tpu::selected_hosts(*job.pod_template).value_or(1) > 1) warn_slice(spec, job, warnings);
  }
  for (std::string& warning : warn_jobset_scheduling(spec)) warnings.push_back(std::move(warning));
  for (std::string& warning : warnings) warning = clip(std::move(warning), kMaxWarningLength);
  return warnings;
}

}  // namespace tpuslice::rules
