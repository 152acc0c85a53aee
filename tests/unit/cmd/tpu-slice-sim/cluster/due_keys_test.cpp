#include "cmd/tpu-slice-sim/cluster/due_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

const Instant kStart{};
const ObjectKey kA{"default", "a"};
const ObjectKey kB{"default", "b"};

TEST(DueKeys, KeepTheEarliestTimeOfAKey) {
  DueKeys due;
  due.add(kA, kStart + 5s);
  due.add(kB, kStart + 3s);
  due.add(kA, kStart + 2s);
  due.add(kA, kStart + 9s);
  EXPECT_EQ(due.next(), kStart + 2s);
  EXPECT_THAT(due.take(kStart + 1s), IsEmpty());
  EXPECT_THAT(due.take(kStart + 3s), ElementsAre(kA, kB));
  EXPECT_EQ(due.next(), std::nullopt);
}

TEST(DueKeys, RemovedKeysAreNotDue) {
  DueKeys due;
  due.add(kA, kStart);
  due.add(kB, kStart);
  due.remove(kA);
  due.remove({"default", "unknown"});
  EXPECT_THAT(due.take(kStart), ElementsAre(kB));
  due.add(kA, kStart + 1s);
  due.clear();
  EXPECT_THAT(due.take(kStart + 1h), IsEmpty());
}

TEST(DueKeys, TakenKeysMayBeAddedAgain) {
  DueKeys due;
  due.add(kA, kStart);
  EXPECT_THAT(due.take(kStart), ElementsAre(kA));
  due.add(kA, kStart + 1s);
  EXPECT_EQ(due.next(), kStart + 1s);
}

}  // namespace
}  // namespace tpuslice::sim
