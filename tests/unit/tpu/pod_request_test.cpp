#include "tpu/pod_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::tpu {
namespace {

Json container(const char* kind, Json quantity) {
  Json json = {{"name", "c"}};
  json["resources"][kind]["google.com/tpu"] = std::move(quantity);
  return json;
}
Json spec_of(std::initializer_list<Json> containers) {
  Json spec = Json::object();
  spec["containers"] = Json::array();
  for (const Json& c : containers) spec["containers"].push_back(c);
  return spec;
}

TEST(TpuContainers, AreNoMoreThanAHostHasChips) {
  Json spec = spec_of({});
  for (int i = 0; i < 8; ++i) spec["containers"].push_back(container("limits", 1));
  EXPECT_TRUE(tpu_containers(spec).ok());
  spec["containers"].push_back(container("limits", 1));
  const auto refused = tpu_containers(spec);
  EXPECT_THAT(refused,
              IsError(ErrorCode::kInvalidArgument,
                      "spec.containers: more than 8 containers ask for google.com/tpu; a host has at most 8 chips"));
}

TEST(TpuContainers, CountLimitsOrRequestsOfContainers) {
  const auto found = tpu_containers(spec_of({{{"name", "log"}}, container("limits", "4"), container("requests", 2)}));
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[0].position, 1U);
  EXPECT_EQ((*found)[0].chips, 4);
  EXPECT_EQ((*found)[1].position, 2U);
  EXPECT_EQ(total_chips(*found), 6);
}

TEST(TpuContainers, OmitInitContainersAndZeroes) {
  Json spec = spec_of({container("limits", "0")});
  spec["initContainers"] = Json::array({container("limits", "4")});
  EXPECT_TRUE(tpu_containers(spec)->empty());
}

TEST(TpuContainers, AreEmptyForASpecWithoutContainers) {
  for (const Json& spec : {Json(), Json::object(), Json({{"containers", 1}}), Json({{"containers", {1, nullptr}}})}) {
    EXPECT_TRUE(tpu_containers(spec)->empty());
  }
}

TEST(TpuContainers, RefuseOtherQuantitiesNamingTheField) {
  for (const Json& quantity : {Json("four"), Json("-4"), Json("4.5"), Json(4.5), Json(-4), Json(nullptr), Json(""),
                               Json("99999999999999999999"), Json(18446744073709551615ULL), Json::object()}) {
    const auto found = tpu_containers(spec_of({container("limits", quantity)}));
    EXPECT_THAT(found,
                IsError(ErrorCode::kInvalidArgument,
                        ::testing::StartsWith("spec.containers[0].resources.limits[google.com/tpu]: Invalid value")))
        << quantity;
  }
}

}  // namespace
}  // namespace tpuslice::tpu
