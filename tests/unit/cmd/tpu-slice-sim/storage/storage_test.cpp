#include "cmd/tpu-slice-sim/storage/storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ObjectKey key(const std::string& name, const std::string& namespace_name = "default") { return {namespace_name, name}; }

Json object(const std::string& name, int value) { return {{"metadata", {{"name", name}}}, {"value", value}}; }

std::vector<std::string> names(const std::vector<JsonPtr>& objects) {
  std::vector<std::string> found;
  for (const JsonPtr& each : objects) found.push_back(string_at(*each, {"metadata", "name"}));
  return found;
}

TEST(Storage, AssignsARevisionToEveryWrite) {
  Storage storage;
  const auto a = storage.create("pods", key("a"), object("a", 1));
  const auto b = storage.create("pods", key("b"), object("b", 1));
  EXPECT_EQ(string_at(**a, {"metadata", "resourceVersion"}), "2");
  EXPECT_EQ(string_at(**b, {"metadata", "resourceVersion"}), "3");
  EXPECT_EQ(storage.revision(), 3U);
}

TEST(Storage, RefusesADuplicateName) {
  Storage storage;
  ASSERT_TRUE(storage.create("pods", key("a"), object("a", 1)).ok());
  const auto again = storage.create("pods", key("a"), object("a", 2));
  EXPECT_THAT(again, IsError(ErrorCode::kAlreadyExists));
  EXPECT_EQ(storage.revision(), 2U);
}

TEST(Storage, RefusesAWriteIfTheRevisionDiffers) {
  Storage storage;
  ASSERT_TRUE(storage.create("pods", key("a"), object("a", 1)).ok());
  ASSERT_TRUE(storage.update("pods", key("a"), object("a", 2), 2).ok());
  EXPECT_THAT(storage.update("pods", key("a"), object("a", 3), 2), IsError(ErrorCode::kConflict));
  EXPECT_THAT(storage.remove("pods", key("a"), 2), IsError(ErrorCode::kConflict));
  EXPECT_TRUE(storage.remove("pods", key("a"), 3).ok());
  EXPECT_THAT(storage.update("pods", key("a"), object("a", 3), {}), IsError(ErrorCode::kNotFound));
}

TEST(Storage, ListsByNamespaceThenName) {
  Storage storage;
  for (const ObjectKey& each : {key("b", "x"), key("a", "y"), key("a", "x"), key("c", "xx")}) {
    ASSERT_TRUE(storage.create("pods", each, object(each.name, 1)).ok());
  }
  EXPECT_THAT(names(storage.list("pods")), ElementsAre("a", "b", "c", "a"));
  EXPECT_THAT(names(storage.list("pods", "x")), ElementsAre("a", "b"));
  EXPECT_THAT(names(storage.list("services")), IsEmpty());
}

TEST(Storage, ListsAtAnOlderRevision) {
  Storage storage;
  ASSERT_TRUE(storage.create("pods", key("a"), object("a", 1)).ok());
  ASSERT_TRUE(storage.create("pods", key("b"), object("b", 1)).ok());
  const Revision then = storage.revision();
  ASSERT_TRUE(storage.update("pods", key("a"), object("a", 2), {}).ok());
  ASSERT_TRUE(storage.remove("pods", key("b"), {}).ok());
  ASSERT_TRUE(storage.create("pods", key("c"), object("c", 1)).ok());
  const auto old = storage.list_at("pods", {}, then);
  ASSERT_TRUE(old.ok());
  EXPECT_THAT(names(*old), ElementsAre("a", "b"));
  EXPECT_EQ((*old)[0]->at("value"), 1);
  EXPECT_THAT(names(storage.list("pods")), ElementsAre("a", "c"));
}

TEST(Storage, ReturnsTheChangesOfOneResourceInOrder) {
  Storage storage;
  ASSERT_TRUE(storage.create("pods", key("a"), object("a", 1)).ok());
  ASSERT_TRUE(storage.create("nodes", key("n", ""), object("n", 1)).ok());
  ASSERT_TRUE(storage.remove("pods", key("a"), {}).ok());
  const auto changes = storage.changes("pods", 1);
  ASSERT_TRUE(changes.ok());
  ASSERT_EQ(changes->size(), 2U);
  EXPECT_EQ((*changes)[0].type, ChangeType::kAdded);
  EXPECT_EQ((*changes)[0].previous, nullptr);
  EXPECT_EQ((*changes)[1].type, ChangeType::kDeleted);
  EXPECT_EQ(string_at(*(*changes)[1].object, {"metadata", "resourceVersion"}), "4");
  EXPECT_EQ(storage.changes({}, 1)->size(), 3U);
}

TEST(Storage, RefusesToStartFromACompactedRevision) {
  Storage storage;
  ASSERT_TRUE(storage.create("pods", key("a"), object("a", 1)).ok());
  ASSERT_TRUE(storage.create("pods", key("b"), object("b", 1)).ok());
  storage.compact(3);
  EXPECT_THAT(storage.changes("pods", 2), IsError(ErrorCode::kExpired));
  EXPECT_THAT(storage.list_at("pods", {}, 2), IsError(ErrorCode::kExpired));
  EXPECT_TRUE(storage.changes("pods", 3).ok());
  EXPECT_THAT(names(*storage.list_at("pods", {}, 3)), ElementsAre("a", "b"));
}

TEST(Storage, CompactsWhenTheHistoryIsFull) {
  Storage storage(2);
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(storage.create("pods", key(name), object(name, 1)).ok());
  EXPECT_EQ(storage.compacted(), 2U);
  EXPECT_THAT(storage.changes("pods", 1), IsError(ErrorCode::kExpired));
  EXPECT_EQ(storage.changes("pods", 2)->size(), 2U);
}

TEST(Storage, WaitReturnsAtOnceWhenTheRevisionIsAlreadyPast) {
  Storage storage;
  ASSERT_TRUE(storage.create("pods", key("a"), object("a", 1)).ok());
  storage.wait_past(1, std::chrono::hours(1), {});
  std::stop_source stopped;
  stopped.request_stop();
  storage.wait_past(2, std::chrono::hours(1), stopped.get_token());
}

}  // namespace
}  // namespace tpuslice::sim
