#include "controllers/raycluster/rules/host_names.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "api/types/validation_names.h"
#include "controllers/leaderworkerset/rules/lws_group.h"

namespace tpuslice::raycluster {
namespace {

TEST(HostNames, FollowsKubeRayAndItsWebhook) {
  EXPECT_EQ(ray_headless_service("rc"), "rc-headless");
  EXPECT_EQ(ray_worker_hostnames("g", 1).of(2), "g-1-2");
  EXPECT_EQ(ray_slice_name("g", 1), "g-1");
}

TEST(HostNames, NumbersHostsOfOtherKindsLikeTheirControllers) {
  EXPECT_EQ(tpu::numbered_hostnames("js-w-1", 4).of(2), "js-w-1-6");
  EXPECT_EQ(leaderworkerset::lws_hostnames("lws-0", 0).of(0), "lws-0");
  EXPECT_EQ(leaderworkerset::lws_hostnames("lws-0", 0).of(3), "lws-0-3");
  EXPECT_EQ(leaderworkerset::lws_hostnames("lws-0", 1).of(0), "lws-0-1");
}

// KubeRay creates the whole name; a webhook that keeps its last 50 characters names a service that does not exist.
TEST(HostNames, NeverTruncatesTheHeadlessService) {
  const std::string cluster(45, 'c');
  EXPECT_EQ(ray_headless_service(cluster), cluster + "-headless");
  EXPECT_TRUE(check_dns1035_label(ray_headless_service(std::string(53, 'c'))).empty());
}

TEST(HostNames, MakesADnsLabelOfEveryValidGroup) {
  const std::vector<std::string> groups = {"a",
                                           "A",
                                           "a.b_c",
                                           "9",
                                           std::string(63, 'g'),
                                           std::string(63, 'G'),
                                           std::string(44, 'x').append("----------------y")};
  for (const std::string& group : groups) {
    for (const int index : {0, 7, 1727, 2147483647}) {
      const std::string name = ray_worker_hostnames(group, index).of(std::min(index, 99999));
      EXPECT_TRUE(check_dns1123_label(name).empty()) << name;
    }
  }
}

TEST(HostNames, DistinguishesGroupsWithEqualReadableParts) {
  const std::string longest(63, 'g');
  std::set<std::string> names;
  for (const std::string& group : {std::string("a-b"), std::string("a.b"), std::string("a_b"), std::string("A-B"),
                                   longest, longest.substr(1) + "h"}) {
    for (int replica = 0; replica < 3; ++replica) {
      for (int host = 0; host < 12; ++host) names.insert(ray_worker_hostnames(group, replica).of(host));
    }
  }
  EXPECT_EQ(names.size(), 6U * 3U * 12U);
}

TEST(HostNames, KeepsAGroupOfTheMaximumLength) {
  const std::string group(55, 'g');
  EXPECT_EQ(ray_worker_hostnames(group, 0).of(0), group + "-0-0");
  EXPECT_EQ(ray_worker_hostnames(group, 0).of(99999), group + "-0-99999");
  EXPECT_NE(ray_worker_hostnames(group + "g", 0).of(0), group + "g-0-0");
}

}  // namespace
}  // namespace tpuslice::raycluster
