#include "controllers/runtime/watch/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

PodView view(const std::string& name, const std::string& uid, const std::string& version,
             const std::string& owner = "") {
  PodView pod;
  pod.key = {"default", name};
  pod.uid = uid;
  pod.resource_version = version;
  if (!owner.empty()) pod.controller = ControllerRef{"example.com/v1", "Widget", "w", owner};
  return pod;
}

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() {
    store_.add_listener([this](const PodStore::Ptr& before, const PodStore::Ptr& after) {
      seen_.push_back((before ? before->uid : "-") + ">" + (after ? after->uid + "@" + after->resource_version : "-"));
    });
  }
  std::vector<std::string> names(const std::string& owner) const {
    std::vector<std::string> out;
    for (const auto& pod : by_owner_.lookup(owner)) out.push_back(pod->key.name);
    return out;
  }

  PodStore store_{kPods};
  const Index<PodView> by_owner_ = store_.add_index(owner_uid<PodView>);
  std::vector<std::string> seen_;
};

TEST_F(StoreTest, IsSyncedOnlyAfterTheFirstList) {
  store_.put(view("a", "1", "5"));
  EXPECT_FALSE(store_.synced());
  store_.replace({}, 6);
  EXPECT_TRUE(store_.synced());
}

TEST_F(StoreTest, NotifiesOfDeletionsMissedWhileDisconnected) {
  store_.replace({}, 1);
  store_.put(view("a", "1", "2"));
  store_.put(view("b", "2", "3"));
  seen_.clear();
  store_.replace({view("a", "1", "2"), view("c", "3", "9")}, 9);
  EXPECT_THAT(seen_, UnorderedElementsAre("->3@9", "2>-"));
}

TEST_F(StoreTest, AListKeepsTheVersionsThatAreKnown) {
  store_.replace({view("a", "1", "2", "owner"), view("b", "2", "3", "owner")}, 3);
  const PodStore::Ptr known = store_.get({"default", "a"});
  seen_.clear();
  store_.replace({view("a", "1", "2", "owner"), view("b", "2", "4", "other")}, 5);
  EXPECT_EQ(store_.get({"default", "a"}), known);
  EXPECT_THAT(seen_, ElementsAre("2>2@4"));
  EXPECT_THAT(names("owner"), ElementsAre("a"));
  EXPECT_THAT(names("other"), ElementsAre("b"));
}

TEST_F(StoreTest, ANewUidIsADeletionAndAnAddition) {
  store_.replace({view("a", "1", "2")}, 2);
  seen_.clear();
  store_.put(view("a", "2", "5"));
  store_.replace({view("a", "3", "7")}, 7);
  EXPECT_THAT(seen_, ElementsAre("1>-", "->2@5", "2>-", "->3@7"));
}

TEST_F(StoreTest, DoesNotNotifyOfAnUnchangedView) {
  store_.replace({view("a", "1", "2")}, 2);
  seen_.clear();
  store_.put(view("a", "1", "5"));
  EXPECT_THAT(seen_, IsEmpty());
  EXPECT_EQ(store_.get({"default", "a"})->resource_version, "5");
  PodView changed = view("a", "1", "6");
  changed.ready = true;
  store_.put(changed);
  EXPECT_THAT(seen_, ElementsAre("1>1@6"));
}

TEST_F(StoreTest, EarlyListenersAreCalledBeforeAReaderSeesTheChange) {
  std::vector<std::string> early;
  store_.add_early_listener([&](const PodStore::Ptr& before, const PodStore::Ptr& after) {
    const ObjectKey& key = (after ? after : before)->key;
    const PodStore::Ptr visible = store_.get(key);
    EXPECT_EQ(visible, before) << key.to_string();
    early.push_back((before ? before->uid : "-") + ">" + (after ? after->uid : "-"));
  });
  store_.replace({view("a", "u1", "1"), view("b", "u2", "1")}, 1);
  store_.put(view("a", "u1", "2", "owner"));
  store_.put(view("a", "u1", "3", "owner"));
  store_.erase({"default", "b"}, 4);
  EXPECT_THAT(early, ElementsAre("->u1", "->u2", "u1>u1", "u2>-"));
  EXPECT_THAT(seen_, ElementsAre("->u1@1", "->u2@1", "u1>u1@2", "u2>-"));
}

TEST_F(StoreTest, IndexLookupIsSortedByKey) {
  store_.replace({view("c", "3", "1", "o"), view("a", "1", "1", "o"), view("b", "2", "1", "p")}, 1);
  EXPECT_THAT(names("o"), ElementsAre("a", "c"));
  store_.put(view("c", "3", "2", "p"));
  EXPECT_THAT(names("o"), ElementsAre("a"));
  EXPECT_THAT(names("p"), ElementsAre("b", "c"));
  store_.erase({"default", "a"}, 3);
  EXPECT_THAT(names("o"), IsEmpty());
}

TEST_F(StoreTest, AddsTheObjectsOfKeysThatAreMissing) {
  store_.replace({view("a", "1", "1", "o"), view("b", "2", "1", "p"), view("c", "3", "1", "p")}, 1);
  std::vector<PodStore::Ptr> found = by_owner_.lookup("o");
  store_.add_missing({{"default", "a"}, {"default", "b"}, {"default", "none"}}, found);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[1]->uid, "2");
}

TEST_F(StoreTest, IndexLookupReturnsTheNewestVersion) {
  store_.put(view("a", "1", "1", "o"));
  store_.put(view("a", "1", "2", "o"));
  ASSERT_THAT(names("o"), ElementsAre("a"));
  EXPECT_EQ(by_owner_.lookup("o").front()->resource_version, "2");
}

TEST_F(StoreTest, HasOneIndexForEachFunction) {
  store_.put(view("a", "1", "1", "o"));
  const Index<PodView> again = store_.add_index(owner_uid<PodView>);
  EXPECT_THAT(again.lookup("o"), SizeIs(1)) << "filled by what was put before it was added";
}

TEST_F(StoreTest, AListMovesObjectsBetweenTheValuesOfAnIndex) {
  store_.put(view("a", "1", "1", "o"));
  store_.put(view("b", "2", "1", "o"));
  store_.put(view("c", "3", "1", "p"));
  store_.replace({view("a", "1", "2", "p"), view("b", "2", "1", "o"), view("d", "4", "2", "o")}, 2);
  EXPECT_THAT(names("o"), ElementsAre("b", "d"));
  EXPECT_THAT(names("p"), ElementsAre("a"));
  store_.put(view("a", "1", "3", "o"));
  EXPECT_THAT(names("o"), ElementsAre("a", "b", "d"));
  EXPECT_FALSE(by_owner_.contains("p"));
}

const PodStore* store_that_is_read = nullptr;

std::optional<std::string> index_that_reads_the_store(const PodView& pod) {
  return std::to_string(store_that_is_read->size()) + pod.key.name;
}

/// Regression: it was called with the lock of the store held, for which it would wait here.
TEST(IndexFunctions, AreCalledWithoutALock) {
  PodStore store(kPods);
  store_that_is_read = &store;
  const Index<PodView> index = store.add_index(index_that_reads_the_store);
  store.replace({view("a", "1", "1")}, 1);
  EXPECT_TRUE(index.contains("0a"));
  store.put(view("b", "2", "2"));
  EXPECT_TRUE(index.contains("1b"));
  store_that_is_read = nullptr;
}

TEST_F(StoreTest, RevisionFollowsWritesAndBookmarks) {
  store_.replace({}, 10);
  store_.put(view("a", "1", "12"));
  EXPECT_EQ(store_.revision(), 12U);
  store_.advance(20);
  store_.advance(15);
  EXPECT_EQ(store_.revision(), 20U);
  store_.replace({}, 7);
  EXPECT_EQ(store_.revision(), 7U) << "a restored API server counts from an older revision";
}

TEST(RevisionOf, ReadsNumbersOnly) {
  EXPECT_EQ(revision_of("18446744073709551615"), 18446744073709551615ULL);
  for (const char* invalid : {"", "abc", "12x", "-1", "18446744073709551616"}) {
    EXPECT_EQ(revision_of(invalid), 0U) << invalid;
  }
}

}  // namespace
}  // namespace tpuslice::runtime
