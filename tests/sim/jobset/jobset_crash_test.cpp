// The operator dies after, or just before, each single write of a JobSet's life; the next one finishes the work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/labels.h"
#include "tests/support/jobset_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::IsEmpty;
using namespace std::chrono_literals;

/// One thing that happens, and what has to come of it.
struct Chapter {
  const char* name;
  std::function<void(JobSetWorld&)> act;
  std::function<bool(JobSetWorld&)> done;
};

const std::vector<Chapter>& life() {
  static const std::vector<Chapter> kLife{
      {"created", [](JobSetWorld& world) { world.apply(); }, [](JobSetWorld& world) { return world.is_ready(); }},
      {"a host fails", [](JobSetWorld& world) { world.fail_host(1, 0); },
       [](JobSetWorld& world) { return world.is_ready(1); }},
      {"suspended", [](JobSetWorld& world) { world.suspend(); },
       [](JobSetWorld& world) { return world.is_suspended(); }},
      {"resumed", [](JobSetWorld& world) { world.suspend(false); },
       [](JobSetWorld& world) { return world.is_ready(1); }},
      {"completed", [](JobSetWorld& world) { world.finish_pods(); },
       [](JobSetWorld& world) { return world.terminal_state() == "Completed"; }},
      {"deleted", [](JobSetWorld& world) { world.remove(); }, [](JobSetWorld& world) { return world.is_gone(); }},
  };
  return kLife;
}

struct LifeStory {
  std::vector<std::string> digests;  ///< After each chapter that came to its end.
  std::vector<std::string> violations;
  std::int64_t writes = 0;
};

/// How the operator dies, and what for a JobSet it serves.
struct CrashCase {
  const char* name;
  bool before_server;
  bool fast;  ///< It restarts at FailureTarget, before the old pods are gone.
};

/// `die_at` 0: no crash.
LifeStory live(std::int64_t die_at, const CrashCase& how) {
  JobSetWorld world;
  OperatorOptions options;
  options.faults.die_at_write = die_at;
  options.faults.die_before_server = how.before_server;
  world.start_operator(options);
  LifeStory story;
  for (const Chapter& chapter : life()) {
    chapter.act(world);
    if (how.fast && &chapter == &life().front()) {
      world.edit(
          [](Json& json) { json["metadata"]["annotations"][std::string(jobset::kRestartAt)] = "FailureTarget"; });
    }
    if (!world.run_until([&] { return chapter.done(world); }, 5min)) {
      story.digests.push_back(fmt::format("never {}:\n{}", chapter.name, world.state()));
      break;
    }
    world.run_for(10s);
    story.digests.push_back(world.digest());
    for (const std::string& partial : world.partial_slices()) {
      world.violations.push_back(fmt::format("{}: {}", chapter.name, partial));
    }
  }
  story.writes = world.operators.front()->faults().writes();
  story.violations = world.violations;
  return story;
}

class JobSetCrash : public ::testing::TestWithParam<CrashCase> {};

TEST_P(JobSetCrash, AtAnyWriteOfALifeChangesNothingInTheEnd) {
  const LifeStory whole = live(0, {.name = "", .before_server = false, .fast = GetParam().fast});
  ASSERT_THAT(whole.violations, IsEmpty());
  ASSERT_EQ(whole.digests.size(), life().size()) << whole.digests.back();
  EXPECT_GE(whole.writes, 40) << "enough to mean something";
  // What the server has before a write is what it had after the one before, but for the time: some will do.
  for (std::int64_t n = 1; n <= whole.writes; n += GetParam().before_server ? 4 : 1) {
    SCOPED_TRACE(fmt::format("dies {} write {} of {}", GetParam().before_server ? "before" : "after", n, whole.writes));
    const LifeStory crashed = live(n, GetParam());
    ASSERT_THAT(crashed.violations, IsEmpty());
    for (std::size_t i = 0; i < crashed.digests.size(); ++i) {
      ASSERT_EQ(crashed.digests[i], whole.digests[i]) << life()[i].name;
    }
    ASSERT_EQ(crashed.digests.size(), whole.digests.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Of, JobSetCrash,
                         ::testing::Values(CrashCase{"OperatorBeforeTheServer", true, false},
                                           CrashCase{"OperatorAfterTheServer", false, false},
                                           CrashCase{"OperatorOfAFastJobSet", false, true}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tpuslice::testing
