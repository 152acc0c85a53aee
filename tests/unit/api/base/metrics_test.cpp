#include "api/base/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace tpuslice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Metrics, PrintsCountersWithLabelsAndHelp) {
  Metrics metrics;
  metrics.counter("workqueue_adds_total", "Keys added.", {{"name", "raycluster"}}).increment(3);
  const std::string text = metrics.scrape();
  EXPECT_THAT(text, HasSubstr("# HELP workqueue_adds_total Keys added."));
  EXPECT_THAT(text, HasSubstr("# TYPE workqueue_adds_total counter"));
  EXPECT_THAT(text, HasSubstr("workqueue_adds_total{name=\"raycluster\"} 3"));
}

TEST(Metrics, ReturnsTheSameMetricForTheSameNameAndLabels) {
  Metrics metrics;
  Counter& first = metrics.counter("a_total", "A.", {{"k", "v"}});
  EXPECT_EQ(&first, &metrics.counter("a_total", "A.", {{"k", "v"}}));
  EXPECT_NE(&first, &metrics.counter("a_total", "A.", {{"k", "w"}}));
}

TEST(Metrics, GaugesGoUpAndDown) {
  Metrics metrics;
  Gauge& depth = metrics.gauge("workqueue_depth", "Keys waiting.");
  depth.set(5);
  depth.add(-2);
  EXPECT_EQ(depth.value(), 3);
  EXPECT_THAT(metrics.scrape(), HasSubstr("workqueue_depth 3"));
}

TEST(Metrics, HistogramsCountIntoBuckets) {
  Metrics metrics;
  Histogram& waits = metrics.histogram("t_seconds", "Time.", {0.1, 1});
  for (const double value : {0.05, 0.5, 5.0}) waits.observe(value);
  const std::string text = metrics.scrape();
  EXPECT_THAT(text, HasSubstr("t_seconds_bucket{le=\"0.1\"} 1"));
  EXPECT_THAT(text, HasSubstr("t_seconds_bucket{le=\"1\"} 2"));
  EXPECT_THAT(text, HasSubstr("t_seconds_bucket{le=\"+Inf\"} 3"));
  EXPECT_THAT(text, HasSubstr("t_seconds_count 3"));
}

TEST(Metrics, MayBeUsedFromManyThreads) {
  Metrics metrics;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < 500; ++k) metrics.counter("n_total", "N.").increment();
      });
    }
  }
  EXPECT_EQ(metrics.counter("n_total", "N.").value(), 2000);
}

TEST(MetricsDeathTest, AbortsOnAnInvalidName) { EXPECT_DEATH(Metrics().counter("no-dashes", "Bad."), "check failed"); }

TEST(MetricsDeathTest, AbortsOnOneNameForTwoTypes) {
  Metrics metrics;
  metrics.counter("x", "X.");
  EXPECT_DEATH(metrics.gauge("x", "X."), "check failed");
}

TEST(Buckets, GrowByAFactor) { EXPECT_THAT(exponential_buckets(1, 2, 4), ElementsAre(1, 2, 4, 8)); }

}  // namespace
}  // namespace tpuslice
