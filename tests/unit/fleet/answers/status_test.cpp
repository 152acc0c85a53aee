#include "fleet/answers/status.h"

#include <gtest/gtest.h>

#include "tests/support/fleet_document.h"

namespace tpuslice::fleet {
namespace {

using namespace std::chrono_literals;
using testing::FleetDocument;

TEST(Status, CountsPoolsAndChipsOfEachShape) {
  FleetDocument document;
  document.pool({.name = "v6e-a"}).pool({.name = "v6e-b"}).pool({.name = "v6e-c", .not_ready = {0}});
  document.pool({.name = "v5e-a", .accelerator = "tpu-v5-lite-podslice", .topology = "4x8", .hosts = 8});
  document.slice({.workload = "train", .pool = "v6e-a"});
  document.slice({.workload = "big", .slice = "big-0", .gang = 2, .since = 20min});
  document.slice({.workload = "big", .slice = "big-1", .gang = 2, .since = 20min});
  document.slice({.workload = "other", .topology = "8x8", .hosts = 16});
  const auto rows = status_of(build_fleet(*read_snapshot(document.json())));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].tpu, "v5e");
  EXPECT_EQ(rows[0].chips, 32);
  const StatusRow& row = rows[1];
  EXPECT_EQ(row.topology, "4x4");
  EXPECT_EQ(row.pools, 3);
  EXPECT_EQ(row.in_use, 1);
  EXPECT_EQ(row.reserved, 1);
  EXPECT_EQ(row.free, 0);
  EXPECT_EQ(row.broken, 1);
  EXPECT_EQ(row.chips_in_use, 16);
  EXPECT_EQ(row.chips, 48);
  EXPECT_EQ(row.waiting, 2);
  EXPECT_EQ(row.oldest, FleetDocument::now() - 20min);
  EXPECT_EQ(rows[2].topology, "8x8") << "no pool, but a slice waits for one";
  EXPECT_EQ(rows[2].waiting, 1);
}

}  // namespace
}  // namespace tpuslice::fleet
