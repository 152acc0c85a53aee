// Children of upstream's v0.9, which have no slice in their names and labels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/disaggregatedset/world.h"
#include "tests/support/plan_matchers.h"

namespace tpuslice::disaggregatedset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Renames the sets and services of slice 0 as v0.9 named them.
World a_legacy_world() {
  World world;
  world.settle();
  for (const char* role : {"prefill", "decode"}) {
    const std::string name = world.name_of(role);
    const std::string legacy = fmt::format("llm-{}-{}", world.revision(), role);
    Json set = world.sets().at(name);
    set["metadata"]["name"] = legacy;
    set["metadata"]["labels"].erase(std::string(kSlice));
    world.sets().erase(name);
    world.sets()[legacy] = std::move(set);
    Json service = world.services().at(service_name(name));
    service["metadata"]["name"] = service_name(legacy);
    service["metadata"]["labels"].erase(std::string(kSlice));
    service["spec"]["selector"].erase(std::string(kSlice));
    world.services().erase(service_name(name));
    world.services()[service_name(legacy)] = std::move(service);
  }
  return world;
}

TEST(LegacySets, AreKeptAsThoseOfSliceZero) {
  World world = a_legacy_world();
  EXPECT_THAT(plan::writes_of(world.plan()), IsEmpty());
  world.scale("decode", 3);
  EXPECT_THAT(plan::writes_of(world.plan()),
              ElementsAre(fmt::format("patch LeaderWorkerSet llm-{}-decode", world.revision())));
}

TEST(LegacySets, AreRolledOutToSetsWithASlice) {
  World world = a_legacy_world();
  world.use_image("serve:2");
  world.settle();
  EXPECT_EQ(picture(world), "0 decode 2 new, 0 prefill 2 new");
  EXPECT_EQ(world.services().size(), 2U);
  EXPECT_TRUE(world.services().contains(service_name(world.name_of("decode"))));
}

TEST(LegacySets, AreReplacedBeforeThereAreOtherSlices) {
  World world = a_legacy_world();
  world.change_set("/spec/slices", 2);
  const std::string revision = world.revision();
  const auto stages = plan::stages_of(world.plan());
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_THAT(stages[0], ElementsAre(fmt::format("delete Service llm-{}-decode-prv", revision),
                                     fmt::format("delete Service llm-{}-prefill-prv", revision)));
  EXPECT_THAT(stages[1], ElementsAre(fmt::format("delete LeaderWorkerSet llm-{}-decode", revision),
                                     fmt::format("delete LeaderWorkerSet llm-{}-prefill", revision)));
  EXPECT_THAT(stages[2], ElementsAre("create LeaderWorkerSet " + world.name_of("prefill", 1),
                                     "create LeaderWorkerSet " + world.name_of("decode", 1)));
  world.settle();
  EXPECT_EQ(picture(world), "0 decode 2 new, 0 prefill 2 new, 1 decode 2 new, 1 prefill 2 new");
  EXPECT_EQ(world.services().size(), 4U);
}

}  // namespace
}  // namespace tpuslice::disaggregatedset
