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

// Two watches of pods, which differ in their selectors.
class TwoStores : public WriteLedgerTest {
 protected:
  TwoStores() {
    other_.replace({}, 10);
    ledger_.add_probe(probe_of(other_));
  }
  void write(const std::string& uid, std::uint64_t revision, bool deleted = false) {
    ledger_.record(kOwner, {{kPods, kPod, uid, revision, deleted}}, clock_.now());
  }
  PodStore other_{kPods};
};

TEST_F(TwoStores, TheOneThatHasTheObjectHasToShowTheWrite) {
  other_.put(view("1", "11"));
  write("1", 15);
  store_.advance(99);
  EXPECT_FALSE(satisfied()) << "what the first brings says nothing of this pod";
  other_.put(view("1", "15"));
  EXPECT_TRUE(satisfied());
}

TEST_F(TwoStores, TheOneThatHadTheObjectSuffices) {
  other_.put(view("1", "11"));
  write("1", 15);
  other_.erase(kPod, 16);
  EXPECT_TRUE(satisfied()) << "the first is quiet, and at 10";
}

TEST_F(TwoStores, AnyOneShowsANewObject) {
  write("1", 15);
  EXPECT_FALSE(satisfied());
  store_.advance(15);
  EXPECT_FALSE(satisfied()) << "it may be the other's";
  other_.put(view("1", "15"));
  EXPECT_TRUE(satisfied());
}

TEST_F(TwoStores, ANewObjectThatNoneShowsIsGoneOnceAllAreBeyondIt) {
  write("1", 15);
  store_.advance(15);
  other_.advance(14);
  EXPECT_FALSE(satisfied());
  other_.advance(16);
  EXPECT_TRUE(satisfied());
}

TEST_F(TwoStores, TheOneThatHasTheObjectHasToShowItsEnd) {
  other_.put(view("1", "11"));
  write("1", 0, true);
  EXPECT_FALSE(satisfied());
  other_.erase(kPod, 12);
  EXPECT_TRUE(satisfied());
}

TEST_F(TwoStores, ADeletedObjectThatNoneShowsIsGone) {
  write("1", 0, true);
  EXPECT_TRUE(satisfied());
}

TEST_F(WriteLedgerTest, DoesNotWaitForWhatNobodyWatches) {
  ledger_.record(kOwner, {{kSecrets, {"default", "s"}, "9", 99, false}}, clock_.now());
  EXPECT_TRUE(satisfied());
}

}  // namespace
}  // namespace tpuslice::runtime
