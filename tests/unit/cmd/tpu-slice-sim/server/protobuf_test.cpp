#include "cmd/tpu-slice-sim/server/protobuf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::sim {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;

/// A length-delimited field.
std::string field(int number, const std::string& bytes) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  return out + static_cast<char>(bytes.size()) + bytes;
}

std::string body(const std::string& kind, const std::string& message) {
  return "k8s\0"s + field(1, field(1, "v1") + field(2, kind)) + field(2, message);
}

TEST(Protobuf, ReadsTheNamespaceThatKubectlCreates) {
  const std::string metadata =
      field(1, "team") + field(2, "") + field(8, "") + field(11, field(1, "a") + field(2, "b"));
  const auto object = decode_protobuf(body("Namespace", field(1, metadata) + field(2, "") + field(3, "")));
  ASSERT_TRUE(object.ok()) << object.error().message();
  EXPECT_EQ(*object, Json::parse(R"({"apiVersion": "v1", "kind": "Namespace",
                                     "metadata": {"name": "team", "labels": {"a": "b"}}})"));
}

TEST(Protobuf, EncodesTheBytesOfASecret) {
  const auto object = decode_protobuf(body("Secret", field(2, field(1, "pw") + field(2, "\xff\x01"))));
  ASSERT_TRUE(object.ok());
  EXPECT_EQ(string_at(*object, {"data", "pw"}), "/wE=");
}

TEST(Protobuf, ReadsNumbersThatAreZero) {
  const auto object = decode_protobuf(body("Eviction", field(2, "\x08\x00"s)));
  ASSERT_TRUE(object.ok());
  EXPECT_EQ((*object)["deleteOptions"]["gracePeriodSeconds"], 0);
}

TEST(Protobuf, NamesAnUnsupportedKind) {
  const auto object = decode_protobuf(body("Deployment", ""));
  EXPECT_THAT(object, IsError(ErrorCode::kUnsupported, HasSubstr("a Deployment cannot be sent as protobuf")));
}

TEST(Protobuf, RefusesTruncatedOrInvalidText) {
  const std::string whole = body("Namespace", field(1, field(1, "team")));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto object = decode_protobuf(std::string_view(whole).substr(0, length));
    EXPECT_FALSE(object.ok() && string_at(*object, {"metadata", "name"}) == "team") << length;
  }
  EXPECT_THAT(decode_protobuf(body("Namespace", field(1, field(1, "\xff")))), IsError(ErrorCode::kInvalidArgument));
}

}  // namespace
}  // namespace tpuslice::sim
