// What the API server makes of Jobs, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/unit/api/sim/test_server.h"

namespace tpuslice::sim {
namespace {

using ::testing::HasSubstr;

class JobSchema : public ::testing::Test {
 protected:
  static Json a_job(const Json& spec = Json::object()) {
    Json job =
        Json::parse(R"({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "default"},
      "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "a"}]}}}})");
    job["spec"].merge_patch(spec);
    return job;
  }
  Result<Object> create(const Json& job) {
    return server_.registry.create(*server_.registry.resources().find_id("jobs.batch"), Object(job));
  }
  /// The message with which it is refused, or "".
  std::string refused(const Json& spec) {
    const auto made = create(a_job(spec));
    return made.ok() ? "" : made.error().message();
  }
  std::string refused_change(const Json& spec, std::string_view subresource = {}) {
    const Json body = subresource.empty() ? Json{{"spec", spec}} : Json{{"status", spec}};
    const auto patched =
        server_.registry.patch(*server_.registry.resources().find_id("jobs.batch"), {"default", "j"}, subresource,
                               {.content_type = "application/merge-patch+json", .body = body});
    return patched.ok() ? "" : patched.error().message();
  }
  void write_status(const Json& status) { EXPECT_EQ(refused_change(status, "status"), ""); }

  TestServer server_;
};

TEST_F(JobSchema, HasASelectorOfItsOwn) {
  const Result<Object> made = create(a_job());
  ASSERT_TRUE(made.ok());
  const Json& job = made->json();
  const std::string uid = string_at(job, {"metadata", "uid"});
  EXPECT_EQ(job["spec"]["manualSelector"], false);
  EXPECT_EQ(job["spec"]["selector"], (Json{{"matchLabels", {{"batch.kubernetes.io/controller-uid", uid}}}}));
  EXPECT_EQ(job["spec"]["template"]["metadata"]["labels"], (Json{{"batch.kubernetes.io/controller-uid", uid},
                                                                 {"batch.kubernetes.io/job-name", "j"},
                                                                 {"controller-uid", uid},
                                                                 {"job-name", "j"}}));
}

TEST_F(JobSchema, RefusesLabelsThatBelongToAnotherJob) {
  EXPECT_THAT(refused({{"template", {{"metadata", {{"labels", {{"job-name", "other"}}}}}}}}),
              HasSubstr("spec.template.metadata.labels[job-name]: Invalid value"));
}

TEST_F(JobSchema, MeansTrueWhereAFailureRuleNamesOnlyACondition) {
  const auto made = create(a_job(Json::parse(
      R"({"podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}})")));
  ASSERT_TRUE(made.ok()) << made.error().message();
  EXPECT_EQ(made->json()["spec"]["podFailurePolicy"]["rules"][0]["onPodConditions"][0]["status"], "True");
  EXPECT_EQ(made->json()["spec"]["podReplacementPolicy"], "Failed");
}

struct Refusal {
  const char* name;
  const char* spec;
  const char* message;
};
void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

class JobRefusals : public JobSchema, public ::testing::WithParamInterface<Refusal> {};

TEST_P(JobRefusals, AreInTheWordsOfTheServer) {
  EXPECT_THAT(refused(Json::parse(GetParam().spec)), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, JobRefusals,
    ::testing::Values(
        Refusal{"IndexesWithoutIndexedMode", R"({"backoffLimitPerIndex": 1})",
                "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"},
        Refusal{"MostFailedIndexesAlone", R"({"completionMode": "Indexed", "completions": 2, "maxFailedIndexes": 1})",
                "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified"},
        Refusal{"MoreFailedIndexesThanCompletions",
                R"({"completionMode": "Indexed", "completions": 2, "maxFailedIndexes": 3, "backoffLimitPerIndex": 1})",
                "spec.maxFailedIndexes: Invalid value: 3: must be less than or equal to completions"},
        Refusal{"ManagerWithoutDomain", R"({"managedBy": "me"})", "spec.managedBy: Invalid value: \"me\""},
        Refusal{"ParallelismOfTooMany", R"({"completionMode": "Indexed", "completions": 2, "parallelism": 100001})",
                "must be less than or equal to 100000 when completion mode is Indexed"},
        Refusal{"EarlyReplacementBesideFailurePolicy",
                R"({"podReplacementPolicy": "TerminatingOrFailed", "podFailurePolicy": {"rules": []}})",
                "spec.podReplacementPolicy: Unsupported value: \"TerminatingOrFailed\": supported values: \"Failed\""},
        Refusal{"RestartsBesideFailurePolicy",
                R"({"podFailurePolicy": {"rules": []}, "template": {"spec": {"restartPolicy": "OnFailure"}}})",
                "only \"Never\" is supported when podFailurePolicy is specified"},
        Refusal{
            "FailIndexWithoutLimit",
            R"({"podFailurePolicy": {"rules": [{"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [1]}}]}})",
            "spec.podFailurePolicy.rules[0].action: Invalid value: \"FailIndex\": requires the backoffLimitPerIndex to "
            "be set"},
        Refusal{
            "UnknownContainer",
            R"({"podFailurePolicy": {"rules": [{"action": "Ignore", "onExitCodes": {"containerName": "x", "operator": "In", "values": [1]}}]}})",
            "onExitCodes.containerName: Invalid value: \"x\": must be one of the container"},
        Refusal{
            "ExitCodesOutOfOrder",
            R"({"podFailurePolicy": {"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [2, 1]}}]}})",
            "onExitCodes.values: Invalid value: [2,1]: must be ordered"},
        Refusal{"RuleAboutNothing", R"({"podFailurePolicy": {"rules": [{"action": "Ignore"}]}})",
                "specifying one of OnExitCodes and OnPodConditions is required"},
        Refusal{"SuccessPolicyWithoutIndexes", R"({"successPolicy": {"rules": [{"succeededCount": 1}]}})",
                "requires indexed completion mode"},
        Refusal{"SuccessRuleOfNothing",
                R"({"completionMode": "Indexed", "completions": 2, "successPolicy": {"rules": [{}]}})",
                "at least one of succeededCount or succeededIndexes must be specified"},
        Refusal{
            "SuccessIndexThatIsNotThere",
            R"({"completionMode": "Indexed", "completions": 2, "successPolicy": {"rules": [{"succeededIndexes": "0-2"}]}})",
            "error parsing succeededIndexes: too large index: \"2\""},
        Refusal{
            "SuccessCountOfTooMany",
            R"({"completionMode": "Indexed", "completions": 3, "successPolicy": {"rules": [{"succeededIndexes": "0,2", "succeededCount": 3}]}})",
            "must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST_F(JobSchema, RefusesNamesThatAreNoHostnameOfItsLastPod) {
  Json job = a_job({{"completionMode", "Indexed"}, {"completions", 11}});
  job["metadata"]["name"] = std::string(61, 'x');
  const auto made = create(job);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message(), HasSubstr("will not able to create pod with invalid DNS label: "));
}

TEST_F(JobSchema, LetsTheTemplateChangeBeforeItStarts) {
  ASSERT_TRUE(create(a_job({{"suspend", true}})).ok());
  const Json placement = Json::parse(R"({"template": {
      "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
      "spec": {"nodeSelector": {"pool": "x"}, "tolerations": [{"operator": "Exists"}], "schedulingGates": [{"name": "g"}],
               "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                   {"matchExpressions": [{"key": "k", "operator": "Exists"}]}]}}}}}})");
  EXPECT_EQ(refused_change(placement), "");
  const Json others = Json::parse(R"({"template": {"spec": {"affinity": {"podAntiAffinity": {
      "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "k", "labelSelector": {}}]}}}}})");
  EXPECT_THAT(refused_change(others), HasSubstr("field is immutable"));
  EXPECT_EQ(
      refused_change(Json::parse(
          R"({"template": {"spec": {"containers": [{"name": "main", "image": "a", "resources": {"limits": {"cpu": "2"}}}]}}})")),
      "");
  EXPECT_THAT(
      refused_change(Json::parse(R"({"template": {"spec": {"containers": [{"name": "main", "image": "b"}]}}})")),
      HasSubstr("spec.template.spec: Invalid value"));
  EXPECT_THAT(refused_change(Json::parse(R"({"template": {"metadata": {"labels": {"job-name": null}}}})")),
              HasSubstr("spec.template.metadata.labels[job-name]: Required value"));
}

TEST_F(JobSchema, KeepsTheTemplateOfWhatRuns) {
  const Json moved = {{"template", {{"spec", {{"nodeSelector", {{"pool", "x"}}}}}}}};
  ASSERT_TRUE(create(a_job()).ok());
  EXPECT_THAT(refused_change(moved), HasSubstr("spec.template: Invalid value"));
  write_status({{"startTime", "2026-01-01T00:00:00Z"}, {"active", 1}});
  ASSERT_EQ(refused_change({{"suspend", true}}), "");
  EXPECT_THAT(refused_change(moved), HasSubstr("field is immutable")) << "its pods are not gone yet";
  write_status(Json::parse(R"({"active": null, "conditions": [{"type": "Suspended", "status": "True"}]})"));
  EXPECT_EQ(refused_change(moved), "");
}

TEST_F(JobSchema, ChangesTheNumberOfIndexesOnlyWithTheParallelism) {
  ASSERT_TRUE(create(a_job({{"completionMode", "Indexed"}, {"completions", 2}, {"parallelism", 2}})).ok());
  EXPECT_THAT(refused_change({{"completions", 3}}),
              HasSubstr("spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism"));
  EXPECT_EQ(refused_change({{"completions", 3}, {"parallelism", 3}}), "");
  EXPECT_EQ(refused_change({{"parallelism", 1}}), "");
}

TEST_F(JobSchema, KeepsWhatNeverChanges) {
  ASSERT_TRUE(create(a_job({{"completions", 2}})).ok());
  for (const char* change :
       {R"({"completions": 3})", R"({"completionMode": "Indexed"})", R"({"managedBy": "example.com/x"})",
        R"({"podFailurePolicy": {"rules": []}, "podReplacementPolicy": "Failed"})"}) {
    EXPECT_THAT(refused_change(Json::parse(change)), HasSubstr("field is immutable")) << change;
  }
}

TEST_F(JobSchema, KeepsTheStartTimeOfWhatIsNotSuspended) {
  ASSERT_TRUE(create(a_job()).ok());
  write_status({{"startTime", "2026-01-01T00:00:00Z"}});
  EXPECT_THAT(refused_change({{"startTime", nullptr}}, "status"),
              HasSubstr("status.startTime: Invalid value: null: field is immutable for unsuspended job once set"));
  ASSERT_EQ(refused_change({{"suspend", true}}), "");
  EXPECT_EQ(refused_change({{"startTime", nullptr}}, "status"), "");
}

TEST_F(JobSchema, HasNoStatusThatContradictsItself) {
  ASSERT_TRUE(create(a_job()).ok());
  write_status({{"startTime", "2026-01-01T00:00:00Z"}, {"failed", 2}});
  const auto conditions = [](const char* type, const char* other = nullptr) {
    Json list = Json::array({{{"type", type}, {"status", "True"}}});
    if (other != nullptr) list.push_back({{"type", other}, {"status", "True"}});
    return Json{{"conditions", list}};
  };
  EXPECT_THAT(refused_change({{"ready", 1}}, "status"), HasSubstr("cannot set more ready pods than active"));
  EXPECT_THAT(refused_change({{"failed", 1}}, "status"), HasSubstr("cannot decrease the failed counter"));
  EXPECT_THAT(refused_change(conditions("Failed"), "status"), HasSubstr("without the FailureTarget=true condition"));
  EXPECT_THAT(refused_change(conditions("SuccessCriteriaMet", "Complete"), "status"),
              HasSubstr("status.completionTime: Required value"));
  EXPECT_THAT(refused_change({{"completionTime", "2026-01-01T00:00:01Z"}}, "status"),
              HasSubstr("cannot set completionTime when there is no Complete=True condition"));
  Json running = conditions("FailureTarget", "Failed");
  running["active"] = 1;
  EXPECT_THAT(refused_change(running, "status"), HasSubstr("active>0 is invalid for finished job"));
  write_status(conditions("FailureTarget", "Failed"));
  EXPECT_THAT(refused_change(conditions("FailureTarget"), "status"),
              HasSubstr("cannot disable the terminal Failed=True condition"));
}

}  // namespace
}  // namespace tpuslice::sim
