#include "controllers/jobset/rules/scheduling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/job_builder.h"
#include "controllers/jobset/rules/validator.h"
#include "tests/support/jobset/jobsets.h"
#include "tpu/labels.h"

namespace tpuslice::jobset {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kBlockKey = "cloud.google.com/gce-topology-block";

/// A driver without TPUs, and the slices of two replicated jobs.
JobSetBuilder actors_and_learners() {
  return a_jobset("train")
      .job("driver")
      .job("actors", 2)
      .hosts(4)
      .tpu(kV6e, "4x4")
      .job("learners", 3)
      .hosts(2)
      .tpu(kV6e, "2x4");
}

JobSetBuilder two_slices() { return a_jobset("train").job("workers", 2).hosts(4).tpu(kV6e, "4x4"); }

JobSetBuilder& set_scheduling(JobSetBuilder& jobset, const char* scheduling) {
  return jobset.set("/spec/scheduling", Json::parse(scheduling));
}

/// "actors: 5 train-0123456789" of each replicated job with annotations: how many slices start together, and the name.
std::vector<std::string> gangs_of(JobSetBuilder jobset, const char* scheduling) {
  const Object object = set_scheduling(jobset, scheduling).object();
  const JobSetSpec spec = JobSetSpec::read(object);
  const std::vector<StringMap> annotations = gang_annotations(spec);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < annotations.size(); ++i) {
    if (annotations[i].empty()) continue;
    out.push_back(fmt::format("{}: {} {}", spec.jobs[i].name, value_of(annotations[i], tpu::kGangSlices),
                              value_of(annotations[i], tpu::kGang)));
  }
  return out;
}

std::vector<std::string> scheduling_errors(JobSetBuilder jobset, const char* scheduling) {
  std::vector<std::string> out;
  for (const auto& error : rules::validate_jobset(set_scheduling(jobset, scheduling).json(), nullptr)) {
    out.push_back(error.to_string());
  }
  return out;
}

constexpr const char* kGangOfAll = R"({"schedulingPolicy": {"gang": {}}})";
constexpr const char* kEachJob = R"({"replicatedJobs": [
  {"targetReplicatedJobs": ["driver"], "schedulingPolicy": {"basic": {}}},
  {"targetReplicatedJobs": ["actors"], "job": {"schedulingPolicy": {"gang": {}}}},
  {"targetReplicatedJobs": ["learners"]}]})";

TEST(Scheduling, OfTheWholeJobSetIsOneGangOfItsSlices) {
  for (const char* each : {kGangOfAll, "{}", R"({"schedulingPolicy": {"gang": {"minCount": 15}}})"}) {
    const std::vector<std::string> found = gangs_of(actors_and_learners(), each);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_THAT(found[0], testing::MatchesRegex("actors: 5 train-[0-9a-f]{10}"));
    EXPECT_EQ(found[1], "learners" + found[0].substr(6));
    EXPECT_THAT(scheduling_errors(actors_and_learners(), each), IsEmpty()) << each;
  }
  EXPECT_THAT(gangs_of(two_slices(), "{}"), ElementsAre("workers: 2 "))
      << "the slices of one replicated job need no name";
}

TEST(Scheduling, HasAGangForEachReplicatedJobThatStartsAfterAnother) {
  JobSetBuilder jobset = actors_and_learners();
  jobset.depends_on("actors", "Ready");
  EXPECT_THAT(gangs_of(jobset, kGangOfAll), ElementsAre("actors: 2 ", "learners: 3 "));
  EXPECT_THAT(gangs_of(actors_and_learners().in_order(), kGangOfAll), ElementsAre("actors: 2 ", "learners: 3 "));
}

TEST(Scheduling, WithBasicPolicyStartsEachSliceWhenItCan) {
  EXPECT_THAT(gangs_of(actors_and_learners(), R"({"schedulingPolicy": {"basic": {}}})"),
              ElementsAre("actors: 1 ", "learners: 1 "));
}

TEST(Scheduling, IsOfReplicatedJobsOrOfEachJob) {
  EXPECT_THAT(gangs_of(actors_and_learners(), kEachJob), ElementsAre("actors: 1 ", "learners: 3 "));
  EXPECT_THAT(scheduling_errors(actors_and_learners(), kEachJob), IsEmpty());
}

TEST(Scheduling, JoinsReplicatedJobs) {
  constexpr const char* kTogether = R"({"replicatedJobs": [{"targetReplicatedJobs": ["learners", "actors"]},
    {"targetReplicatedJobs": ["driver"], "schedulingPolicy": {"basic": {}}}]})";
  const std::vector<std::string> found = gangs_of(actors_and_learners(), kTogether);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[1], testing::MatchesRegex("learners: 5 train-[0-9a-f]{10}"));
  EXPECT_THAT(scheduling_errors(actors_and_learners(), kTogether), IsEmpty());
}

TEST(Scheduling, NamesAGangOfThisJobSetOnly) {
  const auto name = [](const char* jobset, const char* uid) {
    JobSetBuilder built = a_jobset(jobset).set("/metadata/uid", uid);
    built.job("a").hosts(4).tpu(kV6e, "4x4").job("b").hosts(4).tpu(kV6e, "4x4");
    return gangs_of(built, "{}").at(0);
  };
  EXPECT_NE(name("train", "1"), name("train", "2"));
  EXPECT_LE(name(std::string(60, 'x').c_str(), "1").size(), std::string("a: 2 ").size() + 63);
}

TEST(Scheduling, IsWrittenToThePods) {
  JobSetBuilder jobset = actors_and_learners();
  set_scheduling(jobset, "{}");
  const JobBuilder builder(jobset.object(), {}, {});
  const auto annotation = [&](std::size_t job, std::string_view name) {
    return string_at(builder.build(job, 0).value(), {"spec", "template", "metadata", "annotations", name});
  };
  EXPECT_THAT(annotation(1, tpu::kSliceGang), testing::MatchesRegex("named/train-[0-9a-f]{10}"));
  EXPECT_EQ(annotation(1, tpu::kSliceGang), annotation(2, tpu::kSliceGang));
  EXPECT_EQ(annotation(1, tpu::kGangSlices), "5");
  EXPECT_EQ(annotation(0, tpu::kGangSlices), "") << "the driver starts on its own";
}

/// Without spec.scheduling the slices of each multislice start together, those of the JobSet do not.
TEST(Scheduling, IsAbsentByDefault) {
  const Object object = actors_and_learners().object();
  for (const StringMap& each : gang_annotations(JobSetSpec::read(object))) EXPECT_THAT(each, IsEmpty());
}

TEST(SchedulingRules, WarnOfPodsThatStartOnTheirOwn) {
  JobSetBuilder jobset = actors_and_learners();
  EXPECT_THAT(rules::warn_jobset(set_scheduling(jobset, "{}").json()),
              Contains("spec.scheduling: pods of driver are not hosts of multi-host slices, and start on their own"));
}

struct RefusedScheduling {
  const char* scheduling;
  const char* error;
};

class SchedulingRules : public testing::TestWithParam<RefusedScheduling> {};

TEST_P(SchedulingRules, Refuse) {
  EXPECT_THAT(scheduling_errors(actors_and_learners(), GetParam().scheduling), Contains(HasSubstr(GetParam().error)));
}

INSTANTIATE_TEST_SUITE_P(
    Of, SchedulingRules,
    testing::Values(
        RefusedScheduling{
            R"({"schedulingPolicy": {"gang": {}}, "replicatedJobs": [{"targetReplicatedJobs": ["driver"]}]})",
            "spec.scheduling.schedulingPolicy: Forbidden: cannot be combined with replicatedJobs"},
        RefusedScheduling{R"({"schedulingPolicy": {}})",
                          "spec.scheduling.schedulingPolicy: Invalid value: {}: must have either"},
        RefusedScheduling{R"({"schedulingPolicy": {"basic": {}, "gang": {}}})", "must have either basic or gang"},
        RefusedScheduling{R"({"disruptionMode": {}})",
                          "spec.scheduling.disruptionMode: Invalid value: {}: must have either single"},
        RefusedScheduling{
            R"({"schedulingPolicy": {"gang": {"minCount": 16}}})",
            "spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 16: must be no more than the 15 pods"},
        RefusedScheduling{R"({"schedulingPolicy": {"gang": {"minCount": 4}}})", "must be absent or 15"},
        RefusedScheduling{R"({"schedulingPolicy": {"gang": {"minCount": -1}}})", "minCount: Invalid value: -1"},
        RefusedScheduling{R"({"replicatedJobs": [{"targetReplicatedJobs": []}]})",
                          "targetReplicatedJobs: Required value"},
        RefusedScheduling{
            R"({"replicatedJobs": [{"targetReplicatedJobs": ["x"]}]})",
            "spec.scheduling.replicatedJobs[0].targetReplicatedJobs[0]: Invalid value: \"x\": must be the name"},
        RefusedScheduling{
            R"({"replicatedJobs": [{"targetReplicatedJobs": ["actors"]}, {"targetReplicatedJobs": ["actors"]}]})",
            "spec.scheduling.replicatedJobs[1].targetReplicatedJobs[0]: Duplicate value: \"actors\""},
        RefusedScheduling{R"({"replicatedJobs": [{"targetReplicatedJobs": ["actors"]}]})",
                          "spec.replicatedJobs[2].name: Invalid value: \"learners\": must be in targetReplicatedJobs"},
        RefusedScheduling{R"({"replicatedJobs": [{"targetReplicatedJobs": ["actors", "learners"], "job": {}}]})",
                          "must be one replicated job if job is set"},
        RefusedScheduling{R"({"replicatedJobs": [{"targetReplicatedJobs": ["actors"], "job": {},
                    "schedulingPolicy": {"gang": {}}}]})",
                          "replicatedJobs[0].schedulingPolicy: Forbidden: cannot be combined with job"},
        RefusedScheduling{
            R"({"replicatedJobs": [{"targetReplicatedJobs": ["actors"], "resourceClaims": [{"name": "x"}]}]})",
            "replicatedJobs[0].resourceClaims: Forbidden: claims that pods share need PodGroups"},
        RefusedScheduling{
            R"({"replicatedJobs": [{"targetReplicatedJobs": ["actors"], "job": {"resourceClaims": [{}]}}]})",
            "replicatedJobs[0].job.resourceClaims: Forbidden"},
        RefusedScheduling{R"({"replicatedJobs": [{"targetReplicatedJobs": ["driver"]}]})",
                          "driver has no multi-host TPU slices, and others are not started together: set basic: {}"},
        RefusedScheduling{R"({"schedulingConstraints": {"topology": [{"key": "a"}, {"key": "b"}]}})",
                          "topology: Too many"},
        RefusedScheduling{R"({"schedulingConstraints": {"topology": [{}]}})", "topology[0].key: Required value"},
        RefusedScheduling{
            R"({"schedulingConstraints": {"topology": [{"key": "cloud.google.com/gce-topology-block"}]}})",
            "pods of driver are not hosts of a multi-host slice"},
        RefusedScheduling{R"({"replicatedJobs": [{"targetReplicatedJobs": ["actors"],
                    "schedulingConstraints": {"topology": [{"key": "cloud.google.com/gke-nodepool"}]}}]})",
                          "2 slices are in as many domains: set cloud.google.com/gke-nodepool for each Job"},
        RefusedScheduling{R"({"replicatedJobs": [{"targetReplicatedJobs": ["actors"],
                    "job": {"schedulingConstraints": {"topology": [{"key": "rack"}]}}}]})",
                          "a slice of actors is in one cloud.google.com/gke-nodepool, which need not be one rack"},
        RefusedScheduling{R"({"replicatedJobs": [{"targetReplicatedJobs": ["actors"], "schedulingPolicy": {"basic": {}},
                    "schedulingConstraints": {"topology": [{"key": "cloud.google.com/gce-topology-block"}]}}]})",
                          "only slices that start together are placed in one block: set gang: {}"},
        RefusedScheduling{R"({"replicatedJobs": [{"targetReplicatedJobs": ["actors"],
                    "job": {"disruptionMode": {"single": {}}}}]})",
                          "the hosts of a slice end together: set all: {}"},
        RefusedScheduling{
            R"({"replicatedJobs": [{"targetReplicatedJobs": ["actors"], "disruptionMode": {"all": {}}}]})",
            "the others go on when actors loses a pod: set spec.replicatedJobs[1].template.spec.backoffLimit: 0"},
        RefusedScheduling{R"({"replicatedJobs": [{"targetReplicatedJobs": ["driver"], "schedulingPolicy": {"basic": {}},
                    "disruptionMode": {"all": {}}}]})",
                          "pods that are not hosts of a multi-host slice end one by one: set single: {}"},
        RefusedScheduling{R"([])", "spec.scheduling: Invalid value: []"},
        RefusedScheduling{R"({"replicatedJobs": [5, {"targetReplicatedJobs": [7]}]})",
                          "replicatedJobs[0]: Invalid value: 5"}));

TEST(SchedulingRules, LimitTheNumberOfPodGroupsAsUpstreamsWorkload) {
  JobSetBuilder jobset = a_jobset("train").job("workers", 9).hosts(4).tpu(kV6e, "4x4");
  EXPECT_THAT(scheduling_errors(jobset, R"({"replicatedJobs": [{"targetReplicatedJobs": ["workers"], "job": {}}]})"),
              ElementsAre("spec.scheduling: Too many: 9: must have at most 8 items"));
  EXPECT_THAT(scheduling_errors(jobset, R"({"replicatedJobs": [{"targetReplicatedJobs": ["workers"]}]})"), IsEmpty());
}

TEST(SchedulingRules, AcceptConstraintsThatPlacementSatisfies) {
  const auto of_job = [](const std::string& key) {
    return R"({"replicatedJobs": [{"targetReplicatedJobs": ["workers"], "job": {"disruptionMode": {"all": {}},
               "schedulingConstraints": {"topology": [{"key": ")" +
           key + R"("}]}}}]})";
  };
  for (const char* key : {"cloud.google.com/gke-nodepool", kBlockKey}) {
    EXPECT_THAT(scheduling_errors(two_slices(), of_job(key).c_str()), IsEmpty()) << key;
  }
  JobSetBuilder racks = two_slices().annotation("alpha.jobset.sigs.k8s.io/exclusive-topology", "rack");
  EXPECT_THAT(scheduling_errors(racks, of_job("rack").c_str()), IsEmpty());
  JobSetBuilder own = two_slices().of_pod("/metadata/annotations/tpuslice.dev~1topology-key", "row");
  EXPECT_THAT(scheduling_errors(own, of_job("row").c_str()), IsEmpty());

  constexpr const char* kInOneBlock =
      R"({"schedulingConstraints": {"topology": [{"key": "cloud.google.com/gce-topology-block"}]}})";
  EXPECT_THAT(scheduling_errors(two_slices(), kInOneBlock), IsEmpty());
  JobSetBuilder jobset = two_slices();
  EXPECT_THAT(rules::warn_jobset(set_scheduling(jobset, kInOneBlock).json()),
              Contains("spec.scheduling.schedulingConstraints: one block is preferred, not required, for slices that "
                       "start together"));
}

TEST(SchedulingRules, AcceptThatAllEndTogetherIfTheFailurePolicyDoesIt) {
  constexpr const char* kAll = R"({"disruptionMode": {"all": {}}})";
  JobSetBuilder jobset = two_slices().of_job("/template/spec/backoffLimit", 0).restarts(3);
  EXPECT_THAT(scheduling_errors(jobset, kAll), IsEmpty());
  EXPECT_THAT(scheduling_errors(jobset, R"({"disruptionMode": {"single": {}}})"), IsEmpty());
  jobset.rule({{"action", "RestartJob"}});
  EXPECT_THAT(scheduling_errors(jobset, kAll), Contains(HasSubstr("restarts single Jobs, so that the others go on")));
}

TEST(SchedulingRules, RefuseWhatDecidesTheSame) {
  for (const char* name : {"tpuslice.dev~1gang", "tpuslice.dev~1slices-together"}) {
    EXPECT_THAT(scheduling_errors(two_slices().of_pod(std::string("/metadata/annotations/") + name, "2"), "{}"),
                Contains(HasSubstr("spec.scheduling says which slices start together")));
  }
  EXPECT_THAT(scheduling_errors(two_slices().of_pod("/spec/schedulingGroup", {{"podGroupName", "x"}}), "{}"),
              Contains(HasSubstr("template.spec.schedulingGroup: Forbidden: spec.scheduling is set")));
  EXPECT_THAT(scheduling_errors(two_slices().of_job("/template/spec/scheduling", Json::object()), "{}"),
              Contains(HasSubstr("template.spec.scheduling: Forbidden")));
  EXPECT_THAT(scheduling_errors(two_slices().of_pod("/metadata/annotations/tpuslice.dev~1gating", "off"), "{}"),
              Contains(HasSubstr("pods without scheduling gate do not wait for others")));
  EXPECT_THAT(scheduling_errors(two_slices().of_pod("/spec/schedulerName", "mine"), "{}"),
              Contains(HasSubstr("are placed for default-scheduler only")));
}

TEST(SchedulingRules, RefuseGangsThatCouldNotStart) {
  JobSetBuilder mixed = two_slices();
  mixed.job("others").hosts(2).tpu(kV5e, "2x4");
  EXPECT_THAT(scheduling_errors(mixed, "{}"),
              Contains(HasSubstr("slices of different accelerators do not start together")));

  constexpr const char* kTogether = R"({"replicatedJobs": [{"targetReplicatedJobs": ["first", "third"]},
    {"targetReplicatedJobs": ["second"], "schedulingPolicy": {"basic": {}}}]})";
  JobSetBuilder jobset =
      a_jobset("train").job("first").hosts(4).tpu(kV6e, "4x4").job("second").job("third").hosts(4).tpu(kV6e, "4x4");
  EXPECT_THAT(scheduling_errors(jobset, kTogether), IsEmpty());
  EXPECT_THAT(scheduling_errors(JobSetBuilder(jobset).in_order(), kTogether),
              Contains(HasSubstr("cannot start together")));
  jobset.set("/spec/replicatedJobs/1/dependsOn", Json::parse(R"([{"name": "first", "status": "Ready"}])"));
  jobset.set("/spec/replicatedJobs/2/dependsOn", Json::parse(R"([{"name": "second", "status": "Ready"}])"));
  EXPECT_THAT(scheduling_errors(jobset, kTogether),
              Contains(HasSubstr("cannot start together: third is created when first has started")));
}

TEST(SchedulingRules, AreThoseOfAGroup) {
  JobSetBuilder jobset = two_slices().of_pod("/spec/priorityClassName", "high");
  jobset.job("others").hosts(4).tpu(kV6e, "4x4");
  EXPECT_THAT(scheduling_errors(jobset, "{}"),
              Contains(HasSubstr("priorityClassName: Invalid value: \"\": must be \"high\"")));
  EXPECT_THAT(scheduling_errors(jobset, R"({"replicatedJobs": [{"targetReplicatedJobs": ["workers"]},
                                                    {"targetReplicatedJobs": ["others"]}]})"),
              IsEmpty());
}

TEST(SchedulingUpdate, NeedsASuspendedJobSet) {
  const auto refused = [](bool was_suspended, bool is_suspended, bool condition, const char* before,
                          const char* after) {
    JobSetBuilder old = two_slices().set("/spec/suspend", was_suspended);
    if (*before != 0) set_scheduling(old, before);
    const char* status = condition ? "True" : "False";
    old.set("/status/conditions", Json::array({{{"type", "Suspended"}, {"status", status}}}));
    JobSetBuilder jobset = two_slices().set("/spec/suspend", is_suspended);
    if (*after != 0) set_scheduling(jobset, after);
    return !rules::validate_jobset(jobset.json(), &old.json()).empty();
  };
  constexpr const char* kBasic = R"({"schedulingPolicy": {"basic": {}}})";
  EXPECT_TRUE(refused(false, false, false, kGangOfAll, kBasic));
  EXPECT_TRUE(refused(true, false, true, kGangOfAll, kBasic)) << "resumed by the same update";
  EXPECT_TRUE(refused(true, true, false, kGangOfAll, kBasic)) << "its Jobs are not suspended yet";
  EXPECT_TRUE(refused(false, false, false, "", kBasic));
  EXPECT_TRUE(refused(false, false, false, kBasic, ""));
  EXPECT_FALSE(refused(true, true, true, kGangOfAll, kBasic));
  EXPECT_FALSE(refused(false, false, false, kBasic, kBasic));
  EXPECT_FALSE(refused(false, false, false, "{}", kGangOfAll)) << "upstream's webhook writes the default";
}

}  // namespace
}  // namespace tpuslice::jobset
