#include "controllers/disaggregatedset/services.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/disaggregatedset/world.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::disaggregatedset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::string> names(const World& world) {
  std::vector<std::string> out;
  for (const auto& [name, service] : world.services()) out.push_back(name);
  return out;
}

TEST(RoleServices, AreCreatedOnceAllRolesAreReady) {
  World world;
  world.step();
  world.advance();
  world.sets().at(world.name_of("decode"))["status"]["readyReplicas"] = 0;
  EXPECT_THAT(plan::writes_of(world.plan(), "create Service"), IsEmpty());
  world.sets().at(world.name_of("decode"))["status"]["readyReplicas"] = 1;
  world.step();
  EXPECT_THAT(names(world),
              UnorderedElementsAre(service_name(world.name_of("decode")), service_name(world.name_of("prefill"))));
}

TEST(RoleServices, SelectThePodsOfTheirSet) {
  World world;
  world.settle();
  const Json& service = world.services().at(service_name(world.name_of("decode")));
  const Json labels = {{"disaggregatedset.x-k8s.io/name", "llm"},
                       {"disaggregatedset.x-k8s.io/role", "decode"},
                       {"disaggregatedset.x-k8s.io/slice", "0"},
                       {"disaggregatedset.x-k8s.io/revision", world.revision()}};
  EXPECT_EQ(service["spec"]["selector"], labels);
  EXPECT_EQ(service["metadata"]["labels"], labels);
  EXPECT_EQ(service["spec"]["clusterIP"], "None");
}

TEST(RoleServices, OfTheOldRevisionStayWhileItIsReady) {
  World world;
  world.settle();
  const std::vector<std::string> old = names(world);
  world.use_image("serve:2");
  while (!world.services().contains(service_name(world.name_of("decode")))) {
    EXPECT_THAT(names(world), testing::ElementsAreArray(old));
    world.step();
    world.advance();
  }
  EXPECT_EQ(world.services().size(), 4U);
  world.settle();
  EXPECT_THAT(names(world),
              UnorderedElementsAre(service_name(world.name_of("decode")), service_name(world.name_of("prefill"))));
}

TEST(RoleServices, ArePutRightAndCreatedAgain) {
  World world;
  world.settle();
  const std::string name = service_name(world.name_of("decode"));
  world.services().at(name)["spec"]["selector"] = {{"app", "other"}};
  EXPECT_THAT(plan::writes_of(world.plan()), ElementsAre("patch Service " + name));
  world.services().erase(name);
  EXPECT_THAT(plan::writes_of(world.plan()), ElementsAre("create Service " + name));
}

TEST(RoleServices, OfAnOldRevisionAreDeletedAlsoIfTheirSelectorWasChanged) {
  World world;
  world.settle();
  const std::string old = service_name(world.name_of("decode"));
  world.use_image("serve:2");
  world.services().at(old)["spec"]["selector"] = {{"app", "other"}};
  world.settle();
  EXPECT_FALSE(world.services().contains(old));
  EXPECT_EQ(world.services().size(), 2U);
}

}  // namespace
}  // namespace tpuslice::disaggregatedset
