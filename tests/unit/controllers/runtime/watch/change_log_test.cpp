#include "controllers/runtime/watch/change_log.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/runtime/watch/pod_stores.h"

namespace tpuslice::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

PodView pod(const std::string& name, int version, const std::string& uid = "uid") {
  PodView out;
  out.key = {"default", name};
  out.uid = uid;
  out.resource_version = std::to_string(version);
  return out;
}

/// "a 1>2", "b ->1".
std::vector<std::string> texts(const ChangeLog<PodView>::Taken& changes) {
  std::vector<std::string> out;
  for (const auto& [before, after] : changes.list) {
    out.push_back((after == nullptr ? before : after)->key.name + " " +
                  (before == nullptr ? "-" : before->resource_version) + ">" +
                  (after == nullptr ? "-" : after->resource_version));
  }
  return out;
}

class ChangeLogTest : public ::testing::Test {
 protected:
  PodStore store_{kPods};
  const std::shared_ptr<ChangeLog<PodView>> log_ = store_.add_change_log();
};

TEST_F(ChangeLogTest, RecordsEachChangeOnce) {
  log_->start();
  store_.put(pod("a", 1));
  store_.put(pod("a", 2));
  EXPECT_THAT(texts(log_->take()), ElementsAre("a ->1", "a 1>2")) << "of the resourceVersion alone, too";
  EXPECT_THAT(texts(log_->take()), IsEmpty());
  store_.erase({"default", "a"}, 3);
  EXPECT_THAT(texts(log_->take()), ElementsAre("a 2>-"));
}

TEST_F(ChangeLogTest, RecordsTheChangesOfAList) {
  store_.replace({pod("a", 1), pod("b", 1), pod("c", 1)}, 1);
  log_->start();
  store_.replace({pod("a", 1), pod("b", 2), pod("c", 3, "new")}, 4);
  EXPECT_THAT(texts(log_->take()), ElementsAre("b 1>2", "c 1>-", "c ->3"));
}

TEST_F(ChangeLogTest, RecordsNothingUnlessItIsStarted) {
  store_.put(pod("a", 1));
  EXPECT_THAT(texts(log_->take()), IsEmpty());
  log_->start();
  store_.put(pod("a", 2));
  log_->stop();
  store_.put(pod("a", 3));
  EXPECT_THAT(texts(log_->take()), IsEmpty());
  log_->start();
  store_.put(pod("a", 4));
  EXPECT_THAT(texts(log_->take()), ElementsAre("a 3>4"));
}

TEST_F(ChangeLogTest, IsIncompleteAfterTooManyChanges) {
  log_->start();
  for (std::size_t version = 0; version < ChangeLog<PodView>::kMaxChanges; ++version) {
    store_.put(pod("a", static_cast<int>(version)));
  }
  EXPECT_TRUE(log_->take().complete);
  for (std::size_t version = 0; version <= ChangeLog<PodView>::kMaxChanges + 1; ++version) {
    store_.put(pod("a", static_cast<int>(version)));
  }
  const auto changes = log_->take();
  EXPECT_FALSE(changes.complete);
  EXPECT_THAT(changes.list, IsEmpty());
  store_.put(pod("a", 1));
  EXPECT_TRUE(log_->take().complete);
}

TEST_F(ChangeLogTest, HasEverythingThatAReaderSees) {
  log_->start();
  std::atomic<bool> done = false;
  std::thread watch([&] {
    for (int version = 1; version <= 2000; ++version) store_.put(pod("a", version));
    done = true;
  });
  int logged = 0;
  while (!done) {
    const PodStore::Ptr seen = store_.get({"default", "a"});
    for (const auto& [before, after] : log_->take().list) logged = std::stoi(after->resource_version);
    if (seen != nullptr) {
      ASSERT_GE(logged, std::stoi(seen->resource_version));
    }
  }
  watch.join();
  for (const auto& [before, after] : log_->take().list) logged = std::stoi(after->resource_version);
  EXPECT_EQ(logged, 2000);
}

TEST(PodIndex, ContainsWhatAnyOfItsStoresHolds) {
  PodStore first(kPods);
  PodStore second(kPods);
  const PodIndex index = PodStores({&first, &second}).add_index(owner_uid<PodView>);
  EXPECT_FALSE(index.contains("owner"));
  PodView owned = pod("a", 1);
  owned.controller = ControllerRef{"example.com/v1", "Widget", "w", "owner"};
  second.put(owned);
  EXPECT_TRUE(index.contains("owner"));
  second.erase(owned.key, 2);
  EXPECT_FALSE(index.contains("owner"));
}

}  // namespace
}  // namespace tpuslice::runtime
