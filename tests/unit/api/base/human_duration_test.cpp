#include "api/base/human_duration.h"

#include <gtest/gtest.h>

namespace tpuslice {
namespace {

TEST(HumanDuration, HasTwoUnitsAtMost) {
  struct Row {
    std::int64_t seconds;
    const char* text;
  };
  const Row rows[] = {{0, "0s"},
                      {119, "119s"},
                      {120, "2m"},
                      {200, "3m20s"},
                      {3600, "60m"},
                      {4 * 3600, "4h"},
                      {8 * 3600, "8h"},
                      {47 * 3600, "47h"},
                      {3 * 86400, "3d"},
                      {100 * 86400, "100d"},
                      {800LL * 86400, "2y70d"},
                      {-5, "<invalid>"}};
  for (const Row& row : rows) EXPECT_EQ(human_duration(std::chrono::seconds(row.seconds)), row.text);
}

}  // namespace
}  // namespace tpuslice
