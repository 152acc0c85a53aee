// The operator crashes after, or just before, its n-th write, for every n, on a real API server, and another operator
// completes the work. Several such runs are made at a time, each in its own namespace.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/mutex.h"
#include "tests/e2e/faults/fault_plane.h"
#include "tests/e2e/faults/live_operator.h"
#include "tests/e2e/faults/ray_namespace.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kLanes = 8;
static_assert(kLanes <= kSliceCapacity);
/// After this time in the expected state the operator sends no more writes.
constexpr Duration kMaxWriteDelay = 1s;

struct RunResult {
  bool done = false;
  bool crashed = false;
  std::int64_t writes = 0;  ///< Of the first operator.
};

/// One namespace and its operators, one at a time.
class Lane {
 public:
  Lane(http::Transport& server, RayNamespace& space, std::string log, bool before_server)
      : server_(server), space_(space), log_(std::move(log)), before_server_(before_server) {}

  /// Runs `act` under an operator that crashes at its write `crash_at` (0: never) and is then replaced.
  RunResult run(std::int64_t crash_at, const std::function<Status()>& act, const std::function<bool()>& done) {
    start(crash_at);
    RunResult out;
    if (!act().ok()) return out;
    out.done = eventually([&] { return !replace_crashed(out) && done(); }, 60s);
    if (!out.crashed) static_cast<void>(eventually([&] { return operator_->dead(); }, kMaxWriteDelay));
    if (!replace_crashed(out) && !out.crashed) out.writes = operator_->writes();
    return out;
  }
  [[nodiscard]] bool crashed() const { return operator_->dead(); }
  /// Waits for the digest `expected`, at most 15 seconds; returns the last digest.
  std::string digest(const std::string& expected) {
    static_cast<void>(eventually([&] { return space_.digest() == expected; }, 15s));
    return space_.digest();
  }

 private:
  void start(std::int64_t crash_at) {
    LiveOperatorOptions options{.namespace_name = space_.name(), .log = log_};
    options.faults.die_at_write = crash_at;
    options.faults.die_before_server = before_server_;
    operator_.reset();
    operator_ = std::make_unique<LiveOperator>(server_, options);
  }
  /// Starts another operator if the current one crashed; returns whether it did.
  bool replace_crashed(RunResult& out) {
    if (!operator_->dead()) return false;
    out.crashed = true;
    out.writes = operator_->writes();
    start(0);
    return true;
  }

  http::Transport& server_;
  RayNamespace& space_;
  const std::string log_;
  const bool before_server_;
  std::unique_ptr<LiveOperator> operator_;
};

/// The writes to crash at: 1, 2, 3, ... until a run completes with fewer writes. Thread-safe.
class CrashPoints {
 public:
  std::optional<int> next() TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (last_ < next_) return std::nullopt;
    return next_++;
  }
  void completed(int n) TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    last_ = std::min(last_, n);
  }
  void crashed(const char* phase) TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    ++crashes_[phase];
  }
  void stop() { completed(0); }

  [[nodiscard]] int crashes(const char* phase) const TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const auto found = crashes_.find(phase);
    return found == crashes_.end() ? 0 : found->second;
  }

 private:
  mutable Mutex mutex_;
  int next_ TPUSLICE_GUARDED_BY(mutex_) = 1;
  int last_ TPUSLICE_GUARDED_BY(mutex_) = 100;
  std::map<std::string, int> crashes_ TPUSLICE_GUARDED_BY(mutex_);
};

class CrashOnARealServer : public FaultTest, public ::testing::WithParamInterface<bool> {
 protected:
  /// Runs `body` in kLanes namespaces in parallel.
  void run_in_lanes(const std::string& prefix, const std::function<void(RayNamespace&, Lane&)>& body) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kLanes; ++i) {
      threads.emplace_back([this, &body, name = fmt::format("{}-{}-{}", prefix, moment(), i)] {
        RayNamespace space(client(), name);
        Lane lane(transport(), space, fmt::format("{}/{}.log", plane().dir(), name), GetParam());
        expect(space.create().ok(), name, "the namespace is created");
        body(space, lane);
      });
    }
  }
  /// Usable in any thread; a failure stops all lanes.
  void expect(bool condition, const std::string& when, const std::string& what) {
    EXPECT_TRUE(condition) << when << ": " << what;
    if (!condition) crash_points_.stop();
  }
  void expect_digest(Lane& lane, const std::string& when, const std::string& expected) {
    const std::string found = lane.digest(expected);
    EXPECT_EQ(found, expected) << when;
    if (found != expected) crash_points_.stop();
  }
  [[nodiscard]] static std::string moment() { return GetParam() ? "before" : "after"; }
  [[nodiscard]] static std::string crash(const RayNamespace& space, int n) {
    return fmt::format("{}: crash {} write {}", space.name(), moment(), n);
  }

  CrashPoints crash_points_;
};

TEST_P(CrashOnARealServer, WhileCreatingAndDeleting) {
  RayNamespace baseline(client(), "baseline-" + moment());
  ASSERT_TRUE(baseline.create().ok());
  Lane first(transport(), baseline, plane().dir() + "/baseline.log", false);
  const RunResult uninterrupted = first.run(
      0, [&] { return baseline.apply(); }, [&] { return baseline.ready(); });
  ASSERT_TRUE(uninterrupted.done) << baseline.digest();
  const std::string expected = baseline.digest();
  const RunResult removed = first.run(
      0, [&] { return baseline.remove(); }, [&] { return baseline.is_deleted(); });
  ASSERT_TRUE(removed.done) << baseline.digest();

  run_in_lanes("create", [&](RayNamespace& space, Lane& lane) {
    while (const std::optional<int> n = crash_points_.next()) {
      const RunResult created = lane.run(
          *n, [&] { return space.apply(); }, [&] { return space.ready(); });
      expect(created.done, crash(space, *n), "the slice becomes ready");
      expect_digest(lane, crash(space, *n), expected);
      const RunResult deleted = lane.run(
          *n, [&] { return space.remove(); }, [&] { return space.is_deleted(); });
      expect(deleted.done, crash(space, *n), "all objects are deleted");
      if (created.crashed) crash_points_.crashed("creation");
      if (deleted.crashed) crash_points_.crashed("deletion");
      if (!created.crashed && !deleted.crashed) crash_points_.completed(*n);
    }
  });
  EXPECT_GE(crash_points_.crashes("creation"), 7) << "head, two services, two workers, the status, an event";
  GTEST_LOG_(INFO) << fmt::format("without crash: {} writes to create, {} to delete; crashed at {} and {}",
                                  uninterrupted.writes, removed.writes, crash_points_.crashes("creation"),
                                  crash_points_.crashes("deletion"));
}

TEST_P(CrashOnARealServer, WhileCreatingAClusterThatIsDeletedMeanwhile) {
  run_in_lanes("partly", [&](RayNamespace& space, Lane& lane) {
    while (const std::optional<int> n = crash_points_.next()) {
      const auto create_partly_and_delete = [&]() -> Status {
        RETURN_IF_ERROR(space.apply());
        static_cast<void>(eventually([&] { return lane.crashed() || space.ready(); }));
        lane.crashed() ? crash_points_.crashed("creation") : crash_points_.completed(*n);
        return space.remove();
      };
      const RunResult result = lane.run(*n, create_partly_and_delete, [&] { return space.is_deleted(); });
      expect(result.done, crash(space, *n), "all objects are deleted");
      expect(space.is_deleted(), crash(space, *n), "all objects stay deleted");
    }
  });
  EXPECT_GE(crash_points_.crashes("creation"), 7);
  GTEST_LOG_(INFO) << fmt::format("crashed at {} writes", crash_points_.crashes("creation"));
}

TEST_P(CrashOnARealServer, WhileRepairing) {
  run_in_lanes("repair", [&](RayNamespace& space, Lane& lane) {
    const RunResult created = lane.run(
        0, [&] { return space.apply(); }, [&] { return space.ready(); });
    expect(created.done, space.name(), "the slice becomes ready");
    const std::string expected = space.digest();
    const std::vector<std::string> names = space.children();
    while (const std::optional<int> n = crash_points_.next()) {
      const std::set<std::string> before = space.worker_uids();
      const RunResult repaired = lane.run(
          *n, [&] { return space.fail_worker(*n % RayNamespace::kHosts); }, [&] { return space.rebuilt(before); });
      expect(repaired.done, crash(space, *n), "the slice is rebuilt");
      expect_digest(lane, crash(space, *n), expected);
      expect(space.children() == names, crash(space, *n), "the names are the same");
      repaired.crashed ? crash_points_.crashed("repair") : crash_points_.completed(*n);
    }
  });
  EXPECT_GE(crash_points_.crashes("repair"), 4) << "two deletes and two creates";
  GTEST_LOG_(INFO) << fmt::format("crashed at {} writes", crash_points_.crashes("repair"));
}

INSTANTIATE_TEST_SUITE_P(Crashes, CrashOnARealServer, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "BeforeTheServer" : "AfterTheServer"; });

}  // namespace
}  // namespace tpuslice::testing
