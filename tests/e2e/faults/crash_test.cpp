// The operator dies after, or just before, its n-th write, for every n, on the real API server; the next one finishes
// the work. Many such lives run side by side, each in a namespace of its own.
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
/// A write that comes this late after all is done does not come.
constexpr Duration kLateWrite = 1s;

struct Played {
  bool done = false;
  bool died = false;
  std::int64_t writes = 0;  ///< Of the first operator.
};

/// One namespace, and the operators that look after it one after another.
class Lane {
 public:
  Lane(http::Transport& server, RayNamespace& space, std::string log, bool before_server)
      : server_(server), space_(space), log_(std::move(log)), before_server_(before_server) {}

  /// What `act` leads to, under an operator that dies at its write `die_at` (0: never) and one that follows it.
  Played play(std::int64_t die_at, const std::function<Status()>& act, const std::function<bool()>& done) {
    start(die_at);
    Played out;
    if (!act().ok()) return out;
    out.done = eventually([&] { return !bury(out) && done(); }, 60s);
    if (!out.died) static_cast<void>(eventually([&] { return operator_->dead(); }, kLateWrite));
    if (!bury(out) && !out.died) out.writes = operator_->writes();
    return out;
  }
  [[nodiscard]] bool dead() const { return operator_->dead(); }
  /// The state once it is `wanted`, or what it is instead: whatever was left over has a while to go.
  std::string digest(const std::string& wanted) {
    static_cast<void>(eventually([&] { return space_.digest() == wanted; }, 15s));
    return space_.digest();
  }

 private:
  void start(std::int64_t die_at) {
    LiveOperatorOptions options{.namespace_name = space_.name(), .log = log_};
    options.faults.die_at_write = die_at;
    options.faults.die_before_server = before_server_;
    operator_.reset();
    operator_ = std::make_unique<LiveOperator>(server_, options);
  }
  /// Puts another in the place of an operator that died; false if it lives.
  bool bury(Played& out) {
    if (!operator_->dead()) return false;
    out.died = true;
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

/// Hands out 1, 2, 3, ... to the lanes, until a run has made no such write. Thread-safe.
class Score {
 public:
  std::optional<int> next() TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (last_ < next_) return std::nullopt;
    return next_++;
  }
  void survived(int n) TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    last_ = std::min(last_, n);
  }
  void died(const char* what) TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    ++deaths_[what];
  }
  void stop() { survived(0); }

  [[nodiscard]] int deaths(const char* what) const TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const auto found = deaths_.find(what);
    return found == deaths_.end() ? 0 : found->second;
  }

 private:
  mutable Mutex mutex_;
  int next_ TPUSLICE_GUARDED_BY(mutex_) = 1;
  int last_ TPUSLICE_GUARDED_BY(mutex_) = 100;
  std::map<std::string, int> deaths_ TPUSLICE_GUARDED_BY(mutex_);
};

class CrashOnARealServer : public FaultTest, public ::testing::WithParamInterface<bool> {
 protected:
  /// Plays `life` in namespaces of their own, side by side.
  void in_lanes(const std::string& prefix, const std::function<void(RayNamespace&, Lane&)>& life) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kLanes; ++i) {
      threads.emplace_back([this, &life, name = fmt::format("{}-{}-{}", prefix, moment(), i)] {
        RayNamespace space(client(), name);
        Lane lane(transport(), space, fmt::format("{}/{}.log", plane().dir(), name), GetParam());
        expect(space.make().ok(), name, "the namespace is made");
        life(space, lane);
      });
    }
  }
  /// In any thread; what is wrong ends all lanes.
  void expect(bool right, const std::string& when, const std::string& what) {
    EXPECT_TRUE(right) << when << ": " << what;
    if (!right) score_.stop();
  }
  void expect_digest(Lane& lane, const std::string& when, const std::string& wanted) {
    const std::string found = lane.digest(wanted);
    EXPECT_EQ(found, wanted) << when;
    if (found != wanted) score_.stop();
  }
  [[nodiscard]] static std::string moment() { return GetParam() ? "before" : "after"; }
  [[nodiscard]] static std::string death(const RayNamespace& space, int n) {
    return fmt::format("{}: death {} write {}", space.name(), moment(), n);
  }

  Score score_;
};

TEST_P(CrashOnARealServer, WhileCreatingAndDeleting) {
  RayNamespace undisturbed(client(), "whole-" + moment());
  ASSERT_TRUE(undisturbed.make().ok());
  Lane first(transport(), undisturbed, plane().dir() + "/whole.log", false);
  const Played whole = first.play(
      0, [&] { return undisturbed.apply(); }, [&] { return undisturbed.ready(); });
  ASSERT_TRUE(whole.done) << undisturbed.digest();
  const std::string wanted = undisturbed.digest();
  const Played removed = first.play(
      0, [&] { return undisturbed.remove(); }, [&] { return undisturbed.gone(); });
  ASSERT_TRUE(removed.done) << undisturbed.digest();

  in_lanes("create", [&](RayNamespace& space, Lane& lane) {
    while (const std::optional<int> n = score_.next()) {
      const Played created = lane.play(
          *n, [&] { return space.apply(); }, [&] { return space.ready(); });
      expect(created.done, death(space, *n), "the slice becomes ready");
      expect_digest(lane, death(space, *n), wanted);
      const Played deleted = lane.play(
          *n, [&] { return space.remove(); }, [&] { return space.gone(); });
      expect(deleted.done, death(space, *n), "nothing is left");
      if (created.died) score_.died("creation");
      if (deleted.died) score_.died("deletion");
      if (!created.died && !deleted.died) score_.survived(*n);
    }
  });
  EXPECT_GE(score_.deaths("creation"), 7) << "head, two services, two workers, the status, an event";
  GTEST_LOG_(INFO) << fmt::format("undisturbed: {} writes to create, {} to delete; died at {} and {}", whole.writes,
                                  removed.writes, score_.deaths("creation"), score_.deaths("deletion"));
}

TEST_P(CrashOnARealServer, WhileCreatingWhatIsDeletedBeforeTheNextComes) {
  in_lanes("half", [&](RayNamespace& space, Lane& lane) {
    while (const std::optional<int> n = score_.next()) {
      const auto half_made_and_deleted = [&]() -> Status {
        RETURN_IF_ERROR(space.apply());
        static_cast<void>(eventually([&] { return lane.dead() || space.ready(); }));
        lane.dead() ? score_.died("creation") : score_.survived(*n);
        return space.remove();
      };
      const Played played = lane.play(*n, half_made_and_deleted, [&] { return space.gone(); });
      expect(played.done, death(space, *n), "nothing is left");
      expect(space.gone(), death(space, *n), "nothing comes back");
    }
  });
  EXPECT_GE(score_.deaths("creation"), 7);
  GTEST_LOG_(INFO) << fmt::format("died at {} writes", score_.deaths("creation"));
}

TEST_P(CrashOnARealServer, WhileRepairing) {
  in_lanes("repair", [&](RayNamespace& space, Lane& lane) {
    const Played created = lane.play(
        0, [&] { return space.apply(); }, [&] { return space.ready(); });
    expect(created.done, space.name(), "there is a slice to be repaired");
    const std::string wanted = space.digest();
    const std::vector<std::string> names = space.children();
    while (const std::optional<int> n = score_.next()) {
      const std::set<std::string> before = space.worker_uids();
      const Played repaired = lane.play(
          *n, [&] { return space.fail_worker(*n % RayNamespace::kHosts); }, [&] { return space.rebuilt(before); });
      expect(repaired.done, death(space, *n), "the slice is rebuilt");
      expect_digest(lane, death(space, *n), wanted);
      expect(space.children() == names, death(space, *n), "the names are the same");
      repaired.died ? score_.died("repair") : score_.survived(*n);
    }
  });
  EXPECT_GE(score_.deaths("repair"), 4) << "two deletes and two creates";
  GTEST_LOG_(INFO) << fmt::format("died at {} writes", score_.deaths("repair"));
}

INSTANTIATE_TEST_SUITE_P(Dies, CrashOnARealServer, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "BeforeTheServer" : "AfterTheServer"; });

}  // namespace
}  // namespace tpuslice::testing
