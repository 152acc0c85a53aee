#include "controllers/runtime/write_ledger.h"

#include <gtest/gtest.h>

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;

const ObjectKey kOwner{"default", "w"};
const ObjectKey kPod{"default", "a"};

PodView view(const std::string& uid, const std::string& version) {
  PodView pod;
  pod.key = kPod;
  pod.uid = uid;
  pod.resource_version = version;
  return pod;
}

class WriteLedgerTest : public ::testing::Test {
 protected:
  WriteLedgerTest() {
    store_.replace({}, 10);
    ledger_.add_probe(probe_of(store_));
    ledger_.on_expired([this](const ExpiredWrite& expired) { expired_.push_back(expired.write.key.name); });
  }
  bool satisfied() { return ledger_.satisfied(kOwner, clock_.now()); }

  FakeClock clock_;
  PodStore store_{kPods};
  WriteLedger ledger_;
  std::vector<std::string> expired_;
};

TEST_F(WriteLedgerTest, HoldsAKeyBackUntilItsWriteIsSeen) {
  ledger_.record(kOwner, {{kPods, kPod, "1", 15, false}}, clock_.now());
  EXPECT_FALSE(satisfied());
  EXPECT_TRUE(ledger_.satisfied({"default", "other"}, clock_.now()));
  store_.put(view("1", "15"));
  EXPECT_TRUE(satisfied());
  EXPECT_EQ(ledger_.size(), 0U);
}

TEST_F(WriteLedgerTest, IsContentWithABookmark) {
  ledger_.record(kOwner, {{kPods, kPod, "1", 15, false}}, clock_.now());
  store_.advance(14);
  EXPECT_FALSE(satisfied());
  store_.advance(15);
  EXPECT_TRUE(satisfied()) << "created, and deleted again before anybody looked";
}

TEST_F(WriteLedgerTest, SeesADeletionInAnEndOrInATerminatingObject) {
  store_.put(view("1", "11"));
  ledger_.record(kOwner, {{kPods, kPod, "1", 0, true}}, clock_.now());
  EXPECT_FALSE(satisfied());
  PodView terminating = view("1", "12");
  terminating.deletion = clock_.wall();
  store_.put(terminating);
  EXPECT_TRUE(satisfied());

  ledger_.record(kOwner, {{kPods, kPod, "1", 0, true}}, clock_.now());
  store_.put(view("2", "13"));
  EXPECT_TRUE(satisfied()) << "a new object of the same name";
}

TEST_F(WriteLedgerTest, GivesUpAfterItsTimeAndSaysSo) {
  ledger_.record(kOwner, {{kPods, kPod, "1", 15, false}}, clock_.now());
  clock_.advance(29s);
  EXPECT_FALSE(satisfied());
  EXPECT_TRUE(expired_.empty());
  clock_.advance(1s);
  EXPECT_TRUE(satisfied());
  EXPECT_EQ(expired_, std::vector<std::string>{"a"});
}

TEST_F(WriteLedgerTest, DoesNotWaitForWhatNobodyWatches) {
  ledger_.record(kOwner, {{kSecrets, {"default", "s"}, "9", 99, false}}, clock_.now());
  EXPECT_TRUE(satisfied());
}

}  // namespace
}  // namespace tpuslice::runtime
