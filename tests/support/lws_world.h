// LwsWorld: a simulated cluster with LeaderWorkerSets without TPUs. There is no webhook, so pods equal their templates.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "tests/support/operator_world.h"

namespace tpuslice::testing {

inline constexpr const char* kLwsKind = "leaderworkersets.leaderworkerset.x-k8s.io";
inline constexpr const char* kStatefulSetKind = "statefulsets.apps";
inline const ObjectKey kServe{"default", "serve"};

/// Two groups of a leader and two workers.
inline constexpr const char* kTwoGroups = R"(
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: serve, namespace: default}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 3
    workerTemplate:
      spec:
        containers:
          - {name: main, image: first}
)";

class LwsWorld final : public OperatorWorld {
 public:
  LwsWorld() : OperatorWorld(nodes(), "deploy/crds/leaderworkerset.x-k8s.io_leaderworkersets.yaml") {
    replacement.leader_worker_sets = true;
  }

  void apply(const std::string& manifest = kTwoGroups) { require(cluster.apply_yaml(manifest)); }
  void remove() { require(cluster.remove(kLwsKind, kServe)); }
  /// An edit by a user.
  void edit(const std::function<void(Json&)>& change) {
    const sim::ResourcePtr of = cluster.registry().resources().find_id(kLwsKind);
    const auto changed = cluster.registry().modify(*of, kServe, {}, [&](Json& json) -> Status {
      change(json);
      return {};
    });
    TPUSLICE_CHECK_MSG(changed.ok(), changed.ok() ? "" : changed.error().message());
  }
  void use_image(const std::string& image) {
    edit([&](Json& set) {
      set["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]["image"] = image;
    });
  }
  void scale(int groups) {
    edit([&](Json& set) { set["spec"]["replicas"] = groups; });
  }
  void restart_container(const std::string& pod) { require(cluster.kill_container({"default", pod}, "main", 1)); }

  [[nodiscard]] Json set() const {
    const sim::JsonPtr found = cluster.get(kLwsKind, kServe);
    return found == nullptr ? Json() : *found;
  }
  /// All groups exist, are ready and have this image; no container was restarted.
  [[nodiscard]] bool is_ready(int groups, const std::string& image) {
    const Json seen = set();
    const std::vector<sim::JsonPtr> pods = cluster.storage().list("pods");
    return int_at(seen, {"status", "readyReplicas"}) == groups && int_at(seen, {"status", "replicas"}) == groups &&
           int_at(seen, {"status", "updatedReplicas"}) == groups &&
           sim::condition_status(seen, "Available") == "True" && static_cast<int>(pods.size()) == groups * 3 &&
           std::ranges::all_of(pods, [&](const sim::JsonPtr& pod) {
             const Json& statuses = array_at(*pod, {"status", "containerStatuses"});
             return sim::condition_status(*pod, "Ready") == "True" &&
                    string_at(array_at(*pod, {"spec", "containers"}).at(0), {"image"}) == image &&
                    int_at(statuses.at(0), {"restartCount"}) == 0;
           });
  }
  [[nodiscard]] bool is_deleted() {
    return set().is_null() && cluster.storage().list("pods").empty() &&
           cluster.storage().list(kStatefulSetKind).empty() && cluster.storage().list("services").empty();
  }

  /// From now on, at least this many groups must be ready at every step.
  void require_ready(int groups) { min_ready_ = groups; }

  /// All objects without uids, times, addresses, node names and versions.
  [[nodiscard]] std::string digest() {
    std::string out;
    for (const char* resource : {"pods", "services", kStatefulSetKind, kLwsKind}) {
      for (const sim::JsonPtr& object : cluster.storage().list(resource)) {
        Json json = *object;
        json["metadata"] = {{"name", string_at(*object, {"metadata", "name"})},
                            {"labels", object->at("metadata").value("labels", Json())},
                            {"terminating", object->at("metadata").contains("deletionTimestamp")}};
        strip_volatile(json);
        out += fmt::format("{} {}\n", resource, json.dump(1));
      }
    }
    return out;
  }

 private:
  static sim::ClusterOptions nodes() {
    sim::ClusterOptions options{.seed = 1, .jitter = false};
    const Json pools = {{"pools", {{{"name", "cpu"}, {"hosts", 4}, {"cpu", "16"}, {"memory", "64Gi"}}}}};
    options.pools = sim::parse_node_pools(pools).value();
    return options;
  }

  [[nodiscard]] int ready_groups() {
    std::map<std::string, int> ready;
    for (const sim::JsonPtr& pod : cluster.storage().list("pods")) {
      if (sim::condition_status(*pod, "Ready") != "True") continue;
      const std::string name = string_at(*pod, {"metadata", "name"});
      ++ready[name.substr(0, name.find('-', std::string_view("serve-").size()))];
    }
    return static_cast<int>(std::ranges::count_if(ready, [](const auto& group) { return group.second == 3; }));
  }

  std::vector<std::string> check() override {
    const int ready = min_ready_ > 0 ? ready_groups() : 0;
    if (ready >= min_ready_) return {};
    return {fmt::format("{} groups are ready, {} are required", ready, min_ready_)};
  }

  int min_ready_ = 0;
};

}  // namespace tpuslice::testing
