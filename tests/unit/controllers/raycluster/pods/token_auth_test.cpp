#include "controllers/raycluster/pods/token_auth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/conditions.h"
#include "controllers/plan/conditions.h"
#include "controllers/raycluster/children/children.h"
#include "controllers/raycluster/pods/pod_builder.h"
#include "controllers/raycluster/raycluster_plan.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tests/support/plan_matchers.h"
#include "tests/support/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

Json with_auth(Json options) {
  Json cluster = a_cluster("train", {{.name = "cpu", .replicas = 1, .hosts = 1, .accelerator = ""}});
  cluster["spec"]["rayVersion"] = "2.55.0";
  cluster["spec"]["authOptions"] = std::move(options);
  return cluster;
}

Json with_token() { return with_auth({{"mode", "token"}}); }

Json token_head(const Json& cluster) { return build_head_pod(RayClusterSpec::read(cluster), {}).value().json(); }
Json token_worker(const Json& cluster) {
  const RayClusterSpec spec = RayClusterSpec::read(cluster);
  return build_worker_pod(spec, spec.groups[0], {0, 0}, {}).value().json();
}

/// The variables of a container that concern authentication, as name=value or name=secret/key.
std::vector<std::string> auth_of(const Json& container) {
  std::vector<std::string> out;
  for (const Json& variable : container["env"]) {
    const std::string name = variable["name"];
    if (!name.starts_with("RAY_AUTH") && name != "RAY_ENABLE_K8S_TOKEN_AUTH") continue;
    const Json* key = find_path(variable, {"valueFrom", "secretKeyRef"});
    out.push_back(
        name + "=" +
        (key == nullptr ? string_at(variable, {"value"}) : string_at(*key, {"name"}) + "/" + string_at(*key, {"key"})));
  }
  return out;
}

plan::Plan token_plan(const RayClusterObserved& seen) { return plan_raycluster(seen, {}); }

/// The creations of Secrets. Nothing else is written to one.
std::vector<std::string> secrets_of(const plan::Plan& plan) { return writes_of(plan, "create Secret"); }

TEST(TokenAuth, IsInTheRayContainerAndInTheInitContainerThatAsksTheHead) {
  Json cluster = with_token();
  cluster["spec"]["workerGroupSpecs"][0]["template"]["spec"]["initContainers"] = {{{"name", "copy"}, {"image", "i"}}};
  EXPECT_THAT(auth_of(token_head(cluster)["spec"]["containers"][0]),
              ElementsAre("RAY_AUTH_MODE=token", "RAY_AUTH_TOKEN=train/auth_token"));
  const Json worker = token_worker(cluster)["spec"];
  for (const Json& container : {worker["containers"][0], worker["initContainers"][1]}) {
    EXPECT_THAT(auth_of(container), ElementsAre("RAY_AUTH_MODE=token", "RAY_AUTH_TOKEN=train/auth_token"));
  }
  EXPECT_THAT(auth_of(worker["initContainers"][0]), IsEmpty());
  EXPECT_THAT(auth_of(token_head(with_auth({{"mode", "disabled"}}))["spec"]["containers"][0]), IsEmpty());
  EXPECT_THAT(auth_of(token_head(with_auth(Json::object()))["spec"]["containers"][0]), IsEmpty());
}

TEST(TokenAuth, DoesNotOverrideVariablesOfTheUser) {
  Json cluster = with_token();
  cluster["spec"]["headGroupSpec"]["template"]["spec"]["containers"][0]["env"] = {
      {{"name", "RAY_AUTH_TOKEN"}, {"value", "mine"}}};
  EXPECT_THAT(auth_of(token_head(cluster)["spec"]["containers"][0]),
              ElementsAre("RAY_AUTH_TOKEN=mine", "RAY_AUTH_MODE=token"));
}

TEST(TokenAuth, TakesTheTokenOfTheUsersSecret) {
  const Json cluster = with_auth({{"mode", "token"}, {"secretName", "mine"}});
  EXPECT_THAT(auth_of(token_head(cluster)["spec"]["containers"][0]),
              ElementsAre("RAY_AUTH_MODE=token", "RAY_AUTH_TOKEN=mine/auth_token"));
  EXPECT_THAT(secrets_of(token_plan(nothing_yet(Object(cluster)))), IsEmpty());
}

TEST(TokenAuth, OfServiceAccountsMountsTheirToken) {
  const Json cluster = with_auth({{"mode", "token"}, {"enableK8sTokenAuth", true}});
  const Json worker = token_worker(cluster)["spec"];
  for (const Json& container : {worker["containers"][0], worker["initContainers"][0]}) {
    EXPECT_THAT(auth_of(container), ElementsAre("RAY_AUTH_MODE=token", "RAY_ENABLE_K8S_TOKEN_AUTH=true"));
    EXPECT_EQ(container["volumeMounts"][0],
              Json::parse(R"({"name": "ray-token", "mountPath": "/var/run/secrets/ray.io/serviceaccount",
                              "readOnly": true})"));
  }
  EXPECT_EQ(worker["volumes"][0], Json::parse(R"({"name": "ray-token", "projected": {"sources": [
                                                  {"serviceAccountToken": {"path": "token"}}]}})"));
  EXPECT_THAT(secrets_of(token_plan(nothing_yet(Object(cluster)))), IsEmpty());
}

TEST(AuthSecret, IsCreatedBeforeThePodsWithATokenThatThePlanDoesNotHold) {
  const plan::Plan plan = token_plan(nothing_yet(Object(with_token())));
  EXPECT_THAT(stages_of(plan), ElementsAre(ElementsAre("create Secret train"), Each(StartsWith("create Service ")),
                                           Each(StartsWith("create Pod "))));
  const plan::Action secret = action_of(plan, "create Secret train");
  EXPECT_EQ(secret.key, (ObjectKey{"default", "train"}));
  EXPECT_EQ(secret.random_token, "auth_token");
  const Json body = secret.body.make().value();
  EXPECT_EQ(body["metadata"]["labels"], Json({{"ray.io/cluster", "train"}}));
  EXPECT_EQ(body["metadata"]["ownerReferences"][0]["uid"], "uid-of-train");
  EXPECT_FALSE(body.contains("stringData"));
  EXPECT_FALSE(body.contains("data"));
  EXPECT_THAT(plan.reason, HasSubstr("the head needs the token in secret train"));
}

TEST(AuthSecret, IsNotCreatedAgainWhileTheHeadExists) {
  RayClusterObserved seen = all_running(Object(with_token()));
  edit(seen.cluster)["status"] = token_plan(seen).status->status;
  EXPECT_THAT(token_plan(seen), plan::IsEmptyPlan());
  seen.pods.pop_back();
  EXPECT_THAT(secrets_of(token_plan(seen)), IsEmpty()) << "a new worker takes the token that the head has";
}

TEST(AuthSecret, IsCreatedAgainIfTheHeadCannotStartWithoutIt) {
  struct Case {
    const char* reason;
    const char* message;
    bool created;
  };
  for (const Case& c : {Case{"CreateContainerConfigError", R"(secret "train" not found)", true},
                        Case{"CreateContainerConfigError", R"(secret "other" not found)", false},
                        Case{"CreateContainerConfigError", R"(configmap "train" not found)", false},
                        Case{"ImagePullBackOff", R"(secret "train" not found)", false}}) {
    RayClusterObserved seen = all_running(Object(with_token()));
    change(seen.pods[0], [&](PodView& pod) {
      pod.containers.push_back({.name = "ray-head", .waiting_reason = c.reason, .waiting_message = c.message});
    });
    EXPECT_THAT(secrets_of(token_plan(seen)), SizeIs(c.created ? 1 : 0)) << c.reason << ": " << c.message;
  }
}

TEST(AuthSecret, OfALongNameHasTheEndOfIt) {
  Json cluster = with_token();
  cluster["metadata"]["name"] = "abc-" + std::string(49, 'x');
  EXPECT_THAT(secrets_of(token_plan(nothing_yet(Object(cluster)))),
              ElementsAre("create Secret r" + std::string(49, 'x')));
  cluster["metadata"]["name"] = "c" + std::string(3, '-') + std::string(49, 'x');
  EXPECT_THAT(secrets_of(token_plan(nothing_yet(Object(cluster)))),
              ElementsAre("create Secret r" + std::string(49, 'x')));
}

TEST(AuthSecret, ThatCannotBeCreatedIsReported) {
  RayClusterObserved seen = nothing_yet(Object(with_token()));
  seen.last_failure = plan::Failure{std::string(kFailedSecret), "secrets is forbidden"};
  const plan::Plan plan = token_plan(seen);
  const Json* condition = find_condition(plan.status->status["conditions"], plan::kChildrenReady);
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ((*condition)["status"], "False");
  EXPECT_EQ((*condition)["reason"], "FailedSecret");
  EXPECT_EQ((*condition)["message"], "secrets is forbidden");
  EXPECT_THAT(plan, plan::HasEvent("FailedToCreateSecret"));
}

TEST(AuthSecret, IsNotCreatedForAClusterWithoutPods) {
  Json suspended = with_token();
  suspended["spec"]["suspend"] = true;
  EXPECT_THAT(secrets_of(token_plan(nothing_yet(Object(suspended)))), IsEmpty());
  EXPECT_THAT(token_plan(nothing_yet(Object(with_auth({{"mode", "disabled"}})))),
              Not(plan::HasEvent("FailedToCreateSecret")));
}

}  // namespace
}  // namespace tpuslice::raycluster
