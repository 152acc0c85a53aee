// RayJobWorld: a simulated cluster with a RayJob. Its submitter pods and its Ray jobs do what the test says.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/file.h"
#include "api/types/patch.h"
#include "api/types/yaml.h"
#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "cmd/tpu-slice-sim/ray/dashboards.h"
#include "controllers/rayjob/rayjob_kind.h"
#include "tests/support/operator_world.h"

namespace tpuslice::testing {

class RayJobWorld final : public OperatorWorld {
 public:
  static inline const ObjectKey kJob{"default", "train"};
  static constexpr const char* kRayJobs = "rayjobs.ray.io";
  static constexpr const char* kClusters = "rayclusters.ray.io";
  static constexpr const char* kSubmitters = "jobs.batch";

  RayJobWorld()
      : OperatorWorld({}, "deploy/crds/ray.io_rayjobs.yaml"),
        dashboards(clock),
        feed_(cluster.storage(), std::vector<std::string>{kSubmitters, kClusters, "pods"}) {
    require(cluster.apply_yaml(read_file("deploy/crds/ray.io_rayclusters.yaml").value()));
    replacement = operator_options();
  }

  [[nodiscard]] OperatorOptions operator_options() {
    OperatorOptions out;
    out.add_controllers = [this](runtime::Manager& manager) {
      rayjob::add_rayjob(manager, sim::in_process(dashboards));
    };
    return out;
  }

  /// "python train.py" on a head and one worker. `spec`: a merge patch of its spec.
  void apply_job(const Json& spec) {
    Json manifest = parse_yaml(kManifest).value();
    manifest["spec"] = apply_merge_patch(manifest["spec"], spec);
    TPUSLICE_CHECK(cluster.apply(std::move(manifest)).ok());
  }
  void suspend(bool suspended) {
    Json manifest = job();
    manifest.erase("status");
    manifest["metadata"] = {{"name", kJob.name},
                            {"namespace", kJob.namespace_name},
                            {"finalizers", array_at(manifest, {"metadata", "finalizers"})}};
    manifest["spec"]["suspend"] = suspended;
    TPUSLICE_CHECK(cluster.apply(std::move(manifest)).ok());
  }
  void remove_job() { TPUSLICE_CHECK(cluster.remove(kRayJobs, kJob).ok()); }

  [[nodiscard]] Json job() const {
    const sim::JsonPtr found = cluster.get(kRayJobs, kJob);
    return found == nullptr ? Json() : *found;
  }
  /// "Running RUNNING", "Complete SUCCEEDED", "Suspended": deployment and job status.
  [[nodiscard]] std::string state() const {
    const std::string deployment = string_at(job(), {"status", "jobDeploymentStatus"});
    const std::string status = string_at(job(), {"status", "jobStatus"});
    return status.empty() ? deployment : deployment + " " + status;
  }
  [[nodiscard]] std::size_t count(const char* resource) {
    return cluster.storage().list(resource, kJob.namespace_name).size();
  }

  /// Objects and their states, without what depends on times and uids.
  [[nodiscard]] std::string digest() {
    std::multiset<std::string> lines;
    for (const char* resource : {"pods", "services", kSubmitters, kClusters, kRayJobs}) {
      for (const sim::JsonPtr& object : cluster.storage().list(resource, kJob.namespace_name)) {
        const auto at = [&](std::initializer_list<std::string_view> path) { return string_at(*object, path); };
        std::vector<std::string> conditions;
        if (std::string_view(resource) != "pods") {
          for (const Json& condition : array_at(*object, {"status", "conditions"})) {
            conditions.push_back(string_at(condition, {"type"}) + "=" + string_at(condition, {"status"}));
          }
        }
        lines.insert(fmt::format("{} {} {} {} {} {} failed={} succeeded={} {}\n", resource,
                                 at({"metadata", "labels", "ray.io/node-type"}), at({"status", "phase"}),
                                 at({"status", "state"}), at({"status", "jobDeploymentStatus"}),
                                 at({"status", "jobStatus"}), int_at(*object, {"status", "failed"}),
                                 int_at(*object, {"status", "succeeded"}), fmt::join(conditions, ",")));
      }
    }
    return fmt::format("{}", fmt::join(lines, ""));
  }

  /// Status with which the Ray job of each attempt ends, ten seconds after it was seen to run; the Ray job of a further
  /// attempt goes on.
  std::vector<std::string> ends;
  sim::RayDashboards dashboards;

  // Since the world was made.
  std::map<std::string, int> submissions;  ///< By submission id.
  std::set<std::string> jobs;              ///< Uids of the Jobs that submit.
  std::set<std::string> clusters;          ///< Uids of the RayClusters.
  int stops = 0;                           ///< Requests to stop a Ray job.

  /// Runs submitters and Ray jobs. Returns what is wrong.
  std::vector<std::string> check() override {
    std::vector<std::string> out;
    follow_objects(out);
    follow_requests();
    run_submitters();
    end_ray_job();
    const std::string now = state();
    const bool was_final = last_state_.starts_with("Complete") || last_state_.starts_with("Failed");
    if (was_final && !now.empty() && now != last_state_) out.push_back(fmt::format("{} after {}", now, last_state_));
    last_state_ = now;
    return out;
  }

 private:
  static constexpr std::string_view kManifest = R"(
apiVersion: ray.io/v1
kind: RayJob
metadata: {name: train, namespace: default}
spec:
  entrypoint: python train.py
  rayClusterSpec:
    rayVersion: 2.52.0
    headGroupSpec:
      rayStartParams: {}
      template:
        spec:
          containers:
            - {name: ray-head, image: rayproject/ray:2.52.0, resources: {limits: {cpu: "1", memory: 2Gi}}}
    workerGroupSpecs:
      - groupName: cpu
        replicas: 1
        minReplicas: 0
        maxReplicas: 1
        rayStartParams: {}
        template:
          spec:
            containers:
              - {name: ray-worker, image: rayproject/ray:2.52.0, resources: {limits: {cpu: "1", memory: 2Gi}}}
)";

  /// Pods of two clusters do not exist at a time.
  void follow_objects(std::vector<std::string>& out) {
    for (const sim::Change& change : feed_.take().changes) {
      const std::string kind = string_at(*change.object, {"kind"});
      const std::string uid = string_at(*change.object, {"metadata", "uid"});
      if (kind == "Job") jobs.insert(uid);
      if (kind == "RayCluster") clusters.insert(uid);
      const std::string name = string_at(*change.object, {"metadata", "labels", "ray.io/cluster"});
      if (kind != "Pod" || name.empty()) continue;
      if (change.type == sim::ChangeType::kDeleted) {
        pods_.erase(uid);
        continue;
      }
      pods_[uid] = name;
      for (const auto& [other, cluster_name] : pods_) {
        if (cluster_name == name) continue;
        out.push_back(fmt::format("revision {}: pods of {} and {}", change.revision, name, cluster_name));
        return;
      }
    }
  }

  void follow_requests() {
    for (const std::string& request : dashboards.take_requests()) {
      if (!request.starts_with("POST ")) continue;
      if (request.ends_with("/stop")) {
        ++stops;
      } else {
        ++submissions[string_at(job(), {"status", "jobId"})];
      }
    }
  }

  /// A submitter submits the Ray job unless Ray knows it, and ends with it.
  void run_submitters() {
    for (const sim::JsonPtr& pod : cluster.storage().list("pods", kJob.namespace_name)) {
      const bool submits = string_at(*pod, {"metadata", "labels", "ray.io/originated-from-crd"}) == "RayJob" &&
                           string_at(*pod, {"metadata", "labels", "ray.io/cluster"}).empty();
      if (!submits || string_at(*pod, {"status", "phase"}) != "Running") continue;
      const Json& container = pod->at("spec").at("containers").at(0);
      std::string id;
      for (const Json& variable : array_at(container, {"env"})) {
        if (string_at(variable, {"name"}) == "RAY_JOB_SUBMISSION_ID") id = string_at(variable, {"value"});
      }
      if (submissions[id] == 0) {
        dashboards.set_job(id, "RUNNING", "it runs");
        ++submissions[id];
      }
      if (!ended_.contains(id)) continue;
      require(cluster.kill_container(Object(*pod).key(), string_at(container, {"name"}),
                                     ended_.at(id) == "SUCCEEDED" ? 0 : 10));
    }
  }

  void end_ray_job() {
    if (state() != "Running RUNNING") return;
    const std::string id = string_at(job(), {"status", "jobId"});
    const auto seen = running_since_.emplace(id, clock.now()).first;
    const std::size_t attempt = running_since_.size() - 1;
    if (attempt >= ends.size() || ended_.contains(id)) return;
    if (clock.now() - seen->second < std::chrono::seconds(10)) return;
    dashboards.set_job(id, ends[attempt], "exit code");
    ended_[id] = ends[attempt];
  }

  sim::ChangeFeed feed_;
  std::map<std::string, std::string> pods_;  ///< Of Ray clusters: name of the cluster by uid.
  std::map<std::string, Instant> running_since_;
  std::map<std::string, std::string> ended_;  ///< Status of Ray jobs that have ended.
  std::string last_state_;
};

}  // namespace tpuslice::testing
