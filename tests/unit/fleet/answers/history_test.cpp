#include "fleet/answers/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/tables/texts.h"
#include "tests/support/fleet_document.h"

namespace tpuslice::fleet {
namespace {

using namespace std::chrono_literals;
using testing::FleetDocument;
using ::testing::HasSubstr;

Snapshot with_history() {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).slice({.workload = "train", .pool = "v6e-a", .since = 60min});
  document.history({{"time", "2026-01-01T10:00:00Z"},
                    {"namespace", "default"},
                    {"kind", "JobSet"},
                    {"name", "train"},
                    {"slice", "train-0"},
                    {"what", "TornDown"},
                    {"why", "host 2: main exited 137 (OOMKilled)"},
                    {"node", "v6e-a-2"},
                    {"pool", "v6e-a"},
                    {"lostHostSeconds", 3600},
                    {"backAfterSeconds", 8},
                    {"backOn", "v6e-a"}});
  document.history({{"time", "2026-01-01T11:00:00Z"},
                    {"namespace", "default"},
                    {"kind", "JobSet"},
                    {"name", "train"},
                    {"what", "TornDown"},
                    {"node", "v6e-a-2"}});
  document.history({{"time", "2025-12-30T11:00:00Z"}, {"namespace", "ml"}, {"kind", "RayJob"}, {"name", "x"}});
  return *read_snapshot(document.json());
}

HistoryAnswer ask(const HistoryQuery& query) {
  const Snapshot snapshot = with_history();
  return history_of(snapshot.history, build_fleet(snapshot), query);
}

TEST(History, AddsUpWhatWasLost) {
  const HistoryAnswer answer = ask({.since = FleetDocument::now() - 12h});
  EXPECT_EQ(answer.records.size(), 2U);
  EXPECT_EQ(answer.lost_host_seconds, 3600);
  EXPECT_EQ(answer.work_host_seconds, 4 * 3600 + 3600);
  EXPECT_DOUBLE_EQ(*answer.goodput(), 80.0);
  EXPECT_EQ(answer.worst_node, "v6e-a-2");
  EXPECT_EQ(answer.worst_count, 2);
  const std::string text = history_text(answer, FleetDocument::now());
  EXPECT_THAT(text, HasSubstr("8s, same pool"));
  EXPECT_THAT(text, HasSubstr("2 interruptions, 1.0 host-hours lost of 5.0 (80.0% goodput); worst node: v6e-a-2 (2)"));
}

TEST(History, IsOfOneWorkloadNamespaceOrPool) {
  EXPECT_EQ(ask({}).records.size(), 3U);
  EXPECT_EQ(ask({}).records.front().namespace_name, "ml") << "the latest is last";
  EXPECT_EQ(ask({.namespace_name = "ml"}).records.size(), 1U);
  EXPECT_EQ(ask({.kind = "jobset", .name = "train"}).records.size(), 2U);
  EXPECT_EQ(ask({.pool = "v6e-a"}).records.size(), 1U);
  EXPECT_FALSE(ask({.namespace_name = "ml"}).goodput());
}

}  // namespace
}  // namespace tpuslice::fleet
