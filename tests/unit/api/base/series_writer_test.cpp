#include "api/base/series_writer.h"

#include <gtest/gtest.h>

namespace tpuslice {
namespace {

TEST(SeriesWriter, WritesFamiliesInTheTextFormat) {
  std::string text = "before 1\n";
  SeriesWriter out(text);
  out.family("a_info", "About A.");
  out.sample({{"name", "x"}, {"namespace", "default"}}, 1);
  out.sample({{"name", "y"}, {"namespace", ""}}, 1);
  out.family("b_seconds", "Time of B.");
  out.sample({}, 12.5);
  out.sample({}, 1'234'567'890);
  EXPECT_EQ(text,
            "before 1\n"
            "# HELP a_info About A.\n"
            "# TYPE a_info gauge\n"
            "a_info{name=\"x\",namespace=\"default\"} 1\n"
            "a_info{name=\"y\",namespace=\"\"} 1\n"
            "# HELP b_seconds Time of B.\n"
            "# TYPE b_seconds gauge\n"
            "b_seconds 12.5\n"
            "b_seconds 1234567890\n");
  EXPECT_EQ(out.left_out(), 0U);
}

TEST(SeriesWriter, WritesNothingOfAFamilyWithoutSamples) {
  std::string text;
  SeriesWriter out(text);
  out.family("a_info", "About A.");
  out.family("b_info", "About B.");
  EXPECT_EQ(text, "");
}

TEST(SeriesWriter, EscapesValuesOfLabels) {
  std::string text;
  SeriesWriter out(text);
  out.family("a", "A.");
  out.sample({{"state", "a \"b\"\\\nc"}}, 1);
  EXPECT_TRUE(text.ends_with("a{state=\"a \\\"b\\\"\\\\\\nc\"} 1\n")) << text;
}

TEST(SeriesWriter, LeavesOutSeriesBeyondTheirNumber) {
  std::string text;
  SeriesWriter out(text, {.series = 2});
  out.family("a", "A.");
  for (const char* name : {"x", "y", "z"}) out.sample({{"name", name}}, 1);
  out.family("b", "B.");
  out.sample({{"name", "x"}}, 1);
  EXPECT_EQ(text, "# HELP a A.\n# TYPE a gauge\na{name=\"x\"} 1\na{name=\"y\"} 1\n");
  EXPECT_EQ(out.left_out(), 2U);
}

TEST(SeriesWriter, LeavesOutSeriesThatAreTooLongAndWritesShorterOnes) {
  std::string text = "before 1\n";
  SeriesWriter out(text, {.bytes = 60});
  out.family("a", "A.");
  out.sample({{"name", std::string(100, 'x')}}, 1);
  out.sample({{"name", "y"}}, 1);
  EXPECT_EQ(text, "before 1\n# HELP a A.\n# TYPE a gauge\na{name=\"y\"} 1\n") << "the header too";
  EXPECT_EQ(out.left_out(), 1U);
}

}  // namespace
}  // namespace tpuslice
