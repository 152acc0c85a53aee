// Rolling updates, printed step by step: enough groups stay ready under each policy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "api/types/yaml.h"
#include "tests/support/lws_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using namespace std::chrono_literals;

class RollingUpdate {
 public:
  RollingUpdate(int replicas, int max_unavailable, int max_surge)
      : replicas_(replicas), max_unavailable_(max_unavailable), max_surge_(max_surge) {
    world_.start_operator(world_.replacement);
    Json set = *parse_yaml(kTwoGroups);
    set["spec"]["replicas"] = replicas;
    set["spec"]["rolloutStrategy"] = {
        {"type", "RollingUpdate"},
        {"rollingUpdateConfiguration", {{"maxUnavailable", max_unavailable}, {"maxSurge", max_surge}}}};
    world_.apply(set.dump());
    EXPECT_TRUE(world_.run_until([&] { return world_.is_ready(replicas, "first"); }));
    world_.require_ready(replicas - max_unavailable);
    std::cout << fmt::format("{} groups, maxUnavailable {}, maxSurge {}\n", replicas, max_unavailable, max_surge);
    observe();
  }
  ~RollingUpdate() { EXPECT_THAT(world_.violations, IsEmpty()); }
  RollingUpdate(const RollingUpdate&) = delete;
  RollingUpdate& operator=(const RollingUpdate&) = delete;

  void update(const std::string& image) {
    image_ = image;
    say("image " + image);
    world_.use_image(image);
  }
  void scale(int groups) {
    say(fmt::format("scaled to {}", groups));
    world_.require_ready(std::min(groups, replicas_) - max_unavailable_);
    replicas_ = groups;
    world_.scale(groups);
  }
  /// The workers of this group never become ready with this image.
  void break_group(int group, const std::string& image) {
    broken_ = fmt::format("serve-{}-1", group);
    broken_image_ = image;
  }

  /// One ready group may be updated because a group below it is stuck.
  void allow_one_more_unavailable() { world_.require_ready(replicas_ - max_unavailable_ - 1); }

  bool run_until(const std::function<bool()>& condition) {
    return world_.run_until([&] {
      observe();
      return condition();
    });
  }
  bool completes() {
    return run_until([&] { return world_.is_ready(replicas_, image_); });
  }
  void run_for(Duration time) {
    const Instant end = world_.clock.now() + time;
    run_until([&] { return world_.clock.now() >= end; });
  }

  /// A letter for each group: N new and ready, n new, O old and ready, o old, - without leader.
  [[nodiscard]] std::string picture() const {
    const sim::JsonPtr leaders = world_.cluster.get(kStatefulSetKind, kServe);
    std::string out;
    for (int group = 0; group < int_at(*leaders, {"spec", "replicas"}); ++group) out += letter(group);
    return out;
  }

 private:
  [[nodiscard]] char letter(int group) const {
    const std::string leader_name = fmt::format("serve-{}", group);
    const sim::JsonPtr leader = world_.cluster.get("pods", {"default", leader_name});
    if (leader == nullptr) return '-';
    const std::string image = string_at(*leader, {"spec", "containers", "0", "image"});
    bool ready = sim::condition_status(*leader, "Ready") == "True";
    for (const char* worker : {"-1", "-2"}) {
      const sim::JsonPtr pod = world_.cluster.get("pods", {"default", leader_name + worker});
      ready = ready && pod != nullptr && sim::condition_status(*pod, "Ready") == "True" &&
              string_at(*pod, {"spec", "containers", "0", "image"}) == image;
    }
    if (image == image_) return ready ? 'N' : 'n';
    return ready ? 'O' : 'o';
  }

  void observe() {
    const sim::JsonPtr broken = world_.cluster.get("pods", {"default", broken_});
    if (broken != nullptr && string_at(*broken, {"spec", "containers", "0", "image"}) == broken_image_) {
      keep_unready(*broken);
    }
    const sim::JsonPtr leaders = world_.cluster.get(kStatefulSetKind, kServe);
    const auto partition = int_at(*leaders, {"spec", "updateStrategy", "rollingUpdate", "partition"});
    const std::string now = fmt::format("partition {}  {}", partition, picture());
    if (now == last_) return;
    last_ = now;
    say(now);
    const auto count = int_at(*leaders, {"spec", "replicas"});
    EXPECT_LE(count, std::max(replicas_, previous_replicas_) + max_surge_);
    previous_replicas_ = replicas_;
  }

  void keep_unready(const Json& pod) {
    const sim::ResourcePtr pods = world_.cluster.registry().resources().find_id("pods");
    const auto modified = world_.cluster.registry().modify(*pods, Object(pod).key(), {}, [](Json& json) -> Status {
      json["metadata"]["annotations"]["sim.tpuslice.dev/never-ready"] = "true";
      return {};
    });
    EXPECT_TRUE(modified.ok());
  }

  void say(const std::string& text) const {
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(world_.clock.now() - start_);
    std::cout << fmt::format("  {:>7.1f} s  {}\n", static_cast<double>(since.count()) / 1000, text);
  }

  LwsWorld world_;
  const Instant start_ = world_.clock.now();
  int replicas_;
  int previous_replicas_ = 0;  ///< Before scaling: groups are deleted a step later.
  const int max_unavailable_;
  const int max_surge_;
  std::string image_ = "first";
  std::string broken_;
  std::string broken_image_;
  std::string last_;
};

TEST(LwsRollout, UpdatesOneGroupAfterTheOther) {
  RollingUpdate rollout(4, 1, 0);
  rollout.update("second");
  EXPECT_TRUE(rollout.completes());
}

TEST(LwsRollout, UpdatesWithASurgeAndMaxUnavailable) {
  RollingUpdate rollout(4, 2, 2);
  rollout.update("second");
  EXPECT_TRUE(rollout.completes());
}

TEST(LwsRollout, UpdatesWithASurgeOnly) {
  RollingUpdate rollout(3, 0, 1);
  rollout.update("second");
  EXPECT_TRUE(rollout.completes());
}

struct BrokenGroup {
  int replicas;
  int max_unavailable;
  int max_surge;
  const char* stops;
};

// Upstream never continues if a ready group is above the broken one: StatefulSets update from the highest ordinal.
TEST(LwsRollout, StopsAtAGroupThatNeverBecomesReadyUntilTheNextUpdate) {
  for (const BrokenGroup& each : {BrokenGroup{4, 1, 0, "OOnN"}, {4, 2, 2, "NNnN"}, {3, 0, 1, "OOnN"}}) {
    RollingUpdate rollout(each.replicas, each.max_unavailable, each.max_surge);
    rollout.break_group(2, "second");
    rollout.update("second");
    rollout.run_for(5min);
    EXPECT_EQ(rollout.picture(), each.stops);
    rollout.allow_one_more_unavailable();
    rollout.update("third");
    EXPECT_TRUE(rollout.completes());
  }
}

TEST(LwsRollout, CanBeScaled) {
  for (const int groups : {6, 2}) {
    RollingUpdate rollout(4, 1, 0);
    rollout.update("second");
    EXPECT_TRUE(rollout.run_until([&] { return rollout.picture() == "OOON"; }));
    rollout.scale(groups);
    EXPECT_TRUE(rollout.completes());
  }
}

}  // namespace
}  // namespace tpuslice::testing
