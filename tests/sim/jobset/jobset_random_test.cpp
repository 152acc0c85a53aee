// Random sequences of user actions, failures and faults, one per seed.
// TPUSLICE_SIM_SEED=<n> runs only that one; TPUSLICE_SIM_SEEDS=<n> runs that many.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/yaml.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/support/fault_choices.h"
#include "tests/support/jobset_world.h"

namespace tpuslice::testing {
namespace {

using ::testing::IsEmpty;
using namespace std::chrono_literals;

/// A JobSet of random shape and a random sequence of events.
class JobSetHistory {
 public:
  explicit JobSetHistory(std::uint64_t seed)
      : random_(seed), world_(pools_for(kSlices + 1, seed, true)), shape_(random_shape(random_)) {
    world_.start_operator({.seed = seed, .faults = random_faults(random_)});
    world_.apply(shape_);
  }

  void disturb() {
    const int disturbances = random_.uniform(1, 10);
    for (int i = 0; i < disturbances; ++i) {
      world_.run_for(std::chrono::milliseconds(random_.uniform(0, 20'000)));
      log_ += fmt::format("  {}: {}\n", world_.clock.now().time_since_epoch().count() / 1'000'000, random_event());
    }
  }

  /// Ends all faults: the JobSet becomes ready, stays so, and can be deleted.
  void recover() {
    world_.heal();
    if (!world_.jobset().is_null() && world_.terminal_state().empty()) world_.suspend(false);
    if (world_.jobset().is_null()) world_.apply(shape_);
    const bool settled = world_.run_until([this] { return has_settled(); }, 30min);
    EXPECT_TRUE(settled) << log_ << world_.state();
    world_.run_for(1min);
    EXPECT_TRUE(has_settled()) << log_ << world_.state();
    EXPECT_THAT(world_.partial_slices(), IsEmpty()) << log_;
    world_.remove();
    EXPECT_TRUE(world_.run_until([this] { return world_.is_deleted(); })) << log_ << world_.state();
    EXPECT_THAT(world_.violations, IsEmpty()) << log_;
  }

  [[nodiscard]] int restarts() const { return world_.invariants.restarts(); }

 private:
  static std::string random_shape(Random& random) {
    Json shape = *parse_yaml(kTwoSlices);
    Json& spec = shape["spec"];
    if (random.uniform(0, 2) == 0) spec["failurePolicy"]["restartStrategy"] = "BlockingRecreate";
    if (random.uniform(0, 1) == 0) shape["metadata"]["annotations"][std::string(jobset::kRestartAt)] = "FailureTarget";
    // Then the Job controller replaces pods, and the slice controller tears down slices that lose one.
    if (random.uniform(0, 2) == 0) spec["replicatedJobs"][0]["template"]["spec"]["backoffLimit"] = 100;
    if (random.uniform(0, 2) == 0) {
      Json driver = spec["replicatedJobs"][0];
      driver["name"] = "driver";
      driver["replicas"] = 1;
      driver["template"]["spec"]["parallelism"] = driver["template"]["spec"]["completions"] = 1;
      Json& pod = driver["template"]["spec"]["template"]["spec"];
      pod.erase("nodeSelector");
      pod["containers"][0].erase("resources");
      spec["replicatedJobs"].insert(spec["replicatedJobs"].begin(), driver);
      if (random.uniform(0, 1) == 0) {
        spec["replicatedJobs"][1]["dependsOn"] = Json::array({{{"name", "driver"}, {"status", "Ready"}}});
      } else if (random.uniform(0, 1) == 0) {
        spec["startupPolicy"]["startupPolicyOrder"] = "InOrder";
      }
    }
    return shape.dump();  // JSON is YAML.
  }

  [[nodiscard]] bool has_settled() {
    return world_.terminal_state().empty() ? world_.is_ready_after_restarts() : world_.partial_slices().empty();
  }

  template <typename List>
  ObjectKey one_of(const List& list) {
    return Object(*list[random_.uniform<std::size_t>(0, list.size() - 1)]).key();
  }

  std::string random_event() {
    const int kind = random_.uniform(0, 12);
    if (kind <= 3) return to_a_pod(kind);
    if (kind <= 6) return to_a_node(kind);
    if (kind <= 9) return by_a_user(kind);
    return to_the_operator(kind);
  }

  std::string describe(const std::string& what, const Status& done) {
    // The object may be deleted already.
    return done.ok() ? what : what + " (" + done.error().message() + ")";
  }

  std::string to_a_pod(int kind) {
    const std::vector<sim::JsonPtr> pods = world_.pods();
    if (pods.empty()) return "nothing";
    const ObjectKey pod = one_of(pods);
    if (kind == 0) return describe("delete pod " + pod.name, world_.cluster.remove("pods", pod));
    if (kind == 1) {
      const std::vector<sim::JsonPtr> jobs = world_.jobs();
      if (jobs.empty()) return "nothing";
      const ObjectKey job = one_of(jobs);
      return describe("delete job " + job.name,
                      world_.cluster.remove(kJobKind, job, random_.uniform(0, 1) == 0 ? "Background" : "Foreground"));
    }
    return describe("fail pod " + pod.name, world_.cluster.fail_pod(pod));
  }

  std::string to_a_node(int kind) {
    const std::vector<sim::JsonPtr> nodes = world_.cluster.storage().list("nodes");
    if (nodes.empty()) return "nothing";
    const std::string node = one_of(nodes).name;
    if (kind == 4) return describe("lose node " + node, world_.cluster.set_node_ready(node, false));
    if (kind == 5) return describe("delete node " + node, world_.cluster.delete_node(node));
    return describe("cordon node " + node, world_.cluster.cordon(node));
  }

  std::string by_a_user(int kind) {
    if (world_.jobset().is_null()) {
      world_.apply(shape_);
      return "create the JobSet again";
    }
    if (kind == 7) {
      world_.remove();
      return "delete the JobSet";
    }
    const bool suspend = random_.uniform(0, 1) == 0;
    world_.suspend(suspend);
    return suspend ? "suspend" : "resume";
  }

  std::string to_the_operator(int kind) {
    if (kind == 10) {
      world_.cluster.compact();
      return "compact";
    }
    if (kind == 11) world_.kill_operators();
    world_.start_operator(
        {.identity = kind == 11 ? "first" : "second", .seed = random_.next(), .faults = random_faults(random_)});
    return kind == 11 ? "kill the operator" : "a second operator";
  }

  Random random_;
  JobSetWorld world_;
  const std::string shape_;
  std::string log_;
};

TEST(JobSetRandomSchedule, AlwaysRecoversAndNeverDuplicatesAHost) {
  const std::int64_t only = env_integer("TPUSLICE_SIM_SEED", 0);
  const std::int64_t count = env_integer("TPUSLICE_SIM_SEEDS", 30);
  const std::int64_t first = only == 0 ? 1 : only;
  const std::int64_t last = only == 0 ? count : only;
  int restarts = 0;
  for (std::int64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE(fmt::format("run this one alone with TPUSLICE_SIM_SEED={}", seed));
    JobSetHistory history(static_cast<std::uint64_t>(seed));
    history.disturb();
    history.recover();
    restarts += history.restarts();
    if (HasFailure()) return;
  }
  constexpr std::int64_t kEnough = 30;  // Few histories may have no restart.
  if (only == 0 && count >= kEnough) {
    EXPECT_GE(restarts, count / 3) << "too few restarts";
  }
}

}  // namespace
}  // namespace tpuslice::testing
