#include "fleet/answers/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/tables/texts.h"
#include "tests/support/fleet_document.h"

namespace tpuslice::fleet {
namespace {

using namespace std::chrono_literals;
using testing::FleetDocument;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

FleetDocument three_pools() {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).pool({.name = "v6e-b"}).pool({.name = "v6e-c"});
  document.slice({.workload = "train", .pool = "v6e-a", .since = 52min});
  document.slice({.workload = "eval", .pool = "v6e-b", .since = 20min});
  return document;
}

WhatIf ask(const FleetDocument& document, std::string_view verb, std::string_view subject) {
  const Snapshot snapshot = *read_snapshot(document.json());
  const auto change = read_change(verb, subject, snapshot, "");
  EXPECT_TRUE(change.ok()) << change.error().message();
  return what_if(snapshot, {*change});
}

const SliceEffect& effect_of(const WhatIf& answer, const std::string& workload) {
  return *std::ranges::find_if(answer.effects,
                               [&](const SliceEffect& effect) { return effect.slice.workload.name == workload; });
}

TEST(WhatIf, ADrainedSliceGoesToAFreePool) {
  const WhatIf answer = ask(three_pools(), "drain", "pool/v6e-a");
  ASSERT_EQ(answer.effects.size(), 1U);
  EXPECT_TRUE(answer.effects[0].ends);
  EXPECT_EQ(answer.effects[0].before, "v6e-a");
  EXPECT_EQ(answer.effects[0].after, "v6e-c");
  EXPECT_EQ(answer.chips_before, 32);
  EXPECT_EQ(answer.chips_after, 32);
}

TEST(WhatIf, ADrainDelaysThoseThatWait) {
  FleetDocument document = three_pools();
  document.slice({.workload = "third", .pool = "v6e-c"}).slice({.workload = "next", .since = 5min});
  const WhatIf answer = ask(document, "drain", "pool/v6e-a");
  EXPECT_EQ(effect_of(answer, "train").after, "");
  EXPECT_EQ(effect_of(answer, "train").position_after, 1) << "it keeps its place of 52 minutes ago";
  EXPECT_EQ(effect_of(answer, "next").position_before, 1);
  EXPECT_EQ(effect_of(answer, "next").position_after, 2);
  EXPECT_FALSE(effect_of(answer, "next").ends);
  EXPECT_EQ(answer.waiting_after, 2);
  const std::string text = what_if_text(answer, FleetDocument::now());
  EXPECT_THAT(text, HasSubstr("If: drain pool/v6e-a\n"));
  EXPECT_THAT(text, HasSubstr("waits, 2nd of 2"));
}

TEST(WhatIf, FurtherPoolsStartThoseThatWait) {
  FleetDocument document = three_pools();
  document.slice({.workload = "third", .pool = "v6e-c"}).slice({.workload = "next", .since = 5min});
  const WhatIf answer = ask(document, "add", "v6e 4x4");
  ASSERT_EQ(answer.effects.size(), 1U);
  EXPECT_EQ(answer.effects[0].after, "v6e-4x4-new-1");
  EXPECT_FALSE(answer.effects[0].ends);
}

TEST(WhatIf, ADeletedWorkloadMakesRoom) {
  FleetDocument document = three_pools();
  document.slice({.workload = "third", .pool = "v6e-c"}).slice({.workload = "next", .since = 5min});
  const WhatIf answer = ask(document, "delete", "jobset/eval");
  EXPECT_TRUE(effect_of(answer, "eval").deleted);
  EXPECT_EQ(effect_of(answer, "next").after, "v6e-b");
}

TEST(WhatIf, NothingHappensToOthers) {
  FleetDocument document = three_pools();
  const WhatIf answer = ask(document, "drain", "pool/v6e-c");
  EXPECT_THAT(answer.effects, IsEmpty());
  EXPECT_THAT(what_if_text(answer, FleetDocument::now()), HasSubstr("No slice ends"));
}

}  // namespace
}  // namespace tpuslice::fleet
