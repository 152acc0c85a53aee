// NewClusterWithIncrementalUpgrade in a simulated cluster: a whole upgrade, a rollback in the middle, the operator
// killed at every write of an upgrade, and a cluster without the Gateway API.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/conditions.h"
#include "api/types/yaml.h"
#include "tests/support/ray_service_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::IsEmpty;
using namespace std::chrono_literals;

constexpr int kSurge = 40;

/// A RayServiceWorld with the types of the Gateway API, and a controller that accepts Gateways and routes at once.
class IncrementalWorld {
 public:
  explicit IncrementalWorld(bool gateway_api = true) {
    if (gateway_api) install_gateway_api();
    world_.on_step = [this](std::vector<std::string>& violations) { step(violations); };
    const Json options = {
        {"gatewayClassName", "istio"}, {"maxSurgePercent", kSurge}, {"stepSizePercent", 20}, {"intervalSeconds", 10}};
    manifest_ = parse_yaml(read_file("tests/e2e/scenarios/objects/rayservice-cpu.yaml").value()).value();
    manifest_["metadata"]["namespace"] = "default";
    manifest_["spec"]["upgradeStrategy"] = {{"type", "NewClusterWithIncrementalUpgrade"},
                                            {"clusterUpgradeOptions", options}};
    manifest_["spec"]["rayClusterConfig"]["enableInTreeAutoscaling"] = true;
  }

  void install_gateway_api() {
    TPUSLICE_CHECK(world_.cluster.apply_yaml(read_file("tests/support/gateway_api.yaml").value()).ok());
    installed_ = true;
  }
  /// Applies the RayService with this version of Ray.
  void apply(const std::string& version) {
    manifest_["spec"]["rayClusterConfig"]["rayVersion"] = version;
    TPUSLICE_CHECK(world_.cluster.apply(manifest_).ok());
  }
  [[nodiscard]] RayServiceWorld& world() { return world_; }
  [[nodiscard]] int share(const std::string& role, const char* member) const {
    return static_cast<int>(int_at(world_.service(), {"status", role + "ServiceStatus", member}, -1));
  }
  /// It serves with this version, alone, and gets all traffic.
  [[nodiscard]] bool is_done(const std::string& version) {
    const std::map<std::string, int> weights = weights_of();
    return world_.is_running(version) && weights.size() == 1 && weights.begin()->second == 100 &&
           share("active", "targetCapacity") == 100;
  }
  [[nodiscard]] std::map<std::string, int> weights_of() const {
    std::map<std::string, int> out;
    const sim::JsonPtr route = world_.cluster.get("httproutes.gateway.networking.k8s.io", {"default", "llm-httproute"});
    if (route == nullptr) return out;
    for (const Json& backend : array_at(*route, {"spec", "rules", "0", "backendRefs"})) {
      out[string_at(backend, {"name"})] = static_cast<int>(int_at(backend, {"weight"}));
    }
    return out;
  }
  [[nodiscard]] std::vector<std::string>& steps() { return steps_; }

 private:
  void accept(const char* resource, const char* name, const Json& status) {
    const sim::JsonPtr found = world_.cluster.get(resource, {"default", name});
    if (found == nullptr || found->value("status", Json()) == status) return;
    const auto type =
        world_.cluster.registry().resources().find_kind(string_at(*found, {"apiVersion"}), string_at(*found, {"kind"}));
    TPUSLICE_CHECK(world_.cluster.registry()
                       .modify(*type, {"default", name}, {},
                               [&](Json& json) -> Status {
                                 json["status"] = status;
                                 return {};
                               })
                       .ok());
  }
  void step(std::vector<std::string>& violations) {
    if (!installed_) return;
    const auto conditions = [](const char* second) {
      return Json::array({{{"type", "Accepted"}, {"status", "True"}}, {{"type", second}, {"status", "True"}}});
    };
    accept("gateways.gateway.networking.k8s.io", "llm-gateway", {{"conditions", conditions("Programmed")}});
    accept("httproutes.gateway.networking.k8s.io", "llm-httproute",
           {{"parents",
             Json::array({{{"parentRef", {{"name", "llm-gateway"}}}, {"conditions", conditions("ResolvedRefs")}}})}});
    check(violations);
  }
  void check(std::vector<std::string>& violations) {
    const int active = share("active", "targetCapacity");
    const int pending = share("pending", "targetCapacity");
    if (active + pending > 100 + kSurge) violations.push_back(fmt::format("capacities {} and {}", active, pending));
    const std::string now = fmt::format("{}/{}", active, pending);
    if (steps_.empty() || steps_.back() != now) steps_.push_back(now);
    for (const auto& [service, weight] : weights_of()) {
      const std::string cluster = service.substr(0, service.rfind("-serve-svc"));
      const bool ends = !string_at(world_.service(), {"metadata", "deletionTimestamp"}).empty();
      if (ends || (world_.cluster.get(RayServiceWorld::kClusters, {"default", cluster}) != nullptr)) continue;
      violations.push_back(fmt::format("{} % of the traffic go to {}, which is gone", weight, cluster));
    }
  }

  RayServiceWorld world_;
  Json manifest_;
  bool installed_ = false;
  std::vector<std::string> steps_;
};

TEST(IncrementalRayService, IsUpgradedStepByStep) {
  IncrementalWorld incremental;
  RayServiceWorld& world = incremental.world();
  world.start_operator(world.operator_options());
  incremental.apply("2.49.1");
  ASSERT_TRUE(world.run_until([&] { return incremental.is_done("2.49.1"); }));
  incremental.steps().clear();
  incremental.apply("2.49.2");
  ASSERT_TRUE(world.run_until([&] { return incremental.is_done("2.49.2"); }));
  EXPECT_THAT(incremental.steps(), ::testing::ElementsAre("100/-1", "100/0", "100/40", "60/40", "60/80", "20/80",
                                                          "20/100", "0/100", "100/-1"));
  EXPECT_THAT(world.violations, IsEmpty());
  world.run_for(1h);  // The series of the repeated events ends meanwhile.
  const std::int64_t writes = world.operators.front()->faults().writes();
  world.run_for(1h);
  EXPECT_EQ(world.operators.front()->faults().writes(), writes);
}

TEST(IncrementalRayService, IsRolledBackInTheMiddle) {
  IncrementalWorld incremental;
  RayServiceWorld& world = incremental.world();
  world.start_operator(world.operator_options());
  incremental.apply("2.49.1");
  ASSERT_TRUE(world.run_until([&] { return incremental.is_done("2.49.1"); }));
  const std::string first = string_at(world.service(), {"status", "activeServiceStatus", "rayClusterName"});
  incremental.apply("2.49.2");
  ASSERT_TRUE(world.run_until([&] { return incremental.share("pending", "targetCapacity") == 80; }));
  incremental.apply("2.49.1");
  ASSERT_TRUE(world.run_until([&] { return sim::condition_status(world.service(), "RollbackInProgress") == "True"; }));
  ASSERT_TRUE(world.run_until([&] { return incremental.is_done("2.49.1"); }));
  EXPECT_EQ(string_at(world.service(), {"status", "activeServiceStatus", "rayClusterName"}), first);
  EXPECT_THAT(world.violations, IsEmpty());
}

TEST(IncrementalRayService, IsUpgradedWhateverWriteTheOperatorDiesAt) {
  std::int64_t writes = 0;
  for (std::int64_t n = 0; n <= writes; ++n) {
    SCOPED_TRACE(fmt::format("killed at write {} of {}", n, writes));
    IncrementalWorld incremental;
    RayServiceWorld& world = incremental.world();
    world.start_operator(world.operator_options());
    incremental.apply("2.49.1");
    ASSERT_TRUE(world.run_until([&] { return incremental.is_done("2.49.1"); }));
    world.run_for(1min);
    world.kill_operators();
    OperatorOptions options = world.operator_options();
    options.faults.die_at_write = n;
    options.faults.die_before_server = n % 2 == 0;
    world.start_operator(options);
    incremental.apply("2.49.2");
    ASSERT_TRUE(world.run_until([&] { return incremental.is_done("2.49.2"); }));
    if (n == 0) writes = world.operators.front()->faults().writes();
    EXPECT_THAT(world.violations, IsEmpty());
  }
  EXPECT_GT(writes, 30);
}

TEST(IncrementalRayService, LeavesNoGatewayWhenItIsSuspendedOrDeleted) {
  IncrementalWorld incremental;
  RayServiceWorld& world = incremental.world();
  world.start_operator(world.operator_options());
  incremental.apply("2.49.1");
  ASSERT_TRUE(world.run_until([&] { return incremental.is_done("2.49.1"); }));
  ASSERT_TRUE(world.cluster.remove(RayServiceWorld::kRayServices, RayServiceWorld::kService).ok());
  ASSERT_TRUE(world.run_until([&] { return world.service().is_null(); }));
  world.run_for(10s);
  EXPECT_EQ(world.cluster.get("gateways.gateway.networking.k8s.io", {"default", "llm-gateway"}), nullptr);
  EXPECT_THAT(incremental.weights_of(), IsEmpty());
}

TEST(IncrementalRayService, ServesWithoutTheGatewayApiUntilItIsInstalled) {
  IncrementalWorld incremental(false);
  RayServiceWorld& world = incremental.world();
  world.start_operator(world.operator_options());
  incremental.apply("2.49.1");
  ASSERT_TRUE(world.run_until([&] { return world.is_running("2.49.1"); }));
  const auto children = [&] {
    const Json service = world.service();
    const Json* found = find_condition(array_at(service, {"status", "conditions"}), "tpuslice.dev/ChildrenReady");
    return found == nullptr ? std::string() : string_at(*found, {"reason"});
  };
  ASSERT_TRUE(world.run_until([&] { return children() == "GatewayAPIMissing"; }));
  incremental.install_gateway_api();
  ASSERT_TRUE(world.run_until([&] { return incremental.is_done("2.49.1") && children() == "ChildrenReady"; }));
}

}  // namespace
}  // namespace tpuslice::testing
