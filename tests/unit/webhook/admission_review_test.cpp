#include "webhook/admission_review.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "tests/support/error_matchers.h"
#include "tests/support/reviews.h"

namespace tpuslice::webhook {
namespace {

using ::testing::HasSubstr;

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
    ASSERT_THAT(request, IsError(ErrorCode::kInvalidArgument)) << body.substr(0, 100);
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
  const Json encoded = response_of(refuse(request, {rules::required_value("spec.a", "why", rules::kGkeRule),
                                                    rules::forbidden("spec.b", "no", rules::kOurRule)}));
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

TEST(EncodeLimitedReview, ChangesNoResponseThatIsShortEnough) {
  AdmissionResponse response;
  response.patch.push_back(
      {{"op", "add"}, {"path", "/metadata/labels/a"}, {"value", std::string(kMaxPatchBytes - 200, 'x')}});
  const std::string encoded = encode_limited_review("u", "p", response);
  EXPECT_EQ(encoded, encode_review("u", response));
  EXPECT_TRUE(response.allowed);
  EXPECT_LE(encoded.size(), kMaxReplyBytes);
}

/// The refusal in place of a response.
Json refusal_of(AdmissionResponse response, const std::string& name = "train-0") {
  const std::string encoded = encode_limited_review("u", name, response);
  EXPECT_LT(encoded.size(), 8192U);
  EXPECT_FALSE(response.allowed);
  const Json refused = Json::parse(encoded)["response"];
  EXPECT_EQ(refused["uid"], "u");
  EXPECT_FALSE(refused["allowed"].get<bool>());
  EXPECT_FALSE(refused.contains("patch"));
  return refused["status"];
}

TEST(EncodeLimitedReview, RefusesALongPatchWithItsLongestVariable) {
  AdmissionResponse response;
  const Json env = Json::array({{{"name", "TPU_TOPOLOGY"}, {"value", "16x24x24"}},
                                {{"name", "TPU_WORKER_HOSTNAMES"}, {"value", std::string(2'000'000, 'h')}}});
  response.patch.push_back({{"op", "add"}, {"path", "/spec/containers/0/env"}, {"value", env}});
  response.patch.push_back({{"op", "add"}, {"path", "/metadata/labels/a"}, {"value", "b"}});
  const Json status = refusal_of(response);
  EXPECT_EQ(status["code"], 422);
  EXPECT_EQ(status["reason"], "Invalid");
  EXPECT_EQ(status["message"],
            "\"train-0\": spec.containers[0].env[1] (TPU_WORKER_HOSTNAMES): has 2000042 bytes, and all fields that "
            "admission sets 2000195; they must have no more than 1572864 together");
}

TEST(EncodeLimitedReview, NamesTheElementThatIsAddedToAList) {
  AdmissionResponse response;
  response.patch.push_back({{"op", "add"},
                            {"path", "/spec/containers/10/env/3"},
                            {"value", {{"name", "TPU_PROCESS_ADDRESSES"}, {"value", std::string(2'000'000, 'h')}}}});
  EXPECT_THAT(refusal_of(response)["message"].get<std::string>(),
              HasSubstr("spec.containers[10].env[3] (TPU_PROCESS_ADDRESSES): has 20000"));
}

TEST(EncodeLimitedReview, KeepsTheBeginningOfALongRefusal) {
  AdmissionResponse response;
  response.allowed = false;
  response.code = 403;
  response.reason = "Forbidden";
  response.name = std::string(3'000'000, 'n');
  response.message = "because" + std::string(3'000'000, '.');
  const Json status = refusal_of(response, response.name);
  EXPECT_EQ(status["code"], 403);
  EXPECT_THAT(status["message"].get<std::string>(), HasSubstr("because..."));
}

TEST(EncodeLimitedReview, RefusesOtherLongResponses) {
  AdmissionResponse response;
  response.audit["slice"] = std::string(3'000'000, 's');
  EXPECT_THAT(refusal_of(response, std::string(3'000'000, 'n'))["message"].get<std::string>(), HasSubstr("too long"));
}

}  // namespace
}  // namespace tpuslice::webhook
