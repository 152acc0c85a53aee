#include "api/client/list_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::client {
namespace {

using ::testing::ElementsAre;

TEST(ListSplitter, SplitsItemsAndReadsMetadata) {
  const SplitList list = split_list(R"({"kind":"PodList","apiVersion":"v1",
    "metadata":{"resourceVersion":"42","continue":"to\u002fken","remainingItemCount":7},
    "items":[{"a":"]}"} , {"b":{"items":[1,2]}}]})")
                             .value();
  EXPECT_THAT(list.items, ElementsAre(R"({"a":"]}"})", R"({"b":{"items":[1,2]}})"));
  EXPECT_EQ(list.resource_version, "42");
  EXPECT_EQ(list.continue_token, "to/ken");
  EXPECT_EQ(list.remaining, 7);
}

TEST(ListSplitter, AcceptsMetadataAfterTheItems) {
  EXPECT_EQ(split_list(R"({"items":[],"metadata":{"resourceVersion":"1"}})").value().resource_version, "1");
}

TEST(ListSplitter, TreatsNullItemsAsEmpty) {
  EXPECT_TRUE(split_list(R"({"metadata":{"resourceVersion":"1"},"items":null})").value().items.empty());
  EXPECT_TRUE(split_list(R"({"metadata":{"resourceVersion":"1"}})").value().items.empty());
}

TEST(ListSplitter, IgnoresNestedItems) {
  const SplitList list =
      split_list(R"({"x":{"items":[{"no":1}]},"metadata":{"resourceVersion":"1"},"items":[{"yes":1}]})").value();
  EXPECT_THAT(list.items, ElementsAre(R"({"yes":1})"));
}

TEST(ListSplitter, RefusesIncompleteLists) {
  const std::string metadata = R"("metadata":{"resourceVersion":"1"})";
  for (const std::string& text :
       std::vector<std::string>{"", "[]", "{", "null", "{" + metadata, "{" + metadata + R"(,"items":[{"a":1})",
                                "{" + metadata + R"(,"items":[{"a":1}])", "{" + metadata + R"(,"items":[1]})",
                                "{" + metadata + R"(,"items":{}})", "{" + metadata + R"(,"items":[{}}])",
                                "{" + metadata + "} trailing", R"({"items":[]})", R"({"metadata":{},"items":[]})"}) {
    const auto list = split_list(text);
    EXPECT_THAT(list, IsError(ErrorCode::kInternal)) << text;
  }
}

}  // namespace
}  // namespace tpuslice::client
