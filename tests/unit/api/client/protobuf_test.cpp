#include "api/client/protobuf.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "api/base/file.h"
#include "api/client/view_fields.h"
#include "api/types/views.h"
#include "tests/support/error_matchers.h"
#include "tests/support/protobuf_writer.h"

namespace tpuslice::client::protobuf {
namespace {

using enum Type;
using ::testing::HasSubstr;
using testing::ProtobufWriter;

constexpr std::array kInnerFields{Field{1, "name", kString}, Field{2, "flag", kBool}};
constexpr Message kInner{"Inner", kInnerFields};
constexpr std::array kOuterFields{
    Field{1, "text", kString},
    Field{2, "number", kInteger},
    Field{3, "time", kTime},
    Field{4, "inner", kMessage, &kInner},
    Field{5, "labels", kStrings},
    Field{6, "limits", kQuantities},
    Field{7, "texts", kString, nullptr, true},
    Field{8, "inners", kMessage, &kInner, true},
};
constexpr Message kOuter{"Outer", kOuterFields};

Result<std::string> convert(std::string_view message) {
  std::string json;
  if (const Status converted = append_json(json, message, kOuter); !converted) return converted.error();
  return json;
}

std::string json_of(const ProtobufWriter& message) { return convert(message.text()).value(); }

ProtobufWriter inner(std::string_view name) { return std::move(ProtobufWriter().bytes(1, name)); }
ProtobufWriter time_at(std::uint64_t seconds) { return std::move(ProtobufWriter().varint(1, seconds).varint(2, 0)); }

TEST(ProtobufToJson, WritesTheFieldsThatAreThere) {
  EXPECT_EQ(json_of(ProtobufWriter()), "{}");
  EXPECT_EQ(json_of(ProtobufWriter().bytes(1, "a").varint(2, 7)), R"({"text":"a","number":7})");
  EXPECT_EQ(json_of(ProtobufWriter().message(4, ProtobufWriter().bytes(1, "a").varint(2, 1))),
            R"({"inner":{"name":"a","flag":true}})");
  EXPECT_EQ(json_of(ProtobufWriter().message(4, ProtobufWriter().varint(2, 0))), R"({"inner":{"flag":false}})");
}

TEST(ProtobufToJson, WritesNegativeAndLargeIntegers) {
  EXPECT_EQ(json_of(ProtobufWriter().varint(2, static_cast<std::uint64_t>(-5))), R"({"number":-5})");
  EXPECT_EQ(json_of(ProtobufWriter().varint(2, 0x7FFFFFFFFFFFFFFF)), R"({"number":9223372036854775807})");
  EXPECT_EQ(json_of(ProtobufWriter().varint(2, 0x8000000000000000)), R"({"number":-9223372036854775808})");
}

TEST(ProtobufToJson, LeavesOutWhatJsonLeavesOut) {
  EXPECT_EQ(json_of(ProtobufWriter().bytes(1, "").varint(2, 0)), R"({"number":0})");
  EXPECT_EQ(json_of(ProtobufWriter().message(3, ProtobufWriter()).message(4, ProtobufWriter())), R"({"inner":{}})");
}

TEST(ProtobufToJson, WritesTimesInRfc3339) {
  EXPECT_EQ(json_of(ProtobufWriter().message(3, time_at(1'767'225'605))), R"({"time":"2026-01-01T00:00:05Z"})");
  EXPECT_EQ(json_of(ProtobufWriter().message(3, time_at(static_cast<std::uint64_t>(-315'619'200)))),
            R"({"time":"1960-01-01T00:00:00Z"})");
  EXPECT_EQ(json_of(ProtobufWriter().message(3, time_at(0))), R"({"time":"1970-01-01T00:00:00Z"})");
  EXPECT_THAT(convert(ProtobufWriter().message(3, ProtobufWriter().fixed(1, 3)).text()).error().message(),
              HasSubstr("Outer.time"));
}

/// Otherwise one such object would keep all others of its list from being read.
TEST(ProtobufToJson, LeavesATimeThatCannotBeRepresentedToTheView) {
  EXPECT_EQ(json_of(ProtobufWriter().message(3, time_at(253'402'300'800))), R"({"time":"253402300800"})");
  EXPECT_EQ(json_of(ProtobufWriter().message(3, time_at(10'800'000'000))), R"({"time":"10800000000"})") << "2312";
  EXPECT_EQ(json_of(ProtobufWriter().message(3, time_at(static_cast<std::uint64_t>(-14'830'974'000)))),
            R"({"time":"-14830974000"})")
      << "1500";
  const ProtobufWriter metadata = ProtobufWriter().bytes(1, "a").bytes(5, "uid").message(9, time_at(253'402'300'800));
  std::string json;
  ASSERT_TRUE(append_json(json, ProtobufWriter().message(1, metadata).text(), *view_fields(kPods)).ok());
  EXPECT_THAT(PodView::decode(json).error().message(), HasSubstr("\"253402300800\" is not an RFC 3339 time"));
}

TEST(ProtobufToJson, WritesMaps) {
  EXPECT_EQ(json_of(ProtobufWriter().entry(5, "a", "1").entry(5, "b", "")), R"({"labels":{"a":"1","b":""}})");
  const ProtobufWriter quantity = ProtobufWriter().bytes(1, "cpu").message(2, ProtobufWriter().bytes(1, "1500m"));
  EXPECT_EQ(json_of(ProtobufWriter().message(6, quantity)), R"({"limits":{"cpu":"1500m"}})");
}

TEST(ProtobufToJson, WritesListsWhoseItemsAreApart) {
  EXPECT_EQ(json_of(ProtobufWriter().bytes(7, "a").bytes(1, "t").bytes(7, "").bytes(7, "c")),
            R"({"texts":["a","","c"],"text":"t"})");
  EXPECT_EQ(json_of(ProtobufWriter().message(8, inner("a")).varint(2, 1).message(8, ProtobufWriter())),
            R"({"inners":[{"name":"a"},{}],"number":1})");
}

TEST(ProtobufToJson, TakesTheFirstOfASingleFieldThatIsThereTwice) {
  EXPECT_EQ(json_of(ProtobufWriter().bytes(1, "a").bytes(1, "b")), R"({"text":"a"})");
}

TEST(ProtobufToJson, SkipsOtherFieldsOfEveryWireType) {
  EXPECT_EQ(json_of(ProtobufWriter().varint(20, 1).fixed(21, 1).bytes(22, "x").fixed(23, 5).bytes(1, "a")),
            R"({"text":"a"})");
}

TEST(ProtobufToJson, EscapesTexts) {
  EXPECT_EQ(json_of(ProtobufWriter().bytes(1, "\"\\\n\x01 \xc3\xbc")), "{\"text\":\"\\\"\\\\\\n\\u0001 \xc3\xbc\"}");
  EXPECT_EQ(json_of(ProtobufWriter().bytes(1, "a\xff")), "{\"text\":\"a\xef\xbf\xbd\"}");
}

TEST(ProtobufToJson, RefusesAFieldOfAnotherWireType) {
  EXPECT_THAT(convert(ProtobufWriter().varint(1, 5).text()).error().message(), HasSubstr("Outer.text"));
  EXPECT_THAT(convert(ProtobufWriter().bytes(2, "5").text()).error().message(), HasSubstr("Outer.number"));
  EXPECT_THAT(convert(ProtobufWriter().varint(5, 5).text()).error().message(), HasSubstr("Outer.labels"));
  EXPECT_THAT(convert(ProtobufWriter().bytes(7, "a").varint(7, 1).text()).error().message(), HasSubstr("Outer.texts"));
}

TEST(ProtobufToJson, RefusesBytesThatAreNotProtobuf) {
  EXPECT_THAT(convert(ProtobufWriter().fixed(20, 3).text()), IsError(ErrorCode::kInternal));  // A group.
  EXPECT_THAT(convert(ProtobufWriter().varint(0, 1).text()), IsError(ErrorCode::kInternal));  // Field 0.
  EXPECT_THAT(convert(std::string(11, '\xff')), IsError(ErrorCode::kInternal));               // A varint without end.
  EXPECT_THAT(convert(ProtobufWriter().bytes(1, "abc").text().substr(0, 4)),
              IsError(ErrorCode::kInternal));  // Cut off.
}

/// Pods and a node as kube-apiserver 1.36.3 sends them, in both encodings.
struct RecordedObject {
  std::string name;
  std::string kind;
  std::string json;
  std::string protobuf;
};

std::vector<RecordedObject> recorded_objects() {
  const Json file = parse_json(read_file("tests/unit/api/client/recorded_objects.json").value()).value();
  std::vector<RecordedObject> objects;
  for (const Json& each : file) {
    objects.push_back(
        {each["name"], each["kind"], each["json"], decode_base64(each["protobuf"].get<std::string>()).value()});
  }
  return objects;
}

template <typename View>
void expect_equal_views(const RecordedObject& object, const ResourceType& type) {
  std::string json;
  ASSERT_TRUE(append_json(json, unwrap(object.protobuf).value(), *view_fields(type)).ok());
  EXPECT_EQ(View::decode(json).value(), View::decode(object.json).value()) << json;
  // What the view does not read is not converted.
  EXPECT_EQ(json.find("managedFields"), std::string::npos);
  EXPECT_LT(json.size(), object.json.size());
}

TEST(RecordedObjects, GiveEqualViewsInBothEncodings) {
  ASSERT_EQ(recorded_objects().size(), 5U);
  for (const RecordedObject& object : recorded_objects()) {
    SCOPED_TRACE(object.name);
    object.kind == "Node" ? expect_equal_views<NodeView>(object, kNodes) : expect_equal_views<PodView>(object, kPods);
  }
}

TEST(RecordedObjects, GiveAnErrorOrAnObjectWhereverTheyAreCut) {
  const std::string whole = recorded_objects().front().protobuf;
  const std::string_view message = unwrap(whole).value();
  for (std::size_t length = 0; length < message.size(); ++length) {
    std::string json;
    if (const Status converted = append_json(json, message.substr(0, length), *view_fields(kPods)); converted) {
      EXPECT_TRUE(parse_json(json).ok()) << json;
    } else {
      EXPECT_THAT(converted, IsError(ErrorCode::kInternal));
    }
  }
}

TEST(ProtobufDocument, BeginsWithMagicBytes) {
  EXPECT_EQ(unwrap(ProtobufWriter().bytes(1, "a").document("Pod")).value(), ProtobufWriter().bytes(1, "a").text());
  EXPECT_THAT(unwrap("{\"kind\":\"Pod\"}").error().message(), HasSubstr("does not begin with"));
  EXPECT_THAT(unwrap(ProtobufWriter().bytes(1, "a").document("Pod").substr(0, 8)).error().message(),
              HasSubstr("malformed"));
}

}  // namespace
}  // namespace tpuslice::client::protobuf
