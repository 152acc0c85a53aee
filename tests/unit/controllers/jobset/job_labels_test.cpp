#include "controllers/jobset/job_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controllers/jobset/rules/jobset_labels.h"
#include "tests/support/jobset/jobsets.h"

namespace tpuslice::jobset {
namespace {

using testing::ContainerEq;
using testing::Contains;
using testing::IsEmpty;
using testing::Key;
using testing::Not;

StringMap labels_of(const Object& object, std::size_t job, int index) {
  const JobSetSpec spec = JobSetSpec::read(object);
  return job_labels(spec, spec.jobs.at(job), index, JobSetStatus::read(object));
}

StringMap placement_of(const JobSetBuilder& jobset) {
  const Object object = jobset.object();
  const JobSetSpec spec = JobSetSpec::read(object);
  return placement_annotations(spec, spec.jobs.front());
}

TEST(JobNames, JoinJobSetReplicatedJobAndIndex) {
  const Object object = a_jobset("train").job("workers", 12).object();
  const JobSetSpec spec = JobSetSpec::read(object);
  EXPECT_EQ(job_name(spec, spec.jobs[0], 0), "train-workers-0");
  EXPECT_EQ(job_name(spec, spec.jobs[0], 11), "train-workers-11");
}

TEST(JobLabels, AreEqualToUpstreams) {
  const Object object = a_jobset("train").job("workers", 2).object();
  EXPECT_THAT(labels_of(object, 0, 1), ContainerEq(StringMap{
                                           {"jobset.sigs.k8s.io/jobset-name", "train"},
                                           {"jobset.sigs.k8s.io/jobset-uid", "uid-of-train"},
                                           {"jobset.sigs.k8s.io/replicatedjob-name", "workers"},
                                           {"jobset.sigs.k8s.io/restart-attempt", "0"},
                                           {"jobset.sigs.k8s.io/replicatedjob-replicas", "2"},
                                           {"jobset.sigs.k8s.io/global-replicas", "2"},
                                           {"jobset.sigs.k8s.io/job-index", "1"},
                                           {"jobset.sigs.k8s.io/job-key", "f7cd59a344a70b9510e91bf1b6f8a70533d949ef"},
                                           {"jobset.sigs.k8s.io/job-global-index", "1"},
                                           {"jobset.sigs.k8s.io/group-name", "default"},
                                           {"jobset.sigs.k8s.io/group-replicas", "2"},
                                           {"jobset.sigs.k8s.io/job-group-index", "1"},
                                       }));
}

struct PlaceOfJob {
  std::size_t job;
  int index;
  const char* global_index;
  const char* group;
  const char* group_index;
  const char* group_replicas;
};

class JobIndexes : public testing::TestWithParam<PlaceOfJob> {};

TEST_P(JobIndexes, CountJobsInTotalAndByGroup) {
  const Object object = a_jobset("train")
                            .job("driver")
                            .group("cpu")
                            .job("workers", 3)
                            .group("tpu")
                            .job("monitor", 2)
                            .group("cpu")
                            .job("late", 2)
                            .group("tpu")
                            .object();
  const PlaceOfJob& place = GetParam();
  StringMap labels = labels_of(object, place.job, place.index);
  EXPECT_EQ(labels["jobset.sigs.k8s.io/global-replicas"], "8");
  EXPECT_EQ(labels["jobset.sigs.k8s.io/job-index"], std::to_string(place.index));
  EXPECT_EQ(labels["jobset.sigs.k8s.io/job-global-index"], place.global_index);
  EXPECT_EQ(labels["jobset.sigs.k8s.io/group-name"], place.group);
  EXPECT_EQ(labels["jobset.sigs.k8s.io/job-group-index"], place.group_index);
  EXPECT_EQ(labels["jobset.sigs.k8s.io/group-replicas"], place.group_replicas);
}

INSTANTIATE_TEST_SUITE_P(Groups, JobIndexes,
                         testing::Values(PlaceOfJob{0, 0, "0", "cpu", "0", "3"}, PlaceOfJob{1, 0, "1", "tpu", "0", "5"},
                                         PlaceOfJob{1, 2, "3", "tpu", "2", "5"}, PlaceOfJob{2, 0, "4", "cpu", "1", "3"},
                                         PlaceOfJob{2, 1, "5", "cpu", "2", "3"}, PlaceOfJob{3, 0, "6", "tpu", "3", "5"},
                                         PlaceOfJob{3, 1, "7", "tpu", "4", "5"}),
                         [](const auto& test) { return "GlobalIndex" + std::string(test.param.global_index); });

TEST(JobLabels, HaveTheSha1OfNamespaceAndNameAsKey) {
  JobSetBuilder jobset = a_jobset("train").job("workers", 2);
  const std::string key(kJobKey);
  // printf ml/train-workers-0 | sha1sum
  EXPECT_EQ(labels_of(jobset.set("/metadata/namespace", "ml").object(), 0, 0)[key],
            "a93a97066ed58aa4f7a71b097176246f07ab144e");
  // printf default/train-workers-0 | sha1sum
  EXPECT_EQ(labels_of(jobset.set("/metadata/namespace", "default").object(), 0, 0)[key],
            "bfcf5ebea76efcf5a9add9af4c26c7d637c630a1");
}

TEST(JobLabels, KeepTheKeyAcrossRestarts) {
  JobSetBuilder jobset = a_jobset("train").job("workers");
  const StringMap first = labels_of(jobset.object(), 0, 0);
  StringMap again = labels_of(jobset.set("/status/restarts", 7).object(), 0, 0);
  EXPECT_EQ(again[std::string(kRestartAttempt)], "7");
  again[std::string(kRestartAttempt)] = "0";
  EXPECT_THAT(again, ContainerEq(first));
}

TEST(JobLabels, HaveAJobAttemptOnlyIfSingleJobsCanRestart) {
  const Json counted = Json::array({{{"name", "workers"}, {"jobRestarts", {0, 4}}}});
  JobSetBuilder jobset = a_jobset("train").job("workers", 3).restarts(1).set("/status/replicatedJobsStatus", counted);
  const std::string attempt(kJobRestartAttempt);
  EXPECT_THAT(labels_of(jobset.object(), 0, 1), Not(Contains(Key(attempt))));
  jobset.rule({{"action", "RestartJob"}});
  EXPECT_EQ(labels_of(jobset.object(), 0, 0)[attempt], "0");
  EXPECT_EQ(labels_of(jobset.object(), 0, 1)[attempt], "4");
  EXPECT_EQ(labels_of(jobset.object(), 0, 2)[attempt], "0");
}

TEST(JobLabels, HaveTheCoordinator) {
  const Object object = a_jobset("train")
                            .job("workers")
                            .set("/spec/coordinator", {{"replicatedJob", "workers"}, {"podIndex", 3}})
                            .object();
  EXPECT_EQ(labels_of(object, 0, 0)["jobset.sigs.k8s.io/coordinator"], "train-workers-0-3.train");
}

TEST(PlacementAnnotations, AreAbsentByDefault) {
  EXPECT_THAT(placement_of(a_jobset("train").job("workers")), IsEmpty());
  EXPECT_THAT(placement_of(a_jobset("train").annotation(std::string(kJobSetNodeSelector), "true").job("workers")),
              IsEmpty());
}

TEST(PlacementAnnotations, OfTheReplicatedJobTakePrecedence) {
  JobSetBuilder jobset = a_jobset("train")
                             .annotation(std::string(kJobSetTopologyKey), "rack")
                             .annotation(std::string(kJobSetNodeSelector), "true")
                             .annotation("mine", "x")
                             .job("workers");
  EXPECT_THAT(placement_of(jobset), ContainerEq(StringMap{{"alpha.jobset.sigs.k8s.io/exclusive-topology", "rack"},
                                                          {"alpha.jobset.sigs.k8s.io/node-selector", "true"}}));
  jobset.of_job("/template/metadata/annotations/alpha.jobset.sigs.k8s.io~1exclusive-topology", "pool");
  EXPECT_THAT(placement_of(jobset), ContainerEq(StringMap{{"alpha.jobset.sigs.k8s.io/exclusive-topology", "pool"},
                                                          {"alpha.jobset.sigs.k8s.io/node-selector", "true"}}));
}

TEST(PlacementAnnotations, OfAReplicatedJobDoNotApplyToOthers) {
  JobSetBuilder jobset = a_jobset("train").job("workers");
  jobset.of_job("/template/metadata/annotations", {{"alpha.jobset.sigs.k8s.io/exclusive-topology", "pool"},
                                                   {"alpha.jobset.sigs.k8s.io/node-selector", "true"}});
  jobset.job("driver");
  const Object object = jobset.object();
  const JobSetSpec spec = JobSetSpec::read(object);
  EXPECT_EQ(placement_annotations(spec, spec.jobs[0]).size(), 2U);
  EXPECT_THAT(placement_annotations(spec, spec.jobs[1]), IsEmpty());
}

}  // namespace
}  // namespace tpuslice::jobset
