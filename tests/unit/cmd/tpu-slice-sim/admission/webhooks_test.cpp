#include "cmd/tpu-slice-sim/admission/webhooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "api/base/base64.h"
#include "tests/support/error_matchers.h"
#include "tests/unit/cmd/tpu-slice-sim/resources.h"

namespace tpuslice::sim {
namespace {

using testing::parse;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kMutating = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
constexpr auto kValidating = "validatingwebhookconfigurations.admissionregistration.k8s.io";

/// Responds to reviews as the test configures, by path.
class FakeWebhooks final : public http::Transport {
 public:
  using Answer = std::function<Json(const Json& request)>;

  Result<http::Response> call(const http::Request& request, Duration deadline, std::stop_token /*stop*/) override {
    const std::string path = request.target.substr(0, request.target.find('?'));
    calls.push_back(path);
    targets.push_back(request.target);
    deadlines.push_back(deadline);
    const auto found = answers.find(path);
    if (found == answers.end()) return Error::unavailable("connection refused");
    const Json review = Json::parse(request.body);
    Json response = found->second(review.at("request"));
    if (!response.contains("uid")) response["uid"] = review["request"]["uid"];
    http::Response reply;
    reply.status = status;
    reply.body =
        Json({{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"response", response}}).dump();
    return reply;
  }
  Result<std::unique_ptr<http::Stream>> open(const http::Request&, Duration, std::stop_token) override {
    return Error::unsupported("no streams");
  }

  std::map<std::string, Answer> answers;
  std::vector<std::string> calls;
  std::vector<std::string> targets;
  std::vector<Duration> deadlines;
  int status = 200;
};

FakeWebhooks::Answer allow() {
  return [](const Json&) { return Json({{"allowed", true}}); };
}

FakeWebhooks::Answer patch_with(const std::string& operations) {
  return [operations](const Json&) {
    return Json({{"allowed", true}, {"patchType", "JSONPatch"}, {"patch", encode_base64(operations)}});
  };
}

FakeWebhooks::Answer add_label(const std::string& name) {
  return patch_with(R"([{"op":"add","path":"/metadata/labels/)" + name + R"(","value":"yes"}])");
}

class Webhooks : public ::testing::Test {
 protected:
  Webhooks() {
    pods_.version = "v1";
    pods_.kind = "Pod";
    pods_.plural = "pods";
    EXPECT_TRUE(
        storage_
            .create("namespaces", {"", "default"}, parse(R"({"metadata":{"name":"default","labels":{"team":"a"}}})"))
            .ok());
  }

  void configure(const char* resource, const std::string& name, const std::string& path, const char* change = "{}") {
    Json webhook = parse(R"({"failurePolicy":"Fail","sideEffects":"None","timeoutSeconds":5,
      "rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"],"operations":["CREATE","UPDATE"],"scope":"*"}]})");
    webhook["name"] = path + ".example.com";
    webhook["clientConfig"]["service"] = {{"namespace", "n"}, {"name", "s"}, {"path", "/" + path}};
    webhook.merge_patch(parse(change));
    const Json configuration = {{"metadata", {{"name", name}}}, {"webhooks", Json::array({webhook})}};
    ASSERT_TRUE(storage_.create(resource, {"", name}, configuration).ok());
  }

  AdmissionRequest request(const char* change = "{}") {
    AdmissionRequest made;
    made.operation = "CREATE";
    made.resource = &pods_;
    made.key = {"default", "p"};
    made.object = parse(R"({"metadata":{"name":"p","labels":{}},"spec":{"containers":[{"name":"a"}]}})");
    made.object.merge_patch(parse(change));
    made.options.user.name = "alice";
    made.options.warnings = &warnings_;
    return made;
  }

  Result<Json> admit(const AdmissionRequest& made) {
    WebhookAdmission admission(storage_, [this](const Json&) -> Result<std::shared_ptr<http::Transport>> {
      return std::shared_ptr<http::Transport>(server_);
    });
    ASSIGN_OR_RETURN(Json object, admission.mutate(made));
    AdmissionRequest next = made;
    if (made.operation != "DELETE") next.object = object;
    RETURN_IF_ERROR(admission.validate(next));
    return object;
  }

  Storage storage_;
  Resource pods_;
  std::shared_ptr<FakeWebhooks> server_ = std::make_shared<FakeWebhooks>();
  std::vector<std::string> warnings_;
};

TEST_F(Webhooks, MutateInOrderOfTheirConfigurationsThenValidate) {
  configure(kMutating, "b", "two");
  configure(kMutating, "a", "one");
  configure(kValidating, "c", "check");
  server_->answers = {{"/one", add_label("one")},
                      {"/two", add_label("two")},
                      {"/check", [](const Json& asked) {
                         EXPECT_EQ(asked["object"]["metadata"]["labels"].size(), 2U);
                         return Json({{"allowed", true}, {"warnings", {"careful"}}});
                       }}};
  const auto admitted = admit(request());
  ASSERT_TRUE(admitted.ok()) << admitted.error().message();
  EXPECT_EQ((*admitted)["metadata"]["labels"], parse(R"({"one":"yes","two":"yes"})"));
  EXPECT_THAT(server_->calls, ElementsAre("/one", "/two", "/check"));
  EXPECT_THAT(server_->targets.front(), "/one?timeout=5s");
  EXPECT_EQ(server_->deadlines.front(), std::chrono::seconds(5));
  EXPECT_THAT(warnings_, ElementsAre("careful"));
}

TEST_F(Webhooks, ReceiveTheWholeRequest) {
  configure(kMutating, "a", "one");
  server_->answers["/one"] = [](const Json& asked) {
    EXPECT_EQ(asked["kind"], parse(R"({"group":"","version":"v1","kind":"Pod"})"));
    EXPECT_EQ(asked["resource"], parse(R"({"group":"","version":"v1","resource":"pods"})"));
    EXPECT_EQ(asked["operation"], "CREATE");
    EXPECT_EQ(asked["namespace"], "default");
    EXPECT_EQ(asked["name"], "p");
    EXPECT_EQ(asked["userInfo"]["username"], "alice");
    EXPECT_EQ(asked["oldObject"], Json());
    EXPECT_EQ(asked["dryRun"], false);
    EXPECT_FALSE(asked["uid"].get<std::string>().empty());
    return Json({{"allowed", true}});
  };
  EXPECT_TRUE(admit(request()).ok());
}

TEST_F(Webhooks, RefuseWithTheirCodeAndReason) {
  configure(kValidating, "a", "check");
  const std::vector<std::tuple<std::string, ErrorCode, std::string>> cases = {
      {R"({"allowed":false,"status":{"code":403,"reason":"Forbidden","message":"no"}})", ErrorCode::kForbidden,
       "admission webhook \"check.example.com\" denied the request: no"},
      {R"({"allowed":false,"status":{"code":422,"reason":"Invalid","message":"bad"}})", ErrorCode::kInvalid,
       "admission webhook \"check.example.com\" denied the request: bad"},
      {R"({"allowed":false,"status":{"reason":"Why"}})", ErrorCode::kInvalidArgument,
       "admission webhook \"check.example.com\" denied the request: Why"},
      {R"({"allowed":false})", ErrorCode::kInvalidArgument,
       "admission webhook \"check.example.com\" denied the request without explanation"},
  };
  for (const auto& [answer, code, message] : cases) {
    server_->answers["/check"] = [answer = answer](const Json&) { return parse(answer); };
    const auto refused = admit(request());
    EXPECT_THAT(refused, IsError(code, message));
  }
}

TEST_F(Webhooks, AreCalledOnlyForWhatTheyMatch) {
  const std::vector<std::pair<const char*, bool>> cases = {
      {R"({})", true},
      {R"({"rules":[{"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"operations":["*"],"scope":"Namespaced"}]})",
       true},
      {R"({"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["pods/*"],"operations":["CREATE"]}]})", true},
      {R"({"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["pods/status"],"operations":["CREATE"]}]})",
       false},
      {R"({"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"],"operations":["DELETE"]}]})", false},
      {R"({"rules":[{"apiGroups":["apps"],"apiVersions":["v1"],"resources":["pods"],"operations":["*"]}]})", false},
      {R"({"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"],"operations":["*"],"scope":"Cluster"}]})",
       false},
      {R"({"namespaceSelector":{"matchLabels":{"team":"a"}}})", true},
      {R"({"namespaceSelector":{"matchLabels":{"team":"b"}}})", false},
      {R"({"namespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["default"]}]}})",
       false},
      {R"({"objectSelector":{"matchLabels":{"x":"y"}}})", false},
      {R"({"matchConditions":[{"name":"c","expression":"request.userInfo.username != 'alice'"}]})", false},
      {R"j({"matchConditions":[{"name":"c","expression":"object.spec.containers.exists(c, has(c.resources) && 'google.com/tpu' in c.resources.limits)"}]})j",
       false},
      {R"j({"matchConditions":[{"name":"c","expression":"request.operation == 'CREATE' && has(object.metadata)"}]})j",
       true},
      {R"({"matchConditions":[{"name":"e","expression":"object.missing == 1"},{"name":"c","expression":"false"}]})",
       false},
  };
  int number = 0;
  for (const auto& [change, called] : cases) {
    const std::string name = "c" + std::to_string(number++);
    configure(kMutating, name, "hook", change);
    server_->answers["/hook"] = allow();
    server_->calls.clear();
    EXPECT_TRUE(admit(request()).ok()) << change;
    EXPECT_EQ(!server_->calls.empty(), called) << change;
    ASSERT_TRUE(storage_.remove(kMutating, {"", name}, std::nullopt).ok());
  }
}

TEST_F(Webhooks, FollowTheirFailurePolicy) {
  configure(kMutating, "a", "gone");
  const auto failed = admit(request());
  EXPECT_THAT(
      failed,
      IsError(
          ErrorCode::kInternal,
          "Internal error occurred: failed calling webhook \"gone.example.com\": failed to call webhook: connection "
          "refused"));
  ASSERT_TRUE(storage_.remove(kMutating, {"", "a"}, std::nullopt).ok());
  configure(kMutating, "a", "gone", R"({"failurePolicy":"Ignore"})");
  EXPECT_TRUE(admit(request()).ok());
}

TEST_F(Webhooks, FailOnConditionsThatCannotBeEvaluated) {
  for (const char* expression : {"object.missing == 1", "object.sort()"}) {
    Json change = {{"matchConditions", Json::array({{{"name", "c"}, {"expression", expression}}})}};
    configure(kMutating, "a", "hook", change.dump().c_str());
    EXPECT_THAT(admit(request()).error().message(), HasSubstr("match condition \"c\"")) << expression;
    EXPECT_THAT(server_->calls, IsEmpty());
    ASSERT_TRUE(storage_.remove(kMutating, {"", "a"}, std::nullopt).ok());
  }
}

TEST_F(Webhooks, FailOnInvalidResponses) {
  configure(kMutating, "a", "hook");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"uid":"other","allowed":true})", "expected response.uid"},
      {R"({"allowed":true,"patch":"W10="})", "not response.patchType"},
      {R"({"allowed":true,"patchType":"JSONPatch"})", "not response.patch"},
      {R"({"allowed":true,"patchType":"Merge","patch":"W10="})", "invalid response.patchType"},
      {R"({"allowed":true,"patchType":"JSONPatch","patch":"@@"})", "not base64"},
  };
  for (const auto& [answer, expected] : cases) {
    server_->answers["/hook"] = [answer = answer](const Json&) { return parse(answer); };
    const auto failed = admit(request());
    EXPECT_THAT(failed, IsError(ErrorCode::kInternal, HasSubstr(expected))) << answer;
  }
  server_->answers["/hook"] = patch_with(R"([{"op":"remove","path":"/nothing"}])");
  EXPECT_THAT(admit(request()), IsError(ErrorCode::kInternal));
  server_->status = 503;
  EXPECT_THAT(admit(request()).error().message(), HasSubstr("HTTP 503"));
}

TEST_F(Webhooks, AreCalledAgainOnlyIfALaterOneChangedTheObject) {
  configure(kMutating, "a", "first", R"({"reinvocationPolicy":"IfNeeded"})");
  configure(kMutating, "b", "second", R"({"reinvocationPolicy":"Never"})");
  configure(kMutating, "c", "third", R"({"reinvocationPolicy":"IfNeeded"})");
  server_->answers = {{"/first", add_label("first")}, {"/second", add_label("second")}, {"/third", add_label("third")}};
  ASSERT_TRUE(admit(request()).ok());
  EXPECT_THAT(server_->calls, ElementsAre("/first", "/second", "/third", "/first"));
  server_->calls.clear();
  server_->answers["/second"] = allow();
  server_->answers["/third"] = allow();
  ASSERT_TRUE(admit(request()).ok());
  EXPECT_THAT(server_->calls, ElementsAre("/first", "/second", "/third"));
}

TEST_F(Webhooks, WithoutMatchInTheFirstRoundAreNotCalledInTheSecond) {
  configure(kMutating, "a", "late",
            R"({"reinvocationPolicy":"IfNeeded","objectSelector":{"matchLabels":{"second":"yes"}}})");
  configure(kMutating, "b", "second");
  server_->answers = {{"/late", allow()}, {"/second", add_label("second")}};
  ASSERT_TRUE(admit(request()).ok());
  EXPECT_THAT(server_->calls, ElementsAre("/second"));
}

TEST_F(Webhooks, WithSideEffectsRefuseDryRuns) {
  configure(kMutating, "a", "hook", R"({"sideEffects":"Some"})");
  server_->answers["/hook"] = allow();
  AdmissionRequest dry = request();
  dry.options.dry_run = true;
  EXPECT_EQ(admit(dry).error().message(), "admission webhook \"hook.example.com\" does not support dry run");
  EXPECT_TRUE(admit(request()).ok());
}

TEST_F(Webhooks, ReceiveTheOldObjectOnDeletion) {
  configure(kValidating, "a", "check",
            R"({"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"],"operations":["DELETE"]}]})");
  server_->answers["/check"] = [](const Json& asked) {
    EXPECT_EQ(asked["object"], Json());
    EXPECT_EQ(asked["oldObject"]["metadata"]["name"], "p");
    return Json({{"allowed", false}, {"status", {{"code", 403}, {"message", "keep it"}}}});
  };
  AdmissionRequest deletion = request();
  deletion.operation = "DELETE";
  deletion.old_object = std::move(deletion.object);
  deletion.object = Json();
  EXPECT_THAT(admit(deletion).error().message(), HasSubstr("denied the request: keep it"));
}

TEST_F(Webhooks, AreNotCalledForWebhookConfigurations) {
  configure(kMutating, "a", "hook",
            R"({"rules":[{"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"operations":["*"]}]})");
  AdmissionRequest made = request();
  Resource configurations;
  configurations.group = "admissionregistration.k8s.io";
  configurations.version = "v1";
  configurations.plural = "mutatingwebhookconfigurations";
  configurations.namespaced = false;
  made.resource = &configurations;
  EXPECT_TRUE(admit(made).ok());
  EXPECT_THAT(server_->calls, IsEmpty());
}

}  // namespace
}  // namespace tpuslice::sim
