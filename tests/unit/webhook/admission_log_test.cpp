#include "webhook/admission_log.h"
#include "tests/support/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/pods.h"
#include "tests/support/reviews.h"
#include "tests/unit/tpu/rules/clusters.h"

namespace tpuslice::webhook {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AdmissionLogTest : public ::testing::Test {
 protected:
  Logger logger(LogLevel level) {
    LogOptions options;
    options.level = level;
    options.clock = &clock_;
    options.sink = [this](std::string_view line) { lines_.push_back(Json::parse(line)); };
    return Logger(options);
  }
  static AdmissionRecord refused() {
    return {"uid-1", "RayCluster", "ml", "train", "CREATE", false, 422, "spec.x: Required value"};
  }

  FakeClock clock_;
  std::vector<Json> lines_;
};

TEST_F(AdmissionLogTest, ARefusalHasTheUidOfTheReview) {
  AdmissionLog(logger(LogLevel::kInfo), clock_).record("/validate", refused());
  ASSERT_THAT(lines_, SizeIs(1));
  Json line = lines_[0];
  line.erase("ts");
  EXPECT_EQ(line, Json({{"level", "info"},
                        {"severity", "INFO"},
                        {"msg", "admission denied"},
                        {"webhook", "/validate"},
                        {"requestID", "uid-1"},
                        {"operation", "CREATE"},
                        {"kind", "RayCluster"},
                        {"namespace", "ml"},
                        {"name", "train"},
                        {"code", 422},
                        {"reason", "spec.x: Required value"},
                        {"left_out", 0}}));
}

TEST_F(AdmissionLogTest, AllowedReviewsAreLoggedAtLevelDebug) {
  AdmissionRecord allowed = refused();
  allowed.allowed = true;
  AdmissionLog(logger(LogLevel::kInfo), clock_).record("/validate", allowed);
  EXPECT_THAT(lines_, IsEmpty());
  AdmissionLog(logger(LogLevel::kDebug), clock_).record("/validate", allowed);
  ASSERT_THAT(lines_, SizeIs(1));
  EXPECT_EQ(lines_[0]["msg"], "admission allowed");
}

TEST_F(AdmissionLogTest, AFloodOfRefusalsIsCutAndCounted) {
  AdmissionLog log(logger(LogLevel::kInfo), clock_);
  AdmissionRecord long_one = refused();
  long_one.message = std::string(100'000, 'x');
  long_one.name = std::string(100'000, 'n');
  for (int i = 0; i < 1000; ++i) log.record("/validate", long_one);
  EXPECT_THAT(lines_, SizeIs(50));
  EXPECT_EQ(lines_[0]["reason"].get<std::string>().size(), 515U);
  EXPECT_LT(lines_[0]["name"].get<std::string>().size(), 300U);
  clock_.advance(1s);
  log.record("/validate", refused());
  EXPECT_EQ(lines_.back()["left_out"], 950);
}

TEST(AdmissionRecords, AreMadeOfReviews) {
  const Json review = testing::review_of(rules::testing::tpu_cluster(), "ray.io", "RayCluster");
  AdmissionRecord record;
  EXPECT_EQ(handle_admission(testing::post("/validate-ray-io-v1-raycluster", review), with_kinds(), &record).status,
            200);
  EXPECT_EQ(record.uid, review["request"]["uid"].get<std::string>());
  EXPECT_EQ(record.kind, "RayCluster");
  EXPECT_EQ(record.operation, "CREATE");
  AdmissionRecord none;
  EXPECT_EQ(
      handle_admission(testing::post("/validate-ray-io-v1-raycluster", Json::object()), with_kinds(), &none).status,
      400);
  EXPECT_EQ(none.uid, "") << "not a review";
}

}  // namespace
}  // namespace tpuslice::webhook
