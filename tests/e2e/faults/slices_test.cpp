// The invariant watch of FaultTest reports violations.
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/faults/fault_plane.h"
#include "tests/e2e/faults/ray_namespace.h"

namespace tpuslice::testing {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using InvariantWatchOnARealServer = FaultTest;

Object member(const std::string& name, const std::string& host) {
  return Object({{"apiVersion", "v1"},
                 {"kind", "Pod"},
                 {"metadata",
                  {{"name", name},
                   {"namespace", "doubled"},
                   {"labels",
                    {{"ray.io/cluster", "train"},
                     {"ray.io/node-type", "worker"},
                     {"ray.io/group", "tpu"},
                     {"ray.io/worker-group-replica-index", "0"},
                     {"ray.io/replica-host-index", host}}}}},
                 {"spec",
                  {{"containers", Json::array({Json{{"name", "main"}, {"image", "image"}}})},
                   {"nodeSelector", {{"example.com/no-such-node", "true"}}}}}});
}

TEST_F(InvariantWatchOnARealServer, ReportsTwoPodsOfOneHostAfterARestartOfTheApiServer) {
  const auto watched = take_pods();
  RayNamespace space(client(), "doubled");
  ASSERT_TRUE(space.create().ok());
  ASSERT_TRUE(client().create(kPods, member("a", "0")).ok());
  ASSERT_TRUE(client().create(kPods, member("b", "1")).ok());
  ASSERT_TRUE(eventually([&] { return watched->changes() >= 2; }));
  EXPECT_THAT(watched->violations(), IsEmpty());
  plane().kill_apiserver();
  ASSERT_TRUE(plane().start_apiserver().ok());
  ASSERT_TRUE(client().create(kPods, member("c", "1")).ok());
  EXPECT_TRUE(eventually([&] { return !watched->violations().empty(); }));
  EXPECT_THAT(watched->violations(), Each(HasSubstr("2 live pods are")));
  ASSERT_TRUE(space.remove_children().ok());
}

}  // namespace
}  // namespace tpuslice::testing
