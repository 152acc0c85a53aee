#include "cmd/tpu-slice-operator/upstream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// "ray-operator-leader raycluster rayjob"
std::vector<std::string> leases(const std::vector<std::string>& controllers,
                                const std::vector<std::string>& take_over) {
  OperatorOptions options;
  options.controllers = controllers;
  options.take_over = take_over;
  std::vector<std::string> out;
  for (const runtime::UpstreamController& each : upstream_controllers(options)) {
    out.push_back(each.lease);
    for (const std::string& controller : each.controllers) out.back() += " " + controller;
  }
  return out;
}

TEST(UpstreamControllersOf, TheKindsThatRun) {
  EXPECT_THAT(leases({"*"}, {}), ElementsAre("b8b2488c.x-k8s.io leaderworkerset disaggregatedset",
                                             "ray-operator-leader raycluster rayjob raycronjob rayservice",
                                             "6d4f6a47.jobset.x-k8s.io jobset"));
  EXPECT_THAT(leases({"*", "-raycluster", "-leaderworkerset"}, {}), ElementsAre("6d4f6a47.jobset.x-k8s.io jobset"));
  EXPECT_THAT(leases({"*", "-raycluster", "-jobset", "-leaderworkerset", "rayjob"}, {}),
              ElementsAre("ray-operator-leader rayjob"));
  EXPECT_THAT(leases({"slice"}, {}), IsEmpty());
}

TEST(UpstreamControllersOf, NotOfKindsThatAreTakenOver) {
  EXPECT_THAT(leases({"*"}, {"raycluster", "jobset"}),
              ElementsAre("b8b2488c.x-k8s.io leaderworkerset disaggregatedset"));
  EXPECT_THAT(leases({"*"}, {"rayjob", "jobset", "leaderworkerset"}),
              ElementsAre("ray-operator-leader raycluster raycronjob rayservice"));
}

}  // namespace
}  // namespace tpuslice
