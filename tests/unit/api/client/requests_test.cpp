#include "api/client/requests.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/views.h"
#include "tests/support/error_matchers.h"

namespace tpuslice::client {
namespace {

using ::testing::HasSubstr;

const ObjectKey kKey{"ns", "train-0"};

std::string header(const http::Request& request, std::string_view name) {
  const std::string* value = http::find_header(request.headers, name);
  return value == nullptr ? "" : *value;
}

TEST(Requests, GetNamesTheObject) {
  const http::Request request = get_request(kPods, kKey);
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.target, "/api/v1/namespaces/ns/pods/train-0");
  EXPECT_EQ(header(request, "accept"), "application/json");
}

TEST(Requests, ListEncodesItsSelectors) {
  EXPECT_EQ(list_request(kPods, {.label_selector = "a in (b,c)", .limit = 500, .resource_version = "5"}).target,
            "/api/v1/pods?labelSelector=a%20in%20%28b%2Cc%29&limit=500&resourceVersion=5");
  EXPECT_EQ(list_request(kPods, {.namespace_name = "ns", .limit = 0}).target, "/api/v1/namespaces/ns/pods");
}

TEST(Requests, LaterPagesCarryNoResourceVersion) {
  EXPECT_EQ(
      list_request(kNodes,
                   {.limit = 10, .continue_token = "t/=", .resource_version = "5", .resource_version_match = "Exact"})
          .target,
      "/api/v1/nodes?limit=10&continue=t%2F%3D");
}

TEST(Requests, ListsMayAskForMetadataOnly) {
  const http::Request request =
      list_request(kPods, {.limit = 1, .continue_token = "t", .for_view = true, .metadata_only = true, .max_bytes = 7});
  EXPECT_EQ(header(request, "Accept"), "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
  EXPECT_EQ(request.target, "/api/v1/pods?limit=1&continue=t");
  EXPECT_EQ(request.max_response, 7U);
}

// Regression: 406 and 415 of a proxy counted as errors that only a change of the object can cure.
TEST(Errors, OfMediaTypesAreTerminalOnlyIfTheApiServerSaysSo) {
  for (const int status : {406, 415}) {
    const http::Response proxy{status, {}, "<html>not acceptable"};
    EXPECT_EQ(error_from_response(proxy, "get").code(), ErrorCode::kUnavailable) << status;
    const http::Response server{status, {}, fmt::format(R"({{"kind":"Status","code":{}}})", status)};
    EXPECT_EQ(error_from_response(server, "get").code(), ErrorCode::kInvalidArgument) << status;
  }
}

TEST(Requests, WatchListAsksForInitialEvents) {
  EXPECT_EQ(watch_request(kPods, {.resource_version = "7", .timeout_seconds = 300}).target,
            "/api/v1/pods?watch=true&resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds=300");
  EXPECT_EQ(
      watch_request(kPods, {.send_initial_events = true, .timeout_seconds = 0}).target,
      "/api/v1/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
}

TEST(Requests, CreatePostsToTheCollection) {
  const http::Request request =
      create_request(kPods, "ns", R"({"kind":"Pod"})", {.field_manager = "me", .dry_run = true});
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/api/v1/namespaces/ns/pods?fieldManager=me&dryRun=All");
  EXPECT_EQ(request.body, R"({"kind":"Pod"})");
  EXPECT_EQ(header(request, "content-type"), "application/json");
}

TEST(Requests, PatchesHaveTheContentTypeOfTheirKind) {
  const auto type_of = [](PatchType patch) {
    return header(patch_request(kPods, kKey, patch, Json::object(), {}).value(), "content-type");
  };
  EXPECT_EQ(type_of(PatchType::kMerge), "application/merge-patch+json");
  EXPECT_EQ(type_of(PatchType::kJson), "application/json-patch+json");
  EXPECT_EQ(type_of(PatchType::kApply), "application/apply-patch+yaml");
}

TEST(Requests, MergePatchesContainPreconditions) {
  const http::Request request =
      patch_request(kPods, kKey, PatchType::kMerge, Json{{"metadata", {{"labels", {{"a", "b"}}}}}},
                    {.subresource = "status", .uid = "u", .resource_version = "9"})
          .value();
  EXPECT_EQ(request.target, "/api/v1/namespaces/ns/pods/train-0/status");
  EXPECT_EQ(request.body, R"({"metadata":{"labels":{"a":"b"},"resourceVersion":"9","uid":"u"}})");
}

TEST(Requests, ContradictoryPatchesAreRefused) {
  EXPECT_THAT(patch_request(kPods, kKey, PatchType::kMerge, Json::array(), {}), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(patch_request(kPods, kKey, PatchType::kJson, Json::array(), {.uid = "u"}),
              IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(patch_request(kPods, kKey, PatchType::kMerge, Json::object(), {.force = true}),
              IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(patch_request(kPods, kKey, PatchType::kMerge, Json{{"metadata", 1}}, {.uid = "u"}),
              IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(patch_request(kPods, kKey, PatchType::kApply, Json::object(), {.force = true, .field_manager = "me"})
                  .value()
                  .target,
              HasSubstr("?fieldManager=me&force=true"));
}

TEST(Requests, DeleteSendsItsOptions) {
  const http::Request request = delete_request(
      kPods, kKey, {.uid = "u", .resource_version = "3", .grace_seconds = 0, .propagation = "Foreground"});
  EXPECT_EQ(request.method, "DELETE");
  EXPECT_EQ(Json::parse(request.body), (Json{{"apiVersion", "v1"},
                                             {"kind", "DeleteOptions"},
                                             {"propagationPolicy", "Foreground"},
                                             {"gracePeriodSeconds", 0},
                                             {"preconditions", {{"uid", "u"}, {"resourceVersion", "3"}}}}));
  EXPECT_FALSE(Json::parse(delete_request(kPods, kKey, {}).body).contains("preconditions"));
}

TEST(Requests, ReplaceInvalidUtf8) {
  EXPECT_THAT(replace_request(kPods, kKey, Json{{"a", "\xff"}}, {}, {}).body, HasSubstr("\"a\""));
}

struct StatusCase {
  int status;
  const char* reason;
  ErrorCode code;
};

class Errors : public ::testing::TestWithParam<StatusCase> {};

TEST_P(Errors, FollowStatusAndReason) {
  const StatusCase& given = GetParam();
  const Json status = {{"kind", "Status"}, {"code", given.status}, {"reason", given.reason}, {"message", "why"}};
  const Error error = error_from_response({given.status, {}, status.dump()}, "get pods ns/a");
  EXPECT_EQ(error.code(), given.code);
  EXPECT_EQ(error.reason(), given.reason);
  EXPECT_EQ(error.message(), "get pods ns/a: why");
}

INSTANTIATE_TEST_SUITE_P(Statuses, Errors,
                         ::testing::Values(StatusCase{400, "BadRequest", ErrorCode::kInvalidArgument},
                                           StatusCase{401, "Unauthorized", ErrorCode::kUnauthorized},
                                           StatusCase{403, "Forbidden", ErrorCode::kForbidden},
                                           StatusCase{404, "NotFound", ErrorCode::kNotFound},
                                           StatusCase{409, "AlreadyExists", ErrorCode::kAlreadyExists},
                                           StatusCase{409, "Conflict", ErrorCode::kConflict},
                                           StatusCase{410, "Expired", ErrorCode::kExpired},
                                           StatusCase{410, "Gone", ErrorCode::kExpired},
                                           StatusCase{422, "Invalid", ErrorCode::kInvalid},
                                           StatusCase{429, "TooManyRequests", ErrorCode::kTooManyRequests},
                                           StatusCase{500, "InternalError", ErrorCode::kUnavailable},
                                           StatusCase{503, "ServiceUnavailable", ErrorCode::kUnavailable},
                                           StatusCase{504, "Timeout", ErrorCode::kTimeout}),
                         [](const auto& each) { return std::string(each.param.reason); });

TEST(ErrorFromResponse, ReadsRetryAfter) {
  const std::string body = R"({"kind":"Status","code":429,"details":{"retryAfterSeconds":3}})";
  EXPECT_EQ(error_from_response({429, {}, body}, "x").retry_after(), std::chrono::seconds(3));
  EXPECT_EQ(error_from_response({429, {{"retry-after", "2"}}, ""}, "x").retry_after(), std::chrono::seconds(2));
  EXPECT_EQ(error_from_response({429, {{"Retry-After", "soon"}}, ""}, "x").retry_after(), std::nullopt);
}

TEST(ErrorFromResponse, DetectsAResourceVersionThatIsTooLarge) {
  const std::string body =
      R"({"kind":"Status","code":504,"reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge"}],"retryAfterSeconds":1}})";
  const Error error = error_from_response({504, {}, body}, "list pods");
  EXPECT_EQ(error.code(), ErrorCode::kTimeout);
  EXPECT_TRUE(is_resource_version_too_large(error));
  EXPECT_FALSE(is_resource_version_too_large(error_from_response({504, {}, "{}"}, "x")));
}

TEST(ErrorFromResponse, DetectsAnotherUidByTheFieldOfACause) {
  const auto error_with = [](const std::string& causes) {
    return error_from_response({422,
                                {},
                                R"({"kind":"Status","code":422,"reason":"Invalid",
        "message":"metadata.uid: field is immutable","details":{"causes":)" +
                                    causes + "}}"},
                               "patch pods a");
  };
  const Error error = error_with(R"([{"field":"spec.a"},{"reason":"FieldValueInvalid","field":"metadata.uid"}])");
  EXPECT_THAT(error.fields(), ::testing::ElementsAre("spec.a", "metadata.uid"));
  EXPECT_TRUE(is_other_uid(error));
  EXPECT_FALSE(is_other_uid(error_with(R"([{"field":"spec.metadata.uid"},{"message":"metadata.uid"}, 1])")));
  EXPECT_FALSE(is_other_uid(error_with("{}"))) << "the text of the message does not count";
}

TEST(ErrorFromResponse, DetectsANamespaceThatIsBeingDeleted) {
  const auto refused = [](const Json& causes) {
    const Json status = {{"kind", "Status"},
                         {"code", 403},
                         {"reason", "Forbidden"},
                         {"message",
                          "jobs.batch \"a\" is forbidden: unable to create new content in namespace default because it "
                          "is being terminated"},
                         {"details", {{"causes", causes}}}};
    return error_from_response({403, {}, status.dump()}, "create jobs default/a");
  };
  const Error error = refused(Json::parse(R"([{"reason": "NamespaceTerminating", "field": "metadata.namespace",
                                               "message": "namespace default is being terminated"}])"));
  EXPECT_EQ(error.code(), ErrorCode::kForbidden);
  EXPECT_TRUE(is_namespace_terminating(error));
  EXPECT_FALSE(is_namespace_terminating(refused(Json::array()))) << "the text of the message does not count";
}

TEST(ErrorFromResponse, NamesTheServiceAccountThatAPodLacks) {
  const auto missing = [](const std::string& message) {
    const Json status = {{"kind", "Status"}, {"code", 403}, {"reason", "Forbidden"}, {"message", message}};
    return missing_service_account(error_from_response({403, {}, status.dump()}, "create pods a"));
  };
  EXPECT_EQ(missing("pods \"a\" is forbidden: error looking up service account default/mine: "
                    "serviceaccount \"mine\" not found"),
            "mine");
  EXPECT_EQ(missing("pods \"a\" is forbidden: exceeded quota"), "");
  EXPECT_EQ(missing("serviceaccount \"mine\" not found"), "");
  EXPECT_EQ(missing("error looking up service account default/mine: serviceaccount \"mine"), "");
}

TEST(ErrorFromResponse, QuotesRepliesOfProxies) {
  const Error error = error_from_response({502, {}, "<html>\nBad gateway" + std::string(5000, 'x')}, "get pods a");
  EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
  EXPECT_THAT(error.message(), HasSubstr("get pods a: HTTP 502: <html> Bad gateway"));
  EXPECT_LT(error.message().size(), 300U);
}

TEST(ErrorFromResponse, ReportsRedirects) {
  const Error error = error_from_response({302, {{"Location", "https://login"}}, ""}, "get pods a");
  EXPECT_EQ(error.code(), ErrorCode::kInternal);
  EXPECT_THAT(error.message(), HasSubstr("https://login"));
}

}  // namespace
}  // namespace tpuslice::client
