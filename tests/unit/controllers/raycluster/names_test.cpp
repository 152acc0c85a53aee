#include "controllers/raycluster/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/validation_names.h"
#include "tests/support/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

using testing::IsEmpty;
using testing::MatchesRegex;

TEST(Names, SayWhatAPodIs) {
  const Object cluster(tutorial_cluster());
  const RayClusterSpec spec = RayClusterSpec::read(cluster);
  EXPECT_EQ(head_service_name(spec), "maxtext-tpu-cluster-head-svc");
  EXPECT_EQ(head_service_fqdn(spec, "cluster.local"), "maxtext-tpu-cluster-head-svc.default.svc.cluster.local");
  EXPECT_THAT(head_pod_name(spec), MatchesRegex("maxtext-tpu-cluster-head-[a-z0-9]{5}"));
  EXPECT_THAT(worker_pod_name(spec, "tpu-group", {1, 3}),
              MatchesRegex("maxtext-tpu-cluster-tpu-group-worker-1-3-[a-z0-9]{5}"));
  EXPECT_THAT(replica_name(spec, "tpu-group", 1), MatchesRegex("tpu-group-[a-z0-9]{5}"));
}

TEST(Names, StayTheSameForOnePodAndDifferForTwo) {
  const Object cluster(tutorial_cluster());
  const RayClusterSpec spec = RayClusterSpec::read(cluster);
  EXPECT_EQ(worker_pod_name(spec, "g", {0, 1}), worker_pod_name(spec, "g", {0, 1}));
  EXPECT_NE(worker_pod_name(spec, "g", {0, 1}), worker_pod_name(spec, "g", {1, 0}));
  EXPECT_NE(replica_name(spec, "g", 0), replica_name(spec, "g", 1));
}

TEST(Names, DifferBetweenClustersOfOneName) {
  Json other = tutorial_cluster();
  other["metadata"]["uid"] = "another";
  const Object a(tutorial_cluster());
  const Object b(other);
  EXPECT_NE(worker_pod_name(RayClusterSpec::read(a), "g", {0, 0}),
            worker_pod_name(RayClusterSpec::read(b), "g", {0, 0}));
}

TEST(Names, AreLegalForTheLongestClusterAndAnyGroup) {
  const std::string longest(53, 'c');
  for (const std::string& group :
       {std::string(63, 'g'), std::string("GPU_Group.1"), std::string("g") + std::string(40, '-') + "h"}) {
    const Object cluster(a_cluster(longest, {}));
    const RayClusterSpec spec = RayClusterSpec::read(cluster);
    EXPECT_THAT(check_dns1123_label(worker_pod_name(spec, group, {123, 255})), IsEmpty()) << group;
    EXPECT_THAT(check_label_value(replica_name(spec, group, 123)), IsEmpty()) << group;
    EXPECT_THAT(check_dns1123_label(head_pod_name(spec)), IsEmpty());
    EXPECT_THAT(check_label_value(identifier(spec, "worker")), IsEmpty());
  }
}

TEST(Names, OfWorkersTellTheirIndexes) {
  const Object cluster(tutorial_cluster());
  const RayClusterSpec spec = RayClusterSpec::read(cluster);
  for (const WorkerIndex index : {WorkerIndex{12, 3}, WorkerIndex{12, 3, 1}, WorkerIndex{0, 0, 40}}) {
    const std::string name = worker_pod_name(spec, "tpu", index);
    EXPECT_EQ(parse_worker_pod_name(spec, "tpu", name), index) << name;
    EXPECT_EQ(parse_worker_pod_name(spec, "gpu", name), std::nullopt) << name;
  }
  for (const char* other : {"", "-", "a-1-2", "maxtext-tpu-cluster-tpu-worker-1-3-aaaaa", "a--1-2-x"}) {
    EXPECT_EQ(parse_worker_pod_name(spec, "tpu", other), std::nullopt) << other;
  }
}

TEST(Names, OfAPrefixThatIsCutAfterANumberAreParsed) {
  // 50 characters fit before "-0-1-<hash>", so that the name ends in numbers of the cluster.
  const Object cluster(a_cluster(std::string(44, 'c') + "-7-8-9", {}));
  const RayClusterSpec spec = RayClusterSpec::read(cluster);
  for (const WorkerIndex index : {WorkerIndex{0, 1}, WorkerIndex{0, 1, 2}}) {
    EXPECT_EQ(parse_worker_pod_name(spec, "tpu", worker_pod_name(spec, "tpu", index)), index);
  }
}

TEST(Names, OfTwoAttemptsDiffer) {
  const Object cluster(tutorial_cluster());
  const RayClusterSpec spec = RayClusterSpec::read(cluster);
  EXPECT_THAT(worker_pod_name(spec, "tpu", {1, 3, 2}),
              MatchesRegex("maxtext-tpu-cluster-tpu-worker-1-3-2-[a-z0-9]{5}"));
  EXPECT_NE(worker_pod_name(spec, "tpu", {1, 3, 1}), worker_pod_name(spec, "tpu", {1, 3, 2}));
}

TEST(Names, WithAnAttemptBeyondTheHighestAreNotOurs) {
  const Json cluster = tutorial_cluster();
  const RayClusterSpec spec = RayClusterSpec::read(cluster);
  const auto parse = [&](int attempt) {
    return parse_worker_pod_name(spec, "g", worker_pod_name(spec, "g", {1, 2, attempt}));
  };
  EXPECT_EQ(parse(kMaxAttempt), (WorkerIndex{1, 2, kMaxAttempt}));
  EXPECT_EQ(parse(kMaxAttempt + 1), std::nullopt);
}

TEST(Names, OfGroupsThatAreCutAlikeDiffer) {
  const Object cluster(a_cluster(std::string(53, 'c'), {}));
  const RayClusterSpec spec = RayClusterSpec::read(cluster);
  EXPECT_NE(worker_pod_name(spec, "group-a", {0, 0}), worker_pod_name(spec, "group-b", {0, 0}));
}

TEST(Names, OfTheAutoscalersObjectsAreTheEndOfTheClusters) {
  const auto name_for = [](const std::string& cluster) {
    const Object object(a_cluster(cluster, {}));
    return autoscaler_name(RayClusterSpec::read(object));
  };
  EXPECT_EQ(name_for("train"), "train");
  EXPECT_EQ(name_for("abc" + std::string(50, 'x')), std::string(50, 'x'));
  EXPECT_EQ(name_for("abc7" + std::string(49, 'x')), "r" + std::string(49, 'x'));
  EXPECT_EQ(name_for("abc-" + std::string(49, 'x')), "r" + std::string(49, 'x'));
  const Object object(a_cluster("abc" + std::string(50, 'x'), {}));
  EXPECT_EQ(ingress_name(RayClusterSpec::read(object)), std::string(37, 'x') + "-head-ingress");
}

TEST(Names, OfTheHeadServiceMayBeChosen) {
  Json json = tutorial_cluster();
  json["spec"]["headGroupSpec"]["headService"]["metadata"]["name"] = "mine";
  const Object cluster(json);
  EXPECT_EQ(head_service_name(RayClusterSpec::read(cluster)), "mine");
}

}  // namespace
}  // namespace tpuslice::raycluster
