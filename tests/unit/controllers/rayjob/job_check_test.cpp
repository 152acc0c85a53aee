#include "controllers/rayjob/job_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/plan_matchers.h"
#include "tests/support/rayjob/world.h"

namespace tpuslice::rayjob {
namespace {

using namespace std::chrono_literals;

constexpr Timestamp kNow(100h);

TEST(RecordedJob, DoesNotGoBack) {
  struct Case {
    const char* before;
    const char* answer;
    const char* after;
  };
  for (const auto& [before, answer, after] :
       {Case{"", "PENDING", "PENDING"}, Case{"PENDING", "RUNNING", "RUNNING"}, Case{"RUNNING", "PENDING", "RUNNING"},
        Case{"RUNNING", "FAILED", "FAILED"}, Case{"FAILED", "SUCCEEDED", "FAILED"},
        Case{"SUCCEEDED", "RUNNING", "SUCCEEDED"}, Case{"", "STOPPED", "STOPPED"}}) {
    RayJobStatus status;
    status.job = before;
    record({answer, "", {}, {}}, kNow, status);
    EXPECT_EQ(status.job, after) << before << " and then " << answer;
  }
}

TEST(RecordedJob, HasNoTimesOfTheFuture) {
  RayJobStatus status;
  record({"FAILED", "", std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()}, kNow,
         status);
  EXPECT_EQ(status.job_started, kNow);
  EXPECT_EQ(status.job_ended, kNow);
  status = {};
  record({"FAILED", "", 1000, 2000}, kNow, status);
  EXPECT_EQ(status.job_started, Timestamp(1s));
  EXPECT_EQ(status.job_ended, Timestamp(2s));
  status = {};
  record({"FAILED", "", {}, {}}, kNow, status);
  EXPECT_EQ(status.job_ended, kNow) << "so that a wait for the submitter ends";
}

TEST(RecordedJob, IsWrittenOnlyWithItsStatus) {
  RayJobStatus status;
  record({"RUNNING", "one", {}, {}}, kNow, status);
  record({"RUNNING", "two", {}, {}}, kNow, status);
  EXPECT_EQ(status.message, "one");
}

}  // namespace
}  // namespace tpuslice::rayjob
