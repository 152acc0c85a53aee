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
    ledger_.add_store(store_);
    ledger_.on_expired([this](const ExpiredWrite& expired) { expired_.push_back(expired.write.key.name); });
  }
  bool satisfied() { return ledger_.satisfied(kOwner, clock_.now()); }

  FakeClock clock_;
  PodStore store_{kPods};
  WriteLedger ledger_;
  std::vector<std::string> expired_;
};

TEST_F(WriteLedgerTest, HoldsAKeyUntilTheStoreShowsItsWrite) {
  ledger_.record(kOwner, {{kPods, kPod, "1", 15, false}}, clock_.now());
  EXPECT_FALSE(satisfied());
  EXPECT_TRUE(ledger_.satisfied({"default", "other"}, clock_.now()));
  store_.put(view("1", "15"));
  EXPECT_TRUE(satisfied());
  EXPECT_EQ(ledger_.size(), 0U);
}

TEST_F(WriteLedgerTest, ABookmarkPastTheRevisionSuffices) {
  ledger_.record(kOwner, {{kPods, kPod, "1", 15, false}}, clock_.now());
  store_.advance(14);
  EXPECT_FALSE(satisfied());
  store_.advance(15);
  EXPECT_TRUE(satisfied()) << "created and deleted between two events of the store";
}

TEST_F(WriteLedgerTest, ATerminatingOrReplacedObjectShowsADeletion) {
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

TEST_F(WriteLedgerTest, ReportsAWriteThatExpired) {
  ledger_.record(kOwner, {{kPods, kPod, "1", 15, false}}, clock_.now());
  clock_.advance(29s);
  EXPECT_FALSE(satisfied());
  EXPECT_TRUE(expired_.empty());
  clock_.advance(1s);
  EXPECT_TRUE(satisfied());
  EXPECT_EQ(expired_, std::vector<std::string>{"a"});
}

TEST(WriteLedgerOfNamespaces, TheRevisionOfAnotherNamespaceShowsNoWrite) {
  const FakeClock clock;
  PodStore store(kPods, {"default", "other"});
  WriteLedger ledger(30s);
  ledger.add_store(store);
  ledger.record(kOwner, {{kPods, kPod, "1", 15, false}}, clock.now());
  store.swap_in({}, 99, "other");
  EXPECT_FALSE(ledger.satisfied(kOwner, clock.now()));
  store.swap_in({}, 15, "default");
  EXPECT_TRUE(ledger.satisfied(kOwner, clock.now()));
}

/// Two stores of pods with different selectors.
class TwoStores : public WriteLedgerTest {
 protected:
  TwoStores() {
    other_.replace({}, 10);
    ledger_.add_store(other_);
  }
  void write(const std::string& uid, std::uint64_t revision, bool deleted = false) {
    ledger_.record(kOwner, {{kPods, kPod, uid, revision, deleted}}, clock_.now());
  }
  PodStore other_{kPods};
};

TEST_F(TwoStores, TheStoreThatHoldsTheObjectMustShowTheWrite) {
  other_.put(view("1", "11"));
  write("1", 15);
  store_.advance(99);
  EXPECT_FALSE(satisfied()) << "the first store does not hold this pod";
  other_.put(view("1", "15"));
  EXPECT_TRUE(satisfied());
}

TEST_F(TwoStores, TheStoreThatHeldTheObjectSuffices) {
  other_.put(view("1", "11"));
  write("1", 15);
  other_.erase(kPod, 16);
  EXPECT_TRUE(satisfied()) << "the first store is still at revision 10";
}

TEST_F(TwoStores, AnyStoreMayShowANewObject) {
  write("1", 15);
  EXPECT_FALSE(satisfied());
  store_.advance(15);
  EXPECT_FALSE(satisfied()) << "the other store may hold it";
  other_.put(view("1", "15"));
  EXPECT_TRUE(satisfied());
}

TEST_F(TwoStores, ANewObjectIsDeletedIfAllStoresArePastItsRevision) {
  write("1", 15);
  store_.advance(15);
  other_.advance(14);
  EXPECT_FALSE(satisfied());
  other_.advance(16);
  EXPECT_TRUE(satisfied());
}

TEST_F(TwoStores, TheStoreThatHoldsTheObjectMustShowItsDeletion) {
  other_.put(view("1", "11"));
  write("1", 0, true);
  EXPECT_FALSE(satisfied());
  other_.erase(kPod, 12);
  EXPECT_TRUE(satisfied());
}

TEST_F(TwoStores, ADeletionIsSeenIfNoStoreHoldsTheObject) {
  write("1", 0, true);
  EXPECT_TRUE(satisfied());
}

TEST_F(WriteLedgerTest, DoesNotWaitForATypeWithoutAStore) {
  ledger_.record(kOwner, {{kSecrets, {"default", "s"}, "9", 99, false}}, clock_.now());
  EXPECT_TRUE(satisfied());
}

}  // namespace
}  // namespace tpuslice::runtime
