#include "fleet/page/one_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::fleet {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(OneFile, JoinsModulesInTheOrderInWhichTheyNeedEachOther) {
  const std::vector<PageFile> files = {
      {"main.js", "import { a, b } from \"./b.js\";\nimport { c } from \"./c.js\";\na(b, c);\n"},
      {"b.js", "import { c } from \"./c.js\";\nexport function a(x) {\n  return c;\n}\nexport const b = 1;\n"},
      {"c.js", "const hidden = 2;\nexport class c {}\nexport async function d() {}\n"},
      {"unused.js", "export const e = 1;\n"}};
  EXPECT_EQ(joined_modules(files, "main.js"),
            "const modules = {};\n"
            "{\nconst hidden = 2;\nclass c {}\nasync function d() {}\nmodules[\"c.js\"] = { c, d };\n}\n"
            "{\nconst { c } = modules[\"c.js\"];\nfunction a(x) {\n  return c;\n}\nconst b = 1;\n"
            "modules[\"b.js\"] = { a, b };\n}\n"
            "{\nconst { a, b } = modules[\"b.js\"];\nconst { c } = modules[\"c.js\"];\na(b, c);\n"
            "modules[\"main.js\"] = {  };\n}\n");
}

TEST(OneFile, JoinsTheModulesOfThePage) {
  const std::string joined = joined_modules(page_files(), "main.js");
  EXPECT_THAT(joined, HasSubstr("modules[\"main.js\"]"));
  EXPECT_THAT(joined, Not(HasSubstr("\nimport ")));
  EXPECT_THAT(joined, Not(HasSubstr("\nexport ")));
  EXPECT_THAT(joined, Not(HasSubstr("</script")));
}

TEST(OneFile, LoadsNothing) {
  const std::string html = page_in_one_file(Json::object(), Json::array());
  EXPECT_THAT(html, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(html, Not(HasSubstr("src=\"")));
  EXPECT_THAT(html, Not(HasSubstr("href=\"")));
}

TEST(OneFile, TextsOfTheFleetDoNotEndTheScript) {
  const std::string html = page_in_one_file({{"name", "</script><script>x()</script><!--"}}, Json::array());
  EXPECT_THAT(html, HasSubstr(R"(\u003c/script>\u003cscript>x()\u003c/script>\u003c!--)"));
  EXPECT_THAT(html, Not(HasSubstr("<script>x")));
}

}  // namespace
}  // namespace tpuslice::fleet
