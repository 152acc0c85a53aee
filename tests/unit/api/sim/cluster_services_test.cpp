#include "tests/support/sim_fixture.h"

namespace tpuslice::sim {
namespace {

using testing::a_pod;
using testing::a_service;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

class ServicesTest : public testing::SimFixture {
 protected:
  Json subsets(const std::string& service) {
    const JsonPtr found = cluster_.get("endpoints", {"default", service});
    return found == nullptr ? Json() : found->value("subsets", Json::array());
  }
};

TEST_F(ServicesTest, ListTheirReadyPods) {
  apply(a_service("s", {{"app", "x"}}));
  apply(a_pod("a").label("app", "x"));
  apply(a_pod("b").label("app", "x").script("never-ready", "true"));
  apply(a_pod("c").label("app", "y"));
  run_for(10s);
  const Json found = subsets("s");
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0]["addresses"].size(), 1U);
  EXPECT_EQ(found[0]["addresses"][0]["targetRef"]["name"], "a");
  ASSERT_EQ(found[0]["notReadyAddresses"].size(), 1U);
  EXPECT_EQ(found[0]["notReadyAddresses"][0]["targetRef"]["name"], "b");
}

TEST_F(ServicesTest, PublishAddressesThatAreNotReadyWhenAskedTo) {
  Json service = a_service("s", {{"app", "x"}});
  service["spec"]["publishNotReadyAddresses"] = true;
  apply(service);
  apply(a_pod("a")
            .label("app", "x")
            .set("/spec/hostname", "host-0")
            .set("/spec/subdomain", "s")
            .script("never-ready", "true"));
  run_for(10s);
  EXPECT_EQ(subsets("s")[0]["addresses"][0]["hostname"], "host-0");
}

TEST_F(ServicesTest, TakeTheirEndpointsWithThem) {
  apply(a_service("s", {{"app", "x"}}));
  run_for(1s);
  EXPECT_EQ(names("endpointslices.discovery.k8s.io").size(), 1U);
  ASSERT_TRUE(cluster_.remove("services", {"default", "s"}).ok());
  run_for(1s);
  EXPECT_THAT(names("endpoints"), IsEmpty());
  EXPECT_THAT(names("endpointslices.discovery.k8s.io"), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::sim
