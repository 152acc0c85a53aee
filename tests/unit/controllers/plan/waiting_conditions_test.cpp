#include "controllers/plan/waiting_conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/conditions.h"
#include "controllers/plan/waiting_code.h"
#include "tpu/labels.h"

namespace tpuslice::plan {
namespace {

using namespace std::chrono_literals;

using PodPtr = std::shared_ptr<const PodView>;
using Phase = PodProgress::Phase;

const Timestamp kNow(1'800'000'000s);
constexpr PodProgress kCreated{.all_created = true};
constexpr PodProgress kStarted{.all_created = true, .all_started = true};

PodPtr pod_of(const std::string& slice, const std::string& reason, bool terminating = false) {
  PodView pod;
  pod.labels[std::string(tpu::kSlice)] = slice;
  if (!reason.empty()) pod.annotations[std::string(tpu::kWaiting)] = reason;
  if (terminating) pod.deletion = kNow;
  return std::make_shared<const PodView>(std::move(pod));
}

PodPtr gated_host(const std::string& index) {
  PodView pod;
  pod.scheduling.edit().gates = {std::string(tpu::kSliceGate)};
  if (!index.empty()) pod.annotations[std::string(tpu::kSliceHost)] = index;
  return std::make_shared<const PodView>(std::move(pod));
}

PodPtr stuck_pod(const std::string& name, const std::string& reason, bool terminating = false) {
  PodView pod;
  pod.key = {"default", name};
  pod.stuck = reason;
  if (terminating) pod.deletion = kNow;
  return std::make_shared<const PodView>(std::move(pod));
}

PodPtr failed_pod(const std::string& name, const std::string& failure) {
  PodView pod = *stuck_pod(name, "");
  pod.phase = PodPhase::kFailed;
  pod.failure = failure;
  return std::make_shared<const PodView>(std::move(pod));
}

/// "True SlicesPlaced"
std::string state_of(const Json& conditions, std::string_view type) {
  const Json* condition = find_condition(conditions, type);
  if (condition == nullptr) return "absent";
  return string_at(*condition, {"status"}) + " " + string_at(*condition, {"reason"});
}

std::string message_of(const Json& conditions, std::string_view type) {
  const Json* condition = find_condition(conditions, type);
  return condition == nullptr ? "" : string_at(*condition, {"message"});
}

Json conditions_for(const std::vector<PodPtr>& pods, const PodProgress& progress, Json before = Json::array()) {
  update_waiting_conditions(pods, progress, 7, kNow, before);
  for (const Json& condition : before) EXPECT_EQ(condition["observedGeneration"], 7);
  EXPECT_EQ(before.size(), 2U);
  return before;
}

std::string slices_message(const std::vector<PodPtr>& pods) {
  const Json conditions = conditions_for(pods, kCreated);
  EXPECT_EQ(state_of(conditions, kSlicesPlaced), "False SlicesWaiting");
  return message_of(conditions, kSlicesPlaced);
}

std::string containers_message(const std::vector<PodPtr>& pods) {
  const Json conditions = conditions_for(pods, kStarted);
  EXPECT_EQ(state_of(conditions, kContainersStarted), "False ContainersStuck");
  return message_of(conditions, kContainersStarted);
}

TEST(WaitingConditions, AreFalseUntilAllPodsExistAndTrueAfterwards) {
  const Json pending = conditions_for({}, {});
  EXPECT_EQ(state_of(pending, kSlicesPlaced), "False PodsPending");
  EXPECT_EQ(state_of(pending, kContainersStarted), "False ContainersPending");
  const Json created = conditions_for({}, kCreated, pending);
  EXPECT_EQ(state_of(created, kSlicesPlaced), "True SlicesPlaced");
  EXPECT_EQ(state_of(created, kContainersStarted), "False ContainersPending");
  const Json started = conditions_for({}, kStarted, created);
  EXPECT_EQ(state_of(started, kSlicesPlaced), "True SlicesPlaced");
  EXPECT_EQ(state_of(started, kContainersStarted), "True ContainersStarted");
  EXPECT_EQ(conditions_for({}, kStarted, started), started) << "nothing to write";
}

TEST(WaitingConditions, StayFalseWhileHostZeroIsGatedWithoutWaitingReason) {
  const Json conditions = conditions_for({gated_host("0")}, kStarted);
  EXPECT_EQ(state_of(conditions, kSlicesPlaced), "False PodsPending");
  EXPECT_EQ(state_of(conditions, kContainersStarted), "False ContainersPending");
  EXPECT_EQ(state_of(conditions_for({gated_host("")}, kStarted), kSlicesPlaced), "False PodsPending");
  EXPECT_EQ(state_of(conditions_for({gated_host("1")}, kStarted), kSlicesPlaced), "True SlicesPlaced")
      << "host 0 has the record of the placement";
}

TEST(WaitingConditions, HaveTheReasonOfTheFirstSlice) {
  const auto waits = [](const std::string& slice, const std::string& code) {
    PodView pod = *pod_of(slice, "no node pool is free");
    pod.annotations[std::string(tpu::kWaitingReason)] = code;
    return std::make_shared<const PodView>(pod);
  };
  const auto reason = [&](const std::vector<PodPtr>& pods) {
    return state_of(conditions_for(pods, kCreated), kSlicesPlaced);
  };
  EXPECT_EQ(reason({waits("b", "QueuedBehind"), waits("a", "NodesInUse")}), "False NodesInUse");
  EXPECT_EQ(reason({waits("a", "not a reason")}), "False SlicesWaiting");
}

TEST(WaitingConditions, SayWhyASingleHostSliceHasNoNode) {
  const auto pod = [](const std::string& hosts, const std::string& message) {
    PodView view;
    view.key = {"default", "serve-0"};
    view.labels[std::string(tpu::kSlice)] = "serve-0";
    view.annotations[std::string(tpu::kSliceHosts)] = hosts;
    view.unschedulable = message;
    return std::make_shared<const PodView>(std::move(view));
  };
  const char* const full =
      "0/9 nodes are available: 2 Insufficient google.com/tpu, 7 node(s) didn't match Pod's node affinity/selector.";
  const Json conditions = conditions_for({pod("1", full)}, kCreated);
  EXPECT_EQ(state_of(conditions, kSlicesPlaced), "False NodesInUse");
  EXPECT_THAT(message_of(conditions, kSlicesPlaced),
              ::testing::EndsWith(": pod serve-0 has no node yet: Insufficient google.com/tpu"));
  EXPECT_EQ(state_of(conditions_for({pod("1",
                                         "0/9 nodes are available: 9 node(s) didn't match Pod's node "
                                         "affinity/selector.")},
                                    kCreated),
                     kSlicesPlaced),
            "False NoMatchingNodes");
  EXPECT_EQ(
      state_of(conditions_for({pod("1", "0/9 nodes are available: 9 Insufficient cpu.")}, kCreated), kSlicesPlaced),
      "False NotScheduled");
  EXPECT_EQ(state_of(conditions_for({pod("4", full)}, kCreated), kSlicesPlaced), "True SlicesPlaced")
      << "the slice controllers write the reasons of multi-host slices";
  EXPECT_TRUE(is_waiting(*pod("1", full)));
  EXPECT_FALSE(is_waiting(*pod("1", "")));
}

TEST(WaitingCode, IsALackOfNodesUpToGangIncomplete) {
  EXPECT_TRUE(is_lack_of_nodes("NoMatchingNodes"));
  EXPECT_TRUE(is_lack_of_nodes("GangIncomplete"));
  EXPECT_FALSE(is_lack_of_nodes("HostsMissing"));
  EXPECT_FALSE(is_lack_of_nodes("PodsPending"));
  EXPECT_EQ(to_string(WaitingCode::kTooManyRequirements), "TooManyRequirements");
}

TEST(WaitingConditions, NameNodesThatAreNotReady) {
  PodView pod = *pod_of("job-0-u1", "");
  pod.annotations[std::string(tpu::kNodeNotReady)] = "node n of pod p has not been Ready since 10:00";
  ASSERT_TRUE(is_waiting(pod));
  const Json conditions = conditions_for({std::make_shared<const PodView>(pod)}, kStarted);
  EXPECT_EQ(state_of(conditions, kSlicesPlaced), "True SlicesPlaced");
  EXPECT_EQ(message_of(conditions, kSlicesPlaced),
            "all pods exist, and no slice waits for nodes; job-0-u1: node n of pod p has not been Ready since 10:00");
  EXPECT_EQ(state_of(conditions, kContainersStarted), "True ContainersStarted");
}

TEST(WaitingConditions, ContainersStartedStaysTrueWhenPodsBecomeUnready) {
  const Json started = conditions_for({}, kStarted);
  EXPECT_EQ(conditions_for({}, kCreated, started), started);
  const Json lost = conditions_for({}, {}, started);
  EXPECT_EQ(state_of(lost, kContainersStarted), "False ContainersPending") << "a pod is being replaced";
  EXPECT_EQ(state_of(conditions_for({}, kCreated, lost), kContainersStarted), "False ContainersPending");
}

TEST(WaitingConditions, AreFalseWhileSuspended) {
  const Json conditions = conditions_for({}, {Phase::kSuspended}, conditions_for({}, kStarted));
  EXPECT_EQ(state_of(conditions, kSlicesPlaced), "False Suspended");
  EXPECT_EQ(state_of(conditions, kContainersStarted), "False Suspended");
}

TEST(WaitingConditions, ThatAreTrueStayTrueWhenTheWorkloadHasFinished) {
  const Json created = conditions_for({}, kCreated);
  const Json finished = conditions_for({}, {Phase::kFinished}, created);
  EXPECT_EQ(state_of(finished, kSlicesPlaced), "True SlicesPlaced");
  EXPECT_EQ(state_of(finished, kContainersStarted), "False Finished");
}

TEST(WaitingConditions, StayAsTheyAreWhenTheSpecIsRefused) {
  Json conditions = conditions_for({}, kStarted);
  const Json before = conditions;
  update_waiting_conditions({}, {Phase::kRefused}, 8, kNow, conditions);
  EXPECT_EQ(conditions, before);
  EXPECT_EQ(state_of(conditions_for({}, {Phase::kRefused}), kSlicesPlaced), "False NotAccepted");
}

TEST(WaitingConditions, NameEachWaitingSliceOnce) {
  EXPECT_EQ(slices_message({pod_of("b", "no pool"), pod_of("a", "no node"), pod_of("a", ""), pod_of("c", "")}),
            "a: no node; b: no pool");
}

TEST(WaitingConditions, NameThreeSlicesAndNotHowManyOthers) {
  EXPECT_EQ(slices_message({pod_of("a", "1"), pod_of("b", "2"), pod_of("c", "3"), pod_of("d", "4"), pod_of("e", "5")}),
            "a: 1; b: 2; c: 3; others wait, too");
}

TEST(WaitingConditions, GoOnToNameTheSameSlices) {
  const auto message = [](const Json& conditions) { return string_at(conditions[0], {"message"}); };
  const auto d = pod_of("d", "4");
  Json conditions = conditions_for({d}, kCreated);
  EXPECT_EQ(message(conditions), "d: 4");
  const std::vector<PodPtr> four = {pod_of("a", "1"), pod_of("b", "2"), pod_of("c", "3"), d};
  conditions = conditions_for(four, kCreated, conditions);
  EXPECT_EQ(message(conditions), "d: 4; others wait, too");
  const Json before = conditions;
  conditions = conditions_for({four[0], four[1], four[2], d, pod_of("e", "5")}, kCreated, conditions);
  EXPECT_EQ(conditions, before) << "no write";
  conditions = conditions_for({four[0], d}, kCreated, conditions);
  EXPECT_EQ(message(conditions), "a: 1; d: 4") << "all are named";
  conditions = conditions_for({four[0], four[1], four[2], pod_of("e", "5")}, kCreated, before);
  EXPECT_EQ(message(conditions), "a: 1; b: 2; c: 3; others wait, too") << "d does not wait any more";
}

TEST(WaitingConditions, IgnoreTerminatingPods) {
  const Json conditions = conditions_for({pod_of("a", "no pool", true), stuck_pod("b", "x", true)}, kStarted);
  EXPECT_EQ(state_of(conditions, kSlicesPlaced), "True SlicesPlaced");
  EXPECT_EQ(state_of(conditions, kContainersStarted), "True ContainersStarted");
}

TEST(WaitingConditions, NamePodsWhoseContainersCannotStart) {
  EXPECT_EQ(containers_message(
                {stuck_pod("b", "container main: X"), stuck_pod("a", "container init: Y"), stuck_pod("c", "")}),
            "pod a: container init: Y; pod b: container main: X");
  EXPECT_EQ(containers_message({stuck_pod("a", "1"), stuck_pod("b", "2"), stuck_pod("c", "3"), stuck_pod("d", "4")}),
            "pod a: 1; pod b: 2; pod c: 3; others wait, too");
}

TEST(WaitingConditions, NamePodsThatFailedUntilAllContainersHaveStarted) {
  const std::vector<PodPtr> pods = {failed_pod("a", "container main: StartError, exit code 128"), stuck_pod("b", "B")};
  const std::string message = "pod a failed: container main: StartError, exit code 128; pod b: B";
  const Json created = conditions_for(pods, kCreated);
  EXPECT_EQ(state_of(created, kContainersStarted), "False ContainersStuck");
  EXPECT_EQ(message_of(created, kContainersStarted), message);
  EXPECT_EQ(state_of(created, kSlicesPlaced), "True SlicesPlaced");
  const Json started = conditions_for({pods[0]}, kStarted, created);
  EXPECT_EQ(state_of(started, kContainersStarted), "True ContainersStarted") << "another pod has its place";
  EXPECT_EQ(state_of(conditions_for({pods[0]}, {}, started), kContainersStarted), "False ContainersStuck");
}

TEST(WaitingConditions, NameThePodsOfAFinishedWorkloadThatFailed) {
  const std::vector<PodPtr> pods = {failed_pod("a", "container main: OOMKilled, exit code 137"), stuck_pod("b", "B")};
  const std::string failed = "pod a failed: container main: OOMKilled, exit code 137";
  const Json never = conditions_for(pods, {Phase::kFinished}, conditions_for({}, kCreated));
  EXPECT_EQ(state_of(never, kContainersStarted), "False Finished");
  EXPECT_EQ(message_of(never, kContainersStarted), "the workload has finished; " + failed);
  EXPECT_EQ(conditions_for({}, {Phase::kFinished}, never), never) << "the pods are deleted";
  const Json started = conditions_for(pods, {Phase::kFinished}, conditions_for({}, kStarted));
  EXPECT_EQ(state_of(started, kContainersStarted), "True ContainersStarted");
  EXPECT_EQ(message_of(started, kContainersStarted), "the containers of all pods have started; " + failed);
  EXPECT_EQ(conditions_for(pods, {Phase::kFinished}, started), started);
  EXPECT_EQ(conditions_for({}, {Phase::kFinished}, started), started);
}

TEST(WaitingConditions, DependOnPodsThatAreStuckOrGatedOrHaveAWaitingReason) {
  EXPECT_TRUE(is_waiting(*stuck_pod("a", "container main: X")));
  EXPECT_TRUE(is_waiting(*pod_of("a", "no pool")));
  EXPECT_TRUE(is_waiting(*gated_host("0")));
  EXPECT_FALSE(is_waiting(*gated_host("3")));
  EXPECT_TRUE(is_waiting(*failed_pod("a", "container main: Error, exit code 1")));
  EXPECT_FALSE(is_waiting(*failed_pod("a", "")));
  EXPECT_FALSE(is_waiting(*stuck_pod("a", "")));
  EXPECT_FALSE(is_waiting(*pod_of("a", "no pool", true)));
}

TEST(WaitingConditions, FollowTheConditionsOfUpstream) {
  Json conditions = conditions_for({}, kStarted);
  set_condition(conditions, {"Completed", "True", "Done", "", 7}, kNow);
  update_waiting_conditions({}, {Phase::kFinished}, 7, kNow, conditions);
  EXPECT_EQ(conditions[0]["type"], "Completed");
  EXPECT_EQ(conditions[1]["type"], kSlicesPlaced);
  EXPECT_EQ(conditions[2]["type"], kContainersStarted);
}

TEST(WaitingConditions, AreTrueAgainWhenNothingWaits) {
  const Json waiting = conditions_for({pod_of("a", "no pool")}, kStarted);
  EXPECT_EQ(state_of(waiting, kSlicesPlaced), "False SlicesWaiting");
  EXPECT_EQ(state_of(waiting, kContainersStarted), "False ContainersPending");
  const Json placed = conditions_for({pod_of("a", "")}, kStarted, waiting);
  EXPECT_EQ(state_of(placed, kSlicesPlaced), "True SlicesPlaced");
}

TEST(WaitingConditions, SayFirstThatPodsAreRefused) {
  const Json conditions = conditions_for({pod_of("a", "2 hosts are missing")}, {.refused = "Job a lacks pods: quota"});
  EXPECT_EQ(state_of(conditions, kSlicesPlaced), "False PodsRefused");
  EXPECT_EQ(message_of(conditions, kSlicesPlaced), "Job a lacks pods: quota");
  EXPECT_EQ(state_of(conditions, kContainersStarted), "False ContainersPending");
}

}  // namespace
}  // namespace tpuslice::plan
