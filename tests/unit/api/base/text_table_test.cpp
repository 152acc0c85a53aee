#include "api/base/text_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice {
namespace {

TEST(TextTable, ColumnsAreAsWideAsTheirLongestCell) {
  EXPECT_EQ(to_text({.header = {"A", "LONG", "C"}, .rows = {{"aaa", "b", "c"}, {"a", "", "-"}}}),
            "A     LONG   C\n"
            "aaa   b      c\n"
            "a            -\n");
}

TEST(TextTable, TheHeaderCanBeLeftOut) {
  EXPECT_EQ(to_text({.header = {"LONG", "B"}, .rows = {{"a", "b"}}}, false), "a   b\n");
}

TEST(TextTable, CountsCharactersAndNotBytes) {
  EXPECT_EQ(to_text({.header = {"A", "B"}, .rows = {{"\u00fc", "b"}}}), "A   B\n\u00fc   b\n");
}

TEST(TextTable, ControlCharactersDoNotReachTheTerminal) {
  EXPECT_EQ(to_text({.header = {"A"}, .rows = {{"x\x1b[31m\n"}}}), "A\nx?[31m?\n");
}

TEST(CutText, KeepsWholeCharacters) {
  EXPECT_EQ(cut_text("abc", 3), "abc");
  EXPECT_EQ(cut_text("abcdef", 5), "ab...");
  EXPECT_EQ(cut_text("\u00fc\u00fc\u00fc\u00fc\u00fc", 4), "\u00fc...");
}

}  // namespace
}  // namespace tpuslice
