// World: one RayService, its children and its Ray clusters in memory. Answers requests as Ray's dashboards would.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controllers/raycluster/rules/raycluster_labels.h"
#include "controllers/rayservice/gateway.h"
#include "controllers/rayservice/observed.h"
#include "controllers/rayservice/rayservice_options.h"
#include "tests/support/plan_world.h"

namespace tpuslice::rayservice {

/// A RayService with a head and one group of single-host CPU workers, and one application.
[[nodiscard]] Json a_service();
/// The same with a group of four-host TPU slices.
[[nodiscard]] Json a_multi_host_service();
/// a_service() with NewClusterWithIncrementalUpgrade.
[[nodiscard]] Json an_incremental_service(int max_surge = 50, int step_size = 25, int interval_seconds = 10);
/// serveConfigV2 with one application of this name.
[[nodiscard]] std::string a_serve_config(const std::string& application);

class World final : public plan::PlanWorld {
 public:
  explicit World(Json service);

  [[nodiscard]] RayServiceObserved observed() const;
  [[nodiscard]] plan::Plan plan() const override;
  /// Five seconds pass. Terminating objects are gone, pods of clusters are created and run, requests are answered, and
  /// a controller of the Gateway API accepts Gateways and HTTPRoutes.
  void advance() override;
  /// As kubectl delete: the object is held by its finalizer.
  void delete_service();
  /// The operator is another process: it has no answers.
  void restart_operator() { answers_.clear(); }

  [[nodiscard]] Json& service() { return object().mutable_json(); }
  [[nodiscard]] Json& config() { return service()["spec"]["rayClusterConfig"]; }
  [[nodiscard]] std::string active() const;   ///< Name in the status.
  [[nodiscard]] std::string pending() const;  ///< Name in the status.
  /// Status of a condition, and ": <reason>".
  [[nodiscard]] std::string condition(std::string_view type) const;
  [[nodiscard]] Objects& clusters() { return objects(raycluster::kRayClusters); }
  [[nodiscard]] Objects& services() { return objects(kServices); }
  [[nodiscard]] Objects& pods() { return objects(kPods); }
  /// Cluster that a service selects.
  [[nodiscard]] std::string selected(const std::string& service) const;
  /// Name of the pod, "head" or "<replica>-<host>" of a worker, of a cluster.
  [[nodiscard]] std::string pod_of(const std::string& cluster, const std::string& which) const;
  [[nodiscard]] Objects& gateways() { return objects(kGateways); }
  [[nodiscard]] Objects& routes() { return objects(kHttpRoutes); }
  /// Weights of the route by cluster.
  [[nodiscard]] std::map<std::string, int> weights() const;
  /// target_capacity that the cluster has accepted; 100 without one, 0 without a configuration.
  [[nodiscard]] int capacity(const std::string& cluster) const;
  void add_service(Json service) { add(kServices, std::move(service)); }
  void add_cluster(Json cluster);

  /// What the dashboard of a cluster does; by name.
  struct Ray {
    Json config;                                  ///< Accepted; null: nothing.
    std::map<std::string, std::string> statuses;  ///< Of applications; otherwise RUNNING.
    std::vector<std::string> proxies;             ///< Pods with a healthy proxy, beside the head.
    int answer_status = 200;                      ///< 0: no answer.
    int put_status = 200;                         ///< If answer_status is 200.
    int puts = 0;
    bool adds_members = false;  ///< Reports configurations of applications with a member that was not given.
  };
  [[nodiscard]] Ray& ray(const std::string& cluster) { return ray_[cluster]; }
  /// All dashboards answer, and all applications that are deployed run.
  void heal_ray();
  bool places_slices = true;     ///< False: slices of new clusters wait.
  bool serves_gateways = true;   ///< False: the Gateway API is not installed.
  bool accepts_gateways = true;  ///< False: no controller accepts them.
  /// Generation of the HTTPRoute that its controller reports; nothing: it reports none.
  std::optional<int> route_generation = {};
  /// Requests that changed something, in order: "config/llm-x 1".
  [[nodiscard]] const std::vector<std::string>& sent() const { return sent_; }
  [[nodiscard]] Timestamp now() const { return now_; }
  Options options;

 private:
  void prepare(const ResourceType& type, Json& created) override;
  /// Plans see all deleted objects once; advance() removes them.
  [[nodiscard]] bool terminates(const ResourceType& /*type*/) const override { return true; }
  /// The requests of a complete plan replace those of the one before.
  void carried_out(const plan::Plan& plan, bool complete) override;
  void start_pods(const std::string& name, Json& cluster);
  void add_pod(Json pod);
  void remove_terminating();
  void accept_gateways();
  [[nodiscard]] plan::WorkloadAnswer answer(const plan::WorkloadRequest& request);
  [[nodiscard]] Json applications_of(const std::string& cluster) const;

  std::map<std::string, Ray> ray_;
  std::vector<plan::WorkloadRequest> requests_;
  std::map<std::string, std::shared_ptr<const plan::WorkloadAnswer>> answers_;  ///< By name of the request.
  std::vector<std::string> sent_;
};

}  // namespace tpuslice::rayservice
