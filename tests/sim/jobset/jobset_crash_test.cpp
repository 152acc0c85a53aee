// The operator crashes after, or just before, each write in the lifecycle of a JobSet; the next one finishes the work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/support/jobset_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::IsEmpty;
using namespace std::chrono_literals;

/// An event and its expected result.
struct Step {
  const char* name;
  std::function<void(JobSetWorld&)> act;
  std::function<bool(JobSetWorld&)> done;
};

const std::vector<Step>& lifecycle() {
  static const std::vector<Step> kLifecycle{
      {"created", [](JobSetWorld& world) { world.apply(); }, [](JobSetWorld& world) { return world.is_ready(); }},
      {"a host fails", [](JobSetWorld& world) { world.fail_host(1, 0); },
       [](JobSetWorld& world) { return world.is_ready(1); }},
      {"suspended", [](JobSetWorld& world) { world.suspend(); },
       [](JobSetWorld& world) { return world.is_suspended(); }},
      {"resumed", [](JobSetWorld& world) { world.suspend(false); },
       [](JobSetWorld& world) { return world.is_ready(1); }},
      {"completed", [](JobSetWorld& world) { world.finish_pods(); },
       [](JobSetWorld& world) { return world.terminal_state() == "Completed"; }},
      {"deleted", [](JobSetWorld& world) { world.remove(); }, [](JobSetWorld& world) { return world.is_deleted(); }},
  };
  return kLifecycle;
}

struct Outcome {
  std::vector<std::string> digests;  ///< After each completed step.
  std::vector<std::string> violations;
  std::int64_t writes = 0;
};

/// How the operator crashes, and the kind of JobSet.
struct CrashCase {
  const char* name;
  bool before_server;
  bool fast;  ///< It restarts at FailureTarget, before the old pods are deleted.
};

/// `die_at` 0: no crash.
Outcome run(std::int64_t die_at, const CrashCase& how) {
  JobSetWorld world;
  OperatorOptions options;
  options.faults.die_at_write = die_at;
  options.faults.die_before_server = how.before_server;
  world.start_operator(options);
  Outcome outcome;
  for (const Step& step : lifecycle()) {
    step.act(world);
    if (how.fast && &step == &lifecycle().front()) {
      world.edit(
          [](Json& json) { json["metadata"]["annotations"][std::string(jobset::kRestartAt)] = "FailureTarget"; });
    }
    if (!world.run_until([&] { return step.done(world); }, 5min)) {
      outcome.digests.push_back(fmt::format("never {}:\n{}", step.name, world.state()));
      break;
    }
    world.run_for(10s);
    outcome.digests.push_back(world.digest());
    for (const std::string& partial : world.partial_slices()) {
      world.violations.push_back(fmt::format("{}: {}", step.name, partial));
    }
  }
  outcome.writes = world.operators.front()->faults().writes();
  outcome.violations = world.violations;
  return outcome;
}

class JobSetCrash : public ::testing::TestWithParam<CrashCase> {};

TEST_P(JobSetCrash, AtAnyWriteDoesNotChangeTheResult) {
  const Outcome whole = run(0, {.name = "", .before_server = false, .fast = GetParam().fast});
  ASSERT_THAT(whole.violations, IsEmpty());
  ASSERT_EQ(whole.digests.size(), lifecycle().size()) << whole.digests.back();
  EXPECT_GE(whole.writes, 40) << "too few writes to test";
  // The server's state before a write is that after the previous one, so a sample is enough.
  for (std::int64_t n = 1; n <= whole.writes; n += GetParam().before_server ? 4 : 1) {
    SCOPED_TRACE(fmt::format("dies {} write {} of {}", GetParam().before_server ? "before" : "after", n, whole.writes));
    const Outcome crashed = run(n, GetParam());
    ASSERT_THAT(crashed.violations, IsEmpty());
    for (std::size_t i = 0; i < crashed.digests.size(); ++i) {
      ASSERT_EQ(crashed.digests[i], whole.digests[i]) << lifecycle()[i].name;
    }
    ASSERT_EQ(crashed.digests.size(), whole.digests.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Of, JobSetCrash,
                         ::testing::Values(CrashCase{"OperatorBeforeTheServer", true, false},
                                           CrashCase{"OperatorAfterTheServer", false, false},
                                           CrashCase{"OperatorOfAnOverlappingRestart", false, true}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tpuslice::testing
