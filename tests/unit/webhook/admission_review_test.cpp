#include "webhook/admission_review.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "tests/unit/webhook/reviews.h"

namespace tpuslice::webhook {
namespace {

using testing::review_of;

Json response_of(const AdmissionResponse& response) { return Json::parse(encode_review("u-1", response))["response"]; }

TEST(DecodeReview, ReadsARequest) {
  const auto request = decode_review(review_of({{"metadata", {{"name", "p"}}}}, "", "Pod").dump());
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->uid, "u-1");
  EXPECT_EQ(request->kind, "Pod");
  EXPECT_EQ(request->name, "p");
  EXPECT_EQ(request->namespace_name, "default");
  EXPECT_EQ(request->operation, "CREATE");
  EXPECT_TRUE(request->old_object.is_null());
}

TEST(DecodeReview, RefusesOtherBodies) {
  const Json good = review_of(Json::object(), "", "Pod");
  std::vector<std::string> bodies = {"", "x", "null", "[]", "{}", std::string(200, '['), "\xff\xfe"};
  for (const char* pointer : {"/apiVersion", "/kind", "/request", "/request/uid", "/request/object"}) {
    for (const Json& value : {Json(), Json(7), Json("x"), Json::array()}) {
      if (std::string_view(pointer) == "/request/uid" && value.is_string()) continue;
      Json bad = good;
      bad[Json::json_pointer(pointer)] = value;
      bodies.push_back(bad.dump());
    }
  }
  Json old_version = good;
  old_version["apiVersion"] = "admission.k8s.io/v1beta1";
  bodies.push_back(old_version.dump());
  Json long_uid = good;
  long_uid["request"]["uid"] = std::string(1000, 'u');
  bodies.push_back(long_uid.dump());
  for (const std::string& body : bodies) {
    const auto request = decode_review(body);
    ASSERT_FALSE(request.ok()) << body.substr(0, 100);
    EXPECT_EQ(request.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_LT(request.error().message().size(), 400U);
  }
}

TEST(EncodeReview, AllowsWithoutAPatchWhenNothingChanges) {
  const Json review = Json::parse(encode_review("u-1", {}));
  EXPECT_EQ(review["apiVersion"], "admission.k8s.io/v1");
  EXPECT_EQ(review["kind"], "AdmissionReview");
  EXPECT_EQ(review["response"], Json({{"uid", "u-1"}, {"allowed", true}}));
}

TEST(EncodeReview, CarriesThePatchInBase64) {
  AdmissionResponse response;
  response.patch.push_back({{"op", "add"}, {"path", "/x"}, {"value", 1}});
  response.audit["slice"] = "k";
  const Json encoded = response_of(response);
  EXPECT_EQ(encoded["patchType"], "JSONPatch");
  EXPECT_EQ(Json::parse(*decode_base64(encoded["patch"].get<std::string>())), response.patch);
  EXPECT_EQ(encoded["auditAnnotations"], Json({{"slice", "k"}}));
}

TEST(EncodeReview, RefusesWithEveryCause) {
  AdmissionRequest request;
  request.group = "g.io";
  request.kind = "X";
  request.name = "a";
  const Json encoded =
      response_of(refuse(request, {required_value("spec.a", "why", kGkeRule), forbidden("spec.b", "no", kOurRule)}));
  EXPECT_EQ(encoded["allowed"], false);
  EXPECT_EQ(encoded["status"]["code"], 422);
  EXPECT_EQ(encoded["status"]["reason"], "Invalid");
  EXPECT_EQ(encoded["status"]["message"],
            "X.g.io \"a\" is invalid: [spec.a: Required value: why, spec.b: Forbidden: no]");
  ASSERT_EQ(encoded["status"]["details"]["causes"].size(), 2U);
  // kubectl prints: The X "a" is invalid: spec.a: Required value: why
  EXPECT_EQ(encoded["status"]["details"]["group"], "g.io");
  EXPECT_EQ(encoded["status"]["details"]["kind"], "X");
  EXPECT_EQ(encoded["status"]["details"]["name"], "a");
  EXPECT_EQ(encoded["status"]["details"]["causes"][0]["reason"], "FieldValueRequired");
  EXPECT_EQ(encoded["status"]["details"]["causes"][0]["message"], "Required value: why");
  EXPECT_EQ(encoded["status"]["details"]["causes"][1]["field"], "spec.b");
  EXPECT_FALSE(encoded.contains("patch"));
}

TEST(EncodeReview, TruncatesWarningsAndTheirTotalLength) {
  AdmissionResponse response;
  std::string text;
  for (int i = 0; i < 300; ++i) text += "\xc3\xa4";
  response.warnings.assign(40, text);
  const Json encoded = response_of(response);
  EXPECT_EQ(encoded["warnings"].size(), 8U);  // 512 bytes each, 4096 together.
  EXPECT_EQ(encoded["warnings"][0].get<std::string>().size(), 512U);
}

}  // namespace
}  // namespace tpuslice::webhook
