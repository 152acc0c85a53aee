#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/client/requests.h"
#include "tests/support/error_matchers.h"

namespace tpuslice::client {
namespace {

const ObjectKey kPod{"ns", "train-0"};

TEST(StrategicMergePatch, HasItsContentType) {
  const http::Request request =
      patch_request(kPods, kPod, PatchType::kStrategic, Json::object(), {.subresource = "status"}).value();
  EXPECT_EQ(request.method, "PATCH");
  EXPECT_EQ(request.target, "/api/v1/namespaces/ns/pods/train-0/status");
  const std::string* type = http::find_header(request.headers, "content-type");
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(*type, "application/strategic-merge-patch+json");
}

TEST(StrategicMergePatch, ContainsPreconditions) {
  const http::Request request =
      patch_request(kPods, kPod, PatchType::kStrategic, Json{{"status", {{"phase", "Failed"}}}},
                    {.uid = "u", .resource_version = "9"})
          .value();
  EXPECT_EQ(request.body, R"({"metadata":{"resourceVersion":"9","uid":"u"},"status":{"phase":"Failed"}})");
}

TEST(StrategicMergePatch, IsAnObject) {
  EXPECT_THAT(patch_request(kPods, kPod, PatchType::kStrategic, Json::array(), {}),
              IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(patch_request(kPods, kPod, PatchType::kStrategic, Json(), {}), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(patch_request(kPods, kPod, PatchType::kStrategic, Json{{"metadata", 1}}, {.uid = "u"}),
              IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(patch_request(kPods, kPod, PatchType::kStrategic, Json::object(), {.force = true}),
              IsError(ErrorCode::kInvalidArgument));
}

}  // namespace
}  // namespace tpuslice::client
