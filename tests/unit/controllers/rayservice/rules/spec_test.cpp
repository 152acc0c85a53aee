#include "controllers/rayservice/rules/spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/rayservice/world.h"

namespace tpuslice::rayservice {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RayServiceSpec, HasUpstreamsDefaults) {
  const Object service(a_service());
  const RayServiceSpec spec = RayServiceSpec::read(service);
  EXPECT_EQ(spec.upgrade_type, kNewCluster);
  EXPECT_EQ(spec.deletion_delay, seconds(60));
  EXPECT_FALSE(spec.exclude_head);
  EXPECT_FALSE(spec.suspend);
  EXPECT_FALSE(spec.managed_by_other());
  EXPECT_FALSE(spec.initializing_timeout.has_value());
  EXPECT_FALSE(spec.replace_without_room);
}

TEST(RayServiceSpec, MembersOfTheWrongTypeCountAsAbsent) {
  const Object service(Json::parse(R"({"spec": {"rayClusterDeletionDelaySeconds": "soon", "suspend": 1,
    "upgradeStrategy": [], "managedBy": 7, "serveConfigV2": {}}})"));
  const RayServiceSpec spec = RayServiceSpec::read(service);
  EXPECT_EQ(spec.deletion_delay, seconds(60));
  EXPECT_FALSE(spec.suspend);
  EXPECT_EQ(spec.upgrade_type, kNewCluster);
  EXPECT_EQ(spec.serve_config, "");
  EXPECT_EQ(spec.cluster_config, nullptr);
}

TEST(RayServiceSpec, IsManagedByOthersOnlyIfItNamesThem) {
  Object service(a_service());
  service.mutable_json()["spec"]["managedBy"] = "ray.io/kuberay-operator";
  EXPECT_FALSE(RayServiceSpec::read(service).managed_by_other());
  service.mutable_json()["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue";
  EXPECT_TRUE(RayServiceSpec::read(service).managed_by_other());
}

TEST(InitializingTimeout, IsAGoDurationOrSeconds) {
  EXPECT_EQ(parse_timeout("300"), seconds(300));
  EXPECT_EQ(parse_timeout("5m"), seconds(300));
  EXPECT_EQ(parse_timeout("1h30m"), seconds(5400));
  EXPECT_EQ(parse_timeout("1.5s"), milliseconds(1500));
  EXPECT_EQ(parse_timeout("250ms"), milliseconds(250));
  EXPECT_EQ(parse_timeout("+.5s"), milliseconds(500));
  EXPECT_EQ(parse_timeout("1500\u03bcs"), std::chrono::microseconds(1500));
  for (const char* text : {"", "0", "-5", "0s", "5 m", "m", "5x", "1h-3m", "1e9h", "99999999999999999999"}) {
    EXPECT_FALSE(parse_timeout(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace tpuslice::rayservice
