#include "tpu/waiting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/conditions.h"
#include "tpu/labels.h"

namespace tpuslice::tpu {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

using PodPtr = std::shared_ptr<const PodView>;
const Timestamp kNow(1'800'000'000s);

PodPtr pod_of(const std::string& slice, const std::string& why, bool leaving = false) {
  PodView pod;
  pod.labels[std::string(kSlice)] = slice;
  if (!why.empty()) pod.annotations[std::string(kWaiting)] = why;
  if (leaving) pod.deletion = kNow;
  return std::make_shared<const PodView>(std::move(pod));
}

std::string told(const std::vector<PodPtr>& pods) {
  Json conditions = Json::array();
  tell_waiting(pods, 7, kNow, conditions);
  const Json* condition = find_condition(conditions, kSlicesPlaced);
  if (condition == nullptr) return "";
  EXPECT_EQ((*condition)["status"], "False");
  EXPECT_EQ((*condition)["reason"], "SlicesWaiting");
  EXPECT_EQ((*condition)["observedGeneration"], 7);
  return string_at(*condition, {"message"});
}

TEST(Waiting, IsToldOfEachSliceOnce) {
  EXPECT_EQ(told({pod_of("b", "no pool"), pod_of("a", "no node"), pod_of("a", ""), pod_of("c", "")}),
            "a: no node; b: no pool");
}

TEST(Waiting, IsToldOfThreeSlicesAndNotOfHowManyOthers) {
  EXPECT_EQ(told({pod_of("a", "1"), pod_of("b", "2"), pod_of("c", "3"), pod_of("d", "4"), pod_of("e", "5")}),
            "a: 1; b: 2; c: 3; others wait, too");
}

TEST(Waiting, IsNotToldOfPodsThatGo) { EXPECT_THAT(told({pod_of("a", "no pool", true)}), IsEmpty()); }

PodPtr stuck_pod(const std::string& name, const std::string& why, bool leaving = false) {
  PodView pod;
  pod.key = {"default", name};
  pod.stuck = why;
  if (leaving) pod.deletion = kNow;
  return std::make_shared<const PodView>(std::move(pod));
}

std::string told_of_containers(const std::vector<PodPtr>& pods) {
  Json conditions = Json::array();
  tell_waiting(pods, 7, kNow, conditions);
  const Json* condition = find_condition(conditions, kContainersStarted);
  if (condition == nullptr) return "";
  EXPECT_EQ(conditions.size(), 1U);
  EXPECT_EQ((*condition)["status"], "False");
  EXPECT_EQ((*condition)["reason"], "ContainersStuck");
  EXPECT_EQ((*condition)["observedGeneration"], 7);
  return string_at(*condition, {"message"});
}

TEST(Waiting, IsToldOfContainersThatCannotStart) {
  EXPECT_EQ(told_of_containers(
                {stuck_pod("b", "container main: X"), stuck_pod("a", "container init: Y"), stuck_pod("c", "")}),
            "pod a: container init: Y; pod b: container main: X");
  EXPECT_EQ(told_of_containers({stuck_pod("a", "1"), stuck_pod("b", "2"), stuck_pod("c", "3"), stuck_pod("d", "4")}),
            "pod a: 1; pod b: 2; pod c: 3; others wait, too");
  EXPECT_EQ(told_of_containers({stuck_pod("a", "container main: X", true)}), "") << "it goes";
}

TEST(Waiting, IsOfPodsThatSayWhy) {
  EXPECT_TRUE(is_waiting(*stuck_pod("a", "container main: X")));
  EXPECT_TRUE(is_waiting(*pod_of("a", "no pool")));
  EXPECT_FALSE(is_waiting(*stuck_pod("a", "")));
  EXPECT_FALSE(is_waiting(*pod_of("a", "no pool", true)));
}

TEST(Waiting, IsTakenBackWhenNothingWaits) {
  Json conditions = Json::array();
  tell_waiting({pod_of("a", "no pool")}, 1, kNow, conditions);
  EXPECT_EQ(conditions.size(), 1U);
  tell_waiting({pod_of("a", "")}, 1, kNow, conditions);
  EXPECT_THAT(conditions, IsEmpty());
}

}  // namespace
}  // namespace tpuslice::tpu
