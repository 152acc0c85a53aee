// World on the simulated cluster of tpu-slice-sim, in this process, in real time, over HTTPS, without RBAC.
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "api/base/file.h"
#include "api/client/credentials.h"
#include "api/types/yaml.h"
#include "cmd/tpu-slice-sim/simulator.h"
#include "tests/e2e/runner/world.h"
#include "tests/support/control_plane_commands.h"
#include "tests/support/control_plane_files.h"

namespace tpuslice::e2e {
namespace {

namespace fs = std::filesystem;

constexpr ResourceType kDefinitions{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                    "customresourcedefinitions", false};

class SimulatedWorld final : public World {
 public:
  explicit SimulatedWorld(std::string dir) : dir_(std::move(dir)) {}
  ~SimulatedWorld() override {
    simulator_.reset();
    std::error_code ignored;
    if (!keep_) fs::remove_all(dir_, ignored);
  }

  Status start(const Json& pools) {
    SimOptions options;
    options.no_operator = true;
    // Not an ephemeral port: a client could take it while the API server is stopped.
    ASSIGN_OR_RETURN(const testing::ControlPlanePorts ports, testing::free_ports());
    options.listen = fmt::format("127.0.0.1:{}", ports.apiserver);
    if (!pools.is_null()) {
      options.pools = dir_ + "/pools.yaml";
      RETURN_IF_ERROR(write_private_file(options.pools, Json({{"pools", pools}}).dump()));
    }
    ASSIGN_OR_RETURN(simulator_, Simulator::start(options, [](const std::string&) {}));
    RETURN_IF_ERROR(write_private_file(kubeconfig(), simulator_->kubeconfig()));
    ASSIGN_OR_RETURN(const std::string account, simulator_->operator_kubeconfig());
    // As on the real control plane: the operator keeps its Lease and its scouts in the namespace of its context.
    ASSIGN_OR_RETURN(Json operator_config, parse_yaml(account));
    for (Json& context : operator_config["contexts"]) context["context"]["namespace"] = "tpu-slice-system";
    RETURN_IF_ERROR(write_private_file(operator_kubeconfig(), to_yaml(operator_config)));
    ASSIGN_OR_RETURN(const client::ClientConfig config, client::load_kubeconfig(kubeconfig()));
    ASSIGN_OR_RETURN(transport_, client::make_transport(config, clock_));
    client_ = std::make_unique<client::Client>(*transport_, client::ClientOptions{.user_agent = "test"});
    return create_crd(kProvisioningRequestCrd);
  }

  [[nodiscard]] const std::string& dir() const override { return dir_; }
  void keep() override { keep_ = true; }
  [[nodiscard]] client::Client& client() override { return *client_; }
  [[nodiscard]] std::string kubeconfig() const override { return dir_ + "/admin.kubeconfig"; }
  [[nodiscard]] std::string operator_kubeconfig() const override { return dir_ + "/operator.kubeconfig"; }
  void kill_apiserver() override { simulator_->stop_api_server(); }
  Status start_apiserver() override { return simulator_->start_api_server(); }
  Status replace_pools(const Json& /*pools*/) override {
    return Error::unsupported("the machines of a simulated cluster are fixed");
  }

 private:
  Status create_crd(const std::string& path) {
    ASSIGN_OR_RETURN(const std::string text, read_file(path));
    ASSIGN_OR_RETURN(Json definition, parse_yaml(text));
    const auto created = client_->create(kDefinitions, Object(std::move(definition)));
    return created ? Status() : Status(created.error().within(path));
  }

  const std::string dir_;
  const RealClock clock_;
  bool keep_ = false;
  std::unique_ptr<Simulator> simulator_;
  std::unique_ptr<http::Transport> transport_;
  std::unique_ptr<client::Client> client_;
};

}  // namespace

Result<std::unique_ptr<World>> start_world(const Json& pools) {
  ASSIGN_OR_RETURN(const std::string dir, testing::make_temporary_directory("tpu-slice-simulated"));
  auto world = std::make_unique<SimulatedWorld>(dir);
  RETURN_IF_ERROR(world->start(pools));
  return std::unique_ptr<World>(std::move(world));
}

}  // namespace tpuslice::e2e
