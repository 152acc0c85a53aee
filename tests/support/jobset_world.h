// JobSetWorld: a simulated cluster with JobSets, invariants, and predicates of final states.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/support/jobset_invariants.h"
#include "tests/support/operator_world.h"

namespace tpuslice::testing {

inline const ObjectKey kTrain{"default", "train"};
inline constexpr int kSlices = 2;
inline constexpr int kHosts = 2;

/// Two slices of two hosts each, so that a test takes few writes.
inline constexpr const char* kTwoSlices = R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: train
  namespace: default
  annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: cloud.google.com/gke-nodepool}
spec:
  failurePolicy: {maxRestarts: 50}
  replicatedJobs:
    - name: slice
      replicas: 2
      template:
        spec:
          parallelism: 2
          completions: 2
          backoffLimit: 0
          template:
            spec:
              nodeSelector:
                cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice
                cloud.google.com/gke-tpu-topology: 2x4
              containers:
                - name: jax
                  image: jax
                  resources: {limits: {google.com/tpu: "4"}, requests: {google.com/tpu: "4"}}
)";

/// `slices` TPU pools and a pool without TPUs.
[[nodiscard]] inline sim::ClusterOptions pools_for(int slices, std::uint64_t seed = 1, bool jitter = false) {
  Json pools = Json::array({{{"name", "cpu"}, {"hosts", 2}, {"cpu", "16"}, {"memory", "64Gi"}}});
  for (int i = 0; i < slices; ++i) {
    pools.push_back({{"name", fmt::format("slice-{:03}", i)}, {"accelerator", "tpu-v6e-slice"}, {"topology", "2x4"}});
  }
  sim::ClusterOptions options{.seed = seed, .jitter = jitter};
  options.pools = sim::parse_node_pools({{"pools", pools}}).value();
  return options;
}

class JobSetWorld final : public OperatorWorld {
 public:
  explicit JobSetWorld(sim::ClusterOptions options = pools_for(kSlices + 1))
      : OperatorWorld(std::move(options), "deploy/crds/jobset.x-k8s.io_jobsets.yaml"), invariants(cluster.storage()) {}

  void apply(const std::string& manifest = kTwoSlices) { require(cluster.apply_yaml(manifest)); }
  void remove() { require(cluster.remove(kJobSetKind, kTrain)); }

  /// An edit by a user.
  void edit(const std::function<void(Json&)>& change, const char* resource = kJobSetKind,
            const ObjectKey& key = kTrain) {
    const sim::ResourcePtr of = cluster.registry().resources().find_id(resource);
    const auto changed = cluster.registry().modify(*of, key, {}, [&](Json& json) -> Status {
      change(json);
      return {};
    });
    TPUSLICE_CHECK_MSG(changed.ok(), changed.ok() ? "" : changed.error().message());
  }
  void suspend(bool value = true) {
    edit([&](Json& json) { json["spec"]["suspend"] = value; });
  }
  void fail_host(int slice, int host) { require(cluster.fail_pod(host_of(slice, host), 1)); }
  /// The containers of all pods exit with 0.
  void finish_pods() {
    for (const sim::JsonPtr& pod : pods()) {
      const Json& containers = array_at(*pod, {"spec", "containers"});
      require(cluster.kill_container(Object(*pod).key(), string_at(containers.at(0), {"name"}), 0));
    }
  }

  [[nodiscard]] Json jobset(const ObjectKey& key = kTrain) const {
    const sim::JsonPtr found = cluster.get(kJobSetKind, key);
    return found == nullptr ? Json() : *found;
  }
  [[nodiscard]] int restarts() const { return static_cast<int>(int_at(jobset(), {"status", "restarts"})); }
  [[nodiscard]] std::string terminal_state() const { return string_at(jobset(), {"status", "terminalState"}); }
  [[nodiscard]] std::vector<sim::JsonPtr> pods(const std::string& jobset = kTrain.name) {
    return of_jobset("pods", jobset);
  }
  [[nodiscard]] std::vector<sim::JsonPtr> jobs(const std::string& jobset = kTrain.name) {
    return of_jobset(kJobKind, jobset);
  }
  [[nodiscard]] ObjectKey host_of(int slice, int host) {
    for (const sim::JsonPtr& pod : pods()) {
      const Object object(*pod);
      if (object.name().starts_with(fmt::format("train-slice-{}-{}-", slice, host)) && !object.deletion_timestamp()) {
        return object.key();
      }
    }
    return {};
  }

  /// After `restarts` restarts: all Jobs and pods of this attempt exist and are ready, no others exist, and the status
  /// counts them.
  [[nodiscard]] bool is_ready(int restarts = 0, const ObjectKey& key = kTrain) {
    const Json set = jobset(key);
    std::size_t hosts = 0;
    std::size_t replicas = 0;
    for (const Json& job : array_at(set, {"spec", "replicatedJobs"})) {
      const auto count = static_cast<std::size_t>(int_at(job, {"replicas"}, 1));
      replicas += count;
      hosts += count * static_cast<std::size_t>(int_at(job, {"template", "spec", "parallelism"}, 1));
    }
    std::size_t ready = 0;
    for (const Json& job : array_at(set, {"status", "replicatedJobsStatus"})) {
      ready += static_cast<std::size_t>(int_at(job, {"ready"}));
    }
    const std::string attempt = std::to_string(restarts);
    const auto of_this_attempt = [&](const sim::JsonPtr& object) {
      return string_at(*object, {"metadata", "labels", "jobset.sigs.k8s.io/restart-attempt"}) == attempt &&
             !object->at("metadata").contains("deletionTimestamp");
    };
    const std::vector<sim::JsonPtr> all_jobs = jobs(key.name);
    std::vector<sim::JsonPtr> all_pods = pods(key.name);
    // Failed pods remain until their Job is deleted.
    std::erase_if(all_pods, [](const sim::JsonPtr& pod) { return string_at(*pod, {"status", "phase"}) == "Failed"; });
    return ready == replicas && int_at(set, {"status", "restarts"}) == restarts && all_jobs.size() == replicas &&
           std::ranges::all_of(all_jobs, of_this_attempt) && all_pods.size() == hosts &&
           std::ranges::all_of(all_pods, [&](const sim::JsonPtr& pod) {
             return of_this_attempt(pod) && sim::condition_status(*pod, "Ready") == "True";
           });
  }
  /// Ready after the current number of restarts.
  [[nodiscard]] bool is_ready_after_restarts() { return is_ready(restarts()); }
  [[nodiscard]] bool is_suspended() {
    const std::vector<sim::JsonPtr> all = jobs();
    return !all.empty() && pods().empty() && sim::condition_status(jobset(), "Suspended") == "True" &&
           std::ranges::all_of(all, [](const sim::JsonPtr& job) {
             return bool_at(*job, {"spec", "suspend"}) && sim::condition_status(*job, "Suspended") == "True";
           });
  }
  [[nodiscard]] bool is_deleted() {
    return jobset().is_null() && pods().empty() && jobs().empty() && cluster.storage().list("services").empty();
  }

  /// Slices with some gated and some released hosts: valid for a moment, a violation at rest. Terminating pods and
  /// slices whose pods are all terminal do not count.
  [[nodiscard]] std::vector<std::string> partial_slices() {
    std::map<std::string, std::pair<std::set<std::string>, std::string>> hosts;
    std::map<std::string, bool> live;
    for (const sim::JsonPtr& pod : cluster.storage().list("pods")) {
      const std::string slice = JobSetInvariants::slice_of(*pod);
      const bool failed = string_at(*pod, {"status", "phase"}) == "Failed";
      if (slice.empty() || failed || pod->at("metadata").contains("deletionTimestamp")) continue;
      auto& [released, expected] = hosts[slice];
      expected = string_at(*pod, {"metadata", "annotations", "tpuslice.dev/slice-hosts"});
      if (JobSetInvariants::is_gated(*pod)) continue;
      released.insert(JobSetInvariants::index_of(*pod));
      live[slice] = live[slice] || !JobSetInvariants::is_terminal(*pod);
    }
    std::vector<std::string> out;
    for (const auto& [slice, members] : hosts) {
      const auto& [released, expected] = members;
      if (released.empty() || !live[slice] || std::to_string(released.size()) == expected) continue;
      out.push_back(fmt::format("{}: {} of {} hosts", slice, released.size(), expected));
    }
    return out;
  }

  /// All objects without uids, times, addresses, node names and versions.
  [[nodiscard]] std::string digest() {
    std::string out;
    for (const char* resource : {"pods", "services", kJobKind, kJobSetKind}) {
      std::set<std::string> lines;  // Names of pods have a random suffix.
      for (const sim::JsonPtr& object : cluster.storage().list(resource)) {
        lines.insert(std::string(resource) + " " + digest_of(*object).dump(1) + "\n");
      }
      for (const std::string& line : lines) out += line;
    }
    return out;
  }

  /// One line for each object, for failure messages.
  [[nodiscard]] std::string state() {
    std::string out;
    for (const char* resource : {kJobSetKind, kJobKind, "pods", "nodes"}) {
      for (const sim::JsonPtr& object : cluster.storage().list(resource))
        out += "  " + line_of(resource, *object) + "\n";
    }
    return out;
  }

  JobSetInvariants invariants;

 private:
  std::vector<std::string> check() override { return invariants.check(); }

  [[nodiscard]] std::vector<sim::JsonPtr> of_jobset(const char* resource, const std::string& jobset) {
    std::vector<sim::JsonPtr> out;
    for (sim::JsonPtr& object : cluster.storage().list(resource, "default")) {
      if (string_at(*object, {"metadata", "labels", "jobset.sigs.k8s.io/jobset-name"}) != jobset) continue;
      out.push_back(std::move(object));
    }
    return out;
  }

  static std::string line_of(const std::string& resource, const Json& object) {
    const auto text = [&](std::initializer_list<std::string_view> path) { return string_at(object, path); };
    std::string out = fmt::format("{} {} attempt {} phase {} node {}", resource, text({"metadata", "name"}),
                                  text({"metadata", "labels", "jobset.sigs.k8s.io/restart-attempt"}),
                                  text({"status", "phase"}), text({"spec", "nodeName"}));
    if (object["metadata"].contains("deletionTimestamp")) out += " terminating";
    if (JobSetInvariants::is_gated(object)) out += " gated";
    if (bool_at(object, {"spec", "suspend"})) out += " suspended";
    if (bool_at(object, {"spec", "unschedulable"})) out += " cordoned";
    for (const Json& condition : array_at(object, {"status", "conditions"})) {
      out += fmt::format(" {}={}", string_at(condition, {"type"}), string_at(condition, {"status"}));
      if (resource == kJobSetKind) out += fmt::format(" ({})", string_at(condition, {"message"}));
    }
    if (resource == kJobSetKind || resource == kJobKind) {
      Json status = object.value("status", Json::object());
      status.erase("conditions");
      out += " " + status.dump();
    }
    return out;
  }

  static Json digest_of(const Json& object) {
    Json json = object;
    const Json& metadata = object["metadata"];
    std::string name = string_at(metadata, {"generateName"});
    if (name.empty()) name = string_at(metadata, {"name"});
    json["metadata"] = {{"name", name},
                        {"labels", metadata.value("labels", Json())},
                        {"terminating", metadata.contains("deletionTimestamp")}};
    Json& spec = json["spec"];
    if (spec.contains("selector") && spec["selector"].contains("matchLabels")) spec.erase("selector");
    // Slices of equal shape may be exchanged.
    if (spec.contains("nodeSelector")) spec["nodeSelector"].erase("cloud.google.com/gke-nodepool");
    if (spec.contains("affinity")) spec["affinity"].erase("nodeAffinity");
    const std::initializer_list<Json*> labels{&json["metadata"]["labels"], &spec["template"]["metadata"]["labels"]};
    for (Json* each : labels) {
      for (const char* uid :
           {"controller-uid", "batch.kubernetes.io/controller-uid", "jobset.sigs.k8s.io/jobset-uid"}) {
        if (each->is_object()) each->erase(uid);
      }
    }
    Json& annotations = spec["template"]["metadata"]["annotations"];
    if (annotations.is_object()) annotations.erase("jobset.sigs.k8s.io/jobset-uid");
    strip_volatile(json);
    return json;
  }
};

}  // namespace tpuslice::testing
