#include "webhook/failure_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/patch.h"
#include "tests/support/error_matchers.h"
#include "tests/support/fake_api.h"
#include "webhook/admission_probe.h"
#include "webhook/webhook_configurations.h"

namespace tpuslice::webhook {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tpuslice::testing::FakeApi;

const ObjectKey kPolicyConfiguration{{}, "tpu-slice-operator"};

Json configuration(const std::string& policy) {
  return {{"metadata", {{"name", "tpu-slice-operator"}, {"resourceVersion", "7"}}},
          {"webhooks", Json::array({{{"name", "group-pods.tpuslice.dev"}, {"failurePolicy", "Ignore"}},
                                    {{"name", "pods.tpuslice.dev"}, {"failurePolicy", policy}},
                                    {{"name", "probe.tpuslice.dev"}, {"failurePolicy", "Ignore"}}})}};
}

/// What the fields of one webhook are in managedFields.
std::string item(const std::string& webhook) { return R"(k:{"name":")" + webhook + R"("})"; }

Json managed_by(const std::string& manager, const Json& fields, const std::string& operation = "Update") {
  return {{"manager", manager}, {"operation", operation}, {"fieldsType", "FieldsV1"}, {"fieldsV1", fields}};
}

TEST(DisownPatch, RemovesTheFieldAndKeepsTheOthersOfTheWebhook) {
  Json json = configuration("Fail");
  const Json fields = {
      {"f:webhooks",
       {{item("pods.tpuslice.dev"),
         {{"f:clientConfig", {{"f:caBundle", Json::object()}}}, {"f:failurePolicy", Json::object()}}}}}};
  json["metadata"]["managedFields"] =
      Json::array({managed_by("kubectl", Json::object(), "Apply"), managed_by("ours", fields)});
  const Object object(json);
  const Json patched = apply_json_patch(json, disown_patch(object, "ours")).value();
  EXPECT_EQ(patched["metadata"]["managedFields"][1]["fieldsV1"]["f:webhooks"][item("pods.tpuslice.dev")],
            Json({{"f:clientConfig", {{"f:caBundle", Json::object()}}}}));
  EXPECT_THAT(disown_patch(Object(patched), "ours"), IsEmpty());
  EXPECT_THAT(disown_patch(object, "theirs"), IsEmpty());
}

TEST(DisownPatch, LeavesNoEmptyMemberWhichWouldBeOwnedItself) {
  const Json field = {{"f:failurePolicy", Json::object()}};
  Json json = configuration("Fail");
  json["metadata"]["managedFields"] = Json::array(
      {managed_by("ours", {{"f:webhooks", {{item("pods.tpuslice.dev"), field}}}}), managed_by("theirs", Json::object()),
       managed_by("ours", {{"f:webhooks", {{item("pods.tpuslice.dev"), field}, {item("a"), field}}}}),
       managed_by("ours", {{"f:webhooks", {{item("pods.tpuslice.dev"), field}}}}, "Apply")});
  const Json patched = apply_json_patch(json, disown_patch(Object(json), "ours")).value();
  const Json& entries = patched["metadata"]["managedFields"];
  ASSERT_EQ(entries.size(), 3U) << entries.dump();
  EXPECT_EQ(entries[0]["manager"], "theirs");
  EXPECT_EQ(entries[1]["fieldsV1"]["f:webhooks"], Json({{item("a"), field}}));
  EXPECT_EQ(entries[2]["operation"], "Apply");
}

class FailurePolicy : public ::testing::Test {
 protected:
  FailurePolicy() {
    api_.put(kMutatingConfigurations, Object(configuration("Ignore")));
    api_.admit = [this](const ResourceType& type, Json& object) {
      if (reached_ && type == kLeases) object["metadata"]["annotations"] = {{kReachedAnnotation, "true"}};
    };
  }

  Duration step(bool serves = true) { return patcher_.step(serves, {}); }
  std::string policy() {
    return string_at(api_.find(kMutatingConfigurations, kPolicyConfiguration)->json(),
                     {"webhooks", "1", "failurePolicy"});
  }
  void annotate(const std::string& value) {
    Json json = api_.find(kMutatingConfigurations, kPolicyConfiguration)->json();
    json["metadata"]["annotations"] = {{kFailurePolicyAnnotation, value}};
    api_.put(kMutatingConfigurations, Object(json));
  }

  std::string scraped(const std::string& policy) {
    return policy +
           (metrics_.scrape().find("tpuslice_webhook_failure_policy{policy=\"" + policy + "\"} 1") == std::string::npos
                ? " 0"
                : " 1");
  }

  bool reached_ = true;
  Metrics metrics_;
  FakeApi api_;
  FailurePolicyPatcher patcher_{{.namespace_name = "ours"}, api_, api_, metrics_, Logger()};
};

TEST_F(FailurePolicy, IsFailOnceTheApiServerReachesTheWebhook) {
  EXPECT_GE(step(), std::chrono::seconds(10));
  EXPECT_EQ(policy(), "Fail");
  EXPECT_EQ(scraped("Fail"), "Fail 1");
  EXPECT_EQ(scraped("Ignore"), "Ignore 0");
  api_.clear_calls();
  step();
  EXPECT_THAT(api_.writes(), IsEmpty()) << "no probe and no patch when it is as wanted";
}

TEST_F(FailurePolicy, StaysIgnoreWhileTheApiServerDoesNotReachTheWebhook) {
  reached_ = false;
  Duration last{};
  for (int i = 0; i < 10; ++i) {
    const Duration next = step();
    EXPECT_GE(next, last);
    last = next;
  }
  EXPECT_EQ(last, FailurePolicyOptions().check) << "probes become rare";
  EXPECT_EQ(policy(), "Ignore");
  EXPECT_EQ(scraped("Ignore"), "Ignore 1");
  reached_ = true;
  step();
  EXPECT_EQ(policy(), "Fail");
}

TEST_F(FailurePolicy, StaysIgnoreWhileThisReplicaDoesNotServe) {
  step(false);
  EXPECT_EQ(policy(), "Ignore");
  EXPECT_THAT(api_.writes(), IsEmpty());
}

TEST_F(FailurePolicy, StaysIgnoreWithoutTheProbesWebhook) {
  Json json = configuration("Ignore");
  json["webhooks"].erase(2);
  api_.put(kMutatingConfigurations, Object(json));
  step();
  EXPECT_EQ(policy(), "Ignore");
  EXPECT_THAT(api_.writes(), IsEmpty());
}

TEST_F(FailurePolicy, IsSetAgainAfterAnInstallerHasAppliedIgnore) {
  step();
  api_.put(kMutatingConfigurations, Object(configuration("Ignore")));
  step();
  EXPECT_EQ(policy(), "Fail");
}

TEST_F(FailurePolicy, IsIgnoreWhereTheAnnotationSaysSo) {
  annotate("Ignore");
  step();
  EXPECT_EQ(policy(), "Ignore");
  EXPECT_THAT(api_.writes(), IsEmpty());
}

TEST_F(FailurePolicy, ReturnsToIgnoreWhenTheAnnotationIsAddedAlsoFromAReplicaThatDoesNotServe) {
  step();
  annotate("Ignore");
  reached_ = false;
  step(false);
  EXPECT_EQ(policy(), "Ignore");
}

TEST_F(FailurePolicy, IsLeftAloneWhenTheAnnotationHasAnotherValue) {
  annotate("Never");
  step();
  EXPECT_EQ(policy(), "Ignore");
  const auto state = read_failure_policy(*api_.find(kMutatingConfigurations, kPolicyConfiguration));
  EXPECT_THAT(state, IsError(ErrorCode::kInvalidArgument, HasSubstr("found \"Never\", expected Fail or Ignore")));
}

TEST_F(FailurePolicy, OfAConfigurationThatChangedMeanwhileIsNotSet) {
  api_.on_write = [&](const FakeApi::Call& call, const std::stop_token&) {
    if (call.verb == "patch") annotate("Ignore");
  };
  step();
  EXPECT_EQ(policy(), "Ignore");
}

TEST_F(FailurePolicy, OfOtherWebhooksIsNotChanged) {
  step();
  const Json webhooks = api_.find(kMutatingConfigurations, kPolicyConfiguration)->json()["webhooks"];
  EXPECT_EQ(webhooks[0]["failurePolicy"], "Ignore");
  EXPECT_EQ(webhooks[2]["failurePolicy"], "Ignore");
}

TEST_F(FailurePolicy, IsNoFieldOfTheOperatorAfterwards) {
  Json json = configuration("Fail");
  json["metadata"]["managedFields"] = Json::array({managed_by(
      "tpu-slice-operator", {{"f:webhooks", {{item("pods.tpuslice.dev"), {{"f:failurePolicy", Json::object()}}}}}})});
  api_.put(kMutatingConfigurations, Object(json));
  step();
  EXPECT_THAT(api_.find(kMutatingConfigurations, kPolicyConfiguration)->json()["metadata"]["managedFields"], IsEmpty());
  EXPECT_EQ(policy(), "Fail");
}

/// Regression: twice a minute, which is what an alert takes for a missing permission.
TEST_F(FailurePolicy, IsLookedAtSeldomWithoutThePermission) {
  api_.fault = [](const FakeApi::Call&) { return Error::of(ErrorCode::kForbidden, "no"); };
  for (int i = 0; i < 4; ++i) EXPECT_LE(step(), std::chrono::seconds(10)) << "it may be given a moment later";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(step(), std::chrono::minutes(30));
  EXPECT_EQ(patcher_.problem(), "no");
  api_.fault = nullptr;
  EXPECT_EQ(step(), std::chrono::seconds(30));
  EXPECT_EQ(policy(), "Fail");
}

TEST_F(FailurePolicy, IsNothingToDoWithoutAConfiguration) {
  ASSERT_TRUE(api_.remove(kMutatingConfigurations, kPolicyConfiguration, {}, {}).ok());
  api_.clear_calls();
  step();
  EXPECT_THAT(api_.writes(), IsEmpty());
  EXPECT_EQ(scraped("Fail"), "Fail 0");
}

}  // namespace
}  // namespace tpuslice::webhook
