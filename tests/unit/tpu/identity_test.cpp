#include "tpu/identity.h"
#include "tests/support/admission.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/pods.h"
#include "tpu/labels.h"
#include "tpu/rules/workload_kinds.h"

namespace tpuslice::tpu {
namespace {

using ::testing::HasSubstr;
using testing::JobPod;
using testing::LwsPod;
using testing::PodShape;
using testing::RayPod;
using testing::StatefulSetPod;

std::string error_of(const Json& pod) {
  const auto identity = identity_of_pod(pod);
  return identity.ok() ? "" : identity.error().message();
}

TEST(RayIdentity, ComesFromLabelsSelectorAndRequests) {
  const auto found = identity_of_pod(RayPod{.replica = 1, .host = 2}.json());
  ASSERT_TRUE(found.ok() && found->has_value());
  const SliceIdentity& identity = **found;
  EXPECT_EQ(identity.slice_name, "g-1");
  EXPECT_EQ(identity.hosts, 4);
  EXPECT_EQ(identity.host_index, 2);
  EXPECT_EQ(identity.host_names.of(2), "g-1-2");
  std::string address;
  identity.append_address(address, 3);
  EXPECT_EQ(address, "g-1-3.rc-headless");
}

TEST(RayIdentity, IsAbsentForPodsWithoutChipsOrIndexes) {
  Json pod = RayPod{}.json();
  pod["metadata"]["labels"].erase("ray.io/worker-group-replica-index");
  EXPECT_FALSE(identity_of_pod(pod)->has_value());
  pod = RayPod{}.json();
  pod["metadata"].erase("labels");
  EXPECT_FALSE(identity_of_pod(pod)->has_value());
  pod = RayPod{.chips = {0}}.json();
  EXPECT_FALSE(identity_of_pod(pod)->has_value());
  EXPECT_FALSE(identity_of_pod(Json())->has_value());
}

TEST(RayIdentity, OfAHeadIsThatOfASingleHost) {
  const auto head = [](const RayPod& shape) {
    Json pod = shape.json();
    Json& labels = pod["metadata"]["labels"];
    labels["ray.io/node-type"] = "head";
    labels["ray.io/group"] = "headgroup";
    for (const char* index : {"ray.io/worker-group-replica-index", "ray.io/replica-host-index"}) labels.erase(index);
    return identity_of_pod(pod);
  };
  const auto single = head({.topology = "2x4", .chips = {8}});
  ASSERT_TRUE(single.ok() && single->has_value());
  EXPECT_EQ((*single)->hosts, 1);
  EXPECT_EQ((*single)->slice_name, "headgroup-0");
  EXPECT_FALSE((*single)->sets_hostname);
  const auto of_several = head({.topology = "4x4", .chips = {4}});
  ASSERT_TRUE(of_several.ok()) << of_several.error().message();
  EXPECT_FALSE(of_several->has_value());
}

TEST(RayIdentity, NeedsNoHostIndexInASingleHostSlice) {
  Json pod = RayPod{.topology = "2x4", .chips = {8}}.json();
  pod["metadata"]["labels"].erase("ray.io/replica-host-index");
  const auto found = identity_of_pod(pod);
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_FALSE((*found)->multi_host());
}

TEST(RayIdentity, NamesTheNumberOfHostsIfAnIndexIsMissingOrTooLarge) {
  Json pod = RayPod{}.json();
  pod["metadata"]["labels"].erase("ray.io/replica-host-index");
  EXPECT_THAT(error_of(pod), HasSubstr("set numOfHosts: 4"));
  EXPECT_EQ(error_of(RayPod{.host = 4}.json()),
            "metadata.labels[ray.io/replica-host-index]: Invalid value: \"4\": topology 4x4 has 16 chips; with 4 chips "
            "per host that is 4 hosts, set numOfHosts: 4");
}

TEST(RayIdentity, RefusesIndexesThatAreNotNumbers) {
  for (const char* text : {"x", "-1", "1x", "99999999999", " 1"}) {
    Json pod = RayPod{}.json();
    pod["metadata"]["labels"]["ray.io/worker-group-replica-index"] = text;
    EXPECT_THAT(error_of(pod), HasSubstr("metadata.labels[ray.io/worker-group-replica-index]")) << text;
  }
}

TEST(RayIdentity, NamesAMissingOrInvalidSelector) {
  EXPECT_THAT(error_of(RayPod{.accelerator = ""}.json()),
              HasSubstr("spec.nodeSelector[cloud.google.com/gke-tpu-accelerator]: Required value"));
  EXPECT_THAT(error_of(RayPod{.topology = ""}.json()),
              HasSubstr("spec.nodeSelector[cloud.google.com/gke-tpu-topology]: Required value"));
  EXPECT_THAT(error_of(RayPod{.topology = "4x5"}.json()), HasSubstr("does not exist for tpu-v6e-slice"));
}

TEST(RayIdentity, IsAbsentIfNodesAreChosenByOtherLabels) {
  const auto identity = identity_of_pod(RayPod{.accelerator = "", .topology = ""}.json());
  ASSERT_TRUE(identity.ok()) << identity.error().message();
  EXPECT_FALSE(identity->has_value());
}

TEST(RayIdentity, RefusesSplitHostsBeforeTpu7x) {
  EXPECT_THAT(error_of(RayPod{.chips = {2, 2}}.json()), HasSubstr("one container must ask for all 4 chips"));
  EXPECT_THAT(error_of(RayPod{.accelerator = "tpu7x", .topology = "2x2x2", .chips = {1, 3}}.json()),
              HasSubstr("same number of chips"));
  EXPECT_THAT(error_of(RayPod{.topology = "2x2", .chips = {8}}.json()), HasSubstr("do not divide"));
}

TEST(RayIdentity, UsesTheTopologyAnnotationOfADynamicSlice) {
  Json pod = RayPod{.accelerator = "tpu7x", .topology = ""}.json();
  pod["metadata"]["annotations"]["cloud.google.com/gke-tpu-slice-topology"] = "4x8x8";
  const auto found = identity_of_pod(pod);
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->hosts, 64);
}

TEST(RayIdentity, TakesTheNumberOfHostsFromTheAnnotationOfASubSlice) {
  const auto hosts = [](const RayPod& pod, const char* annotation) {
    Json json = pod.json();
    json["metadata"]["annotations"]["cloud.google.com/gke-tpu-slice-topology"] = annotation;
    return (*identity_of_pod(json))->hosts;
  };
  EXPECT_EQ(hosts({.topology = "16x16"}, "4x4"), 4);
  EXPECT_EQ(hosts({.topology = "16x16", .host = 8}, "8x8"), 16);
  EXPECT_EQ(hosts({.accelerator = "tpu7x", .topology = "4x4x4"}, "2x2x2"), 2);
  // Neither a part of 4x4 nor a topology of v6e.
  EXPECT_EQ(hosts({}, "8x8"), 4);
  EXPECT_EQ(hosts({}, "2x3"), 4);
}

TEST(RayIdentity, TakesTheNumberOfHostsFromTheAnnotationOfADynamicSliceOfSeveralCubes) {
  Json pod = RayPod{.accelerator = "tpu7x", .topology = "4x4x4", .host = 31}.json();
  pod["metadata"]["annotations"]["cloud.google.com/gke-tpu-slice-topology"] = "4x4x8";
  EXPECT_EQ((*identity_of_pod(pod))->hosts, 32);
}

/// "name host/hosts index/slices coordinator: every address", or the error, or "none".
std::string identity_of(const Json& pod) {
  const auto found = identity_of_pod(pod);
  if (!found) return found.error().message();
  if (!*found) return "none";
  const SliceIdentity& identity = **found;
  std::string text = fmt::format("{} {}/{} {}/{} {}:", identity.slice_name, identity.host_index, identity.hosts,
                                 identity.slice_index, identity.slices, identity.coordinator);
  for (int host = 0; host < identity.hosts; ++host) {
    text += ' ';
    identity.append_address(text, host);
  }
  return text;
}

// Source: GKE's webhook for Indexed Jobs; its names are the Job controller's.
TEST(JobIdentity, ComesFromTheCompletionIndexAndTheSubdomain) {
  EXPECT_EQ(identity_of(JobPod{.index = 2}.json()),
            "train-0 2/4 0/1 train-0.svc: train-0.svc train-1.svc train-2.svc train-3.svc");
}

TEST(JobIdentity, AssignsLargerIndexesToTheNextSlice) {
  EXPECT_EQ(identity_of(JobPod{.index = 6}.json()),
            "train-1 2/4 1/1 train-0.svc: train-4.svc train-5.svc train-6.svc train-7.svc");
}

TEST(JobIdentity, IsAbsentWithoutSubdomainIndexOrSelectors) {
  EXPECT_EQ(identity_of(JobPod{.subdomain = ""}.json()), "none");
  EXPECT_EQ(identity_of(JobPod{.shape = {.accelerator = ""}}.json()), "none");
  EXPECT_EQ(identity_of(JobPod{.shape = {.topology = ""}}.json()), "none");
  EXPECT_EQ(identity_of(JobPod{.shape = {.chips = {0}}}.json()), "none");
  Json pod = JobPod{}.json();
  pod["metadata"].erase("annotations");
  EXPECT_EQ(identity_of(pod), "none");
}

TEST(JobSetIdentity, MakesAJobASliceAndTheReplicasAMultisliceJob) {
  const JobPod pod{
      .subdomain = "js", .index = 2, .job_set = "js", .replicated_job = "w", .replicas = 2, .job_index = 1};
  EXPECT_EQ(identity_of(pod.json()), "js-w-1 2/4 1/2 js-w-0-0.js: js-w-1-0.js js-w-1-1.js js-w-1-2.js js-w-1-3.js");
}

TEST(JobSetIdentity, RefusesMorePodsThanTheSliceHasHosts) {
  EXPECT_EQ(identity_of(JobPod{.index = 4, .job_set = "js", .replicated_job = "w"}.json()),
            "metadata.annotations[batch.kubernetes.io/job-completion-index]: Invalid value: \"4\": topology 4x4 has 16 "
            "chips; with 4 chips per host that is 4 hosts, set parallelism and completions: 4");
}

TEST(JobSetIdentity, MakesEachPodOfASingleHostTopologyASlice) {
  const PodShape one{.topology = "2x2"};
  EXPECT_EQ(identity_of(JobPod{.shape = one, .index = 3, .job_set = "js", .replicated_job = "w"}.json()),
            "js-w-0-3 0/1 3/1 js-w-0-0.svc: js-w-0-3.svc");
}

TEST(JobSetIdentity, MakesNoMultisliceJobOfSingleHostReplicas) {
  const JobPod pod{.shape = {.topology = "2x2"},
                   .subdomain = "js",
                   .job_set = "js",
                   .replicated_job = "w",
                   .replicas = 4,
                   .job_index = 2};
  EXPECT_EQ(identity_of(pod.json()), "js-w-2 0/1 2/1 js-w-0-0.js: js-w-2-0.js");
}

TEST(JobSetIdentity, UsesTheExclusiveTopologyAnnotation) {
  Json pod = JobPod{.job_set = "js", .replicated_job = "w"}.json();
  pod["metadata"]["annotations"]["alpha.jobset.sigs.k8s.io/exclusive-topology"] = "cloud.google.com/gke-tpu-slice";
  EXPECT_EQ((*identity_of_pod(pod))->topology_key, "cloud.google.com/gke-tpu-slice");
}

TEST(JobSetIdentity, LetsHost0StartFirstWithExclusiveTopologyUnlessTheTemplateSaysOtherwise) {
  Json pod = JobPod{.job_set = "js", .replicated_job = "w"}.json();
  Json& annotations = pod["metadata"]["annotations"];
  EXPECT_EQ((*identity_of_pod(pod))->start, "");
  annotations["alpha.jobset.sigs.k8s.io/exclusive-topology"] = "cloud.google.com/gke-tpu-slice";
  EXPECT_EQ((*identity_of_pod(pod))->start, "others-follow-host-0");
  annotations["tpuslice.dev/slice-start"] = "together";
  EXPECT_EQ((*identity_of_pod(pod))->start, "");
  annotations["tpuslice.dev/slice-start"] = "others-follow-host-0";
  EXPECT_EQ((*identity_of_pod(pod))->start, "others-follow-host-0");
}

TEST(StatefulSetIdentity, MakesBlocksOfOrdinalsSlices) {
  EXPECT_EQ(identity_of(StatefulSetPod{.ordinal = 5}.json()),
            "serve-1 1/4 1/1 serve-0.svc: serve-4.svc serve-5.svc serve-6.svc serve-7.svc");
  Json pod = StatefulSetPod{}.json();
  pod["metadata"].erase("ownerReferences");
  EXPECT_EQ(identity_of(pod), "none");
}

// With podManagementPolicy OrderedReady a host is created once the host before it is ready.
TEST(StatefulSetIdentity, LetsTheHostsOfASliceStartOneByOne) {
  EXPECT_EQ((*identity_of_pod(StatefulSetPod{}.json()))->start, kHostByHost);
  EXPECT_EQ((*identity_of_pod(StatefulSetPod{.shape = {.topology = "2x2"}}.json()))->start, "");
}

// A provider adds accelerators faster than programs are released.
TEST(UnknownAccelerator, HasNoIdentity) {
  const PodShape unknown{.accelerator = "tpu-v9-slice", .topology = "4x4x4x4"};
  EXPECT_EQ(identity_of(RayPod{.accelerator = "tpu-v9-slice", .topology = "4x4x4x4"}.json()), "none");
  EXPECT_EQ(identity_of(RayPod{.accelerator = "tpu-v9-slice", .topology = ""}.json()), "none");
  EXPECT_EQ(identity_of(JobPod{.shape = unknown}.json()), "none");
  EXPECT_EQ(identity_of(JobPod{.shape = unknown, .job_set = "js", .replicated_job = "w"}.json()), "none");
  EXPECT_EQ(identity_of(StatefulSetPod{.shape = unknown}.json()), "none");
}

TEST(UnknownAccelerator, LeavesTheNumberOfHostsToTheSizeOfALeaderWorkerSet) {
  const auto found = identity_of_pod(LwsPod{.shape = {.accelerator = "tpu-v9-slice"}, .worker = 1, .size = 3}.json());
  EXPECT_EQ((*found)->hosts, 3);
  EXPECT_EQ((*found)->host_index, 1);
  EXPECT_EQ((*found)->accelerator, nullptr);
}

TEST(LwsIdentity, CountsTheLeaderOnlyIfItHasTpus) {
  EXPECT_EQ(identity_of(LwsPod{.worker = 2}.json()),
            "lws-0 2/4 0/1 lws-0.lws: lws-0.lws lws-0-1.lws lws-0-2.lws lws-0-3.lws");
  EXPECT_EQ(identity_of(LwsPod{.group = 1, .worker = 2, .size = 5, .leader_has_tpus = false}.json()),
            "lws-1 1/4 1/1 lws-0-1.lws: lws-1-1.lws lws-1-2.lws lws-1-3.lws lws-1-4.lws");
}

/// Upstream's webhook does without it as well; its controller always writes it.
TEST(LwsIdentity, OfAWorkerDoesNotNeedTheAnnotationOfItsLeader) {
  const Json annotated = LwsPod{.worker = 2, .size = 5, .leader_has_tpus = false}.json();
  Json pod = annotated;
  pod["metadata"]["annotations"].erase("leaderworkerset.sigs.k8s.io/leader-name");
  EXPECT_EQ(identity_of(pod), identity_of(annotated));
}

TEST(LwsIdentity, NeedsNoSelectors) {
  EXPECT_EQ(identity_of(LwsPod{.shape = {.accelerator = "", .topology = ""}, .size = 2}.json()),
            "lws-0 0/2 0/1 lws-0.lws: lws-0.lws lws-0-1.lws");
}

TEST(LwsIdentity, UsesAServicePerGroupIfConfigured) {
  EXPECT_EQ(identity_of(LwsPod{.shape = {.topology = "2x4"}, .group = 1, .size = 2, .service_per_group = true}.json()),
            "lws-1 0/2 1/1 lws-0.lws-0: lws-1.lws-1 lws-1-1.lws-1");
}

/// Worker ids by subgroup, "0:0 1:0 | 2:0 ..." of pods with TPUs, each with the number of its hosts.
std::map<std::string, std::vector<std::string>> subgroups(int size, int subgroup_size, bool leader_has_tpus,
                                                          bool leader_excluded = false) {
  std::map<std::string, std::vector<std::string>> slices;
  for (int worker = leader_has_tpus ? 0 : 1; worker < size; ++worker) {
    const auto found = identity_of_pod(LwsPod{.shape = {.accelerator = "", .topology = ""},
                                              .worker = worker,
                                              .size = size,
                                              .leader_has_tpus = leader_has_tpus,
                                              .subgroup_size = subgroup_size,
                                              .leader_excluded = leader_excluded}
                                           .json());
    const SliceIdentity& identity = **found;
    slices[identity.slice_name].push_back(
        fmt::format("{} of {}: {}", identity.host_index, identity.hosts, identity.host_names.of(identity.host_index)));
  }
  return slices;
}

using Subgroups = std::map<std::string, std::vector<std::string>>;

TEST(LwsIdentity, NumbersSubgroupsOfEvenGroups) {
  EXPECT_EQ(subgroups(4, 2, true), (Subgroups{{"lws-0-subgroup-0", {"0 of 2: lws-0", "1 of 2: lws-0-1"}},
                                              {"lws-0-subgroup-1", {"0 of 2: lws-0-2", "1 of 2: lws-0-3"}}}));
  EXPECT_EQ(subgroups(5, 2, false), (Subgroups{{"lws-0-subgroup-0", {"0 of 2: lws-0-1", "1 of 2: lws-0-2"}},
                                               {"lws-0-subgroup-1", {"0 of 2: lws-0-3", "1 of 2: lws-0-4"}}}));
}

// LeaderWorkerSet gives ids 0, 1, 0 to the three pods of the first subgroup.
TEST(LwsIdentity, NeverRepeatsAnIdInAnUnevenSubgroup) {
  EXPECT_EQ(subgroups(5, 2, true),
            (Subgroups{{"lws-0-subgroup-0", {"0 of 3: lws-0", "1 of 3: lws-0-1", "2 of 3: lws-0-2"}},
                       {"lws-0-subgroup-1", {"0 of 2: lws-0-3", "1 of 2: lws-0-4"}}}));
  EXPECT_EQ(subgroups(4, 2, false), (Subgroups{{"lws-0-subgroup-0", {"0 of 1: lws-0-1"}},
                                               {"lws-0-subgroup-1", {"0 of 2: lws-0-2", "1 of 2: lws-0-3"}}}));
}

TEST(LwsIdentity, MakesAnExcludedLeaderASlice) {
  EXPECT_EQ(subgroups(5, 2, true, true), (Subgroups{{"lws-0", {"0 of 1: lws-0"}},
                                                    {"lws-0-subgroup-0", {"0 of 2: lws-0-1", "1 of 2: lws-0-2"}},
                                                    {"lws-0-subgroup-1", {"0 of 2: lws-0-3", "1 of 2: lws-0-4"}}}));
}

TEST(LwsIdentity, RefusesAGroupThatDoesNotMatchItsTopology) {
  EXPECT_EQ(identity_of(LwsPod{.size = 5}.json()),
            "metadata.annotations[leaderworkerset.sigs.k8s.io/size]: Invalid value: \"5\": topology 4x4 has 16 chips; "
            "with 4 chips per host that is 4 hosts, but 5 pods with chips make up the slice of lws-0");
  EXPECT_THAT(identity_of(LwsPod{.worker = 7, .size = 4}.json()), HasSubstr("the group has no pod lws-0-7"));
}

TEST(LwsIdentity, MakesEachPodOfASingleHostTopologyASlice) {
  EXPECT_EQ(identity_of(LwsPod{.shape = {.topology = "2x2"}, .worker = 2}.json()),
            "lws-0-2 0/1 0/1 lws-0.lws: lws-0-2.lws");
}

TEST(LwsIdentity, IsAbsentForPodsWithoutAnIndex) {
  Json pod = LwsPod{}.json();
  pod["metadata"]["name"] = "lws-x";
  EXPECT_EQ(identity_of(pod), "none");
  pod = LwsPod{.worker = 1}.json();
  pod["metadata"]["name"] = "other-1";
  EXPECT_EQ(identity_of(pod), "none");
}

}  // namespace
}  // namespace tpuslice::tpu
