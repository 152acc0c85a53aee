#include "controllers/runtime/watch/quarantine.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class QuarantineTest : public ::testing::Test {
 protected:
  QuarantineTest() {
    LogOptions options;
    options.clock = &clock_;
    options.format = LogFormat::kText;
    options.sink = [this](std::string_view line) { lines_.emplace_back(line); };
    quarantine_ = std::make_unique<Quarantine>(counter_, Logger(options));
    quarantine_->on_report([this](const QuarantinedObject& object) {
      if (leads_) reported_.push_back(object.key.name + ": " + object.error.message());
      return leads_;
    });
  }
  void add(const std::string& name, const std::string& why = "too long", const std::string& uid = "uid") {
    quarantine_->add({kPods, {"default", name}, uid, Error(ErrorCode::kInvalidArgument, why)}, clock_.now());
  }
  void report() {
    clock_.advance(5s);
    quarantine_->report_pending(clock_.now());
  }

  FakeClock clock_;
  Metrics metrics_;
  Counter& counter_ = metrics_.counter("test_total", "");
  std::vector<std::string> lines_;
  std::vector<std::string> reported_;
  bool leads_ = true;
  std::unique_ptr<Quarantine> quarantine_;
};

/// Regression: one line for each version, as often as its owner wrote the object.
TEST_F(QuarantineTest, LogsAndReportsAnObjectAtGrowingIntervals) {
  for (int minute = 0; minute < 60; ++minute) {
    for (int i = 0; i < 100; ++i) add("a", "it has " + std::to_string(i) + " bytes");
    clock_.advance(1min);
  }
  EXPECT_THAT(lines_, SizeIs(6)) << "after 0, 1, 3, 7, 15 and 31 minutes";
  EXPECT_THAT(lines_[1], HasSubstr("versions=100"));
  EXPECT_THAT(reported_, SizeIs(6));
  EXPECT_EQ(counter_.value(), 6000);
}

TEST_F(QuarantineTest, LogsEachObject) {
  add("a");
  add("b", "malformed");
  EXPECT_THAT(reported_, ElementsAre("a: too long", "b: malformed"));
}

/// Regression: an object that was quarantined before a take-over got no event.
TEST_F(QuarantineTest, ReportsLaterWhatCouldNotBeReported) {
  leads_ = false;
  add("a");
  report();
  EXPECT_THAT(reported_, IsEmpty());
  leads_ = true;
  report();
  report();
  EXPECT_THAT(reported_, ElementsAre("a: too long"));
  EXPECT_THAT(lines_, SizeIs(1));
}

TEST_F(QuarantineTest, ReportsAnotherReasonWhenTheIntervalIsOver) {
  add("a");
  add("a", "malformed");
  report();
  EXPECT_THAT(reported_, ElementsAre("a: too long"));
  clock_.advance(1min);
  report();
  report();
  EXPECT_THAT(reported_, ElementsAre("a: too long", "a: malformed"));
}

TEST_F(QuarantineTest, ReportsAnObjectThatWasCreatedAgainSoon) {
  add("a");
  quarantine_->remove({"default", "a"});
  add("a", "too long", "another");
  report();
  EXPECT_THAT(reported_, SizeIs(2));
  EXPECT_THAT(lines_, SizeIs(1));
}

TEST_F(QuarantineTest, DoesNotReportObjectsThatWereReadSince) {
  leads_ = false;
  add("read");
  add("not-listed");
  add("listed");
  quarantine_->remove({"default", "read"});
  quarantine_->begin_list();
  add("listed");
  quarantine_->end_list();
  leads_ = true;
  report();
  EXPECT_THAT(reported_, ElementsAre("listed: too long"));
}

TEST_F(QuarantineTest, AnObjectThatIsMendedAndBrokenInTurnsIsLoggedAtIntervals) {
  for (int i = 0; i < 100; ++i) {
    add("a");
    quarantine_->remove({"default", "a"});
  }
  EXPECT_THAT(lines_, SizeIs(1));
}

TEST_F(QuarantineTest, RemembersALimitedNumberOfObjects) {
  for (int i = 0; i < 2000; ++i) add(std::to_string(i));
  EXPECT_THAT(lines_, SizeIs(500));
  for (int i = 0; i < 500; ++i) quarantine_->remove({"default", std::to_string(i)});
  clock_.advance(1min);
  add("new");
  EXPECT_THAT(lines_, SizeIs(501));
}

}  // namespace
}  // namespace tpuslice::runtime
