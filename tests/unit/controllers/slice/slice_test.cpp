#include "controllers/slice/slice.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/slice/slices.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> names(const std::vector<PodPtr>& pods) {
  std::vector<std::string> out;
  for (const PodPtr& pod : pods) out.push_back(pod->key.name);
  return out;
}

/// By host index; "-" for a missing host.
std::vector<std::string> hosts_of(const Slice& slice) {
  std::vector<std::string> out(static_cast<std::size_t>(slice.size), "-");
  for (const PodPtr& pod : slice.hosts) out.at(static_cast<std::size_t>(host_index(*pod).value())) = pod->key.name;
  return out;
}

PodChange annotated(std::string_view name, const std::string& value) {
  return [=](PodView& pod) { pod.annotations[std::string(name)] = value; };
}

PodChange ended_well() {
  return [](PodView& pod) { pod.phase = PodPhase::kSucceeded; };
}

PodChange terminating() {
  return [](PodView& pod) { pod.deletion = start_of_time(); };
}

/// One more pod for that host, created so long after the slice.
PodChange also_host(int host, Duration later) {
  return [=](PodView& pod) {
    pod.annotations[std::string(tpu::kSliceHost)] = std::to_string(host);
    pod.created = *pod.created + later;
  };
}

TEST(ReadSlice, OrdersHostsByHostIndex) {
  const SliceBuilder train = a_slice("train").hosts(4);
  std::vector<PodPtr> pods = train.pods();
  std::ranges::reverse(pods);
  EXPECT_THAT(hosts_of(read_slice(train.key(), pods)), ElementsAre("train-0", "train-1", "train-2", "train-3"));
}

/// As the Job controller creates it from a mutated template.
PodChange mutated_by_template(const std::string& index) {
  return [=](PodView& pod) {
    pod.annotations.erase(std::string(tpu::kSliceHost));
    pod.annotations[std::string(tpu::kMutatedBy)] = tpu::kMutatedByJobTemplate;
    pod.labels[std::string(tpu::kCompletionIndex)] = index;
  };
}

TEST(ReadSlice, UsesTheCompletionIndexOfAPodMutatedByItsJobTemplate) {
  const SliceBuilder train =
      a_slice("train").hosts(3).host(0, mutated_by_template("2")).host(2, mutated_by_template("0"));
  EXPECT_THAT(hosts_of(train.slice()), ElementsAre("train-2", "train-1", "train-0"));
}

TEST(ReadSlice, PrefersTheHostIndexToTheCompletionIndex) {
  const SliceBuilder admitted =
      a_slice("train").hosts(2).each(mutated_by_template("7")).host(0, annotated(tpu::kSliceHost, "0"));
  EXPECT_THAT(hosts_of(admitted.slice()), ElementsAre("train-0", "-"));
  EXPECT_THAT(names(admitted.slice().surplus), ElementsAre("train-1"));
}

// Pods without TPU that start with a slice are of Indexed Jobs, too.
TEST(ReadSlice, IgnoresTheCompletionIndexWithoutTheAnnotation) {
  const auto indexed = [](PodView& pod) { pod.labels[std::string(tpu::kCompletionIndex)] = "1"; };
  const Slice slice = a_slice("train").hosts(2).without(1).companion("driver", indexed).slice();
  EXPECT_THAT(hosts_of(slice), ElementsAre("train-0", "-"));
  EXPECT_THAT(names(slice.companions), ElementsAre("driver"));
  const PodPtr other = with(a_slice("train").pod(0), mutated_by_template("0"));
  const PodPtr marked = with(other, annotated(tpu::kMutatedBy, "elsewhere"));
  EXPECT_EQ(host_index(*other), 0);
  EXPECT_EQ(host_index(*marked), std::nullopt);
}

TEST(ReadSlice, HasANullPointerForAMissingHost) {
  EXPECT_THAT(hosts_of(a_slice("train").hosts(3).without(1).slice()), ElementsAre("train-0", "-", "train-2"));
}

TEST(ReadSlice, ReadsTheAnnotationsOfAdmission) {
  const Slice slice = a_slice("train").in("team").topology_key(kRow).gang("both", 2).slice();
  EXPECT_EQ(slice.key, (ObjectKey{"team", "train"}));
  EXPECT_EQ(slice.topology_key, kRow);
  EXPECT_EQ(slice.gang, "both");
  EXPECT_EQ(slice.gang_slices, 2);
}

TEST(ReadSlice, IgnoresAPodThatWasNotAdmitted) {
  const Slice slice = a_slice("train").hosts(3).host(0, [](PodView& pod) { pod.annotations.clear(); }).slice();
  EXPECT_THAT(hosts_of(slice), ElementsAre("-", "train-1", "train-2"));
  EXPECT_THAT(names(slice.companions), ElementsAre("train-0")) << "without host index it looks like one without TPU";
  EXPECT_EQ(slice.topology_key, kGkePool);
}

TEST(ReadSlice, HasAGangOnlyIfAnnotated) {
  const Slice single = a_slice("train").each(annotated(tpu::kGangSlices, "3")).slice();
  EXPECT_EQ(single.gang, "");
  EXPECT_EQ(single.gang_slices, 1);
  const Slice uncounted = a_slice("train").each(annotated(tpu::kSliceGang, "g")).slice();
  EXPECT_EQ(uncounted.gang, "g");
  EXPECT_EQ(uncounted.gang_slices, 1);
}

struct StartCase {
  const char* name;
  const char* text;
  Start start;
};
class SliceStart : public ::testing::TestWithParam<StartCase> {};

TEST_P(SliceStart, IsReadFromTheAnnotation) {
  EXPECT_EQ(a_slice("train").start(GetParam().text).slice().start, GetParam().start);
}

INSTANTIATE_TEST_SUITE_P(Annotations, SliceStart,
                         ::testing::Values(StartCase{"Empty", "", Start::kTogether},
                                           StartCase{"OthersFollowHost0", "others-follow-host-0",
                                                     Start::kOthersFollowHost0},
                                           StartCase{"Host0IfAlone", "host-0-if-alone", Start::kHost0IfAlone},
                                           StartCase{"Together", "together", Start::kTogether},
                                           StartCase{"Unknown", "host-0-last", Start::kTogether}),
                         [](const auto& test) { return test.param.name; });

struct HostsCase {
  const char* name;
  const char* text;
  int places;
};
class SliceHosts : public ::testing::TestWithParam<HostsCase> {};

TEST_P(SliceHosts, FollowTheAnnotation) {
  const Slice slice = a_slice("train").hosts(2).each(annotated(tpu::kSliceHosts, GetParam().text)).slice();
  EXPECT_EQ(slice.size, GetParam().places);
  EXPECT_EQ(slice.surplus.size(), GetParam().places == 0 ? 2U : 0U) << "pods without a place are not lost";
}

INSTANTIATE_TEST_SUITE_P(Annotations, SliceHosts,
                         ::testing::Values(HostsCase{"Two", "2", 2}, HostsCase{"TheMost", "9216", 9216},
                                           HostsCase{"TooMany", "9217", 0},
                                           HostsCase{"OverflowingInt", "4294967298", 0}, HostsCase{"Negative", "-2", 0},
                                           HostsCase{"Signed", "+2", 0}, HostsCase{"WithUnit", "2x", 0},
                                           HostsCase{"WithSpace", " 2", 0}, HostsCase{"Empty", "", 0}),
                         [](const auto& test) { return test.param.name; });

TEST(ReadSlice, CountsATerminatingPodNotAsAHost) {
  const Slice slice = a_slice("train").hosts(2).terminating(1).slice();
  EXPECT_THAT(hosts_of(slice), ElementsAre("train-0", "-"));
  EXPECT_THAT(names(slice.terminating), ElementsAre("train-1"));
}

TEST(ReadSlice, CountsATerminatingFailedPodAsTerminatingOnly) {
  const Slice slice = a_slice("train").hosts(2).fails(1).terminating(1).slice();
  EXPECT_THAT(names(slice.terminating), ElementsAre("train-1"));
  EXPECT_THAT(slice.failed, IsEmpty());
}

TEST(ReadSlice, SeparatesFailedPodsFromHosts) {
  const Slice slice = a_slice("train").hosts(2).fails(0).slice();
  EXPECT_THAT(hosts_of(slice), ElementsAre("-", "train-1"));
  EXPECT_THAT(names(slice.failed), ElementsAre("train-0"));
  EXPECT_THAT(slice.terminating, IsEmpty());
}

TEST(ReadSlice, CountsASucceededPodAsHostButNotAsLive) {
  const Slice slice = a_slice("train").hosts(2).succeeds(0).slice();
  EXPECT_THAT(hosts_of(slice), ElementsAre("train-0", "train-1"));
  EXPECT_THAT(names(slice.live()), ElementsAre("train-1"));
}

TEST(ReadSlice, PrefersALivePodToOneThatSucceeded) {
  const Slice slice = a_slice("train").hosts(2).succeeds(0).extra("again", also_host(0, 9s)).slice();
  EXPECT_THAT(hosts_of(slice), ElementsAre("again", "train-1"));
  EXPECT_THAT(slice.surplus, IsEmpty()) << "terminal pods do not count";
}

TEST(ReadSlice, PrefersTheOlderOfTwoPodsWithOneHostIndex) {
  const Slice later = a_slice("train").hosts(2).extra("a-duplicate", also_host(1, 1s)).slice();
  EXPECT_THAT(hosts_of(later), ElementsAre("train-0", "train-1"));
  EXPECT_THAT(names(later.surplus), ElementsAre("a-duplicate"));
  const Slice earlier = a_slice("train").hosts(2).extra("a-duplicate", also_host(1, -1s)).slice();
  EXPECT_THAT(hosts_of(earlier), ElementsAre("train-0", "a-duplicate"));
  EXPECT_THAT(names(earlier.surplus), ElementsAre("train-1"));
}

TEST(ReadSlice, ChoosesBetweenDuplicatesOfOneAgeIndependentlyOfTheirOrder) {
  const SliceBuilder train = a_slice("train").hosts(2).extra("a-duplicate", also_host(1, 0s));
  std::vector<PodPtr> pods = train.pods();
  EXPECT_THAT(hosts_of(read_slice(train.key(), pods)), ElementsAre("train-0", "a-duplicate"));
  std::ranges::reverse(pods);
  EXPECT_THAT(hosts_of(read_slice(train.key(), pods)), ElementsAre("train-0", "a-duplicate"));
}

TEST(ReadSlice, CountsPodsBeyondItsHostsAsSurplus) {
  const Slice slice = a_slice("train").hosts(2).extra("third", also_host(2, 0s)).slice();
  EXPECT_THAT(slice.hosts, ::testing::SizeIs(2));
  EXPECT_THAT(names(slice.surplus), ElementsAre("third"));
}

TEST(ReadSlice, KeepsLiveCompanionsOnly) {
  const Slice slice = a_slice("train")
                          .hosts(2)
                          .companion("driver")
                          .companion("done", ended_well())
                          .companion("leaving", terminating())
                          .companion("broken", [](PodView& pod) { pod.phase = PodPhase::kFailed; })
                          .slice();
  EXPECT_THAT(names(slice.companions), ElementsAre("driver"));
  EXPECT_THAT(names(slice.live()), ElementsAre("train-0", "train-1", "driver"));
  EXPECT_THAT(slice.terminating, IsEmpty()) << "a terminating pod without TPUs does not hold nodes";
  EXPECT_THAT(slice.failed, IsEmpty());
}

TEST(ReadSlices, GroupsPodsByNamespaceAndLabel) {
  std::vector<PodPtr> pods = pods_of({a_slice("b"), a_slice("a"), a_slice("a").in("team")});
  pods.push_back(a_pod_without_slice("notebook", "pool-a-0"));
  pods.push_back(with(a_slice("c").pod(0), [](PodView& pod) { pod.labels.clear(); }));
  std::vector<std::string> found;
  for (const Slice& slice : read_slices(pods)) {
    found.push_back(slice.key.to_string() + ":" + std::to_string(slice.live().size()));
  }
  EXPECT_THAT(found, ElementsAre("default/a:2", "default/b:2", "team/a:2"));
}

TEST(Slice, ReportsWhenItsFirstAndLastPodsWereCreated) {
  const auto created = [](Duration when) { return [=](PodView& pod) { pod.created = after(when); }; };
  const Slice slice = a_slice("train")
                          .hosts(3)
                          .host(0, created(20s))
                          .host(1, created(5s))
                          .host(2, created(30s))
                          .companion("driver", created(40s))
                          .slice();
  EXPECT_EQ(slice.first_created(), after(5s));
  EXPECT_EQ(slice.last_created(), after(40s));
}

TEST(Slice, IgnoresTerminalPodsInItsAge) {
  const auto created = [](Duration when) { return [=](PodView& pod) { pod.created = after(when); }; };
  const Slice slice =
      a_slice("train").hosts(3).host(0, created(1s)).succeeds(0).host(1, created(5s)).host(2, created(6s)).slice();
  EXPECT_EQ(slice.first_created(), after(5s));
  EXPECT_EQ(slice.last_created(), after(6s));
}

TEST(Slice, HasThePriorityOfItsPods) {
  EXPECT_EQ(a_slice("train").priority(7).slice().priority(), 7);
  EXPECT_EQ(a_slice("train").priority(7).hosts(2).terminating(0).terminating(1).slice().priority(), 7);
  EXPECT_EQ(Slice{}.priority(), 0);
}

TEST(Slice, ReturnsAnyPodOfAnyState) {
  EXPECT_EQ(a_slice("train").hosts(3).without(0).slice().any_pod()->key.name, "train-1");
  EXPECT_EQ(a_slice("train").hosts(1).without(0).companion("driver").slice().any_pod()->key.name, "driver");
  EXPECT_EQ(a_slice("train").hosts(1).terminating(0).slice().any_pod()->key.name, "train-0");
  EXPECT_EQ(a_slice("train").hosts(1).fails(0).slice().any_pod()->key.name, "train-0");
  EXPECT_EQ(a_slice("train").hosts(0).extra("odd", also_host(5, 0s)).slice().any_pod()->key.name, "odd");
  EXPECT_EQ(Slice{}.any_pod(), nullptr);
}

TEST(IsLive, HoldsForPodsThatAreNeitherTerminalNorTerminating) {
  EXPECT_TRUE(is_live(*a_slice("train").pod(0)));
  EXPECT_TRUE(is_live(*a_slice("train").runs_in("pool-a").pod(0)));
  EXPECT_FALSE(is_live(*a_slice("train").terminating(0).pod(0)));
  EXPECT_FALSE(is_live(*a_slice("train").fails(0).pod(0)));
  EXPECT_FALSE(is_live(*a_slice("train").succeeds(0).pod(0)));
}

TEST(IsGated, HoldsForOurGateAmongOthersAndNoOther) {
  const auto gated_by = [](const std::vector<SharedString>& gates) {
    return *a_slice("train").host(0, [=](PodView& pod) { pod.scheduling.edit().gates = gates; }).pod(0);
  };
  EXPECT_TRUE(is_gated(gated_by({"example.com/quota", "tpuslice.dev/slice"})));
  EXPECT_FALSE(is_gated(gated_by({"example.com/quota"})));
  EXPECT_FALSE(is_gated(gated_by({})));
}

TEST(Members, AreOpenWhileAHostIsMissing) {
  EXPECT_EQ(members_of(a_slice("train").hosts(3).without(2).slice()), "open");
  EXPECT_EQ(members_of(a_slice("train").hosts(3).fails(0).slice()), "open");
  EXPECT_EQ(members_of(a_slice("train").hosts(3).terminating(1).slice()), "open");
}

TEST(Members, ChangeWhenAnyHostIsReplaced) {
  const auto slice = [] { return a_slice("train").hosts(4); };
  std::set<std::string> records = {members_of(slice().slice())};
  for (int host = 0; host < 4; ++host) records.insert(members_of(slice().replaced(host).slice()));
  EXPECT_THAT(records, ::testing::SizeIs(5));
}

TEST(Members, DependOnUidsOnly) {
  const std::string before = members_of(a_slice("train").hosts(2).slice());
  EXPECT_EQ(members_of(a_slice("train").hosts(2).runs_in("pool-a").succeeds(1).companion("driver").slice()), before);
  EXPECT_EQ(before.size(), 13U);
  EXPECT_NE(before, kOpenMembers);
}

TEST(Members, AreStableAcrossVersions) {
  EXPECT_EQ(members_of(a_slice("train").hosts(2).slice()), "s7jtq9mc7fmzq")
      << "another hash would tear all of them down";
}

TEST(SliceName, IsThatOfTheWorkloadAndTheSliceWithoutTheHashOfItsKey) {
  const Slice slice = a_slice("maxtext-slice-1-bcdfghjklmnpq").in("team").slice();
  EXPECT_EQ(display_name(slice), "team/job (maxtext-slice-1)");
  EXPECT_EQ(short_name(slice), "maxtext-slice-1");
  EXPECT_EQ(display_name(*slice.any_pod()), display_name(slice));
}

TEST(SliceName, OfAPodWithoutSliceIsThePod) {
  EXPECT_EQ(display_name(*a_pod_without_slice("notebook", "pool-a-0")), "default/notebook");
  EXPECT_EQ(display_name(*with(a_slice("train").pod(1), [](PodView& pod) { pod.labels.clear(); })), "default/train-1");
}

TEST(SliceName, OfASliceWithoutPodsIsItsKey) {
  EXPECT_EQ(display_name(read_slice({"team", "train"}, {})), "team/train");
}

TEST(Workload, IsTheOneThatAdmissionWrote) {
  const PodPtr pod = with(a_slice("train").in("team").pod(0), [](PodView& view) {
    view.annotations[std::string(tpu::kWorkload)] = "JobSet.v1alpha2.jobset.x-k8s.io/maxtext";
    view.annotations[std::string(tpu::kWorkloadUid)] = "u-9";
    view.controller = ControllerRef{"batch/v1", "Job", "maxtext-slice-0", "u-8"};
  });
  EXPECT_EQ(workload_of(*pod),
            (plan::ObjectReference{"jobset.x-k8s.io/v1alpha2", "JobSet", {"team", "maxtext"}, "u-9", ""}));
}

TEST(Workload, IsTheControllerOfThePod) {
  const PodPtr pod = with(a_slice("train").in("team").pod(0), [](PodView& view) {
    view.controller = ControllerRef{"ray.io/v1", "RayCluster", "ray", "u-7"};
  });
  EXPECT_EQ(workload_of(*pod), (plan::ObjectReference{"ray.io/v1", "RayCluster", {"team", "ray"}, "u-7", ""}));
}

TEST(Workload, IsThePodItselfIfItHasNoController) {
  const PodPtr pod = with(a_slice("train").pod(1), [](PodView& view) { view.controller.reset(); });
  EXPECT_EQ(workload_of(*pod), (plan::ObjectReference{"v1", "Pod", {"default", "train-1"}, "uid-of-train-1", "101"}));
}

// Forged annotations.
TEST(ReadSlice, TakesNoMemoryForHostsThatDoNotExist) {
  const Slice slice = a_slice("train").hosts(1).host(0, annotated(tpu::kSliceHosts, "9216")).slice();
  EXPECT_EQ(slice.size, 9216);
  EXPECT_LE(slice.hosts.capacity(), 4U);
  EXPECT_EQ(members_of(slice), "open");
}

}  // namespace
}  // namespace tpuslice::slice
