#include "controllers/runtime/key_schedule.h"

#include <gtest/gtest.h>

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;

class KeyScheduleTest : public ::testing::Test {
 protected:
  /// Names of the keys that are due, in their order.
  std::string pop_all(Instant now) {
    std::string names;
    while (const auto key = schedule_.pop(now)) names += key->name;
    return names;
  }

  const ObjectKey a_{"default", "a"};
  const ObjectKey b_{"default", "b"};
  const ObjectKey c_{"default", "c"};
  const Instant start_{1h};
  KeySchedule schedule_;
};

TEST_F(KeyScheduleTest, ReturnsKeysThatAreDueInTheOrderOfTheirTimes) {
  schedule_.add(a_, start_ + 3s);
  schedule_.add(b_, start_ + 1s);
  schedule_.add(c_, start_ + 2s);
  EXPECT_EQ(pop_all(start_ + 1s - 1ns), "");
  EXPECT_EQ(pop_all(start_ + 2s), "bc");
  EXPECT_EQ(pop_all(start_ + 1h), "a");
  EXPECT_EQ(pop_all(start_ + 1h), "") << "each key is returned once";
}

TEST_F(KeyScheduleTest, IsNeverDueWithoutAKey) {
  EXPECT_TRUE(schedule_.empty());
  EXPECT_EQ(schedule_.first_due(), kNever);
  EXPECT_EQ(schedule_.due(a_), std::nullopt);
  schedule_.add(a_, start_);
  EXPECT_FALSE(schedule_.empty());
  EXPECT_EQ(pop_all(start_), "a");
  EXPECT_TRUE(schedule_.empty());
  EXPECT_EQ(schedule_.due(a_), std::nullopt);
}

TEST_F(KeyScheduleTest, TakesTheEarliestOfSeveralTimes) {
  for (const Duration wait : {10s, 3s, 20s}) schedule_.add(a_, start_ + wait);
  EXPECT_EQ(schedule_.due(a_), start_ + 3s);
  EXPECT_EQ(pop_all(start_ + 3s), "a");
  EXPECT_EQ(pop_all(start_ + 1h), "") << "the other times were replaced";
}

TEST_F(KeyScheduleTest, ReportsAKeyThatIsNowTheFirst) {
  EXPECT_TRUE(schedule_.add(a_, start_ + 10s));
  EXPECT_FALSE(schedule_.add(b_, start_ + 20s));
  EXPECT_FALSE(schedule_.add(a_, start_ + 15s)) << "it is still due after 10 s";
  EXPECT_TRUE(schedule_.add(b_, start_ + 5s));
  EXPECT_FALSE(schedule_.add(c_, start_ + 5s)) << "no worker has to wake up sooner";
}

TEST_F(KeyScheduleTest, PostponesAKeyThatIsDueEarlier) {
  schedule_.add(a_, start_ + 1s);
  schedule_.add(b_, start_ + 2s);
  schedule_.postpone(a_, start_ + 5s);
  EXPECT_EQ(schedule_.first_due(), start_ + 2s);
  EXPECT_EQ(schedule_.due(a_), start_ + 5s);
  schedule_.postpone(a_, start_ + 4s);
  EXPECT_EQ(schedule_.due(a_), start_ + 5s) << "it is due later than that already";
  schedule_.postpone(c_, start_ + 5s);
  EXPECT_EQ(schedule_.due(c_), std::nullopt) << "a key that is not scheduled is not added";
  EXPECT_EQ(pop_all(start_ + 5s), "ba");
}

TEST_F(KeyScheduleTest, ListsKeysByTime) {
  schedule_.add(b_, start_ + 2s);
  schedule_.add(a_, start_ + 3s);
  schedule_.add(a_, start_ + 1s);
  EXPECT_EQ(schedule_.by_time(), (KeySchedule::ByTime{{start_ + 1s, a_}, {start_ + 2s, b_}}));
}

}  // namespace
}  // namespace tpuslice::runtime
