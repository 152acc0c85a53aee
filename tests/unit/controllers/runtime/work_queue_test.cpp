#include "controllers/runtime/work_queue.h"
#include "api/base/clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;

const ObjectKey kA{"default", "a"};
const ObjectKey kB{"default", "b"};

class WorkQueueTest : public ::testing::Test {
 protected:
  std::string pop() {
    const auto key = queue_.pop(clock_.now());
    return key ? key->name : "-";
  }

  FakeClock clock_;
  Metrics metrics_;
  WorkQueue queue_{{.name = "test"}, clock_, metrics_};
};

TEST_F(WorkQueueTest, HoldsAKeyOnce) {
  queue_.add(kA);
  queue_.add(kB);
  queue_.add(kA);
  EXPECT_EQ(pop(), "a");
  EXPECT_EQ(pop(), "b");
  EXPECT_EQ(pop(), "-");
}

TEST_F(WorkQueueTest, GivesAKeyToOneWorkerAtATime) {
  queue_.add(kA);
  EXPECT_EQ(pop(), "a");
  queue_.add(kA);
  EXPECT_EQ(pop(), "-");
  queue_.done(kA);
  EXPECT_EQ(pop(), "a");
  queue_.done(kA);
  EXPECT_EQ(pop(), "-");
}

TEST_F(WorkQueueTest, WaitsAtLeastAsLongAsTheServerAsksFor) {
  queue_.add_rate_limited(kA, 3s);
  EXPECT_EQ(queue_.next_due(), clock_.now() + 3s);
  clock_.advance(1s);
  queue_.add_rate_limited(kA, 5s);
  clock_.advance(2s);
  EXPECT_EQ(pop(), "a") << "it was added for this time, too";
}

TEST_F(WorkQueueTest, ComputesTheTimeOfUnfinishedWorkWhenScraped) {
  queue_.add(kA);
  queue_.add(kB);
  pop();
  clock_.advance(4s);
  pop();
  clock_.advance(2s);
  const std::string text = metrics_.scrape();
  EXPECT_NE(text.find("workqueue_unfinished_work_seconds{controller=\"test\",name=\"test\"} 8\n"), std::string::npos);
  EXPECT_NE(text.find("workqueue_longest_running_processor_seconds{controller=\"test\",name=\"test\"} 6\n"),
            std::string::npos);
}

TEST(WorkQueueMetrics, AreNotUpdatedAfterTheQueueIsDestroyed) {
  const FakeClock clock;
  Metrics metrics;
  { const WorkQueue queue({.name = "test"}, clock, metrics); }
  EXPECT_FALSE(metrics.scrape().empty());
}

TEST_F(WorkQueueTest, TakesTheEarliestOfSeveralDelays) {
  queue_.add_after(kA, 10s);
  queue_.add_after(kA, 3s);
  queue_.add_after(kA, 20s);
  EXPECT_EQ(queue_.next_due(), clock_.now() + 3s);
  clock_.advance(2999ms);
  EXPECT_EQ(pop(), "-");
  clock_.advance(1ms);
  EXPECT_EQ(pop(), "a");
  queue_.done(kA);
  clock_.advance(1h);
  EXPECT_EQ(pop(), "-") << "the later times were replaced";
}

TEST_F(WorkQueueTest, DoublesTheDelayOfAKeyUntilForgotten) {
  for (const Duration expected : {Duration(5ms), Duration(10ms), Duration(20ms), Duration(40ms)}) {
    queue_.add_rate_limited(kA);
    EXPECT_EQ(queue_.next_due() - clock_.now(), expected);
    clock_.advance(expected);
    EXPECT_EQ(pop(), "a");
    queue_.done(kA);
  }
  queue_.forget(kA);
  queue_.add_rate_limited(kA);
  EXPECT_EQ(queue_.next_due() - clock_.now(), 5ms);
}

/// Regression: a dozen changes within a second, each reconciled without success, delayed the retry by minutes.
TEST_F(WorkQueueTest, DoesNotLengthenTheDelayForFailuresBeforeTheRetry) {
  queue_.add_rate_limited(kA);
  for (int i = 0; i < 20; ++i) {
    queue_.add(kA);
    EXPECT_EQ(pop(), "a");
    queue_.add_rate_limited(kA);
    queue_.done(kA);
    EXPECT_EQ(queue_.next_due() - clock_.now(), 5ms);
  }
  clock_.advance(5ms);
  EXPECT_EQ(pop(), "a");
  queue_.add_rate_limited(kA);
  queue_.done(kA);
  EXPECT_EQ(queue_.next_due() - clock_.now(), 10ms);
}

TEST_F(WorkQueueTest, CapsTheDelayOfAKey) {
  for (int i = 0; i < 40; ++i) {
    queue_.add_rate_limited(kA);
    clock_.advance(1000s);
    EXPECT_EQ(pop(), "a");
    queue_.done(kA);
  }
}

TEST_F(WorkQueueTest, LimitsTheRetryRateOfANamespace) {
  for (int i = 0; i < 150; ++i) queue_.add_rate_limited({"default", std::to_string(i)});
  clock_.advance(1s);
  int popped = 0;
  while (queue_.pop(clock_.now())) ++popped;
  EXPECT_EQ(popped, 110) << "a burst of 100, then 10 a second";
}

TEST_F(WorkQueueTest, RetriesOfANamespaceDoNotDelayThoseOfOthers) {
  for (int i = 0; i < 2000; ++i) queue_.add_rate_limited({"failing", std::to_string(i)});
  for (int i = 0; i < 1000; ++i) queue_.add_rate_limited({"namespace-" + std::to_string(i), "a"});
  clock_.advance(5ms);
  int others = 0;
  while (const auto key = queue_.pop(clock_.now())) others += key->namespace_name == "failing" ? 0 : 1;
  EXPECT_EQ(others, 1000);
}

TEST_F(WorkQueueTest, ReturnsWhenTheNextKeyIsDue) {
  EXPECT_EQ(queue_.next_due(), kNever);
  queue_.add(kA);
  EXPECT_EQ(queue_.next_due(), Instant::min());
}

TEST_F(WorkQueueTest, UpdatesItsMetrics) {
  queue_.add(kA);
  queue_.add(kA);
  queue_.add_rate_limited(kB);
  const std::string text = metrics_.scrape();
  EXPECT_NE(text.find("workqueue_depth{controller=\"test\",name=\"test\"} 1"), std::string::npos) << text;
  EXPECT_NE(text.find("workqueue_adds_total{controller=\"test\",name=\"test\"} 1"), std::string::npos);
  EXPECT_NE(text.find("workqueue_retries_total{controller=\"test\",name=\"test\"} 1"), std::string::npos);
}

TEST_F(WorkQueueTest, PacesAKeyThatChangesAllTheTime) {
  WorkQueue paced{{.name = "paced", .pace = 100ms}, clock_, metrics_};
  const auto pop = [&] {
    const auto key = paced.pop(clock_.now());
    return key ? key->name : "-";
  };
  paced.add(kA);
  EXPECT_EQ(pop(), "a") << "the first at once";
  paced.add(kA);
  paced.done(kA);
  paced.add(kA);
  paced.add(kB);
  EXPECT_EQ(pop(), "b") << "each key has a pace of its own";
  EXPECT_EQ(pop(), "-");
  EXPECT_EQ(paced.next_due(), clock_.now() + 100ms);
  clock_.advance(100ms);
  EXPECT_EQ(pop(), "a");
  paced.done(kA);
  EXPECT_EQ(pop(), "-");
  paced.add(kA);
  paced.add_after(kA, 20ms);
  clock_.advance(20ms);
  EXPECT_EQ(pop(), "a") << "a delayed key is not paced";
  paced.done(kA);
  clock_.advance(1s);
  EXPECT_EQ(pop(), "-") << "all changes have been seen";
  paced.add(kA);
  EXPECT_EQ(pop(), "a");
}

TEST_F(WorkQueueTest, PacesAKeyByTheLengthOfItsPlan) {
  WorkQueue paced{{.name = "paced-by-plan", .pace = 10ms, .pace_by_plan = 9}, clock_, metrics_};
  const auto pop = [&] {
    const auto key = paced.pop(clock_.now());
    return key ? key->name : "-";
  };
  paced.add(kA);
  EXPECT_EQ(pop(), "a");
  paced.add(kA);
  clock_.advance(100ms);
  paced.add(kA);
  paced.planned(kA, 100ms);
  paced.done(kA);
  EXPECT_EQ(pop(), "-") << "changes during the plan wait, too";
  EXPECT_EQ(paced.next_due(), clock_.now() + 900ms);
  clock_.advance(500ms);
  paced.add(kA);
  EXPECT_EQ(pop(), "-");
  clock_.advance(400ms);
  EXPECT_EQ(pop(), "a");
  paced.planned(kA, 0ms);
  paced.done(kA);
  clock_.advance(10ms);
  paced.add(kA);
  EXPECT_EQ(pop(), "a") << "a short plan has the usual pace";
  paced.done(kA);
  paced.add_after(kA, 20ms);
  clock_.advance(20ms);
  EXPECT_EQ(pop(), "a");
}

TEST(WorkQueueThreads, ProcessEveryKeyAndEndOnStop) {
  const RealClock clock;
  Metrics metrics;
  WorkQueue queue({.name = "test"}, clock, metrics);
  std::atomic<int> processed = 0;
  std::stop_source stop;
  std::vector<std::jthread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([&] {
      while (const auto key = queue.wait_pop(stop.get_token())) {
        queue.done(*key);
        if (++processed == 200) stop.request_stop();
      }
    });
  }
  for (int i = 0; i < 100; ++i) queue.add({"ready", std::to_string(i)});
  for (int i = 0; i < 100; ++i) queue.add_after({"later", std::to_string(i)}, std::chrono::milliseconds(1 + i % 7));
  workers.clear();
  EXPECT_EQ(processed, 200);
}

TEST(WorkQueueThreads, AreWokenForEveryKey) {
  const RealClock clock;
  Metrics metrics;
  WorkQueue queue({.name = "test", .pace = std::chrono::microseconds(300)}, clock, metrics);
  Mutex mutex;
  ConditionVariable changed;
  std::map<ObjectKey, int> processed;
  std::stop_source stop;
  std::vector<std::jthread> workers;
  for (int i = 0; i < 3; ++i) {
    workers.emplace_back([&] {
      while (const auto key = queue.wait_pop(stop.get_token())) {
        {
          const MutexLock lock(mutex);
          ++processed[*key];
        }
        queue.done(*key);
        changed.notify_all();
      }
    });
  }
  // Each key is processed before the next is added: sometimes all workers wait, sometimes some are still returning.
  bool missed = false;
  for (int i = 0; i < 1500 && !missed; ++i) {
    const ObjectKey key{"default", std::to_string(i % 5)};
    const MutexLock lock(mutex);
    const int before = processed[key];
    i % 3 == 0 ? queue.add_after(key, std::chrono::microseconds(10 * (i % 40))) : queue.add(key);
    if (i % 7 == 0) queue.add_after({"default", "late"}, std::chrono::milliseconds(2));
    missed = !changed.wait_for(mutex, std::chrono::seconds(20), [&] { return processed[key] > before; });
  }
  stop.request_stop();
  EXPECT_FALSE(missed);
}

}  // namespace
}  // namespace tpuslice::runtime
