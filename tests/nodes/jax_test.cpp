// JAX over the hosts of slices of each kind of workload, on real kubelets: each host finds its place, its neighbours
// and its coordinator as libtpu and JAX do, and an all-reduce is right. check_slice.py runs in the pods.
#include <algorithm>
#include <chrono>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/clock.h"
#include "api/base/strings.h"
#include "api/types/json.h"
#include "tests/nodes/installed_cluster.h"

namespace tpuslice::testing {
namespace {

constexpr int kJaxPort = 8482;  ///< Source: jax/_src/clusters/cloud_tpu_cluster.py.

struct SliceCase {
  std::string manifest;                          ///< In tests/nodes/manifests.
  std::string wait;                              ///< Command of kubectl that waits until all pods have checked.
  std::vector<std::vector<std::string>> slices;  ///< Host names by slice and worker id.
  std::vector<int> sums;                         ///< By slice: process p of JAX adds 2^p.
  std::string megascale = {};                    ///< Coordinator of the multislice that the slices are, if they are.
  std::string leader = {};                       ///< Address of a LeaderWorkerSet's leader.
};

void PrintTo(const SliceCase& c, std::ostream* out) { *out << c.manifest; }

std::vector<SliceCase> slice_cases() {
  return {
      {.manifest = "jobset",
       .wait = "wait --for=condition=Completed jobset/train",
       .slices = {{"train-slice-0-0.train", "train-slice-0-1.train", "train-slice-0-2.train", "train-slice-0-3.train"}},
       .sums = {15}},
      {.manifest = "jobset-multislice",
       .wait = "wait --for=condition=Completed jobset/multi",
       .slices = {{"multi-slice-0-0.multi", "multi-slice-0-1.multi"},
                  {"multi-slice-1-0.multi", "multi-slice-1-1.multi"}},
       .sums = {1 + 2, 4 + 8},
       .megascale = "multi-slice-0-0.multi:8080"},
      {.manifest = "jobset-servers",
       .wait = "wait --for=condition=Completed jobset/sax",
       .slices = {{"sax-server-0-0.sax", "sax-server-0-1.sax"}, {"sax-server-1-0.sax", "sax-server-1-1.sax"}},
       .sums = {3, 3}},
      {.manifest = "leaderworkerset",
       .wait = "wait --for=condition=Available leaderworkerset/pathways",
       .slices = {{"pathways-0-1.pathways", "pathways-0-2.pathways", "pathways-0-3.pathways", "pathways-0-4.pathways"}},
       .sums = {15},
       .leader = "pathways-0.pathways.default"},
      {.manifest = "leaderworkerset-subgroups",
       .wait = "wait --for=condition=Available leaderworkerset/split",
       .slices = {{"split-0.split", "split-0-1.split"}, {"split-0-2.split", "split-0-3.split"}},
       .sums = {3, 3},
       .leader = "split-0.split.default"},
      {.manifest = "job",
       .wait = "wait --for=condition=Complete job/indexed",
       .slices = {{"indexed-0.indexed", "indexed-1.indexed", "indexed-2.indexed", "indexed-3.indexed"}},
       .sums = {15}},
      {.manifest = "statefulset",
       .wait = "rollout status statefulset/stateful",
       .slices = {{"stateful-0.stateful", "stateful-1.stateful"}},
       .sums = {3}},
  };
}

/// What check_slice.py prints, by the host name of the pod.
using Lines = std::map<std::string, std::string>;

std::string pod_of(const std::string& address) { return address.substr(0, address.find('.')); }

Lines expected_lines(const SliceCase& c) {
  Lines lines;
  const auto add = [&](const std::string& pod, Json found) {
    found["host"] = pod;
    if (!c.leader.empty()) found["leader"] = c.leader;
    if (!c.megascale.empty() && found.contains("hosts")) found["megascale"] = c.megascale;
    lines[pod] = found.dump();
  };
  if (!c.leader.empty()) add(pod_of(c.leader), Json::object());  // Unless it is a host of a slice.
  const bool multislice = !c.megascale.empty();
  for (std::size_t slice = 0; slice < c.slices.size(); ++slice) {
    const std::vector<std::string>& hosts = c.slices[slice];
    const std::size_t id = multislice ? slice : 0;
    const std::size_t slices = multislice ? c.slices.size() : 1;
    const std::string& first = multislice ? c.slices.front().front() : hosts.front();
    for (std::size_t worker = 0; worker < hosts.size(); ++worker) {
      add(pod_of(hosts[worker]), {{"hosts", hosts},
                                  {"worker", worker},
                                  {"slice", id},
                                  {"slices", slices},
                                  {"process", id * hosts.size() + worker},
                                  {"processes", slices * hosts.size()},
                                  {"coordinator", fmt::format("{}:{}", first, kJaxPort)},
                                  {"sum", c.sums[slice]}});
    }
  }
  return lines;
}

Lines lines_in(const std::string& log) {
  Lines lines;
  for (const std::string& line : split(log, '\n')) {
    if (!line.starts_with('{')) continue;
    const auto found = parse_json(line);
    if (found) lines[string_at(*found, {"host"})] = found->dump();
  }
  return lines;
}

sim::NodePool v6e_pool(const std::string& name, const std::string& topology, int hosts) {
  return {.name = name,
          .accelerator = "tpu-v6e-slice",
          .topology = topology,
          .machine_type = "ct6e-standard-4t",
          .hosts = hosts,
          .chips_per_host = 4};
}

class JaxOnSlices : public InstalledCluster, public ::testing::WithParamInterface<SliceCase> {
 protected:
  static void SetUpTestSuite() {
    start({.pools = {v6e_pool("v6e-4x4", "4x4", 4), v6e_pool("v6e-2x4-a", "2x4", 2), v6e_pool("v6e-2x4-b", "2x4", 2),
                     sim::NodePool{.name = "cpu", .hosts = 2}},
           .images = {"python"}});
  }

  /// What there is to see of a workload that failed.
  static std::string state() {
    std::string text;
    for (const char* command : {"get pods -o wide", "logs -l app=check-slice --prefix --ignore-errors --tail=40",
                                "get jobsets,leaderworkersets,jobs,statefulsets "
                                "-o jsonpath='{range .items[*]}{.kind} {.metadata.name}: {.status}{\"\\n\"}{end}'",
                                "get events --sort-by=.lastTimestamp",
                                "-n tpu-slice-system logs deployment/tpu-slice-operator --all-pods --tail=30"}) {
      const auto output = try_kubectl(command);
      text += fmt::format("kubectl {}\n{}\n", command, output.ok() ? *output : output.error().message());
    }
    return text;
  }

  static double seconds_since(Instant time) { return std::chrono::duration<double>(RealClock().now() - time).count(); }
};

TEST_P(JaxOnSlices, FindAllHostsAndAddUp) {
  const std::string manifest = fmt::format("tests/nodes/manifests/{}.yaml", GetParam().manifest);
  kubectl("create configmap check-slice --from-file=tests/nodes/check_slice.py");

  const Instant applied = RealClock().now();
  kubectl("apply --server-side -f " + manifest);
  kubectl(GetParam().wait + " --timeout=240s");
  const double checked = seconds_since(applied);
  EXPECT_EQ(lines_in(kubectl("logs -l app=check-slice --tail=-1")), expected_lines(GetParam()));
  if (HasFailure()) ADD_FAILURE() << state();

  const Instant deleted = RealClock().now();
  kubectl("delete -f " + manifest);
  expect_soon("nothing of the workload is left", [] {
    const auto left = try_kubectl(
        "get pods,jobs,statefulsets,controllerrevisions,services --field-selector metadata.name!=kubernetes "
        "-o jsonpath='{.items[*].metadata.name}'");
    return left.ok() && left->empty();
  });
  fmt::print("{}: {:.1f} s until all hosts had checked, {:.1f} s until nothing of it was left\n", GetParam().manifest,
             checked, seconds_since(deleted));
  kubectl("delete configmap check-slice");
}

INSTANTIATE_TEST_SUITE_P(Workloads, JaxOnSlices, ::testing::ValuesIn(slice_cases()), [](const auto& each) {
  std::string name = each.param.manifest;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace tpuslice::testing
