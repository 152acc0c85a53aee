#include "api/types/json_text.h"

#include <limits>

#include <gtest/gtest.h>

#include "api/base/random.h"
#include "tests/unit/api/types/sample_pod.h"

namespace tpuslice {
namespace {

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

TEST(PrintJson, PrintsLikeTheLibrary) {
  const std::vector<Json> documents = {
      nullptr,
      true,
      Json::object(),
      Json::array(),
      "",
      Json::parse(kSamplePod),
      {{"", {1, -1, 0.5, 1e300, false, nullptr, Json::array(), Json::object()}}},
      {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::uint64_t>::max(),
       std::numeric_limits<double>::infinity()},
      {{"a\"b\\c/d\n", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\x7f"}},
  };
  for (const Json& document : documents) EXPECT_EQ(print_json(document), dumped(document));
}

TEST(PrintJson, EscapesEveryByteLikeTheLibrary) {
  for (int byte = 0; byte < 256; ++byte) {
    const Json json = {{"key", std::string("a") + static_cast<char>(byte) + "b"}};
    EXPECT_EQ(print_json(json), dumped(json)) << byte;
  }
}

TEST(PrintJson, ReplacesInvalidUtf8) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = random.uniform(0, 12); i > 0; --i) text += static_cast<char>(random.uniform(0, 255));
    const Json json = {{text, {text, 1}}};
    EXPECT_EQ(print_json(json), dumped(json));
  }
}

}  // namespace
}  // namespace tpuslice
