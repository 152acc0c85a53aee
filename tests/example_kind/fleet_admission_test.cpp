// Admission of Fleets and their pods, as the webhook of an operator that has the kind in its list.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "api/types/patch.h"
#include "tests/example_kind/children.h"
#include "tests/example_kind/fleet_world.h"
#include "tests/example_kind/rules/fleet_rules.h"
#include "tests/example_kind/rules/validator.h"
#include "tests/support/reviews.h"
#include "webhook/admission_handler.h"

namespace tpuslice::example {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using webhook::testing::post;
using webhook::testing::review_of;

constexpr const char* kPath = "/validate-example-com-v1-fleet";

const rules::MutationOptions& options() {
  static const rules::MutationOptions kOptions{.kinds = own_kinds(), .served_kinds = {"Fleet"}};
  return kOptions;
}

Json answer(const std::string& path, const Json& review) {
  const http::Response response = webhook::handle_admission(post(path, review), options());
  EXPECT_EQ(response.status, 200) << response.body;
  return Json::parse(response.body)["response"];
}

/// The message of the refusal; empty if it is allowed.
std::string refusal_of(const Json& fleet, const Json& old = nullptr) {
  const Json response =
      answer(kPath, review_of(fleet, "example.com", "Fleet", old.is_null() ? "CREATE" : "UPDATE", old));
  return response["allowed"].get<bool>() ? std::string() : string_at(response, {"status", "message"});
}

Json with(Json fleet, const std::string& pointer, Json value) {
  fleet[Json::json_pointer(pointer)] = std::move(value);
  return fleet;
}

/// A pod without what admission adds.
Json plain_pod(std::int64_t ship, std::int64_t host) {
  const Object fleet(fleet_of({}));
  Json spec = fleet.json()["spec"]["template"]["spec"];
  spec["restartPolicy"] = "Never";
  const Json labels = {{kFleetName, "north"}, {kShip, std::to_string(ship)}, {kHost, std::to_string(host)}};
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata",
           {{"name", pod_name("north", {ship, host})},
            {"namespace", "default"},
            {"labels", labels},
            {"ownerReferences", Json::array({fleet.as_controller().to_json()})}}},
          {"spec", std::move(spec)}};
}

TEST(FleetAdmission, AllowsAFleet) { EXPECT_EQ(refusal_of(fleet_of({})), ""); }

TEST(FleetAdmission, RefusesWithAllFieldErrors) {
  Json fleet = with(with(fleet_of({}), "/spec/ships", 101), "/spec/flag", 7);
  fleet = with(fleet, "/spec/template/spec/restartPolicy", "Always");
  EXPECT_THAT(refusal_of(fleet), AllOf(HasSubstr("spec.ships: Invalid value: 101: must be no more than 100"),
                                       HasSubstr("spec.flag"), HasSubstr("spec.template.spec.restartPolicy")));
  EXPECT_THAT(refusal_of(fleet_of({.topology = "3x5"})), HasSubstr("spec.template"));
  EXPECT_THAT(refusal_of(with(fleet_of({}), "/metadata/name", std::string(60, 'n'))), HasSubstr("metadata.name"));
}

TEST(FleetAdmission, RefusesANewTemplateButNotAnotherNumber) {
  const Json old = fleet_of({});
  EXPECT_EQ(refusal_of(with(old, "/spec/ships", 5), old), "");
  EXPECT_THAT(refusal_of(fleet_of({.topology = "4x4"}), old), HasSubstr("spec.template: Invalid value"));
}

TEST(FleetAdmission, AllowsAnUpdateOfAnOlderFleetWithTheSameErrors) {
  const Json old = with(fleet_of({}), "/spec/ships", 101);
  EXPECT_EQ(refusal_of(with(old, "/metadata/labels", {{"a", "b"}}), old), "");
}

TEST(FleetAdmission, WarnsAboutAFleetWithoutTpus) {
  const Json response = answer(kPath, review_of(fleet_of({.topology = ""}), "example.com", "Fleet"));
  EXPECT_THAT(response["warnings"].dump(), HasSubstr("no container asks for google.com/tpu"));
}

TEST(FleetAdmission, MutatesPodsAsTheControllerDoes) {
  const Json pod = plain_pod(1, 1);
  const Json response = answer(std::string(webhook::kMutatePodPath), review_of(pod, "", "Pod"));
  ASSERT_TRUE(response["allowed"].get<bool>());
  const auto patched = apply_json_patch(pod, Json::parse(*decode_base64(response["patch"].get<std::string>())));
  ASSERT_TRUE(patched.ok());
  EXPECT_EQ(*patched, PodBuilder(Object(fleet_of({})), {.mutation = options()}).build({1, 1}).value());
}

TEST(FleetAdmission, DerivesTheIdentityFromThePod) {
  const auto identity = identify_pod(plain_pod(1, 1)).value();
  ASSERT_TRUE(identity.has_value());
  EXPECT_EQ(identity->slice_name, "north-1");
  EXPECT_EQ(identity->hosts, 2);
  EXPECT_EQ(identity->host_index, 1);
  EXPECT_EQ(identity->coordinator, "north-0-0.north");
  Json beyond = plain_pod(1, 1);
  beyond["metadata"]["labels"][std::string(kHost)] = "2";
  EXPECT_THAT(identify_pod(beyond).error().message(), HasSubstr("metadata.labels[example.com/host]"));
}

}  // namespace
}  // namespace tpuslice::example
