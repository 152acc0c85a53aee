#include "tests/support/sim_fixture.h"

namespace tpuslice::sim {
namespace {

using testing::a_pod;
using testing::a_service;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

class ServicesTest : public testing::SimFixture {
 protected:
  /// The endpoint of this pod in the only EndpointSlice, or null.
  Json endpoint(const std::string& pod) {
    const std::vector<JsonPtr> slices = cluster_.storage().list("endpointslices.discovery.k8s.io", "default");
    if (slices.size() != 1) return nullptr;
    for (const Json& each : slices[0]->at("endpoints")) {
      if (string_at(each, {"targetRef", "name"}) == pod) return each;
    }
    return nullptr;
  }
};

TEST_F(ServicesTest, ListTheirPodsAndWhetherTheyAreReady) {
  apply(a_service("s", {{"app", "x"}}));
  apply(a_pod("a").label("app", "x"));
  apply(a_pod("b").label("app", "x").script("never-ready", "true"));
  apply(a_pod("c").label("app", "y"));
  run_for(10s);
  EXPECT_TRUE(bool_at(endpoint("a"), {"conditions", "ready"}));
  EXPECT_FALSE(bool_at(endpoint("b"), {"conditions", "ready"}));
  EXPECT_TRUE(endpoint("b").is_object());
  EXPECT_TRUE(endpoint("c").is_null());
}

TEST_F(ServicesTest, PublishNotReadyAddressesOnRequest) {
  Json service = a_service("s", {{"app", "x"}});
  service["spec"]["publishNotReadyAddresses"] = true;
  apply(service);
  apply(a_pod("a")
            .label("app", "x")
            .set("/spec/hostname", "host-0")
            .set("/spec/subdomain", "s")
            .script("never-ready", "true"));
  run_for(10s);
  EXPECT_EQ(string_at(endpoint("a"), {"hostname"}), "host-0");
  EXPECT_TRUE(bool_at(endpoint("a"), {"conditions", "ready"}));
}

TEST_F(ServicesTest, DeleteTheirEndpointSlices) {
  apply(a_service("s", {{"app", "x"}}));
  run_for(1s);
  EXPECT_EQ(names("endpointslices.discovery.k8s.io").size(), 1U);
  ASSERT_TRUE(cluster_.remove("services", {"default", "s"}).ok());
  run_for(1s);
  EXPECT_THAT(names("endpointslices.discovery.k8s.io"), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::sim
