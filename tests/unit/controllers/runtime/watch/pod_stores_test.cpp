#include "controllers/runtime/watch/pod_stores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

PodView pod(const std::string& name, const std::string& version, const std::string& app = "a") {
  PodView pod;
  pod.key = {"default", name};
  pod.uid = "uid-of-" + name;
  pod.resource_version = version;
  pod.labels = {{"app", app}};
  return pod;
}

class PodStoresTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> lookup(const std::string& app) const {
    std::vector<std::string> found;
    for (const auto& pod : pods_by_app_.lookup(app)) found.push_back(pod->key.name + "@" + pod->resource_version);
    return found;
  }
  static std::optional<std::string> by_app(const PodView& pod) { return pod.label("app"); }

  PodStore first_{kPods};
  PodStore second_{kPods};
  const PodIndex pods_by_app_ = PodStores({&first_, &second_}).add_index(by_app);
};

TEST_F(PodStoresTest, LookupReturnsThePodsOfAllStoresSorted) {
  first_.put(pod("c", "1"));
  first_.put(pod("a", "2"));
  EXPECT_THAT(lookup("a"), ElementsAre("a@2", "c@1"));
  second_.put(pod("b", "3"));
  second_.put(pod("d", "4", "other"));
  EXPECT_THAT(lookup("a"), ElementsAre("a@2", "b@3", "c@1"));
  EXPECT_THAT(lookup("other"), ElementsAre("d@4"));
  EXPECT_THAT(lookup("none"), IsEmpty());
}

TEST_F(PodStoresTest, LookupReturnsTheNewestVersionOfAPodInTwoStores) {
  first_.put(pod("a", "9"));
  second_.put(pod("a", "10"));
  EXPECT_THAT(lookup("a"), ElementsAre("a@10"));
}

}  // namespace
}  // namespace tpuslice::runtime
