#include "controllers/runtime/object_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::runtime {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

plan::Measurement finished(const std::string& name) {
  return {plan::Measurement::Kind::kCount, "widgets_finished_total", "Finished.", {{"name", name}, {"namespace", "x"}}};
}

TEST(ObjectCounters, HaveASeriesForEachObject) {
  Metrics metrics;
  ObjectCounters counters(metrics);
  counters.increment(finished("a"));
  counters.increment(finished("b"));
  counters.increment(finished("a"));
  const std::string text = metrics.scrape();
  EXPECT_THAT(text, HasSubstr("widgets_finished_total{name=\"a\",namespace=\"x\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("widgets_finished_total{name=\"b\",namespace=\"x\"} 1\n"));
}

TEST(ObjectCounters, CountFurtherObjectsTogether) {
  Metrics metrics;
  ObjectCounters counters(metrics, 1);
  for (const char* name : {"a", "b", "c", "a"}) counters.increment(finished(name));
  const std::string text = metrics.scrape();
  EXPECT_THAT(text, HasSubstr("widgets_finished_total{name=\"a\",namespace=\"x\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("widgets_finished_total{name=\"\",namespace=\"\"} 2\n"));
  EXPECT_THAT(text, Not(HasSubstr("\"b\"")));
}

}  // namespace
}  // namespace tpuslice::runtime
