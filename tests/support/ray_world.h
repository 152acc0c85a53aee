// RayWorld: a simulated cluster with RayClusters, invariants, and predicates of final states.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "api/base/file.h"
#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "tests/support/operator_world.h"

namespace tpuslice::testing {

inline constexpr const char* kRayClusters = "rayclusters.ray.io";
inline const ObjectKey kTutorial{"default", "maxtext-tpu-cluster"};

/// Checks every change of pods: no two live pods are the same head or worker. A gated pod is not live. A worker of a
/// replica of one host has no peers: it may be replaced while it terminates.
class SliceInvariants {
 public:
  explicit SliceInvariants(sim::Storage& storage) : feed_(storage, std::vector<std::string>{"pods"}) {}

  /// Violations since the last call.
  std::vector<std::string> check() {
    std::vector<std::string> violations;
    for (const sim::Change& change : feed_.take().changes) {
      const std::string member = member_of(*change.object);
      if (member.empty()) continue;
      const std::string uid = string_at(*change.object, {"metadata", "uid"});
      const std::string phase = string_at(*change.object, {"status", "phase"});
      const bool ended = change.type == sim::ChangeType::kDeleted || phase == "Failed" || phase == "Succeeded";
      std::set<std::string>& live = live_[member];
      if (ended || cannot_run_with_peers(*change.object)) {
        live.erase(uid);
      } else {
        live.insert(uid);
      }
      if (live.size() > 1) {
        violations.push_back(fmt::format("revision {}: {} live pods are {}", change.revision, live.size(), member));
      }
    }
    return violations;
  }

  /// The head or worker that `pod` is; empty for other pods.
  static std::string member_of(const Json& pod) {
    const auto label = [&](const char* name) { return string_at(pod, {"metadata", "labels", name}); };
    if (label("ray.io/cluster").empty()) return {};
    // A recreated RayCluster has another uid; its pods have other names and slices.
    const std::string owner = string_at(pod, {"metadata", "ownerReferences", "0", "uid"});
    const std::string cluster =
        fmt::format("{}/{} ({})", string_at(pod, {"metadata", "namespace"}), label("ray.io/cluster"), owner);
    if (label("ray.io/node-type") == "head") return "head of " + cluster;
    return fmt::format("worker {}/{}/{} of {}", label("ray.io/group"), label("ray.io/worker-group-replica-index"),
                       label("ray.io/replica-host-index"), cluster);
  }

 private:
  static bool cannot_run_with_peers(const Json& pod) {
    const Json& gates = array_at(pod, {"spec", "schedulingGates"});
    if (std::ranges::any_of(gates,
                            [](const Json& gate) { return string_at(gate, {"name"}) == "tpuslice.dev/slice"; })) {
      return true;
    }
    const bool is_worker = string_at(pod, {"metadata", "labels", "ray.io/node-type"}) == "worker";
    // Workers of a multislice have host names, even if each is a slice.
    const bool is_alone = string_at(pod, {"metadata", "labels", "ray.io/replica-host-index"}).empty() &&
                          string_at(pod, {"spec", "hostname"}).empty();
    return is_worker && is_alone && !string_at(pod, {"metadata", "deletionTimestamp"}).empty();
  }

  sim::ChangeFeed feed_;
  std::map<std::string, std::set<std::string>> live_;
};

class RayWorld final : public OperatorWorld {
 public:
  explicit RayWorld(sim::ClusterOptions options = {})
      : OperatorWorld(std::move(options), "deploy/crds/ray.io_rayclusters.yaml"), invariants(cluster.storage()) {}

  void apply_tutorial() {
    require(cluster.apply_yaml(read_file("deploy/samples/raycluster-maxtext-v6e-4x4.yaml").value()));
  }

  /// The cluster is deleted with a Job that does not complete, so after 30 seconds.
  void make_tutorial_fault_tolerant() {
    Json manifest = ray_cluster();
    manifest["metadata"] = {{"name", kTutorial.name},
                            {"namespace", kTutorial.namespace_name},
                            {"annotations", {{"ray.io/gcs-ft-deletion-timeout", "30"}}}};
    manifest.erase("status");
    manifest["spec"]["gcsFaultToleranceOptions"]["redisAddress"] = "redis:6379";
    TPUSLICE_CHECK(cluster.apply(std::move(manifest)).ok());
  }

  [[nodiscard]] Json ray_cluster(const ObjectKey& key = kTutorial) const {
    const sim::JsonPtr found = cluster.get(kRayClusters, key);
    return found == nullptr ? Json() : *found;
  }
  /// All pods of the cluster exist and are Ready, and the status says so.
  [[nodiscard]] bool is_ready(const ObjectKey& key = kTutorial, int workers = 4) {
    const Json status = ray_cluster(key).value("status", Json::object());
    if (string_at(status, {"state"}) != "ready" || status.value("availableWorkerReplicas", 0) != workers) return false;
    const std::vector<sim::JsonPtr> pods = pods_of(key);
    return pods.size() == static_cast<std::size_t>(workers) + 1 &&
           std::all_of(pods.begin(), pods.end(), [](const sim::JsonPtr& pod) {
             return sim::condition_status(*pod, "Ready") == "True" &&
                    !pod->at("metadata").contains("deletionTimestamp");
           });
  }
  [[nodiscard]] std::vector<sim::JsonPtr> pods_of(const ObjectKey& key, const std::string& type = {}) {
    std::vector<sim::JsonPtr> out;
    for (sim::JsonPtr& pod : cluster.storage().list("pods", key.namespace_name)) {
      if (string_at(*pod, {"metadata", "labels", "ray.io/cluster"}) != key.name) continue;
      if (!type.empty() && string_at(*pod, {"metadata", "labels", "ray.io/node-type"}) != type) continue;
      out.push_back(std::move(pod));
    }
    return out;
  }
  [[nodiscard]] std::vector<sim::JsonPtr> workers() { return pods_of(kTutorial, "worker"); }
  [[nodiscard]] std::set<std::string> worker_uids() {
    std::set<std::string> out;
    for (const sim::JsonPtr& pod : workers()) out.insert(string_at(*pod, {"metadata", "uid"}));
    return out;
  }
  [[nodiscard]] ObjectKey worker(int host) {
    for (const sim::JsonPtr& pod : workers()) {
      if (string_at(*pod, {"metadata", "labels", "ray.io/replica-host-index"}) == std::to_string(host)) {
        return Object(*pod).key();
      }
    }
    return {};
  }
  /// All objects without uids, times, addresses, node names and versions.
  [[nodiscard]] std::string digest() {
    std::string out;
    for (const char* resource : {"pods", "services", kRayClusters}) {
      for (const sim::JsonPtr& object : cluster.storage().list(resource)) {
        Json json = *object;
        Json& metadata = json["metadata"];
        Json kept = {{"name", metadata["name"]}, {"labels", metadata.value("labels", Json())}};
        kept["terminating"] = metadata.contains("deletionTimestamp");
        json["metadata"] = kept;
        strip_volatile(json);
        out += std::string(resource) + " " + json.dump(1) + "\n";
      }
    }
    return out;
  }

  SliceInvariants invariants;

 private:
  std::vector<std::string> check() override { return invariants.check(); }
};

}  // namespace tpuslice::testing
