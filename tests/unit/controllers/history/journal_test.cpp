#include "controllers/history/journal.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/history/interruptions.h"

namespace tpuslice::history {
namespace {

using namespace std::chrono_literals;
using slice::after;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const ObjectKey kSlice = an_interruption().slice;
const Record kFirst = record_of(an_interruption(1));

class HistoryJournal : public ::testing::Test {
 protected:
  HistoryJournal() {
    journal_.on_change([this] { ++changes_; });
  }
  /// What is written if the stores show `before`.
  Ring merged(const Ring& before = {}, Duration now = {}) {
    Ring ring = before;
    journal_.merge_into(ring, after(now));
    return ring;
  }
  static Ring written(const Ring& ring) {
    std::array<std::string, kPages> pages;
    for (std::size_t page = 0; page < kPages; ++page) pages.at(page) = ring.text(page);
    return Ring(pages);
  }

  Metrics metrics_;
  int changes_ = 0;
  Journal journal_{metrics_};
};

TEST_F(HistoryJournal, WritesEachInterruptionOnce) {
  journal_.record(an_interruption(1));
  journal_.record(an_interruption(1, 1s));
  EXPECT_EQ(changes_, 1);
  const Ring first = merged();
  ASSERT_THAT(first.records(), SizeIs(1));
  EXPECT_EQ(merged().records(), first.records()) << "again, if the write failed";
  const Ring second = merged(written(first));
  EXPECT_THAT(second.changed(), IsEmpty());
  journal_.record(an_interruption(1, 2s));
  EXPECT_THAT(merged(written(first)).changed(), IsEmpty());
  EXPECT_THAT(metrics_.scrape(), HasSubstr("tpuslice_lost_host_seconds_total{accelerator=\"tpu-v6e-slice\"} 5280\n"));
}

TEST_F(HistoryJournal, AddsTheRecoveryToARecordThatIsNotWritten) {
  journal_.record(an_interruption(1));
  ASSERT_TRUE(journal_.interrupted(kSlice));
  journal_.recover(kFirst, {after(9s), "b"});
  EXPECT_FALSE(journal_.interrupted(kSlice));
  const Ring ring = merged();
  ASSERT_THAT(ring.records(), SizeIs(1));
  EXPECT_EQ(ring.records().at(0).recovery, (Recovery{after(9s), "b"}));
  EXPECT_THAT(metrics_.scrape(), HasSubstr("tpuslice_slice_recovery_seconds_sum{accelerator=\"tpu-v6e-slice\"} 9\n"));
}

TEST_F(HistoryJournal, AddsTheRecoveryToARecordOfAnotherLeader) {
  Ring of_other;
  of_other.append(record_of(an_interruption(1)));
  of_other = written(of_other);
  EXPECT_THAT(merged(of_other).changed(), IsEmpty());
  ASSERT_TRUE(journal_.interrupted(kSlice));
  journal_.recover(kFirst, {after(30s), "b"});
  const Ring ring = merged(of_other);
  EXPECT_THAT(ring.changed(), ElementsAre(0U));
  EXPECT_EQ(ring.records().at(0).recovery, (Recovery{after(30s), "b"}));
  EXPECT_THAT(merged(written(ring)).changed(), IsEmpty());
  EXPECT_FALSE(journal_.interrupted(kSlice));
}

TEST_F(HistoryJournal, DoesNotWaitForASliceForMoreThanADay) {
  journal_.record(an_interruption(1));
  const Ring ring = written(merged());
  (void)merged(ring, 23h);
  EXPECT_TRUE(journal_.interrupted(kSlice));
  (void)merged(ring, 24h);
  EXPECT_FALSE(journal_.interrupted(kSlice));
}

TEST_F(HistoryJournal, DropsARecoveryWhoseRecordIsTooOld) {
  journal_.record(an_interruption(1));
  const Ring ring = written(merged());
  (void)merged(ring);
  journal_.recover(kFirst, {after(30s), "b"});
  EXPECT_THAT(merged(Ring()).records(), IsEmpty()) << "a thousand newer ones have taken its place";
}

TEST_F(HistoryJournal, LosesTheOldestWhenItCannotWrite) {
  for (int number = 0; number < 1003; ++number) journal_.record(an_interruption(number));
  const Ring ring = merged();
  ASSERT_THAT(ring.records(), SizeIs(1000));
  EXPECT_EQ(ring.records().begin()->second.placement, "members-3");
  EXPECT_THAT(metrics_.scrape(), HasSubstr("tpuslice_history_records_lost_total 3\n"));
}

/// Regression: a slice that was interrupted again was said to run again.
TEST_F(HistoryJournal, AddsTheRecoveryToTheInterruptionThatWasSeenOnly) {
  journal_.record(an_interruption(1));
  const std::optional<Record> seen = journal_.interrupted(kSlice);
  ASSERT_TRUE(seen);
  journal_.record(an_interruption(2, 20s));
  journal_.recover(*seen, {after(30s), "b"});
  ASSERT_TRUE(journal_.interrupted(kSlice));
  EXPECT_EQ(journal_.interrupted(kSlice)->placement, "members-2");
  const Ring ring = merged();
  for (const auto& [sequence, record] : ring.records()) EXPECT_FALSE(record.recovery) << sequence;
}

plan::Interruption of_slice(int number) {
  plan::Interruption out = an_interruption(number);
  out.slice.name = fmt::format("train-{}", number);
  return out;
}

/// Regression: while the ConfigMaps could not be read, each interrupted slice stayed in memory.
TEST_F(HistoryJournal, DoesNotWaitForASliceWhoseRecordWasDropped) {
  for (int number = 0; number < 1001; ++number) journal_.record(of_slice(number));
  EXPECT_FALSE(journal_.interrupted(of_slice(0).slice));
  EXPECT_TRUE(journal_.interrupted(of_slice(1).slice));
  for (int number = 0; number < 1001; ++number) journal_.record(an_interruption(number));
  EXPECT_EQ(journal_.interrupted(kSlice)->placement, "members-1000") << "the dropped one was another";
}

/// Regression: recoveries were added without a limit.
TEST_F(HistoryJournal, LosesTheOldestWhenItCannotWriteRecoveries) {
  Ring of_other;
  of_other.append(record_of(of_slice(5000)));
  (void)merged(written(of_other));
  for (int number = 0; number < 1000; ++number) journal_.record(of_slice(number));
  journal_.recover(record_of(of_slice(5000)), {after(30s), "b"});
  const Ring ring = merged(written(of_other));
  EXPECT_EQ(std::ranges::count(ring.records(), true, [](const auto& each) { return each.second.recovery.has_value(); }),
            1);
  EXPECT_EQ(ring.find(record_of(of_slice(0))), nullptr);
  EXPECT_NE(ring.find(record_of(of_slice(1))), nullptr);
  EXPECT_THAT(metrics_.scrape(), HasSubstr("tpuslice_history_records_lost_total 1\n"));
}

TEST_F(HistoryJournal, NamesTheObjectThatOwnsTheWorkload) {
  journal_.name_workloads_by([](const plan::ObjectReference& workload) {
    plan::ObjectReference owner = workload;
    owner.kind = "RayService";
    owner.key.name = "serve";
    owner.uid = "uid-of-serve";
    return owner;
  });
  journal_.record(an_interruption(1));
  const std::optional<Record> record = journal_.interrupted(kSlice);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->kind, "RayService");
  EXPECT_EQ(record->name, "serve");
  EXPECT_EQ(record->uid, "uid-of-train") << "its pods have that one";
}

TEST_F(HistoryJournal, HasMetricsFromTheStart) {
  EXPECT_THAT(metrics_.scrape(), HasSubstr("tpuslice_lost_host_seconds_total{accelerator=\"other\"} 0\n"));
  plan::Interruption unknown = an_interruption(1);
  unknown.accelerator = "mine";
  journal_.record(unknown);
  EXPECT_THAT(metrics_.scrape(), Not(HasSubstr("mine")));
}

}  // namespace
}  // namespace tpuslice::history
