#include "controllers/rayservice/config_hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/raycluster/fixtures.h"
#include "tests/support/rayservice/world.h"

namespace tpuslice::rayservice {
namespace {

struct ConfigEdit {
  std::string name;
  std::function<void(Json&)> edit;
  bool other_config = false;
};

class ConfigHashes : public testing::TestWithParam<ConfigEdit> {};

TEST_P(ConfigHashes, CountWhatUpstreamCounts) {
  const Json before = a_service()["spec"]["rayClusterConfig"];
  Json after = before;
  GetParam().edit(after);
  EXPECT_EQ(ConfigHash(before).whole() != ConfigHash(after).whole(), GetParam().other_config);
}

INSTANTIATE_TEST_SUITE_P(
    Edits, ConfigHashes,
    testing::Values(
        ConfigEdit{"Replicas", [](Json& config) { config["workerGroupSpecs"][0]["replicas"] = 7; }},
        ConfigEdit{"Limits", [](Json& config) { config["workerGroupSpecs"][0]["maxReplicas"] = 7; }},
        ConfigEdit{"WorkersToDelete",
                   [](Json& config) { config["workerGroupSpecs"][0]["scaleStrategy"]["workersToDelete"] = {"a"}; }},
        ConfigEdit{"Suspend", [](Json& config) { config["suspend"] = true; }},
        ConfigEdit{"UpgradeStrategy", [](Json& config) { config["upgradeStrategy"]["type"] = "Recreate"; }},
        ConfigEdit{"Tolerations",
                   [](Json& config) {
                     config["headGroupSpec"]["template"]["spec"]["tolerations"] = Json::array({{{"key", "a"}}});
                   }},
        ConfigEdit{"Hosts", [](Json& config) { config["workerGroupSpecs"][0]["numOfHosts"] = 2; }, true},
        ConfigEdit{
            "Image",
            [](Json& config) { config["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]["image"] = "next"; },
            true},
        ConfigEdit{"RayVersion", [](Json& config) { config["rayVersion"] = "2.60.0"; }, true}),
    [](const auto& test) { return test.param.name; });

class ConfigOfCluster : public testing::Test {
 protected:
  ConfigOfCluster() : world_(a_service()) { world_.settle(); }

  [[nodiscard]] bool appends(const Json& config) const {
    const RayServiceObserved seen = world_.observed();
    const Clusters clusters(seen);
    return ConfigHash(config).appends_groups(clusters.all().front());
  }

  World world_;
};

TEST_F(ConfigOfCluster, MayHaveMoreGroupsAtTheEnd) {
  Json config = world_.config();
  Json group = config["workerGroupSpecs"][0];
  group["groupName"] = "second";
  config["workerGroupSpecs"].push_back(group);
  EXPECT_TRUE(appends(config));
  config["workerGroupSpecs"][0]["replicas"] = 5;
  EXPECT_TRUE(appends(config));
  config["workerGroupSpecs"][0]["numOfHosts"] = 2;
  EXPECT_FALSE(appends(config));
}

TEST_F(ConfigOfCluster, MustNotHaveFewerGroupsOrOthersBefore) {
  Json config = world_.config();
  EXPECT_FALSE(appends(config));
  Json group = config["workerGroupSpecs"][0];
  group["groupName"] = "second";
  config["workerGroupSpecs"].insert(config["workerGroupSpecs"].begin(), group);
  EXPECT_FALSE(appends(config));
  config["workerGroupSpecs"].clear();
  EXPECT_FALSE(appends(config));
}

TEST(ConfigHash, OfAConfigWithoutGroupsIsThatOfItsGroupsBefore) {
  Json service = a_service();
  service["spec"]["rayClusterConfig"].erase("workerGroupSpecs");
  World world(service);
  world.settle();
  const RayServiceObserved seen = world.observed();
  const Clusters clusters(seen);
  const Json with_groups = a_service()["spec"]["rayClusterConfig"];
  EXPECT_TRUE(ConfigHash(with_groups).appends_groups(clusters.all().front()));
}

}  // namespace
}  // namespace tpuslice::rayservice
