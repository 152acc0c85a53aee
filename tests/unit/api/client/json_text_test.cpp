#include "api/client/json_text.h"

#include <random>

#include <gtest/gtest.h>

namespace tpuslice::client {
namespace {

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

TEST(JsonText, IsWhatDumpWrites) {
  const Json json = {{"a", {1, -2, 2.5, true, nullptr, "x"}},
                     {"quote\"d", "back\\slash"},
                     {"line", "a\nb\x7f\x01"},
                     {"far", "Gr\xc3\xbc\xc3\x9f\x65"},
                     {"broken", "\xff\xc3"},
                     {"empty", {{"o", Json::object()}, {"a", Json::array()}, {"s", ""}}}};
  EXPECT_EQ(to_text(json), dumped(json));
}

TEST(JsonText, IsWhatDumpWritesForAnyBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 40, ' ');
    for (char& c : text) c = static_cast<char>(random() % (round % 2 == 0 ? 256 : 128));
    EXPECT_EQ(to_text(Json(text)), dumped(Json(text)));
  }
}

}  // namespace
}  // namespace tpuslice::client
