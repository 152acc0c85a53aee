// Beside an upstream controller of the same kind, and the hand-over of its workloads: two replicas of the operator,
// with the permissions of deploy/rbac.
#include <map>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/base/pause.h"
#include "tests/e2e/upgrade/two_replicas.h"
#include "tests/support/live_pods.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr ResourceType kClusterRoles{"rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", false};
constexpr ResourceType kClusterRoleBindings{"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding",
                                            "clusterrolebindings", false};
constexpr const char* kJobSetLease = "6d4f6a47.jobset.x-k8s.io";

/// A pod in a namespace of its own that holds the Lease of JobSet's controller, and renews it as that does.
class JobSetController {
 public:
  /// `serves`: its service account may update the status of JobSets.
  static Status install(client::Client& api, const std::string& namespace_name, bool serves) {
    const auto in = [&](const std::string& name) { return Json{{"name", name}, {"namespace", namespace_name}}; };
    RETURN_IF_ERROR(create(api, kNamespaces, {{"metadata", {{"name", namespace_name}}}}));
    RETURN_IF_ERROR(create(api, kServiceAccounts, {{"metadata", in("controller")}}));
    if (serves) {
      RETURN_IF_ERROR(create(api, kClusterRoles,
                             {{"metadata", {{"name", "jobset-manager-role"}}},
                              {"rules", Json::array({{{"apiGroups", {"jobset.x-k8s.io"}},
                                                      {"resources", {"jobsets/status"}},
                                                      {"verbs", {"get", "patch", "update"}}}})}}));
      RETURN_IF_ERROR(create(
          api, kClusterRoleBindings,
          {{"metadata", {{"name", "jobset-manager-rolebinding"}}},
           {"roleRef",
            {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", "jobset-manager-role"}}},
           {"subjects",
            Json::array({{{"kind", "ServiceAccount"}, {"name", "controller"}, {"namespace", namespace_name}}})}}));
    }
    return create(api, kPods,
                  {{"metadata", in("jobset-controller-manager-0")},
                   {"spec",
                    {{"serviceAccountName", "controller"},
                     {"containers", Json::array({{{"name", "manager"}, {"image", "example"}}})}}}});
  }

  JobSetController(client::Client& api, const std::string& namespace_name)
      : api_(api), lease_{namespace_name, kJobSetLease}, thread_([this](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            renew();
            tpuslice::pause(1s, stop);
          }
        }) {}

 private:
  static Status create(client::Client& api, const ResourceType& type, Json object) {
    object["apiVersion"] = type.api_version();
    object["kind"] = std::string(type.kind);
    const auto created = api.create(type, Object(std::move(object)));
    return created ? Status() : Status(created.error());
  }
  void renew() {
    const Json lease = {{"apiVersion", kLeases.api_version()},
                        {"kind", std::string(kLeases.kind)},
                        {"metadata", {{"name", lease_.name}, {"namespace", lease_.namespace_name}}},
                        {"spec",
                         {{"holderIdentity", "jobset-controller-manager-0_1"},
                          {"leaseDurationSeconds", 15},
                          {"renewTime", format_rfc3339_micro(clock_.wall())}}}};
    const auto renewed = api_.patch(kLeases, lease_, client::PatchType::kApply, lease, {.force = true});
    EXPECT_TRUE(renewed.ok()) << renewed.error().message();
  }

  client::Client& api_;
  const ObjectKey lease_;
  const RealClock clock_;
  std::jthread thread_;
};

ControlPlaneOptions three_pools() {
  ControlPlaneOptions options;
  for (const char* name : {"tpu-a", "tpu-b", "tpu-c"}) {
    sim::NodePool pool;
    pool.name = name;
    pool.accelerator = "tpu-v6e-slice";
    pool.topology = "4x4";
    pool.machine_type = "ct6e-standard-4t";
    pool.hosts = kHostsOfSlice;
    pool.chips_per_host = 4;
    options.pools.push_back(pool);
  }
  return options;
}

class HandOver : public TwoReplicas {
 protected:
  HandOver() : TwoReplicas(three_pools()) {}

  /// Names and uids of the pods of a JobSet that run.
  [[nodiscard]] std::map<std::string, std::string> running(const std::string& jobset) {
    std::map<std::string, std::string> out;
    for (const Object& pod : live_pods(api(), "default", "jobset.sigs.k8s.io/jobset-name=" + jobset)) {
      if (string_at(pod.json(), {"status", "phase"}) == "Running") out[pod.name()] = pod.uid();
    }
    return out;
  }
  /// tpuslice_controller_conflict in both replicas.
  [[nodiscard]] bool conflict(double value) {
    OperatorProcess* const leader = replicas_->leader();
    OperatorProcess* const other = replicas_->other_than(leader);
    for (OperatorProcess* each : {leader, other}) {
      if (each == nullptr) return false;
      const auto found = each->metric("tpuslice_controller_conflict", {{"controller", "jobset"}});
      if (!found || *found != value) return false;
    }
    return true;
  }
};

TEST_F(HandOver, RunningJobSetsAreLeftToTheUpstreamControllerAndTakenOverAfterIt) {
  // A user who may edit a namespace writes such a Lease.
  ASSERT_TRUE(JobSetController::install(api(), "team", false).ok());
  const JobSetController of_user(api(), "team");
  ASSERT_NO_FATAL_FAILURE(create_jobset("train"));
  ASSERT_TRUE(eventually([&] { return running("train").size() == std::size_t{kHostsOfSlice}; }));
  const auto pods = running("train");
  EXPECT_TRUE(conflict(0));

  ASSERT_TRUE(JobSetController::install(api(), "jobset-system", true).ok());
  auto upstream = std::make_unique<JobSetController>(api(), "jobset-system");
  ASSERT_TRUE(eventually([&] { return conflict(1); }, 20s)) << "within seconds";
  ASSERT_NO_FATAL_FAILURE(create_jobset("later"));
  // A suspended JobSet loses its pods, if a controller serves it.
  const auto suspended =
      api().patch(kJobSets, {"default", "train"}, client::PatchType::kMerge, {{"spec", {{"suspend", true}}}});
  ASSERT_TRUE(suspended.ok()) << suspended.error().message();
  tpuslice::pause(4s, {});
  EXPECT_FALSE(has_job("later"));
  EXPECT_EQ(running("train"), pods);
  const auto resumed =
      api().patch(kJobSets, {"default", "train"}, client::PatchType::kMerge, {{"spec", {{"suspend", false}}}});
  ASSERT_TRUE(resumed.ok()) << resumed.error().message();

  // --take-over does not look at the Lease.
  const auto kubeconfig = plane_->service_account_kubeconfig({"tpu-slice-system", "tpu-slice-operator"});
  ASSERT_TRUE(kubeconfig.ok());
  {
    const auto taking = OperatorProcess::start({.kubeconfig = *kubeconfig,
                                                .log = plane_->dir() + "/taking-over.log",
                                                .leader_elect = false,
                                                .flags = {"--take-over=jobset", "--controllers=jobset,-slice"}});
    ASSERT_TRUE(taking.ok()) << taking.error().message();
    EXPECT_TRUE(eventually([&] { return has_job("later"); }));
    EXPECT_TRUE((*taking)->stop().ok());
  }

  // It is removed, and leaves its Lease.
  upstream.reset();
  ASSERT_NO_FATAL_FAILURE(create_jobset("last"));
  tpuslice::pause(4s, {});
  EXPECT_TRUE(conflict(1));
  EXPECT_FALSE(has_job("last"));
  ASSERT_TRUE(api().remove(kLeases, {"jobset-system", kJobSetLease}).ok());
  EXPECT_TRUE(eventually([&] { return has_job("last"); }, 20s));
  EXPECT_TRUE(eventually([&] { return conflict(0); }, 20s));
  EXPECT_EQ(running("train"), pods);
  for (OperatorProcess* each : {replicas_->leader(), replicas_->other_than(replicas_->leader())}) {
    EXPECT_EQ(each->metric("rest_client_requests_total", {{"code", "403"}}).value_or(0), 0);
  }
}

}  // namespace
}  // namespace tpuslice::testing
