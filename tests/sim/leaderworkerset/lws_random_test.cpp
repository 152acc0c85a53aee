// Random schedules of everything that happens to LeaderWorkerSets and goes wrong around them, one per seed.
// TPUSLICE_SIM_SEED=<n> runs only that one; TPUSLICE_SIM_SEEDS=<n> runs that many.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/yaml.h"
#include "tests/support/fault_choices.h"
#include "tests/support/lws_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::IsEmpty;
using namespace std::chrono_literals;

/// One history: a set with some policies, and what happens to it.
class LwsHistory {
 public:
  explicit LwsHistory(std::uint64_t seed) : random_(seed), shape_(random_shape(random_)) {
    start("first");
    world_.apply(shape_);
  }

  void disturb() {
    const int disturbances = random_.uniform(1, 10);
    for (int i = 0; i < disturbances; ++i) {
      world_.run_for(std::chrono::milliseconds(random_.uniform(0, 20'000)));
      story_ += fmt::format("  {}: {}\n", world_.clock.now().time_since_epoch().count() / 1'000'000, one_thing());
    }
  }

  /// All is well again, and stays quiet: the set is ready, and then gone.
  void end() {
    world_.heal();
    if (world_.set().is_null()) {
      world_.apply(shape_);
      image_ = "first";
      groups_ = 2;
    }
    const auto settled = [this] { return world_.is_ready(groups_, image_); };
    EXPECT_TRUE(world_.run_until(settled, 1h)) << story_ << world_.digest();
    world_.run_for(1min);
    EXPECT_TRUE(settled()) << story_ << world_.digest();
    world_.remove();
    EXPECT_TRUE(world_.run_until([this] { return world_.is_gone(); })) << story_ << world_.digest();
    EXPECT_THAT(world_.violations, IsEmpty()) << story_;
  }

 private:
  static std::string random_shape(Random& random) {
    Json shape = *parse_yaml(kTwoGroups);
    Json& spec = shape["spec"];
    const int surge = random.uniform(0, 2);
    spec["rolloutStrategy"] = {{"type", "RollingUpdate"},
                               {"rollingUpdateConfiguration",
                                {{"maxUnavailable", random.uniform(surge == 0 ? 1 : 0, 2)}, {"maxSurge", surge}}}};
    if (random.uniform(0, 2) == 0) spec["startupPolicy"] = "LeaderReady";
    if (random.uniform(0, 2) == 0) spec["networkConfig"] = {{"subdomainPolicy", "UniquePerReplica"}};
    if (random.uniform(0, 2) == 0) spec["leaderWorkerTemplate"]["restartPolicy"] = "RecreateGroupAfterStart";
    return shape.dump();  // JSON is YAML.
  }

  void start(const std::string& identity) {
    OperatorOptions options = world_.fresh;
    options.identity = identity;
    options.seed = random_.next();
    options.faults = random_faults(random_);
    world_.start_operator(options);
  }

  ObjectKey one_of(const char* resource) {
    const std::vector<sim::JsonPtr> objects = world_.cluster.storage().list(resource);
    if (objects.empty()) return {};
    return Object(*objects[random_.uniform<std::size_t>(0, objects.size() - 1)]).key();
  }

  static std::string told(const std::string& what, const Status& done) {
    // What is gone already cannot be hit.
    return done.ok() ? what : what + " (" + done.error().message() + ")";
  }

  std::string one_thing() {
    const int kind = random_.uniform(0, 11);
    if (kind <= 5) return to_a_child(kind);
    if (kind <= 8) return by_a_user(kind);
    return to_the_operator(kind);
  }

  std::string to_a_child(int kind) {
    if (kind == 0) {
      const ObjectKey node = one_of("nodes");
      return told("lose node " + node.name, world_.cluster.set_node_ready(node.name, random_.uniform(0, 1) == 0));
    }
    if (kind == 1) {
      const ObjectKey set = one_of(kStatefulSetKind);
      return told("delete set " + set.name, world_.cluster.remove(kStatefulSetKind, set));
    }
    if (kind == 2) {
      const ObjectKey service = one_of("services");
      return told("delete service " + service.name, world_.cluster.remove("services", service));
    }
    const ObjectKey pod = one_of("pods");
    if (kind == 3) return told("delete pod " + pod.name, world_.cluster.remove("pods", pod));
    if (kind == 4) return told("fail pod " + pod.name, world_.cluster.fail_pod(pod));
    return told("kill container of " + pod.name, world_.cluster.kill_container(pod, "main", 1));
  }

  std::string by_a_user(int kind) {
    if (world_.set().is_null()) {
      world_.apply(shape_);
      image_ = "first";
      groups_ = 2;
      return "create the set again";
    }
    if (kind == 6 && random_.uniform(0, 2) == 0) {
      world_.remove();
      return "delete the set";
    }
    if (kind == 7) {
      groups_ = random_.uniform(1, 4);
      world_.scale(groups_);
      return fmt::format("scale to {}", groups_);
    }
    image_ = fmt::format("image-{}", random_.uniform(1, 3));
    world_.use_image(image_);
    return "use " + image_;
  }

  std::string to_the_operator(int kind) {
    if (kind == 9) {
      world_.cluster.compact();
      return "compact";
    }
    if (kind == 10) world_.kill_operators();
    start(kind == 10 ? "first" : "second");
    return kind == 10 ? "kill the operator" : "a second operator";
  }

  Random random_;
  LwsWorld world_;
  const std::string shape_;
  std::string image_ = "first";
  int groups_ = 2;
  std::string story_;
};

TEST(LwsRandomSchedule, AlwaysEndsReady) {
  const std::int64_t only = number_from("TPUSLICE_SIM_SEED", 0);
  const std::int64_t count = number_from("TPUSLICE_SIM_SEEDS", 40);
  const std::int64_t first = only == 0 ? 1 : only;
  const std::int64_t last = only == 0 ? count : only;
  for (std::int64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE(fmt::format("run this one alone with TPUSLICE_SIM_SEED={}", seed));
    LwsHistory history(static_cast<std::uint64_t>(seed));
    history.disturb();
    history.end();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tpuslice::testing
