#include "controllers/history/ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/controllers/history/interruptions.h"

namespace tpuslice::history {
namespace {

using namespace std::chrono_literals;
using slice::after;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::array<std::string, kPages> pages_of(const Ring& ring) {
  std::array<std::string, kPages> out;
  for (std::size_t page = 0; page < kPages; ++page) out.at(page) = ring.text(page);
  return out;
}

Ring ring_of(int records) {
  Ring ring;
  for (int number = 0; number < records; ++number) {
    ring.append(record_of(an_interruption(number, std::chrono::seconds(number))));
  }
  return ring;
}

TEST(Ring, KeepsTheLastThousand) {
  const Ring ring = ring_of(2345);
  ASSERT_THAT(ring.records(), SizeIs(kMaxRecords));
  EXPECT_EQ(ring.records().begin()->second.placement, "members-1345");
  EXPECT_EQ(ring.records().rbegin()->second.placement, "members-2344");
  const Ring read(pages_of(ring));
  EXPECT_EQ(read.records(), ring.records());
  EXPECT_THAT(read.changed(), IsEmpty());
}

TEST(Ring, FitsIntoItsPages) {
  EXPECT_LE(kMaxPageBytes, 256U << 10U);
  Ring ring;
  for (std::size_t number = 0; number < kMaxRecords; ++number) {
    plan::Interruption longest = an_interruption(static_cast<int>(number));
    longest.why = std::string(5000, '"');
    longest.node = longest.workload.key.name = std::string(253, 'n');
    ring.append(record_of(longest));
  }
  ASSERT_THAT(ring.records(), SizeIs(kMaxRecords));
  for (const std::string& page : pages_of(ring)) EXPECT_LE(page.size(), kMaxPageBytes);
}

TEST(Ring, ChangesThePageOfTheNewestRecordOnly) {
  Ring ring(pages_of(ring_of(1000)));
  ring.append(record_of(an_interruption(1000)));
  EXPECT_THAT(ring.changed(), ElementsAre(0U)) << "it takes the place of the oldest one";
  for (int number = 1001; number <= 1200; ++number) ring.append(record_of(an_interruption(number)));
  EXPECT_THAT(ring.changed(), ElementsAre(0U, 1U));
}

TEST(Ring, HasEachInterruptionOnce) {
  Ring ring(pages_of(ring_of(3)));
  ring.append(record_of(an_interruption(1, 1h)));
  EXPECT_THAT(ring.records(), SizeIs(3));
  EXPECT_THAT(ring.changed(), IsEmpty());
}

TEST(Ring, AddsRecoveriesOnce) {
  Ring ring(pages_of(ring_of(300)));
  ring.recover(250, {after(1h), "b"});
  ring.recover(250, {after(2h), "c"});
  ring.recover(9999, {after(2h), "c"});
  EXPECT_THAT(ring.changed(), ElementsAre(1U));
  EXPECT_EQ(ring.records().at(250).recovery, (Recovery{after(1h), "b"}));
}

TEST(Ring, SkipsWhatIsNoRecord) {
  std::array<std::string, kPages> pages = pages_of(ring_of(2));
  pages[3] = "hello\n\n{}\n";
  pages[4] = std::string(kMaxPageBytes + 1, '\n');
  EXPECT_THAT(Ring(pages).records(), SizeIs(2));
}

TEST(Ring, DropsRecordsWhosePlaceIsTaken) {
  std::array<std::string, kPages> pages = pages_of(ring_of(1000));
  Ring newer = ring_of(1000);
  for (int number = 1000; number < 1250; ++number) newer.append(record_of(an_interruption(number)));
  pages[1] = newer.text(1);  // The second page was written, the first was lost.
  const Ring ring(pages);
  EXPECT_EQ(ring.records().begin()->first, 250);
  EXPECT_EQ(ring.records().rbegin()->first, 1249);
}

}  // namespace
}  // namespace tpuslice::history
