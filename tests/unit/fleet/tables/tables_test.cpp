#include "fleet/tables/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/tables/texts.h"
#include "tests/support/fleet_document.h"

namespace tpuslice::fleet {
namespace {

using testing::FleetDocument;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(Tables, HaveFiftyRowsUnlessAllAreAskedFor) {
  const std::vector<Pool> pools(53);
  const Rows rows = pools_table(pools, FleetDocument::now());
  EXPECT_THAT(rows.table.rows, SizeIs(50));
  EXPECT_EQ(more_text(rows.more), "and 3 more, --all shows them");
  EXPECT_THAT(pools_table(pools, FleetDocument::now(), {.all = true}).table.rows, SizeIs(53));
}

TEST(Tables, DrawHosts) {
  EXPECT_EQ(hosts_text({.wanted_hosts = 7, .hosts = "ufrbcl"}), "#.rxcm_");
  Pool large{.wanted_hosts = 64, .used_hosts = 61, .hosts = std::string(61, 'u') + "bbb"};
  EXPECT_EQ(hosts_text(large), "61 of 64 x3");
}

TEST(Tables, HaveLinesOfReadableWidth) {
  FleetDocument document;
  for (const char* name : {"v6e-4x4-a", "v6e-4x4-b"}) document.pool({.name = name});
  document.slice({.workload = "train", .namespace_name = "ml", .pool = "v6e-4x4-a"});
  const Fleet fleet = build_fleet(*read_snapshot(document.json()));
  const std::string text = to_text(pools_table(fleet.pools, fleet.time).table) +
                           to_text(slices_table(fleet.slices, fleet.time).table) +
                           to_text(status_table(status_of(fleet), fleet.time).table);
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin)) {
    EXPECT_LE(end - begin, 110U) << text.substr(begin, end - begin);
  }
  EXPECT_THAT(text, HasSubstr("16 of 32 (50%)"));
}

TEST(Texts, CountInWords) {
  EXPECT_EQ(ordinal(1), "1st");
  EXPECT_EQ(ordinal(2), "2nd");
  EXPECT_EQ(ordinal(3), "3rd");
  EXPECT_EQ(ordinal(11), "11th");
  EXPECT_EQ(ordinal(112), "112th");
  EXPECT_EQ(ordinal(21), "21st");
  EXPECT_EQ(counted(1, "host"), "1 host");
  EXPECT_EQ(counted(4, "host"), "4 hosts");
}

// A pod's message and a workload's labels are text of users.
TEST(Texts, HaveNoControlCharactersOfUsers) {
  const std::string bad = "\x1b[2J\n\x7f";
  const FleetSlice slice{.workload = {"ml" + bad, "JobSet", "a" + bad},
                         .slice = "a" + bad,
                         .tpu = "v6e" + bad,
                         .topology = "4x4" + bad,
                         .hosts = 4,
                         .pool = "p" + bad,
                         .code = "c" + bad,
                         .reason = "r" + bad};
  WorkloadExplanation waits{.workload = slice.workload, .slices = {slice}, .waiting = 1};
  waits.earliest = waits.autoscaler = bad;
  waits.helps = {bad};
  PoolExplanation pool{.problems = {bad}, .starts = {bad}};
  pool.pool.name = pool.pool.problem = pool.pool.zone = pool.pool.topology = bad;
  ManifestPlan plan{.slices = {slice}, .autoscaler = bad};
  plan.hosts.push_back({.slice = bad, .env = {{bad, bad}}});
  ManifestPlan fits = plan;
  fits.slices.front().code.clear();
  HistoryAnswer history;
  history.records.push_back({.why = bad});
  history.worst_node = bad;
  const Timestamp now = FleetDocument::now();
  for (const std::string& text :
       {explanation_text(waits, now), explanation_text(pool, now), plan_text(plan, {}, true), plan_text(fits, {}, true),
        history_text(history, now), what_if_text({.changes = {bad}}, now)}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find('\x7f'), std::string::npos) << text;
    EXPECT_EQ(text.find("[2J\n"), std::string::npos) << text;
  }
}

TEST(Texts, ClocksHaveTheDateOfAnotherDay) {
  EXPECT_EQ(clock_text(FleetDocument::now(), FleetDocument::now()), "12:00");
  EXPECT_EQ(clock_text(FleetDocument::now() + std::chrono::hours(24), FleetDocument::now()), "2026-01-02 12:00");
}

}  // namespace
}  // namespace tpuslice::fleet
