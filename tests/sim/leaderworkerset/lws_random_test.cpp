// Random histories of edits and faults, one per seed.
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

/// A set with random policies, and a random history.
class LwsHistory {
 public:
  explicit LwsHistory(std::uint64_t seed) : random_(seed), shape_(random_shape(random_)) {
    start("first");
    world_.apply(shape_);
  }

  void run_random_events() {
    const int events = random_.uniform(1, 10);
    for (int i = 0; i < events; ++i) {
      world_.run_for(std::chrono::milliseconds(random_.uniform(0, 20'000)));
      log_ += fmt::format("  {}: {}\n", world_.clock.now().time_since_epoch().count() / 1'000'000, random_event());
    }
  }

  /// Stops all faults: the set becomes ready, stays ready, and can be deleted.
  void finish() {
    world_.heal();
    if (world_.set().is_null()) {
      world_.apply(shape_);
      image_ = "first";
      groups_ = 2;
    }
    const auto settled = [this] { return world_.is_ready(groups_, image_); };
    EXPECT_TRUE(world_.run_until(settled, 1h)) << log_ << world_.digest();
    world_.run_for(1min);
    EXPECT_TRUE(settled()) << log_ << world_.digest();
    world_.remove();
    EXPECT_TRUE(world_.run_until([this] { return world_.is_deleted(); })) << log_ << world_.digest();
    EXPECT_THAT(world_.violations, IsEmpty()) << log_;
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
    OperatorOptions options = world_.replacement;
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

  static std::string describe(const std::string& what, const Status& result) {
    // The object may have been deleted in the meantime.
    return result.ok() ? what : what + " (" + result.error().message() + ")";
  }

  std::string random_event() {
    const int kind = random_.uniform(0, 11);
    if (kind <= 5) return child_event(kind);
    if (kind <= 8) return user_event(kind);
    return operator_event(kind);
  }

  std::string child_event(int kind) {
    if (kind == 0) {
      const ObjectKey node = one_of("nodes");
      return describe("lose node " + node.name, world_.cluster.set_node_ready(node.name, random_.uniform(0, 1) == 0));
    }
    if (kind == 1) {
      const ObjectKey set = one_of(kStatefulSetKind);
      return describe("delete set " + set.name, world_.cluster.remove(kStatefulSetKind, set));
    }
    if (kind == 2) {
      const ObjectKey service = one_of("services");
      return describe("delete service " + service.name, world_.cluster.remove("services", service));
    }
    const ObjectKey pod = one_of("pods");
    if (kind == 3) return describe("delete pod " + pod.name, world_.cluster.remove("pods", pod));
    if (kind == 4) return describe("fail pod " + pod.name, world_.cluster.fail_pod(pod));
    return describe("kill container of " + pod.name, world_.cluster.kill_container(pod, "main", 1));
  }

  std::string user_event(int kind) {
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

  std::string operator_event(int kind) {
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
  std::string log_;
};

TEST(LwsRandomHistory, EndsReady) {
  const std::int64_t only = env_integer("TPUSLICE_SIM_SEED", 0);
  const std::int64_t count = env_integer("TPUSLICE_SIM_SEEDS", 40);
  const std::int64_t first = only == 0 ? 1 : only;
  const std::int64_t last = only == 0 ? count : only;
  for (std::int64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE(fmt::format("run this one alone with TPUSLICE_SIM_SEED={}", seed));
    LwsHistory history(static_cast<std::uint64_t>(seed));
    history.run_random_events();
    history.finish();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tpuslice::testing
