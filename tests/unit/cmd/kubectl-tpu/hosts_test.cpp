#include "cmd/kubectl-tpu/hosts.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "api/types/yaml.h"

namespace tpuslice::plugin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Host `index` of slice v6e-0 of two hosts, Running and Ready, with its identity.
Json host_pod(int index) {
  return parse_yaml(fmt::format(R"(
apiVersion: v1
kind: Pod
metadata:
  name: train-{0}
  namespace: ml
  uid: u{0}
  labels: {{tpuslice.dev/slice: v6e-0-1234567890123, app: train}}
  annotations: {{tpuslice.dev/slice-hosts: "2", tpuslice.dev/slice-host: "{0}"}}
spec:
  hostname: train-{0}
  subdomain: train
  nodeName: node-{0}
  containers:
    - name: sidecar
    - name: main
      resources: {{limits: {{google.com/tpu: "4"}}}}
      env:
        - {{name: TPU_WORKER_ID, value: "{0}"}}
        - {{name: TPU_WORKER_HOSTNAMES, value: "train-0.train,train-1.train"}}
status:
  phase: Running
  conditions: [{{type: Ready, status: "True"}}]
)",
                                index))
      .value();
}

Object service() {
  return Object(parse_yaml(R"(
metadata: {name: train, namespace: ml}
spec: {clusterIP: None, selector: {app: train}}
)")
                    .value());
}

std::vector<Host> checked(const std::vector<Json>& pods, const std::vector<Object>& services) {
  std::vector<Object> objects(pods.begin(), pods.end());
  std::vector<Host> hosts = read_hosts(objects);
  check_hosts(objects, services, hosts);
  return hosts;
}

TEST(Hosts, AHealthySliceIsOk) {
  const std::vector<Host> hosts = checked({host_pod(0), host_pod(1)}, {service()});
  ASSERT_EQ(hosts.size(), 2U);
  for (const Host& host : hosts) {
    EXPECT_TRUE(host.ready);
    EXPECT_EQ(host.check->worker_id, "ok");
    EXPECT_EQ(host.check->names, "ok");
    EXPECT_EQ(host.check->peers, "ok");
  }
}

TEST(Hosts, AreShownInATable) {
  EXPECT_EQ(to_text(hosts_table(checked({host_pod(0), host_pod(1)}, {service()}), FakeClock().wall())),
            "HOST   POD       NODE     READY   RESTARTS   LAST EXIT   WORKER_ID   NAMES   PEERS\n"
            "0      train-0   node-0   yes     0          -           0 ok        ok      ok\n"
            "1      train-1   node-1   yes     0          -           1 ok        ok      ok\n");
}

TEST(Hosts, AWrongWorkerIdIsNamed) {
  Json pod = host_pod(1);
  pod["spec"]["containers"][1]["env"][0]["value"] = "0";
  EXPECT_EQ(checked({host_pod(0), pod}, {service()})[1].check->worker_id, "expected 1");
  pod["spec"]["containers"][1]["env"].erase(0);
  EXPECT_EQ(checked({host_pod(0), pod}, {service()})[1].check->worker_id, "not set, expected 1");
}

TEST(Hosts, TheWorkerIdMayBeAnAnnotationAsInPodsOfJobSets) {
  Json pod = host_pod(1);
  const std::string index = "batch.kubernetes.io/job-completion-index";
  pod["metadata"]["annotations"][index] = "1";
  const Json field = {{"fieldPath", "metadata.annotations['" + index + "']"}};
  pod["spec"]["containers"][1]["env"][0] = {{"name", "TPU_WORKER_ID"}, {"valueFrom", {{"fieldRef", field}}}};
  EXPECT_EQ(checked({host_pod(0), pod}, {service()})[1].check->worker_id, "ok");
  pod["metadata"]["annotations"][index] = "0";
  EXPECT_EQ(checked({host_pod(0), pod}, {service()})[1].check->worker_id, "expected 1");
}

TEST(Hosts, NamesMustBeThoseOfThePodsAndAgree) {
  Json pod = host_pod(1);
  pod["spec"]["hostname"] = "other";
  EXPECT_THAT(checked({host_pod(0), pod}, {service()})[1].check->names,
              HasSubstr("entry 1 is train-1.train, the pod is other.train"));
  pod = host_pod(1);
  pod["spec"]["containers"][1]["env"][1]["value"] = "train-0.train,train-9.train";
  EXPECT_EQ(checked({host_pod(0), pod}, {service()})[1].check->names, "differ from host 0");
  pod["spec"]["containers"][1]["env"].erase(1);
  EXPECT_EQ(checked({host_pod(0), pod}, {service()})[1].check->names, "TPU_WORKER_HOSTNAMES is not set");
}

TEST(Hosts, ACompanionOfTheSliceIsNotChecked) {
  Json companion = host_pod(9);
  companion["metadata"]["annotations"].erase("tpuslice.dev/slice-host");
  companion["spec"]["containers"][1]["env"].clear();
  const std::vector<Host> hosts = checked({companion, host_pod(0), host_pod(1)}, {service()});
  EXPECT_FALSE(hosts[0].check.has_value());
  EXPECT_EQ(hosts[1].check->names, "ok");
  EXPECT_EQ(hosts[2].check->names, "ok");
}

TEST(Hosts, ACountThatTheIndexExceedsIsNamed) {
  Json pod = host_pod(1);
  pod["metadata"]["annotations"]["tpuslice.dev/slice-host"] = "7";
  EXPECT_EQ(checked({host_pod(0), pod}, {service()})[1].check->names, "host 7 of a slice of 2");
  pod["metadata"]["annotations"]["tpuslice.dev/slice-hosts"] = "0";
  EXPECT_EQ(checked({host_pod(0), pod}, {service()})[1].check->names, "ok");
}

TEST(Hosts, PeersResolveByAHeadlessServiceThatSelectsThem) {
  EXPECT_EQ(checked({host_pod(0)}, {})[0].check->peers, "no service train");
  Object other = service();
  other.mutable_json()["spec"]["selector"]["app"] = "other";
  EXPECT_EQ(checked({host_pod(0)}, {other})[0].check->peers, "service train does not select it");
  other = service();
  other.mutable_json()["spec"]["clusterIP"] = "10.0.0.1";
  EXPECT_EQ(checked({host_pod(0)}, {other})[0].check->peers, "service train is not headless");
}

TEST(Hosts, ANameThatResolvesLaterIsNotOk) {
  Json pod = host_pod(0);
  pod["status"]["conditions"][0]["status"] = "False";
  EXPECT_EQ(checked({pod}, {service()})[0].check->peers, "resolves when Ready");
  EXPECT_TRUE(checked({pod}, {service()})[0].check->ok_when_ready());
  Object early = service();
  early.mutable_json()["spec"]["publishNotReadyAddresses"] = true;
  EXPECT_EQ(checked({pod}, {early})[0].check->peers, "ok");
}

TEST(Hosts, TheLastExitIsTheMostRecentOne) {
  Json pod = host_pod(1);
  pod["status"]["containerStatuses"] = parse_yaml(R"(
- name: sidecar
  restartCount: 1
  lastState: {terminated: {exitCode: 1, reason: Error, finishedAt: "2025-12-31T23:00:00Z"}}
- name: main
  restartCount: 2
  lastState: {terminated: {exitCode: 137, reason: OOMKilled, finishedAt: "2025-12-31T23:57:00Z"}}
)")
                                           .value();
  const std::vector<Host> hosts = read_hosts({Object(pod)});
  EXPECT_EQ(hosts[0].restarts, 3);
  EXPECT_EQ(hosts[0].last_exit->container, "main");
  EXPECT_THAT(to_text(hosts_table(hosts, FakeClock().wall())), HasSubstr("137 OOMKilled 3m"));
  EXPECT_EQ(failed_at(Object(pod)), parse_rfc3339("2025-12-31T23:00:00Z"));
}

TEST(Hosts, ALookupNamesTheFirstThatFails) {
  EXPECT_EQ(peers_of_lookup("+\n+\n"), "ok");
  EXPECT_EQ(peers_of_lookup(""), "no name was looked up");
  EXPECT_EQ(peers_of_lookup("+\n-train-1.train\n-train-2.train\n"), "1 of 3 resolve, not train-1.train");
}

TEST(Hosts, TheLookupIsAShellCommand) {
  const std::string output = ::testing::TempDir() + "/lookup-" + std::to_string(getpid());
  const std::string command = "TPU_WORKER_HOSTNAMES=localhost,no-such-host.invalid sh -c '" +
                              std::regex_replace(lookup_script(), std::regex("'"), "'\\''") + "' >" + output;
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(read_file(output).value(), "+\n-no-such-host.invalid\n");
  std::filesystem::remove(output);
}

TEST(Hosts, SeveralSlicesHaveAColumn) {
  Json other = host_pod(0);
  other["metadata"]["labels"]["tpuslice.dev/slice"] = "v6e-1-1234567890123";
  EXPECT_THAT(hosts_table(read_hosts({Object(host_pod(0)), Object(other)}), {}).header, ::testing::Contains("SLICE"));
  EXPECT_THAT(hosts_table(read_hosts({Object(host_pod(0))}), {}).header, Not(::testing::Contains("SLICE")));
}

TEST(Hosts, TheDocumentHasAVersion) {
  const Json document = hosts_document(checked({host_pod(0)}, {service()}));
  EXPECT_EQ(document["schema"], "tpuslice.dev/hosts.v1");
  EXPECT_EQ(document["hosts"][0]["check"]["workerId"], "ok");
}

}  // namespace
}  // namespace tpuslice::plugin
