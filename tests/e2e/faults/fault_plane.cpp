#include "tests/e2e/faults/fault_plane.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "api/base/file.h"
#include "api/client/credentials.h"
#include "api/http/client/network_transport.h"
#include "api/types/json.h"
#include "tests/support/operator_process.h"

namespace tpuslice::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

constexpr const char* kApiServer = "kube-apiserver";
constexpr const char* kMasters = "system:masters";
constexpr const char* kAuditPolicy = R"(
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - {level: None, verbs: [get, list, watch]}
  - {level: Metadata, users: [operator-a, operator-b]}
  - {level: None}
)";

std::vector<sim::NodePool> pools() {
  Json pools = Json::array({{{"name", "cpu"}, {"hosts", 2}}});
  for (int i = 0; i < kSliceCapacity; ++i) {
    pools.push_back({{"name", fmt::format("v6e-2x4-{}", i)},
                     {"accelerator", "tpu-v6e-slice"},
                     {"topology", "2x4"},
                     {"machineType", "ct6e-standard-4t"}});
  }
  return sim::parse_node_pools({{"pools", pools}}).value();
}

/// No two live pods are the same head or worker of a RayCluster. A recreated RayCluster has another uid. A gated pod
/// does not run.
e2e::Distinctness distinct_members() {
  e2e::Distinctness out;
  out.target = {.resource = "pods", .selector = "ray.io/cluster"};
  for (const char* field :
       {".metadata.namespace", ".metadata.ownerReferences[0].uid", R"(.metadata.labels.ray\.io/cluster)",
        R"(.metadata.labels.ray\.io/group)", R"(.metadata.labels.ray\.io/worker-group-replica-index)",
        R"(.metadata.labels.ray\.io/replica-host-index)"}) {
    out.fields.push_back(e2e::FieldPath::parse(field).value());
  }
  out.except_with = e2e::FieldPath::parse(".spec.schedulingGates").value();
  return out;
}

/// Shared by all tests: started by the first test, stopped after the last.
class SharedPlane final : public ::testing::Environment {
 public:
  Status start() {
    if (plane_ || failed_) return failed_ ? Status(*failed_) : Status();
    const Status up = bring_up();
    if (!up) failed_ = up.error();
    return up;
  }
  void keep() {
    if (plane_) plane_->keep_dir();
    keep_ = true;
  }
  void TearDown() override {
    transport_.reset();
    plane_.reset();
    std::error_code ignored;
    if (!dir_.empty() && !keep_) fs::remove_all(dir_, ignored);
  }

  [[nodiscard]] bool started() const { return plane_ != nullptr; }
  [[nodiscard]] ControlPlane& plane() { return *plane_; }
  [[nodiscard]] http::Transport& transport() { return *transport_; }
  [[nodiscard]] std::string audit_log() const { return dir_ + "/audit.log"; }

 private:
  Status bring_up() {
    ASSIGN_OR_RETURN(dir_, make_temporary_directory("tpu-slice-faults"));
    RETURN_IF_ERROR(write_private_file(dir_ + "/audit.yaml", kAuditPolicy));
    ControlPlaneOptions options;
    options.dir = dir_ + "/plane";
    options.pools = pools();
    // Nodes stay Ready while the API server is down.
    options.node_grace = std::chrono::minutes(2);
    options.crds = {"deploy/crds/ray.io_rayclusters.yaml"};
    options.apiserver_flags = {"--etcd-compaction-interval=1s", "--audit-policy-file=" + dir_ + "/audit.yaml",
                               "--audit-log-path=" + audit_log()};
    ASSIGN_OR_RETURN(plane_, ControlPlane::start(options));
    ASSIGN_OR_RETURN(http::TransportOptions transport, client::transport_options(plane_->config(), clock_));
    transport.max_parallel = 64;
    ASSIGN_OR_RETURN(transport_, http::make_network_transport(transport));
    return install_operator(plane_->client());
  }

  const RealClock clock_;
  std::string dir_;
  bool keep_ = false;
  std::optional<Error> failed_;
  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<http::Transport> transport_;
};

/// GoogleTest owns it.
SharedPlane& shared() {
  static SharedPlane* const kShared = [] {
    auto* const plane = new SharedPlane();
    ::testing::AddGlobalTestEnvironment(plane);
    return plane;
  }();
  return *kShared;
}
[[maybe_unused]] const bool kRegistered = (shared(), true);

}  // namespace

void FaultTest::SetUp() {
  const Status up = shared().start();
  if (!up && up.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << up.error().message();
  ASSERT_TRUE(up.ok()) << up.error().message();
  if (!plane().process(kApiServer)->running()) {
    ASSERT_TRUE(plane().start_apiserver().ok());
  }
  pods_ = std::make_unique<e2e::InvariantWatch>(client(), kPods, "", distinct_members());
}

void FaultTest::TearDown() {
  if (pods_) {
    EXPECT_THAT(pods_->violations(), IsEmpty());
    EXPECT_GT(pods_->changes(), 0U) << "no pod was observed";
  }
  pods_.reset();
  if (!HasFailure() || !shared().started()) return;
  shared().keep();
  GTEST_LOG_(INFO) << "logs are in " << plane().dir();
}

ControlPlane& FaultTest::plane() { return shared().plane(); }

http::Transport& FaultTest::transport() { return shared().transport(); }

Result<std::unique_ptr<OperatorProcess>> FaultTest::start_operator(bool leader_elect, const std::string& user) {
  const std::string name = user.empty() ? "operator" : user;
  Result<std::string> kubeconfig = user.empty() ? install_operator(plane()) : plane().user_kubeconfig(user, {kMasters});
  if (!kubeconfig) return kubeconfig.error();
  return OperatorProcess::start({.kubeconfig = *std::move(kubeconfig),
                                 .log = fmt::format("{}/{}.log", plane().dir(), name),
                                 .leader_elect = leader_elect});
}

std::vector<std::string> FaultTest::writes_of(const std::string& user) {
  std::vector<std::string> out;
  std::ifstream in(shared().audit_log());
  for (std::string line; std::getline(in, line);) {
    const auto event = parse_json(line);
    if (!event || string_at(*event, {"user", "username"}) != user) continue;
    if (string_at(*event, {"objectRef", "resource"}) == "leases") continue;
    out.push_back(fmt::format("{} {} {} {}/{}", int_at(*event, {"responseStatus", "code"}), string_at(*event, {"verb"}),
                              string_at(*event, {"objectRef", "resource"}),
                              string_at(*event, {"objectRef", "namespace"}), string_at(*event, {"objectRef", "name"})));
  }
  return out;
}

}  // namespace tpuslice::testing
