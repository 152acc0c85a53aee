// The operator dies after, or just before, each single write of a LeaderWorkerSet's life; the next one finishes the
// work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/lws_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::IsEmpty;
using namespace std::chrono_literals;

/// One thing that happens, and what has to come of it.
struct LwsChapter {
  const char* name;
  std::function<void(LwsWorld&)> act;
  std::function<bool(LwsWorld&)> done;
};

const std::vector<LwsChapter>& life_of_a_set() {
  static const std::vector<LwsChapter> kLife{
      {"created", [](LwsWorld& world) { world.apply(); }, [](LwsWorld& world) { return world.is_ready(2, "first"); }},
      {"restarted",
       [](LwsWorld& world) {
         world.promise(1);
         world.restart_container("serve-1-2");
       },
       [](LwsWorld& world) { return world.is_ready(2, "first"); }},
      {"updated", [](LwsWorld& world) { world.use_image("second"); },
       [](LwsWorld& world) { return world.is_ready(2, "second"); }},
      {"scaled",
       [](LwsWorld& world) {
         world.promise(2);
         world.scale(3);
       },
       [](LwsWorld& world) { return world.is_ready(3, "second"); }},
      {"deleted",
       [](LwsWorld& world) {
         world.promise(0);
         world.remove();
       },
       [](LwsWorld& world) { return world.is_gone(); }},
  };
  return kLife;
}

struct LwsStory {
  std::vector<std::string> digests;  ///< After each chapter that came to its end.
  std::vector<std::string> violations;
  std::int64_t writes = 0;
};

/// `die_at` 0: no crash.
LwsStory live_as_set(std::int64_t die_at, bool before_server) {
  LwsWorld world;
  OperatorOptions options = world.fresh;
  options.faults.die_at_write = die_at;
  options.faults.die_before_server = before_server;
  world.start_operator(options);
  LwsStory story;
  for (const LwsChapter& chapter : life_of_a_set()) {
    chapter.act(world);
    if (!world.run_until([&] { return chapter.done(world); }, 5min)) {
      story.digests.push_back(fmt::format("never {}:\n{}", chapter.name, world.digest()));
      break;
    }
    world.run_for(10s);
    story.digests.push_back(world.digest());
  }
  story.writes = world.operators.front()->faults().writes();
  story.violations = world.violations;
  return story;
}

class LwsCrash : public ::testing::TestWithParam<bool> {};

TEST_P(LwsCrash, AtAnyWriteOfALifeChangesNothingInTheEnd) {
  const LwsStory whole = live_as_set(0, false);
  ASSERT_THAT(whole.violations, IsEmpty());
  ASSERT_EQ(whole.digests.size(), life_of_a_set().size()) << whole.digests.back();
  EXPECT_GE(whole.writes, 30) << "enough to mean something";
  for (std::int64_t n = 1; n <= whole.writes; ++n) {
    SCOPED_TRACE(fmt::format("dies {} write {} of {}", GetParam() ? "before" : "after", n, whole.writes));
    const LwsStory crashed = live_as_set(n, GetParam());
    ASSERT_THAT(crashed.violations, IsEmpty());
    for (std::size_t i = 0; i < crashed.digests.size(); ++i) {
      ASSERT_EQ(crashed.digests[i], whole.digests[i]) << life_of_a_set()[i].name;
    }
    ASSERT_EQ(crashed.digests.size(), whole.digests.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Of, LwsCrash, ::testing::Bool(), [](const auto& test) {
  return std::string(test.param ? "OperatorBeforeTheServer" : "OperatorAfterTheServer");
});

}  // namespace
}  // namespace tpuslice::testing
