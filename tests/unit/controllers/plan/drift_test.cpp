#include "controllers/plan/drift.h"

#include <gtest/gtest.h>

namespace tpuslice::plan {
namespace {

const Json kLive = {{"labels", {{"app", "train"}, {"team", "ml"}}},
                    {"replicas", 2},
                    {"ports", {{{"name", "http"}, {"port", 80}, {"protocol", "TCP"}}}}};

TEST(Drift, IgnoresWhatOnlyTheLiveObjectHas) {
  const Json desired = {
      {"labels", {{"app", "train"}}}, {"ports", {{{"name", "http"}, {"port", 80}}}}, {"selector", Json::object()}};
  EXPECT_TRUE(has_all(kLive, desired));
  EXPECT_TRUE(restore_patch(desired, kLive).is_null());
}

TEST(Drift, RestoresChangedAndMissingMembersOnly) {
  const Json desired = {{"labels", {{"app", "serve"}, {"team", "ml"}}}, {"replicas", 2}, {"paused", false}};
  EXPECT_FALSE(has_all(kLive, desired));
  EXPECT_EQ(restore_patch(desired, kLive), Json({{"labels", {{"app", "serve"}}}, {"paused", false}}));
}

TEST(Drift, ReplacesAListAsAWhole) {
  const Json ports = {{{"name", "http"}, {"port", 80}}, {{"name", "grpc"}, {"port", 81}}};
  EXPECT_EQ(restore_patch({{"ports", ports}}, kLive), Json({{"ports", ports}}));
}

}  // namespace
}  // namespace tpuslice::plan
