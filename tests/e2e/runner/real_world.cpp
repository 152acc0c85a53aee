// World on a real control plane. The operator's ServiceAccount has exactly the permissions of deploy/rbac.
#include "tests/e2e/runner/world.h"
#include "tests/support/operator_process.h"

namespace tpuslice::e2e {
namespace {

Result<std::vector<sim::NodePool>> node_pools(const Json& pools) {
  if (pools.is_null()) return sim::default_node_pools();
  return sim::parse_node_pools({{"pools", pools}});
}

class RealWorld final : public World {
 public:
  RealWorld(std::unique_ptr<testing::ControlPlane> plane, std::string operator_kubeconfig)
      : plane_(std::move(plane)), operator_kubeconfig_(std::move(operator_kubeconfig)) {}

  [[nodiscard]] const std::string& dir() const override { return plane_->dir(); }
  void keep() override { plane_->keep_dir(); }
  [[nodiscard]] client::Client& client() override { return plane_->client(); }
  [[nodiscard]] std::string kubeconfig() const override { return plane_->kubeconfig(); }
  [[nodiscard]] std::string operator_kubeconfig() const override { return operator_kubeconfig_; }
  void kill_apiserver() override { plane_->kill_apiserver(); }
  Status start_apiserver() override { return plane_->start_apiserver(); }
  Status replace_pools(const Json& pools) override {
    ASSIGN_OR_RETURN(const std::vector<sim::NodePool> parsed, node_pools(pools));
    return plane_->replace_pools(parsed);
  }

 private:
  const std::unique_ptr<testing::ControlPlane> plane_;
  const std::string operator_kubeconfig_;
};

}  // namespace

Result<std::unique_ptr<World>> start_world(const Json& pools) {
  testing::ControlPlaneOptions options;
  options.node_grace = std::chrono::seconds(16);  // A few scenarios lose nodes.
  ASSIGN_OR_RETURN(options.pools, node_pools(pools));
  options.crds = {"deploy/crds/disaggregatedset.x-k8s.io_disaggregatedsets.yaml",
                  "deploy/crds/jobset.x-k8s.io_jobsets.yaml",
                  "deploy/crds/leaderworkerset.x-k8s.io_leaderworkersets.yaml",
                  "deploy/crds/ray.io_rayclusters.yaml",
                  "deploy/crds/ray.io_raycronjobs.yaml",
                  "deploy/crds/ray.io_rayjobs.yaml",
                  "deploy/crds/ray.io_rayservices.yaml",
                  kProvisioningRequestCrd};
  ASSIGN_OR_RETURN(auto plane, testing::ControlPlane::start(std::move(options)));
  ASSIGN_OR_RETURN(std::string kubeconfig, testing::install_operator(*plane));
  return std::unique_ptr<World>(std::make_unique<RealWorld>(std::move(plane), std::move(kubeconfig)));
}

}  // namespace tpuslice::e2e
