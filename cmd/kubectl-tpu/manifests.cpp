#include "cmd/kubectl-tpu/manifests.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/text_table.h"
#include "api/types/validation_names.h"
#include "tpu/labels.h"

namespace tpuslice::plugin {
namespace {

constexpr std::size_t kMaxName = 40;    ///< Leaves room for the suffixes of children, which are names of DNS labels.
constexpr int kTpuPort = 8471;          ///< TPU processes of a slice connect to each other here.
constexpr int kMaxRestarts = 10;        ///< Restarts of a JobSet: an eviction counts, too.
constexpr int kMaxFailuresPerHost = 3;  ///< Failures that a Job allows each host.
constexpr std::int64_t kMaxSlices = 1'000;

/// Short names of generations, with the accelerator of multi-host slices.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kGenerations = {{{"v3", "tpu-v3-slice"},
                                                                                        {"v4", "tpu-v4-podslice"},
                                                                                        {"v5e", "tpu-v5-lite-podslice"},
                                                                                        {"v5p", "tpu-v5p-slice"},
                                                                                        {"v6e", "tpu-v6e-slice"},
                                                                                        {"trillium", "tpu-v6e-slice"},
                                                                                        {"tpu7", "tpu7"},
                                                                                        {"tpu7x", "tpu7x"}}};

std::string label_of(std::string_view generation) {
  const auto known = std::ranges::find(kGenerations, generation, [](const auto& each) { return each.first; });
  return std::string(known == kGenerations.end() ? generation : known->second);
}

Json metadata_of(const ManifestOptions& options, const std::string& name) {
  Json metadata = {{"name", name}};
  if (!options.namespace_name.empty()) metadata["namespace"] = options.namespace_name;
  return metadata;
}

Json container_of(const ManifestOptions& options, std::string_view name) {
  const std::string chips = std::to_string(options.shape.chips_per_host);
  Json container = {
      {"name", name},
      {"image", options.image},
      {"ports", Json::array({{{"containerPort", kTpuPort}}})},
      {"resources", {{"requests", {{tpu::kTpuResource, chips}}}, {"limits", {{tpu::kTpuResource, chips}}}}}};
  if (!options.command.empty()) container["command"] = options.command;
  return container;
}

Json pod_spec_of(const ManifestOptions& options, std::string_view container) {
  return {{"nodeSelector",
           {{tpu::kAcceleratorLabel, options.shape.accelerator->label},
            {tpu::kTopologyLabel, options.shape.topology.to_string()}}},
          {"containers", Json::array({container_of(options, container)})}};
}

/// The Service that resolves the names of a Job's pods.
Json service_of_job(const ManifestOptions& options) {
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", metadata_of(options, options.name)},
          {"spec",
           {{"clusterIP", "None"}, {"publishNotReadyAddresses", true}, {"selector", {{tpu::kJobName, options.name}}}}}};
}

Json job_of(const ManifestOptions& options) {
  Json pod = pod_spec_of(options, "main");
  pod["restartPolicy"] = "Never";
  pod["subdomain"] = options.name;
  // Pods that were evicted, or deleted because another host of the slice has failed, do not count as failures.
  const Json ignore = {{"action", "Ignore"},
                       {"onPodConditions", Json::array({{{"type", "DisruptionTarget"}, {"status", "True"}}})}};
  return {{"apiVersion", "batch/v1"},
          {"kind", "Job"},
          {"metadata", metadata_of(options, options.name)},
          {"spec",
           {{"completionMode", "Indexed"},
            {"completions", options.shape.hosts},
            {"parallelism", options.shape.hosts},
            {"backoffLimitPerIndex", kMaxFailuresPerHost},
            {"maxFailedIndexes", 0},
            {"podFailurePolicy", {{"rules", Json::array({ignore})}}},
            {"template", {{"spec", std::move(pod)}}}}}};
}

Json job_set_of(const ManifestOptions& options) {
  Json pod = pod_spec_of(options, "main");
  pod["restartPolicy"] = "Never";
  const Json job = {{"parallelism", options.shape.hosts},
                    {"completions", options.shape.hosts},
                    {"backoffLimit", 0},
                    {"template", {{"spec", std::move(pod)}}}};
  return {{"apiVersion", "jobset.x-k8s.io/v1alpha2"},
          {"kind", "JobSet"},
          {"metadata", metadata_of(options, options.name)},
          {"spec",
           {{"failurePolicy", {{"maxRestarts", kMaxRestarts}}},
            {"replicatedJobs",
             Json::array({{{"name", "slice"}, {"replicas", options.slices}, {"template", {{"spec", job}}}}})}}}};
}

Json ray_cluster_of(const ManifestOptions& options) {
  Json head = {{"name", "ray-head"},
               {"image", options.image},
               {"ports", Json::array({{{"name", "gcs-server"}, {"containerPort", 6379}},
                                      {{"name", "dashboard"}, {"containerPort", 8265}},
                                      {{"name", "client"}, {"containerPort", 10001}}})},
               {"resources", {{"requests", {{"cpu", "2"}, {"memory", "8Gi"}}}, {"limits", {{"memory", "8Gi"}}}}}};
  const Json workers = {{"groupName", "tpu"},
                        {"replicas", options.slices},
                        {"minReplicas", 0},
                        {"maxReplicas", options.slices},
                        {"numOfHosts", options.shape.hosts},
                        {"rayStartParams", Json::object()},
                        {"template", {{"spec", pod_spec_of(options, "ray-worker")}}}};
  return {{"apiVersion", "ray.io/v1"},
          {"kind", "RayCluster"},
          {"metadata", metadata_of(options, options.name)},
          {"spec",
           {{"headGroupSpec",
             {{"rayStartParams", Json::object()}, {"template", {{"spec", {{"containers", Json::array({head})}}}}}}},
            {"workerGroupSpecs", Json::array({workers})}}}};
}

Json worker_set_of(const ManifestOptions& options) {
  return {{"apiVersion", "leaderworkerset.x-k8s.io/v1"},
          {"kind", "LeaderWorkerSet"},
          {"metadata", metadata_of(options, options.name)},
          {"spec",
           {{"replicas", options.slices},
            {"leaderWorkerTemplate",
             {{"size", options.shape.hosts},
              {"restartPolicy", "RecreateGroupOnPodRestart"},
              {"workerTemplate", {{"spec", pod_spec_of(options, "main")}}}}}}}};
}

}  // namespace

Result<SliceShape> parse_slice_shape(std::string_view text) {
  const std::size_t split_at = text.find_last_of("-: ");
  if (split_at == std::string_view::npos) {
    return Error::invalid_argument("found \"{}\", expected a generation and a topology, e.g. v6e-4x4", text);
  }
  SliceShape shape;
  const std::string label = label_of(text.substr(0, split_at));
  Result<const tpu::Accelerator*> accelerator = tpu::find_accelerator(label);
  if (!accelerator) {
    std::vector<std::string_view> names;
    names.reserve(std::size(kGenerations));
    for (const auto& [name, of] : kGenerations) names.push_back(name);
    return Error::invalid_argument("found \"{}\", expected one of {}, or the label of an accelerator", label,
                                   fmt::join(names, ", "));
  }
  shape.accelerator = *accelerator;
  ASSIGN_OR_RETURN(shape.topology, tpu::Topology::parse(text.substr(split_at + 1)));
  RETURN_IF_ERROR(tpu::check_topology(*shape.accelerator, shape.topology));
  shape.chips_per_host = tpu::default_chips_per_host(*shape.accelerator, shape.topology);
  ASSIGN_OR_RETURN(shape.hosts, tpu::host_count(shape.topology, shape.chips_per_host));
  return shape;
}

const std::vector<std::string>& manifest_kinds() {
  static const std::vector<std::string> kKinds = {"job", "jobset", "raycluster", "lws"};
  return kKinds;
}

Result<std::vector<Json>> make_manifest(std::string_view kind, const ManifestOptions& options) {
  if (options.name.size() > kMaxName) {
    return Error::invalid_argument("name \"{}\" has {} characters, and those of children would be too long: at most {}",
                                   cut_text(options.name, kMaxName), options.name.size(), kMaxName);
  }
  if (const auto wrong = check_dns1035_label(options.name); !wrong.empty()) {
    return first_error("name", options.name, wrong).error();
  }
  if (options.slices < 1 || options.slices > kMaxSlices) {
    return Error::invalid_argument("slices is {}, must be 1 to {}", options.slices, kMaxSlices);
  }
  if (kind == "jobset") return std::vector<Json>{job_set_of(options)};
  if (kind == "raycluster") return std::vector<Json>{ray_cluster_of(options)};
  if (kind == "lws" || kind == "leaderworkerset") return std::vector<Json>{worker_set_of(options)};
  if (kind != "job") {
    return Error::invalid_argument("kind is \"{}\", must be one of {}", cut_text(kind, kMaxName),
                                   fmt::join(manifest_kinds(), ", "));
  }
  if (options.slices != 1) {
    return Error::invalid_argument("slices is {}: a Job has one slice; a jobset has several", options.slices);
  }
  if (options.shape.hosts == 1) return std::vector<Json>{job_of(options)};
  return std::vector<Json>{service_of_job(options), job_of(options)};
}

}  // namespace tpuslice::plugin
