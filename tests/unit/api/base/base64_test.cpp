#include "api/base/base64.h"

#include <string>

#include <gtest/gtest.h>

namespace tpuslice {
namespace {

using std::string_literals::operator""s;

TEST(Base64, DecodesWhatItEncodes) {
  for (const std::string& text : {""s, "f"s, "fo"s, "foo"s, "foob"s, "fooba"s, "foobar"s, "\x00\xff\x10"s}) {
    EXPECT_EQ(decode_base64(encode_base64(text)), text);
    EXPECT_EQ(decode_base64(encode_base64_url(text)), text);
  }
  EXPECT_EQ(encode_base64("foob"), "Zm9vYg==");
  EXPECT_EQ(encode_base64_url("foob"), "Zm9vYg");
  EXPECT_EQ(encode_base64("\xfb\xff"), "+/8=");
  EXPECT_EQ(encode_base64_url("\xfb\xff"), "-_8");
}

TEST(Base64, SkipsWhiteSpace) { EXPECT_EQ(decode_base64("Zm9v\n Yg==\n"), "foob"); }

TEST(Base64, RefusesInvalidText) {
  for (const char* text : {"Z", "Zm9vY", "Zm9v=Yg=", "Zm9v!", "====", "Zm9vYg="}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace tpuslice
