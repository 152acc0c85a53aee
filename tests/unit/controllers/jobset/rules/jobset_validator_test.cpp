#include "controllers/jobset/rules/validator.h"

#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/tpu/rules/jobsets.h"

namespace tpuslice::rules {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::expect_refused;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::jobset_message;
using testing::jobset_paths;
using testing::JobSetCase;
using ::testing::SizeIs;
using testing::tpu_jobset;
using testing::with;
using testing::without;

const std::string kJobs = "/spec/replicatedJobs";
const std::string kDriver = "/spec/replicatedJobs/0";
const std::string kSlice = "/spec/replicatedJobs/1";

TEST(ValidateJobSet, AcceptsAValidJobSet) { EXPECT_THAT(jobset_message(tpu_jobset()), IsEmpty()); }

// The fields of the model servers that GKE's Saxml tutorial deploys: a JobSet of two independent 8-host v5e slices.
TEST(ValidateJobSet, AcceptsIndependentModelServers) {
  const Json jobset = Json::parse(R"({
    "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
    "metadata": {"name": "model-servers",
                 "annotations": {"alpha.jobset.sigs.k8s.io/exclusive-topology": "cloud.google.com/gke-nodepool"}},
    "spec": {
      "failurePolicy": {"maxRestarts": 4},
      "replicatedJobs": [{"name": "server", "replicas": 2, "template": {"spec": {
        "parallelism": 8, "completions": 8, "backoffLimit": 0,
        "template": {"spec": {
          "serviceAccountName": "servers", "hostNetwork": true, "dnsPolicy": "ClusterFirstWithHostNet",
          "nodeSelector": {"cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice",
                           "cloud.google.com/gke-tpu-topology": "4x8"},
          "containers": [{
            "name": "server", "image": "server:1", "args": ["--port=10001", "--platform_chip=tpuv5e"],
            "ports": [{"containerPort": 8471}, {"containerPort": 10001}], "securityContext": {"privileged": true},
            "env": [{"name": "ROOT", "value": "gs://bucket/root"}, {"name": "MEGASCALE_NUM_SLICES", "value": ""}],
            "resources": {"requests": {"google.com/tpu": 4}, "limits": {"google.com/tpu": 4}}}]}}}}}]}})");
  EXPECT_THAT(jobset_message(jobset), IsEmpty());
  EXPECT_THAT(warn_jobset(jobset), IsEmpty());
}

TEST(ValidateJobSet, TreatsAbsentAndNullFieldsAsDefaults) {
  const Json jobset = Json::parse(R"({
    "metadata": {"name": "j"},
    "spec": {"failurePolicy": null, "coordinator": null, "replicatedJobs": [{"name": "a", "replicas": null,
      "template": {"spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}}}]}})");
  EXPECT_THAT(jobset_message(jobset), IsEmpty());
  EXPECT_THAT(jobset_paths(Json::object()), IsEmpty());
  EXPECT_THAT(jobset_paths(Json{{"spec", {{"replicatedJobs", Json::array()}}}}), IsEmpty());
}

class RefusedJobSetField : public ::testing::TestWithParam<JobSetCase> {};

TEST_P(RefusedJobSetField, IsReportedByPath) { expect_refused(GetParam()); }

// Source: JobSet's webhook, and the names that Kubernetes accepts.
INSTANTIATE_TEST_SUITE_P(
    Fields, RefusedJobSetField,
    ::testing::Values(
        JobSetCase{"GroupWithADot", kSlice + "/groupName", "a.b", "spec.replicatedJobs[1].groupName", "DNS-1035 label"},
        JobSetCase{"EmptyGroup", kSlice + "/groupName", "", "spec.replicatedJobs[1].groupName", "DNS-1035 label"},
        JobSetCase{"LongGroup", kSlice + "/groupName", std::string(64, 'g'), "spec.replicatedJobs[1].groupName",
                   "no more than 63"},
        JobSetCase{"DependencyOfTheFirstJob", kDriver + "/dependsOn", Json::array(), "spec.replicatedJobs[0].dependsOn",
                   "Forbidden: the first replicated job cannot depend on others"},
        JobSetCase{"DependencyOnItself", kSlice + "/dependsOn/0/name", "slice",
                   "spec.replicatedJobs[1].dependsOn[0].name", "cannot depend on itself"},
        JobSetCase{"DependencyThatDoesNotExist", kSlice + "/dependsOn/0/name", "warmup",
                   "spec.replicatedJobs[1].dependsOn[0].name", "earlier in the list"},
        JobSetCase{"DuplicateDependency", kSlice + "/dependsOn/1", Json({{"name", "driver"}, {"status", "Complete"}}),
                   "spec.replicatedJobs[1].dependsOn[1].name", "Duplicate value"},
        JobSetCase{"SubdomainWithADot", "/spec/network/subdomain", "a.b", "spec.network.subdomain", "DNS-1035 label"},
        JobSetCase{"SubdomainWithADigitFirst", "/spec/network/subdomain", "1a", "spec.network.subdomain",
                   "as name of a Service"},
        JobSetCase{"ManagerWithoutAPath", "/spec/managedBy", "acme.io", "spec.managedBy", "for example acme.io/foo"},
        JobSetCase{"ManagerWithoutADomain", "/spec/managedBy", "/foo", "spec.managedBy", "for example acme.io/foo"},
        JobSetCase{"EmptyManager", "/spec/managedBy", "", "spec.managedBy", "for example acme.io/foo"},
        JobSetCase{"ManagerWithAnInvalidDomain", "/spec/managedBy", "Acme/foo", "spec.managedBy", "RFC 1123 subdomain"},
        JobSetCase{"ManagerWithAnInvalidPath", "/spec/managedBy", "acme.io/a b", "spec.managedBy", "RFC 3986"},
        JobSetCase{"LongManager", "/spec/managedBy", "acme.io/" + std::string(56, 'a'), "spec.managedBy",
                   "must be no more than 63 characters, has 64"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ValidateJobSet, RefusesMoreThanFiveDependencies) {
  Json jobset = tpu_jobset();
  Json& jobs = jobset["spec"]["replicatedJobs"];
  Json dependencies = Json::array();
  for (int i = 0; i < 6; ++i) {
    Json job = jobs[0];
    job["name"] = fmt::format("d{}", i);
    jobs.insert(jobs.end() - 1, job);
    dependencies.push_back({{"name", fmt::format("d{}", i)}, {"status", "Ready"}});
  }
  jobs.back()["dependsOn"] = dependencies;
  EXPECT_THAT(jobset_message(jobset), AllOf(HasSubstr("spec.replicatedJobs[7].dependsOn"), HasSubstr("at most 5")));
  jobs.back()["dependsOn"].erase(0);
  EXPECT_THAT(jobset_message(jobset), IsEmpty());
}

TEST(ValidateJobSet, RefusesDuplicateReplicatedJobNames) {
  EXPECT_THAT(jobset_paths(with(tpu_jobset(), kJobs + "/2", tpu_jobset()["spec"]["replicatedJobs"][0])),
              ElementsAre("spec.replicatedJobs[2].name"));
}

// The largest index makes the longest name.
TEST(ValidateJobSet, RefusesJobNamesThatAreTooLongWithTheirIndex) {
  const std::string name(63 - 6 - 2, 'j');  // "train-" and "-9".
  Json jobset = with(tpu_jobset(), kDriver + "/name", name);
  jobset = without(jobset, kSlice, "dependsOn");
  jobset = with(jobset, kDriver + "/template/spec/completionMode", "NonIndexed");
  EXPECT_THAT(jobset_message(with(jobset, kDriver + "/replicas", 10)), IsEmpty());
  EXPECT_THAT(jobset_message(with(jobset, kDriver + "/replicas", 11)),
              AllOf(HasSubstr("spec.replicatedJobs[0].name"), HasSubstr("must be no more than 63 characters, has 64"),
                    HasSubstr("by 1")));
}

TEST(ValidateJobSet, RefusesPodNamesThatAreTooLongWithTheirSuffix) {
  const std::string name(63 - 6 - 2 - 2 - 6, 'p');  // "train-", "-0", "-0" and "-xxxxx".
  Json jobset = without(with(tpu_jobset(), kDriver + "/name", name), kSlice, "dependsOn");
  EXPECT_THAT(jobset_message(jobset), IsEmpty());
  EXPECT_THAT(jobset_message(with(jobset, kDriver + "/template/spec/completions", 11)),
              AllOf(HasSubstr("spec.replicatedJobs[0].name"), HasSubstr("pod name"),
                    HasSubstr("-0-10-xxxxx must be no more than 63 characters, has 64")));
}

TEST(ValidateJobSet, RefusesInvalidJobNames) {
  EXPECT_THAT(jobset_paths(with(tpu_jobset(), "/metadata/name", "a.b")),
              ElementsAre("spec.replicatedJobs[0].name", "spec.replicatedJobs[1].name"));
  EXPECT_THAT(jobset_message(with(tpu_jobset(), "/metadata/name", "1a")),
              HasSubstr("Job name 1a-driver-0: a DNS-1035"));
}

TEST(ValidateJobSet, AddsFiveCharactersToAGeneratedName) {
  Json jobset = without(tpu_jobset(), "", "metadata");
  jobset["metadata"]["generateName"] = std::string(58, 'n');
  EXPECT_THAT(jobset_message(jobset), HasSubstr("nxxxxx-driver-0 must be no more than 63 characters, has 72"));
  jobset["metadata"]["generateName"] = "train-";
  EXPECT_THAT(jobset_message(jobset), IsEmpty());
}

TEST(ValidateJobSet, ReportsAllFieldErrors) {
  Json jobset = with(tpu_jobset(), "/spec/network/subdomain", "a.b");
  jobset = with(jobset, kDriver + "/replicas", -1);
  jobset = with(jobset, kSlice + "/template/spec/parallelism", 4);
  jobset = with(jobset, "/spec/successPolicy/targetReplicatedJobs/0", "unknown");
  EXPECT_THAT(jobset_paths(jobset), ElementsAre("spec.replicatedJobs[0].replicas", "spec.network.subdomain",
                                                "spec.successPolicy.targetReplicatedJobs[0]",
                                                "spec.replicatedJobs[1].template.spec.parallelism"));
}

TEST(ValidateJobSet, TruncatesLongNamesInMessages) {
  const auto errors = validate_jobset(with(tpu_jobset(), "/metadata/name", std::string(1 << 20, 'x')), nullptr);
  EXPECT_THAT(errors, SizeIs(3));
  for (const FieldError& error : errors) EXPECT_LT(error.to_string().size(), 1000U);
}

/// Puts each of `junk` in the place of every value of `json` in turn.
void replace_everywhere(const Json& whole, const Json& at, const std::string& pointer, const std::vector<Json>& junk,
                        const std::function<void(const Json&)>& visit) {
  if (!pointer.empty()) {
    for (const Json& value : junk) visit(with(whole, pointer, value));
  }
  if (!at.is_structured()) return;
  for (const auto& item : at.items()) {
    std::string key = item.key();
    for (std::size_t slash = 0; (slash = key.find('/', slash)) != std::string::npos; slash += 2) {
      key.replace(slash, 1, "~1");
    }
    replace_everywhere(whole, item.value(), pointer + "/" + key, junk, visit);
  }
}

TEST(ValidateJobSet, AcceptsAnyJsonInAnyField) {
  const Json jobset = tpu_jobset();
  const std::vector<Json> junk = {1,
                                  -7,
                                  1LL << 40,
                                  1.5,
                                  nullptr,
                                  true,
                                  "",
                                  "x",
                                  Json::array(),
                                  Json::object(),
                                  Json::array({1, nullptr, "x"}),
                                  Json({{"name", 1}, {"spec", "x"}, {"rules", 3}})};
  int seen = 0;
  const auto try_it = [&](const Json& broken) {
    ++seen;
    jobset_message(broken, &jobset);
    jobset_message(jobset, &broken);
    jobset_message(broken);
    for (const std::string& warning : warn_jobset(broken)) EXPECT_LT(warning.size(), 256U);
  };
  replace_everywhere(jobset, jobset, "", junk, try_it);
  EXPECT_GT(seen, 800);
  for (const Json& json : junk) {
    if (!json.is_object()) {
      EXPECT_THAT(jobset_paths(json), ElementsAre("spec")) << json;
    }
    try_it(json);
  }
}

// Upstream supports it; admission accepts it if upstream's controller serves JobSets.
TEST(UnsupportedJobSetFields, IncludeRestartsInPlace) {
  Json jobset = {{"spec", {{"failurePolicy", {{"restartStrategy", "Recreate"}}}}}};
  EXPECT_TRUE(unsupported_jobset_fields(jobset).empty());
  jobset["spec"]["failurePolicy"]["restartStrategy"] = "InPlaceRestart";
  ASSERT_EQ(unsupported_jobset_fields(jobset).size(), 1U);
  EXPECT_EQ(unsupported_jobset_fields(jobset)[0].path, "spec.failurePolicy.restartStrategy");
}

}  // namespace
}  // namespace tpuslice::rules
