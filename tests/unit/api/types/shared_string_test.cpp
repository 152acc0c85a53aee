#include "api/types/shared_string.h"

#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/json.h"
#include "api/types/views.h"

namespace tpuslice {
namespace {

using namespace std::string_literals;

TEST(SharedString, ReadsLikeAString) {
  const SharedString text = "ray.io/cluster";
  EXPECT_EQ(text, "ray.io/cluster");
  EXPECT_EQ(text, "ray.io/cluster"s);
  EXPECT_NE(text, SharedString("ray.io/group"));
  EXPECT_LT(SharedString("a"), SharedString("b"));
  EXPECT_LT(SharedString("a"), std::string("b"));
  EXPECT_LT("a", SharedString("b"));
  EXPECT_GT(std::string_view("b"), SharedString("a"));
  EXPECT_TRUE(text.starts_with("ray.io/"));
  EXPECT_EQ("label " + text + "!", "label ray.io/cluster!");
  EXPECT_EQ(fmt::format("{:>16}", text), "  ray.io/cluster");
  EXPECT_EQ(Json(text), "ray.io/cluster");
  EXPECT_EQ(std::hash<SharedString>()(text), std::hash<std::string>()("ray.io/cluster"));
}

TEST(SharedString, IsEmptyByDefault) {
  const SharedString none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none, "");
  EXPECT_EQ(none.size(), 0U);
  EXPECT_EQ(none, SharedString(""));
}

TEST(SharedString, CopiesShareTheText) {
  SharedString first = "text";
  SharedString copy = first;
  EXPECT_TRUE(copy.shares_with(first));
  first = "other";
  EXPECT_EQ(copy, "text");
  copy = std::move(first);
  EXPECT_EQ(copy, "other");
  SharedString& itself = copy;
  copy = itself;
  EXPECT_EQ(copy, "other");
}

TEST(SharedString, OfObjectsDecodedOneAfterTheOtherIsShared) {
  EXPECT_TRUE(SharedString::decoded("tpu-v6e-slice").shares_with(SharedString::decoded("tpu-v6e-slice")));
  EXPECT_FALSE(SharedString("tpu-v6e-slice").shares_with(SharedString("tpu-v6e-slice")));
  const std::string large(4096, 'x');
  EXPECT_EQ(SharedString::decoded(large), large);
  EXPECT_FALSE(SharedString::decoded(large).shares_with(SharedString::decoded(large))) << "it would be kept";
}

TEST(SharedString, OfEachObjectAreSharedWithThoseOfTheNext) {
  constexpr std::size_t kStrings = 200;
  const auto decode_object = [] {
    std::vector<SharedString> strings;
    strings.reserve(kStrings);
    for (std::size_t i = 0; i < kStrings; ++i) strings.push_back(SharedString::decoded(fmt::format("label-{}", i)));
    return strings;
  };
  const std::vector<SharedString> first = decode_object();
  const std::vector<SharedString> second = decode_object();
  std::size_t shared = 0;
  for (std::size_t i = 0; i < kStrings; ++i) shared += first[i].shares_with(second[i]) ? 1U : 0U;
  EXPECT_EQ(shared, kStrings) << "strings of one object replace each other in the table";
}

TEST(SharedString, IsReleasedByTheLastOfSeveralThreads) {
  const SharedString text = "shared by threads";
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([text] {
      for (int round = 0; round < 10'000; ++round) {
        const SharedString copy = text;  // NOLINT(performance-unnecessary-copy-initialization): it is what is tested
        const SharedString other = SharedString::decoded("shared by threads");
        ASSERT_EQ(copy, other);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(text, "shared by threads");
}

TEST(PodView, SharesWhatPodsOfOneWorkloadHaveInCommon) {
  const auto decode = [](const char* name) {
    const std::string json = fmt::format(
        R"({{"metadata": {{"name": "{0}", "namespace": "default", "uid": "uid-of-{0}",
             "labels": {{"ray.io/cluster": "maxtext", "host": "{0}"}}}},
            "spec": {{"nodeSelector": {{"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice"}}}}}})",
        name);
    return *PodView::decode(json);
  };
  const PodView first = decode("a-0");
  const PodView second = decode("a-1");
  EXPECT_TRUE(first.labels.find("ray.io/cluster")->first.shares_with(second.labels.find("ray.io/cluster")->first));
  EXPECT_TRUE(first.labels.find("ray.io/cluster")->second.shares_with(second.labels.find("ray.io/cluster")->second));
  EXPECT_TRUE(first.scheduling.shares_with(second.scheduling));
  EXPECT_EQ(second.label("host"), "a-1");
}

}  // namespace
}  // namespace tpuslice
