// The operator is removed while workloads of every kind run and wait, and installed again, by the commands of
// docs/install.md.
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/uninstall/uninstall_plane.h"
#include "tests/e2e/uninstall/workloads.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

class Reinstall : public UninstallPlane {
 protected:
  void expect_whole() { EXPECT_THAT(pools_of_slices(), Each(Pair(::testing::_, SizeIs(1)))); }

  /// The operator has placed the workload's slice: it has recorded the nodes.
  void expect_placed(const std::string& workload) {
    const auto pods = tpu_pods_of(workload);
    EXPECT_THAT(pods, SizeIs(kHostsOfSlice)) << workload;
    EXPECT_TRUE(std::ranges::any_of(pods, [](const Object& pod) { return !pod.annotation(tpu::kPlacedOn).empty(); }))
        << workload << " was not placed by the operator";
  }

  /// Waits until the workload has four pods, none of them one of `before`.
  [[nodiscard]] bool wait_replaced(const std::string& workload, const std::map<std::string, std::string>& before) {
    return eventually([&] {
      const auto running = running_pods();
      const auto pods = tpu_pods_of(workload);
      return pods.size() == kHostsOfSlice && std::ranges::all_of(pods, [&](const Object& pod) {
               const auto now = running.find(pod.name());
               const auto then = before.find(pod.name());
               return now != running.end() && (then == before.end() || then->second != now->second);
             });
    });
  }

  /// Waits until so many pods have names that begin with `prefix` and "-", all with the gate.
  [[nodiscard]] bool wait_gated(const std::string& prefix, std::size_t number) {
    return eventually([&] {
      const auto pods = tpu_pods_of(prefix);
      return pods.size() == number && std::ranges::all_of(pods, has_gate);
    });
  }
};

TEST_F(Reinstall, AdoptsWhatRunsAndGatesNewSlices) {
  ASSERT_NO_FATAL_FAILURE(start_workloads());
  const auto before = running_pods();
  ASSERT_NO_FATAL_FAILURE(run_section("## Remove"));
  ASSERT_NO_FATAL_FAILURE(run_section("### Install again"));
  ASSERT_NO_FATAL_FAILURE(run_section("# Install"));
  ASSERT_NO_FATAL_FAILURE(start_operator());
  EXPECT_THAT(expect_run("kubectl get mutatingadmissionpolicies -o name"), Not(HasSubstr("tpu-slice")));

  // Slices that wait since the drain have no gate. When their pods are deleted, the new ones have it.
  EXPECT_TRUE(std::ranges::none_of(tpu_pods_of("second"), has_gate));
  // kubectl would wait for the new pods if the operator deleted the others of the slice first: they have the same
  // names.
  expect_run("kubectl delete pod --wait=false -l ray.io/cluster=second-raycluster,ray.io/node-type=worker");
  EXPECT_TRUE(wait_gated("second-raycluster", kHostsOfSlice));
  expect_run("kubectl delete raycluster second-raycluster");

  // The others that waited start, and what ran has run on.
  add_pools(kKinds - 1);
  EXPECT_TRUE(wait_running((2 * kKinds - 1) * kHostsOfSlice)) << expect_run("kubectl get pods -o wide");
  expect_whole();
  const auto running = running_pods();
  for (const auto& [name, state] : before) EXPECT_EQ(running.count(name) ? running.at(name) : "gone", state) << name;

  // New slices of every kind wait with the gate until there are nodes for them, also that of a Job from which the drain
  // has removed it.
  expect_run("kubectl patch jobset paused --type=merge -p '{\"spec\":{\"suspend\":false}}'");
  for (const SliceWorkload& workload : workloads_of_every_kind("third")) apply(workload.manifest);
  EXPECT_TRUE(wait_gated("paused", kHostsOfSlice)) << expect_run("kubectl get pods -o wide");
  EXPECT_TRUE(wait_gated("third", kKinds * kHostsOfSlice)) << expect_run("kubectl get pods -o wide");
  add_pools(kKinds + 1);
  EXPECT_TRUE(wait_running(3 * kKinds * kHostsOfSlice)) << expect_run("kubectl get pods -o wide");
  expect_whole();
  expect_placed("paused");
  for (const char* kind : {"raycluster", "jobset", "lws", "job", "sts"}) expect_placed(fmt::format("third-{}", kind));

  // A slice that has run on is one of the operator's: a lost host ends it, and it starts again as a whole.
  for (const char* workload : {"first-raycluster", "first-lws", "first-sts"}) {
    const auto pods = tpu_pods_of(workload);
    ASSERT_THAT(pods, SizeIs(kHostsOfSlice)) << workload;
    expect_run("kubectl delete pod " + pods[2].name());
    EXPECT_TRUE(wait_replaced(workload, running)) << workload << "\n" << expect_run("kubectl get pods -o wide");
    expect_placed(workload);
  }
  expect_whole();
}

}  // namespace
}  // namespace tpuslice::testing
