// A cluster with real kubelets: the installed image of the operator, and the environment in the containers of a slice.
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/strings.h"
#include "tests/nodes/installed_cluster.h"
#include "tests/support/eventually.h"
#include "tpu/device_env.h"

namespace tpuslice::testing {
namespace {

using ::testing::Contains;
using ::testing::Pair;
using Variables = std::map<std::string, std::string>;

constexpr const char* kTopology = "2x4";
constexpr int kChips = 4;
constexpr int kHosts = 2;
constexpr const char* kJobSet = R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train}
spec:
  replicatedJobs:
    - name: slice
      template:
        spec:
          parallelism: 2
          completions: 2
          backoffLimit: 0
          template:
            spec:
              restartPolicy: Never
              terminationGracePeriodSeconds: 1
              nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 2x4}
              containers:
                - name: worker
                  image: localhost/busybox:1
                  imagePullPolicy: IfNotPresent
                  command: [sh, -c, "env; for host in $(echo $TPU_WORKER_HOSTNAMES | tr , ' '); do
                    until nslookup $host.default.svc.cluster.local >/tmp/$host; do sleep 1; done; done; echo all found; sleep 3600"]
                  resources: {limits: {google.com/tpu: 4}}
)";

std::vector<sim::NodePool> pools() {
  sim::NodePool tpu{.name = "v6e", .accelerator = "tpu-v6e-slice", .topology = kTopology};
  tpu.machine_type = "ct6e-standard-4t";
  tpu.hosts = kHosts;
  tpu.chips_per_host = kChips;
  return {tpu, {.name = "cpu"}};
}

class Cluster : public InstalledCluster {
 protected:
  static void SetUpTestSuite() { start({.pools = pools()}); }
};

/// The lines NAME=VALUE of a text.
Variables variables_in(const std::string& text) {
  Variables out;
  for (const std::string& line : split(text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) out[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return out;
}

TEST_F(Cluster, GivesTheContainersOfASliceTheirEnvironment) {
  apply(kJobSet);
  const auto log_of = [](int host) {
    return try_kubectl(
        fmt::format("logs -l jobset.sigs.k8s.io/jobset-name=train,batch.kubernetes.io/"
                    "job-completion-index={} --tail=-1",
                    host));
  };
  const auto device = tpu::device_env(
      {.accelerator = "tpu-v6e-slice", .topology = kTopology, .node_chips = kChips, .container_chips = kChips});
  ASSERT_TRUE(device.ok()) << device.error().message();
  for (int host = 0; host < kHosts; ++host) {
    expect_soon(fmt::format("host {} has found all host names", host), [&] {
      const auto log = log_of(host);
      return log.ok() && log->find("all found") != std::string::npos;
    });
    const Variables seen = variables_in(log_of(host).value_or(""));
    EXPECT_THAT(seen, Contains(Pair("TPU_WORKER_ID", std::to_string(host))));
    EXPECT_THAT(seen, Contains(Pair("TPU_WORKER_HOSTNAMES", "train-slice-0-0.train,train-slice-0-1.train")));
    for (const tpu::EnvVar& variable : *device) {
      EXPECT_THAT(seen, Contains(Pair(variable.name, variable.value))) << "of the device plugin";
    }
  }
  kubectl("delete jobset train");
}

TEST_F(Cluster, ReportsUnhealthyChips) {
  const auto chips = [] { return kubectl("get node v6e-0 -o jsonpath='{.status.allocatable.google\\.com/tpu}'"); };
  ASSERT_TRUE(cluster().node("v6e-0").mark_unhealthy({1, 3}).ok());
  EXPECT_TRUE(eventually([&] { return chips() == "2"; })) << chips();
  ASSERT_TRUE(cluster().node("v6e-0").mark_unhealthy({}).ok());
  EXPECT_TRUE(eventually([&] { return chips() == "4"; })) << chips();
}

TEST_F(Cluster, RestartsAContainerWhoseProcessIsKilled) {
  kubectl("run victim --image=localhost/busybox:1 --image-pull-policy=IfNotPresent -- sleep 3600");
  const auto restarts = [] {
    return kubectl("get pod victim -o jsonpath='{.status.containerStatuses[0].restartCount}'");
  };
  EXPECT_TRUE(eventually([&] { return cluster().kill_container({"default", "victim"}, "victim").ok(); }));
  EXPECT_TRUE(eventually([&] { return restarts() == "1"; })) << kubectl("describe pod victim");
  kubectl("delete pod victim --now");
}

TEST_F(Cluster, RestartsPrograms) {
  const std::string name = "v6e-1";
  for (const char* program : {"containerd", "device_plugin", "kube-proxy", "kubelet"}) {
    const pid_t before = cluster().node(name).pid(program);
    EXPECT_TRUE(cluster().node(name).signal(program, SIGKILL).ok());
    EXPECT_TRUE(eventually([&] {
      const pid_t now = cluster().node(name).pid(program);
      return now != 0 && now != before;
    })) << program;
  }
  const Status ready = cluster().wait_until_ready(std::chrono::seconds(60));
  EXPECT_TRUE(ready.ok()) << ready.error().message();
}

}  // namespace
}  // namespace tpuslice::testing
