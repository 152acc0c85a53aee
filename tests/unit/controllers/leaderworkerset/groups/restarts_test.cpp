#include "controllers/leaderworkerset/groups/restarts.h"

#include <gtest/gtest.h>

#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/sets/leader_set.h"
#include "controllers/leaderworkerset/sets/worker_set.h"
#include "tests/support/leaderworkerset/leaderworkersets.h"
#include "tpu/labels.h"

namespace tpuslice::leaderworkerset {
namespace {

using namespace std::chrono_literals;
using enum RestartDecision::Kind;

const Timestamp kStart = Timestamp(1'800'000'000s);

PodPtr pod(const std::string& name, const std::function<void(PodView&)>& change = {}) {
  PodView view;
  view.key = {"default", name};
  view.uid = "uid-of-" + name;
  view.phase = PodPhase::kRunning;
  view.ready = true;
  if (change) change(view);
  return std::make_shared<const PodView>(std::move(view));
}

Group group(PodPtr leader, std::vector<PodPtr> workers) {
  Group out;
  out.leader = std::move(leader);
  out.workers = std::move(workers);
  out.size = 3;
  return out;
}

std::string failure(const Group& group, const std::string& policy = "RecreateGroupOnPodRestart") {
  const Object object = a_set("serve").size(3).of_template("/restartPolicy", policy).object();
  return failure_of(LeaderWorkerSetSpec::read(object), group, {}).value_or(GroupFailure{}).cause;
}

/// "serve-0-1": the pod that failed.
std::string failed_pod(const Group& group) {
  const Object object = a_set("serve").size(3).object();
  return failure_of(LeaderWorkerSetSpec::read(object), group, {}).value_or(GroupFailure{}).pod;
}

const auto kRestarted = [](PodView& view) { view.restarted = true; };
const auto kTerminating = [](PodView& view) { view.deletion = kStart; };
const auto kFailed = [](PodView& view) {
  view.phase = PodPhase::kFailed;
  view.reason = "Evicted";
};
const auto kPending = [](PodView& view) { view.phase = PodPhase::kPending; };

TEST(GroupFailure, IsAnyFailedRestartedOrTerminatingPod) {
  EXPECT_EQ(failure(group(pod("serve-0"), {pod("serve-0-1"), pod("serve-0-2")})), "");
  EXPECT_EQ(failure(group(pod("serve-0"), {pod("serve-0-1", kRestarted), pod("serve-0-2")})),
            "a container of pod serve-0-1 was restarted");
  EXPECT_EQ(failure(group(pod("serve-0", kRestarted), {})), "a container of pod serve-0 was restarted");
  const auto killed = [](PodView& view) {
    view.restarted = true;
    view.failure = "container main: OOMKilled, exit code 137";
  };
  EXPECT_EQ(failure(group(pod("serve-0", killed), {})),
            "a container of pod serve-0 was restarted: container main: OOMKilled, exit code 137");
  EXPECT_EQ(failure(group(pod("serve-0"), {pod("serve-0-2", kTerminating)})), "pod serve-0-2 is being deleted");
  EXPECT_EQ(failure(group(pod("serve-0"), {pod("serve-0-2", kFailed)})), "pod serve-0-2 failed: Evicted");
}

TEST(GroupFailure, NamesThePodThatFailed) {
  EXPECT_EQ(failed_pod(group(pod("serve-0"), {pod("serve-0-1"), pod("serve-0-2", kTerminating)})), "serve-0-2");
  EXPECT_EQ(failed_pod(group(pod("serve-0", kRestarted), {pod("serve-0-1", kFailed)})), "serve-0");
}

TEST(GroupFailure, IsNoneWhileTheLeaderTerminates) {
  EXPECT_EQ(failure(group(pod("serve-0", kTerminating), {pod("serve-0-1", kTerminating)})), "");
  EXPECT_EQ(failure(group(nullptr, {})), "");
}

TEST(GroupFailure, DependsOnTheRestartPolicy) {
  const Group broken = group(pod("serve-0"), {pod("serve-0-1", kRestarted), pod("serve-0-2")});
  EXPECT_EQ(failure(broken, "None"), "");
  EXPECT_EQ(failure(broken, "Default"), "");
  EXPECT_NE(failure(broken, "RecreateGroupAfterStart"), "");
  const Group starting = group(pod("serve-0"), {pod("serve-0-1", kRestarted), pod("serve-0-2", kPending)});
  EXPECT_EQ(failure(starting, "RecreateGroupAfterStart"), "") << "one of its pods has not started";
  EXPECT_NE(failure(starting), "");
  EXPECT_EQ(failure(group(pod("serve-0"), {pod("serve-0-1", kRestarted)}), "RecreateGroupAfterStart"), "")
      << "one of its pods does not exist";
}

/// The labels of the pod template of the leader set.
StringMap labels_of_leader_set() {
  const Object object = a_set("serve").size(3).object();
  const Json set = build_leader_set(LeaderWorkerSetSpec::read(object), {"revision", 1, 0});
  return string_map_at(set, {"spec", "template", "metadata", "labels"});
}

StringMap labels_of_worker_set() {
  const Object object = a_set("serve").size(3).object();
  const LeaderWorkerSetSpec spec = LeaderWorkerSetSpec::read(object);
  const Json set = build_worker_set(spec, spec.group, Leader::read(spec, *pod("serve-0"), 0, spec.group), {});
  return string_map_at(set, {"spec", "template", "metadata", "labels"});
}

TEST(GroupFailure, IsAPodThatTheWebhookHasNotAdmitted) {
  const auto from_leader_set = [](PodView& view) { view.labels = labels_of_leader_set(); };
  const auto from_worker_set = [](PodView& view) { view.labels = labels_of_worker_set(); };
  const auto admitted = [](PodView& view) {
    view.labels = {{std::string(kLwsWorkerIndex), "0"}, {std::string(kLwsGroupKey), "key"}};
  };
  const auto failure_of_group = [](const Group& group) {
    const Object object = a_set("serve").size(3).of_template("/restartPolicy", "None").object();
    return failure_of(LeaderWorkerSetSpec::read(object), group, {.has_webhook = true}).value_or(GroupFailure{}).cause;
  };
  EXPECT_EQ(failure_of_group(group(pod("serve-0", admitted), {pod("serve-0-1", admitted)})), "");
  EXPECT_EQ(failure_of_group(group(pod("serve-0", from_leader_set), {})),
            "pod serve-0 was created while the webhook was unavailable and lacks its LWS_* environment");
  EXPECT_EQ(failure_of_group(
                group(pod("serve-0", admitted), {pod("serve-0-1", admitted), pod("serve-0-2", from_worker_set)})),
            "pod serve-0-2 was created while the webhook was unavailable and lacks its LWS_* environment");
  EXPECT_EQ(failure_of_group(group(pod("serve-0", admitted), {pod("serve-0-1", kTerminating)})), "");
}

TEST(GroupFailure, IsAPodThatWasReplacedBetweenTwoPlans) {
  Group whole = group(pod("serve-0"), {pod("serve-0-1"), pod("serve-0-2")});
  const auto recorded = [](const std::string& members) {
    StatefulSetView set;
    set.annotations = {{std::string(kMembers), members}};
    return std::make_shared<const StatefulSetView>(std::move(set));
  };
  whole.worker_set = recorded(members_hash(whole));
  EXPECT_EQ(failure(whole), "");
  whole.workers[1] = pod("serve-0-2", [](PodView& view) { view.uid = "another"; });
  EXPECT_EQ(failure(whole), "one of its pods was replaced");
  EXPECT_EQ(failed_pod(whole), "") << "it is not known which";
  whole.workers.pop_back();
  EXPECT_EQ(failure(whole), "") << "incomplete groups are not compared";
}

TEST(Restart, BacksOffExponentially) {
  const Group first = group(pod("serve-0"), {});
  const RestartDecision now = decide_restart(first, {}, std::nullopt, kStart, {});
  EXPECT_EQ(now.kind, kRestart);
  EXPECT_EQ(now.record.count, 1);
  EXPECT_EQ(now.record.leader, "uid-of-serve-0");
  const auto again = [&](int count, Duration after) {
    const RestartRecords records = {{0, {"previous-leader", count, kStart}}};
    return decide_restart(first, records, std::nullopt, kStart + after, {});
  };
  EXPECT_EQ(again(1, 9s).kind, kBackOff);
  EXPECT_EQ(again(1, 9s).due, kStart + 10s);
  EXPECT_EQ(again(1, 10s).kind, kRestart);
  EXPECT_EQ(again(1, 10s).record.count, 2);
  EXPECT_EQ(again(3, 39s).kind, kBackOff);
  EXPECT_EQ(again(3, 40s).record.count, 4);
  EXPECT_EQ(again(50, 299s).kind, kBackOff);
  EXPECT_EQ(again(50, 300s).kind, kRestart) << "at most five minutes";
  EXPECT_EQ(again(3, 40s + 10min).record.count, 1) << "reset_after has passed";
}

TEST(Restart, IsCountedOnceIfItsDeleteIsRepeated) {
  const Group same = group(pod("serve-0"), {});
  const RestartRecords records = {{0, {"uid-of-serve-0", 7, kStart}}};
  const RestartDecision verdict = decide_restart(same, records, 7, kStart + 1s, {});
  EXPECT_EQ(verdict.kind, kRestart) << "counted, but the leader still exists";
  EXPECT_EQ(verdict.record.count, 7);
  EXPECT_EQ(verdict.record.last, kStart);
  const RestartRecord late = decide_restart(same, records, 7, kStart + 1h, {}).record;
  EXPECT_NE(format_restarts({{0, late}}, 1, kStart + 1h, {}), "") << "a refused delete is not forgotten";
  EXPECT_EQ(late.count, 7);
}

TEST(Restart, IsLimited) {
  const Group broken = group(pod("serve-0"), {});
  const RestartRecords records = {{0, {"previous-leader", 3, kStart}}};
  EXPECT_EQ(decide_restart(broken, records, 3, kStart + 1h, {}).kind, kRestart) << "reset_after has passed";
  EXPECT_EQ(decide_restart(broken, records, 3, kStart + 5min, {}).kind, kExhausted);
  EXPECT_EQ(decide_restart(broken, records, 4, kStart + 5min, {}).kind, kRestart);
  EXPECT_EQ(decide_restart(broken, {}, 0, kStart, {}).kind, kExhausted);
  EXPECT_EQ(decide_restart(broken, {}, 0, kStart, {}).record, (RestartRecord{"", 0, kStart, "uid-of-serve-0"}));
}

TEST(Restart, StaysExhaustedUntilTheLeaderIsReplaced) {
  const Group broken = group(pod("serve-0"), {});
  const auto exhausted = [&](RestartRecords records, std::optional<int> limit, Duration after) {
    return decide_restart(broken, records, limit, kStart + after, {});
  };
  const RestartDecision first = exhausted({{0, {"previous-leader", 3, kStart}}}, 3, 5min);
  ASSERT_EQ(first.kind, kExhausted);
  EXPECT_EQ(first.record, (RestartRecord{"previous-leader", 3, kStart, "uid-of-serve-0"}));
  const RestartDecision later = exhausted({{0, first.record}}, 3, 24h);
  EXPECT_EQ(later.kind, kExhausted) << "it has not run since";
  EXPECT_EQ(later.record, first.record) << "nothing to write";
  EXPECT_EQ(exhausted({{0, first.record}}, 4, 24h).kind, kRestart) << "the limit was raised";
  EXPECT_EQ(exhausted({{0, first.record}}, std::nullopt, 24h).kind, kRestart) << "the limit was removed";
  EXPECT_EQ(exhausted({{0, {"previous-leader", 3, kStart, "uid-of-earlier"}}}, 3, 24h).kind, kRestart)
      << "its leader was deleted by hand, and the next one has run";
}

TEST(Restart, IsAskedForByAnAnnotationOfTheLeader) {
  const auto recover = [](PodView& leader) { leader.annotations[std::string(kRecover)] = "true"; };
  for (const int limit : {0, 3}) {
    const RestartRecords used_up = {{0, {"previous-leader", limit, kStart}}};
    const RestartDecision first = decide_restart(group(pod("serve-0"), {}), used_up, limit, kStart + 5min, {});
    ASSERT_EQ(first.kind, kExhausted);
    const RestartRecords records = {{0, first.record}};
    const Group annotated = group(pod("serve-0", recover), {});
    const RestartDecision recovered = decide_restart(annotated, records, limit, kStart + 6min, {});
    EXPECT_EQ(recovered.kind, kRestart);
    EXPECT_EQ(recovered.record, (RestartRecord{"uid-of-serve-0", 0, kStart + 6min})) << "counted from 0";
    const Group other =
        group(pod("serve-0", [](PodView& leader) { leader.annotations[std::string(kRecover)] = "false"; }), {});
    EXPECT_EQ(decide_restart(other, records, limit, kStart + 6min, {}).kind, kExhausted);
  }
}

TEST(Restart, IsNotAskedForByAnAnnotationOfTheTemplate) {
  const Group broken =
      group(pod("serve-0", [](PodView& leader) { leader.annotations[std::string(kRecover)] = "true"; }), {});
  for (const int limit : {0, 3}) {
    const RestartRecords used_up = {{0, {"previous-leader", limit, kStart}}};
    const RestartDecision first = decide_restart(broken, used_up, limit, kStart + 5min, {});
    EXPECT_EQ(first.kind, kExhausted);
    const RestartRecords read = read_restarts(format_restarts({{0, first.record}}, 1, kStart + 5min, {}));
    EXPECT_EQ(decide_restart(broken, read, limit, kStart + 6min, {}).kind, kExhausted) << "there would be no limit";
  }
}

TEST(RestartRecords, SurviveARoundTrip) {
  const RestartRecords records = {{0, {"a", 2, kStart}}, {11, {"b", 1, kStart}}};
  const std::string text = format_restarts(records, 12, kStart, {});
  EXPECT_EQ(text, R"({"0":{"count":2,"last":"2027-01-15T08:00:00Z","leader":"a"},)"
                  R"("11":{"count":1,"last":"2027-01-15T08:00:00Z","leader":"b"}})");
  const RestartRecords read = read_restarts(text);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read.at(11).leader, "b");
  EXPECT_EQ(read.at(0).count, 2);
  EXPECT_EQ(read.at(0).last, kStart);
  EXPECT_EQ(format_restarts(records, 11, kStart, {}).find("\"11\""), std::string::npos) << "no such group";
  EXPECT_EQ(format_restarts({}, 5, kStart, {}), "");
  for (const char* broken : {"", "x", "[]", R"({"a":{}})", R"({"0":{"last":"never"}})", R"({"0":1})"}) {
    EXPECT_TRUE(read_restarts(broken).empty()) << broken;
  }
}

TEST(RestartRecords, AreForgottenOnceTheyDoNotMatter) {
  const RestartRecords records = {{0, {"a", 1, kStart}}, {1, {"b", 1, kStart, "c"}}};
  EXPECT_EQ(format_restarts(records, 2, kStart + 10s + 10min, {}),
            R"({"1":{"count":1,"exhausted":"c","last":"2027-01-15T08:00:00Z","leader":"b"}})");
  EXPECT_EQ(read_restarts(format_restarts(records, 2, kStart, {})), records);
}

TEST(RestartRecords, FitIntoAnAnnotation) {
  RestartRecords records;
  const std::string uid = "01234567-89ab-cdef-0123-456789abcdef";
  for (int i = 0; i < 10'000; ++i) records[i] = {uid, 1, kStart + std::chrono::seconds(i), uid};
  const std::string text = format_restarts(records, 10'000, kStart, {});
  EXPECT_LT(text.size(), 200U * 1024U);
  const RestartRecords kept = read_restarts(text);
  EXPECT_EQ(kept.size(), kMaxRestartRecords);
  EXPECT_EQ(kept.begin()->first, 9'000) << "the latest";
}

}  // namespace
}  // namespace tpuslice::leaderworkerset
