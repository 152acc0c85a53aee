// The operator crashes before or after each write of a LeaderWorkerSet's lifecycle; the next one continues.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/lws_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::IsEmpty;
using namespace std::chrono_literals;

/// A user's action or a fault, and when its effects are complete.
struct LwsStep {
  const char* name;
  std::function<void(LwsWorld&)> act;
  std::function<bool(LwsWorld&)> done;
};

const std::vector<LwsStep>& lifecycle() {
  static const std::vector<LwsStep> kLifecycle{
      {"created", [](LwsWorld& world) { world.apply(); }, [](LwsWorld& world) { return world.is_ready(2, "first"); }},
      {"restarted",
       [](LwsWorld& world) {
         world.require_ready(1);
         world.restart_container("serve-1-2");
       },
       [](LwsWorld& world) { return world.is_ready(2, "first"); }},
      {"updated", [](LwsWorld& world) { world.use_image("second"); },
       [](LwsWorld& world) { return world.is_ready(2, "second"); }},
      {"scaled",
       [](LwsWorld& world) {
         world.require_ready(2);
         world.scale(3);
       },
       [](LwsWorld& world) { return world.is_ready(3, "second"); }},
      {"deleted",
       [](LwsWorld& world) {
         world.require_ready(0);
         world.remove();
       },
       [](LwsWorld& world) { return world.is_deleted(); }},
  };
  return kLifecycle;
}

struct LwsRun {
  std::vector<std::string> digests;  ///< After each completed step.
  std::vector<std::string> violations;
  std::int64_t writes = 0;
};

/// `die_at` 0: no crash.
LwsRun run_lifecycle(std::int64_t die_at, bool before_server) {
  LwsWorld world;
  OperatorOptions options = world.replacement;
  options.faults.die_at_write = die_at;
  options.faults.die_before_server = before_server;
  world.start_operator(options);
  LwsRun run;
  for (const LwsStep& step : lifecycle()) {
    step.act(world);
    if (!world.run_until([&] { return step.done(world); }, 5min)) {
      run.digests.push_back(fmt::format("not {}:\n{}", step.name, world.digest()));
      break;
    }
    world.run_for(10s);
    run.digests.push_back(world.digest());
  }
  run.writes = world.operators.front()->faults().writes();
  run.violations = world.violations;
  return run;
}

class LwsCrash : public ::testing::TestWithParam<bool> {};

TEST_P(LwsCrash, AtAnyWriteDoesNotChangeTheFinalState) {
  const LwsRun complete = run_lifecycle(0, false);
  ASSERT_THAT(complete.violations, IsEmpty());
  ASSERT_EQ(complete.digests.size(), lifecycle().size()) << complete.digests.back();
  EXPECT_GE(complete.writes, 30) << "too few writes to crash at";
  for (std::int64_t n = 1; n <= complete.writes; ++n) {
    SCOPED_TRACE(fmt::format("crashes {} write {} of {}", GetParam() ? "before" : "after", n, complete.writes));
    const LwsRun crashed = run_lifecycle(n, GetParam());
    ASSERT_THAT(crashed.violations, IsEmpty());
    for (std::size_t i = 0; i < crashed.digests.size(); ++i) {
      ASSERT_EQ(crashed.digests[i], complete.digests[i]) << lifecycle()[i].name;
    }
    ASSERT_EQ(crashed.digests.size(), complete.digests.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Of, LwsCrash, ::testing::Bool(), [](const auto& test) {
  return std::string(test.param ? "BeforeTheServer" : "AfterTheServer");
});

}  // namespace
}  // namespace tpuslice::testing
