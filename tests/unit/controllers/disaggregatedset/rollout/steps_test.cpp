#include "controllers/disaggregatedset/rollout/steps.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/hash.h"

namespace tpuslice::disaggregatedset {
namespace {

using testing::ElementsAre;

using Roles = std::vector<RoleProgress>;

Roles roles_of(const std::vector<std::int64_t>& old, const std::vector<std::int64_t>& target,
               const std::vector<RolloutLimits>& limits = {{}, {}}) {
  Roles roles;
  for (std::size_t i = 0; i < old.size(); ++i) roles.push_back({old[i], old[i], 0, target[i], limits[i]});
  return roles;
}

/// "2,2/1,1": the old replicas and the new ones.
std::string text_of(const Roles& roles) {
  std::vector<std::int64_t> old;
  std::vector<std::int64_t> now;
  for (const RoleProgress& role : roles) {
    old.push_back(role.old);
    now.push_back(role.now);
  }
  return fmt::format("{}/{}", fmt::join(old, ","), fmt::join(now, ","));
}

/// The start and all steps.
std::vector<std::string> steps_of(Roles roles) {
  std::vector<std::string> out = {text_of(roles)};
  std::int64_t most = 0;
  for (const RoleProgress& role : roles) most = std::max({most, role.old, role.target});
  for (std::int64_t left = most * 2 + 10; left > 0; --left) {
    const auto next = next_step(roles);
    if (!next) break;
    for (std::size_t i = 0; i < roles.size(); ++i) {
      roles[i].old = (*next)[i].old;
      roles[i].now = (*next)[i].now;
    }
    out.push_back(text_of(roles));
  }
  return out;
}

/// Calls `visit` for all rollouts of `roles` roles with up to `most` replicas before and after. Roles with an even
/// index have the first limits.
template <typename Visit>
void for_all_rollouts(std::size_t roles, std::int64_t most, const std::vector<RolloutLimits>& limits,
                      const Visit& visit) {
  std::vector<std::int64_t> counts(2 * roles);
  for (bool more = true; more;) {
    const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(roles);
    for (const RolloutLimits& even : limits) {
      for (const RolloutLimits& odd : limits) {
        std::vector<RolloutLimits> of_roles;
        for (std::size_t i = 0; i < roles; ++i) of_roles.push_back(i % 2 == 0 ? even : odd);
        visit(roles_of({counts.begin(), middle}, {middle, counts.end()}, of_roles));
      }
    }
    more = false;
    for (std::int64_t& count : counts) {
      if (++count <= most) {
        more = true;
        break;
      }
      count = 0;
    }
  }
}

std::string digest(std::size_t roles, std::int64_t most, const std::vector<RolloutLimits>& limits) {
  std::string all;
  for_all_rollouts(roles, most, limits, [&](const Roles& rollout) {
    for (const std::string& step : steps_of(rollout)) all += step + " ";
    all += "\n";
  });
  return sha256_hex(all);
}

// The digests are those of the steps of ComputeAllSteps of upstream's planner.go, v0.10.0.
TEST(RolloutSteps, AreThoseOfUpstreamForAllSmallRolloutsOfTwoRoles) {
  EXPECT_EQ(digest(2, 6, {{1, 0}, {0, 1}, {2, 1}, {0, 2}, {3, 0}}),
            "55af8a6b3b8b3a67db69ac6499ccde00a1c743d47db4dc826b6c89924dfef4a9");
}

TEST(RolloutSteps, AreThoseOfUpstreamForAllSmallRolloutsOfThreeRoles) {
  EXPECT_EQ(digest(3, 3, {{1, 0}, {0, 1}, {2, 2}}), "50c2ae9787bd74a2aedecaeaefbb3a2b1bcfafba63f57a5c6480f0c1b337aa72");
}

TEST(RolloutSteps, AddAReplicaOfEachRoleThenTakeOneAway) {
  EXPECT_THAT(steps_of(roles_of({2, 2}, {2, 2})), ElementsAre("2,2/0,0", "2,2/1,1", "1,1/1,1", "1,1/2,2", "0,0/2,2"));
}

TEST(RolloutSteps, KeepTheProportionsOfTheRoles) {
  EXPECT_THAT(steps_of(roles_of({4, 2}, {4, 2}, {{2, 0}, {2, 0}})),
              ElementsAre("4,2/0,0", "4,2/2,1", "2,1/2,1", "2,1/4,2", "0,0/4,2"));
}

TEST(RolloutSteps, TakeAwayFirstWithoutASurge) {
  EXPECT_THAT(steps_of(roles_of({2, 2}, {2, 2}, {{0, 1}, {0, 1}})),
              ElementsAre("2,2/0,0", "1,1/0,0", "1,1/1,1", "0,0/1,1", "0,0/2,2"));
}

TEST(RolloutSteps, EndWithAllRolesOfTheOldRevisionTogether) {
  for_all_rollouts(2, 5, {{1, 0}, {0, 1}, {2, 1}}, [](const Roles& rollout) {
    bool one_ended = false;
    for (const std::string& step : steps_of(rollout)) {
      const std::string old = step.substr(0, step.find('/'));
      const bool first = rollout[0].initial_old > 0 && old.starts_with("0,");
      const bool second = rollout[1].initial_old > 0 && old.ends_with(",0");
      if (rollout[0].initial_old > 0 && rollout[1].initial_old > 0 && first != second) one_ended = true;
    }
    EXPECT_FALSE(one_ended) << testing::PrintToString(steps_of(rollout));
  });
}

TEST(RolloutSteps, EndAtTheTarget) {
  for_all_rollouts(2, 5, {{1, 0}, {0, 1}, {2, 1}}, [](const Roles& rollout) {
    EXPECT_EQ(steps_of(rollout).back(), fmt::format("0,0/{},{}", rollout[0].target, rollout[1].target));
  });
}

TEST(RolloutSteps, TakeBackWhatWasAddedToTheOldRevision) {
  Roles roles = roles_of({2, 2}, {2, 2});
  roles[0].old = 5;
  EXPECT_THAT(next_step(roles), testing::Optional(ElementsAre(RoleStep{2, 0}, RoleStep{2, 0})));
}

TEST(RolloutSteps, FollowAChangedTarget) {
  Roles roles = roles_of({4, 4}, {4, 4});
  for (RoleProgress& role : roles) {
    role.old = 2;
    role.now = 2;
    role.target = 2;
  }
  EXPECT_THAT(next_step(roles), testing::Optional(ElementsAre(RoleStep{0, 2}, RoleStep{0, 2})));
}

}  // namespace
}  // namespace tpuslice::disaggregatedset
