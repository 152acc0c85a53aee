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
  EXPECT_EQ(store_.revision({}), 12U);
  store_.advance(20);
  store_.advance(15);
  EXPECT_EQ(store_.revision({}), 20U);
  store_.replace({}, 7);
  EXPECT_EQ(store_.revision({}), 7U) << "a restored API server counts from an older revision";
}

/// A store of two namespaces, each with its own watch.
class StoreOfTwoNamespaces : public StoreTest {
 protected:
  StoreOfTwoNamespaces() {
    store_.add_listener([this](const PodStore::Ptr& before, const PodStore::Ptr& after) {
      seen_.push_back((before ? before->key : after->key).to_string() + (after ? "" : " deleted"));
    });
  }
  static PodView in(const std::string& space, const std::string& name, const std::string& version) {
    PodView pod = view(name, space + name, version, "o");
    pod.key.namespace_name = space;
    return pod;
  }
  /// A complete list of the namespace.
  void list(const std::string& space, std::vector<PodView> pods, std::uint64_t revision) {
    PodStore::Objects objects;
    for (PodView& pod : pods) objects.insert(std::make_shared<const PodView>(std::move(pod)));
    store_.swap_in(std::move(objects), revision, space);
  }
  [[nodiscard]] std::vector<std::string> keys() const {
    std::vector<std::string> out;
    for (const auto& pod : store_.list()) out.push_back(pod->key.to_string());
    return out;
  }
  [[nodiscard]] std::vector<std::string> indexed() const {
    std::vector<std::string> out;
    for (const auto& pod : by_owner_.lookup("o")) out.push_back(pod->key.to_string());
    return out;
  }

  PodStore store_{kPods, {"x", "y"}};
  const Index<PodView> by_owner_ = store_.add_index(owner_uid<PodView>);
  std::vector<std::string> seen_;
};

TEST_F(StoreOfTwoNamespaces, AListOfOneKeepsTheObjectsOfTheOther) {
  list("y", {in("y", "a", "1")}, 1);
  list("x", {in("x", "b", "2"), in("x", "c", "2")}, 2);
  const PodStore::Ptr known = store_.get({"x", "c"});
  seen_.clear();
  list("x", {in("x", "c", "2"), in("x", "d", "5")}, 5);
  EXPECT_THAT(keys(), ElementsAre("x/c", "x/d", "y/a"));
  EXPECT_THAT(indexed(), ElementsAre("x/c", "x/d", "y/a"));
  EXPECT_THAT(seen_, ElementsAre("x/b deleted", "x/d"));
  EXPECT_EQ(store_.get({"x", "c"}), known) << "its version is known";
  list("x", {}, 6);
  EXPECT_THAT(keys(), ElementsAre("y/a"));
  EXPECT_THAT(indexed(), ElementsAre("y/a"));
}

TEST_F(StoreOfTwoNamespaces, AListReplacesAnObjectOfTheSameName) {
  list("x", {in("x", "a", "1")}, 1);
  PodView other = in("x", "a", "3");
  other.uid = "new";
  seen_.clear();
  list("x", {other}, 3);
  EXPECT_THAT(seen_, ElementsAre("x/a deleted", "x/a"));
  EXPECT_EQ(store_.get({"x", "a"})->uid, "new");
  EXPECT_THAT(indexed(), ElementsAre("x/a"));
}

TEST_F(StoreOfTwoNamespaces, EachIsSyncedByItself) {
  EXPECT_FALSE(store_.partly_synced());
  list("x", {}, 1);
  EXPECT_TRUE(store_.partly_synced());
  EXPECT_FALSE(store_.synced());
  EXPECT_TRUE(store_.synced({"x", "a"}));
  EXPECT_FALSE(store_.synced({"y", "a"}));
  list("y", {}, 2);
  EXPECT_TRUE(store_.synced());
  store_.set_unsynced("x");
  EXPECT_FALSE(store_.synced({"x", "a"}));
  EXPECT_TRUE(store_.synced({"y", "a"}));
}

TEST_F(StoreOfTwoNamespaces, EachReflectsItsOwnRevision) {
  list("x", {}, 10);
  list("y", {}, 20);
  store_.put(in("x", "a", "12"));
  EXPECT_EQ(store_.revision({"x", "a"}), 12U);
  store_.advance(15, "x");
  store_.erase({"x", "a"}, 16);
  store_.erase({"x", "none"}, 17);
  EXPECT_EQ(store_.revision({"x", "a"}), 17U);
  EXPECT_EQ(store_.revision({"y", "a"}), 20U);
  EXPECT_GT(store_.revision({"z", "a"}), 1'000'000U) << "it will never show an object of another namespace";
}

TEST_F(StoreOfTwoNamespaces, LogsTheChangesOfBoth) {
  const auto log = store_.add_change_log();
  log->start();
  list("x", {in("x", "a", "1")}, 1);
  list("y", {in("y", "b", "2")}, 2);
  list("x", {}, 3);
  EXPECT_THAT(log->take().list, SizeIs(3));
}

TEST(RevisionOf, ReadsNumbersOnly) {
  EXPECT_EQ(revision_of("18446744073709551615"), 18446744073709551615ULL);
  for (const char* invalid : {"", "abc", "12x", "-1", "18446744073709551616"}) {
    EXPECT_EQ(revision_of(invalid), 0U) << invalid;
  }
}

}  // namespace
}  // namespace tpuslice::runtime
