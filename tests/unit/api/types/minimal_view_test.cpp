// Minimal views: what a store keeps of an object that it has no memory for, or that cannot be decoded.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/types/views.h"
#include "tests/support/error_matchers.h"

namespace tpuslice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

const KeptKeys kKept = {"tpuslice.dev/", "jobset.sigs.k8s.io/", "tpuslice.dev/slice", "google.com/tpu"};

std::string many_labels(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += fmt::format(R"("tpuslice.dev/{}-{}":"{}",)", 'a', i, std::string(63, 'v'));
  return out;
}

TEST(AMinimalPod, HasWhatPlacementNeeds) {
  const PodView pod = PodView::decode_minimal(R"({"metadata": {"name": "train-0", "namespace": "a", "uid": "u",
      "resourceVersion": "7", "deletionTimestamp": "2026-01-01T00:00:00Z", "creationTimestamp": "yesterday",
      "labels": {"app": "x", "jobset.sigs.k8s.io/jobset-name": "train", "tpuslice.dev/slice": "train-0"},
      "annotations": {"tpuslice.dev/slice-hosts": "2"},
      "ownerReferences": [{"kind": "Other", "uid": "o"},
                          {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "j", "controller": true}]},
      "spec": {"nodeName": "node-1", "priority": "high", "containers": [
          {"resources": {"limits": {"google.com/tpu": "4", "cpu": 1, "example.com/other": "1"}}}, {"resources": {"limits": {"google.com/tpu": 4}}}]},
      "status": {"phase": "Running", "conditions": 5}})",
                                              &kKept)
                          .value();
  EXPECT_TRUE(pod.minimal);
  EXPECT_EQ(pod.key, (ObjectKey{"a", "train-0"}));
  EXPECT_EQ(pod.uid, "u");
  EXPECT_EQ(pod.resource_version, "7");
  EXPECT_TRUE(pod.terminating());
  EXPECT_THAT(pod.labels, UnorderedElementsAre(Pair("jobset.sigs.k8s.io/jobset-name", "train"),
                                               Pair("tpuslice.dev/slice", "train-0")));
  EXPECT_THAT(pod.annotations, IsEmpty());
  ASSERT_TRUE(pod.controller.has_value());
  EXPECT_EQ(pod.controller->uid, "j");
  EXPECT_EQ(pod.node_name, "node-1");
  EXPECT_THAT(pod.scheduling->resources, ElementsAre(ResourceAmount{"google.com/tpu", 8}));
  EXPECT_EQ(pod.phase, PodPhase::kRunning);
}

TEST(AMinimalPod, HasAnAmountOfEachResourceThatItAsksFor) {
  const auto chips = [](std::string_view amount) {
    const auto pod = PodView::decode_minimal(fmt::format(R"({{"metadata":{{"name":"p","uid":"u"}},"spec":{{
        "initContainers":[{{"resources":{{"limits":{{"google.com/tpu":{}}}}}}}]}}}})",
                                                         amount));
    return amount_of(pod->scheduling->resources, "google.com/tpu");
  };
  EXPECT_EQ(chips(R"("8")"), 8);
  EXPECT_EQ(chips(R"("many")"), 1);
  EXPECT_EQ(chips("[]"), 1);
  EXPECT_EQ(chips(R"("99999999999999999999")"), 1'000'000);
  EXPECT_EQ(chips(R"("0")"), 0);
}

TEST(AMinimalView, IsSmallWhateverTheObjectHas) {
  const std::string json = fmt::format(
      R"({{"metadata":{{"name":"p","uid":"u","labels":{{{}"tpuslice.dev/slice":"s"}},
      "ownerReferences":[{{"kind":"Job","name":"{}","uid":"j","controller":true}}]}}}})",
      many_labels(1000), std::string(100'000, 'n'));
  const PodView pod = PodView::decode_minimal(json, &kKept).value();
  EXPECT_LT(pod.labels.size(), 20U);
  EXPECT_EQ(pod.label("tpuslice.dev/slice"), "s") << "however many labels come first";
  EXPECT_EQ(pod.controller->name, "");
  EXPECT_EQ(pod.controller->uid, "j");
}

TEST(AMinimalView, HasNoMoreLabelsIfAllAreKept) {
  const std::string json = fmt::format(
      R"({{"metadata":{{"name":"p","uid":"u","labels":{{{}"tpuslice.dev/slice":"s"}}}}}})", many_labels(1000));
  EXPECT_LT(PodView::decode_minimal(json)->labels.size(), 20U);
}

TEST(AMinimalView, HasWhatCouldBeReadBeforeTheErrorInTheJson) {
  const PodView pod =
      PodView::decode_minimal(R"({"metadata":{"name":"p","uid":"u"},"spec":{"nodeName":"n"},"status":{"phase":})")
          .value();
  EXPECT_EQ(pod.uid, "u");
  EXPECT_EQ(pod.node_name, "n");
}

TEST(AMinimalView, NeedsNameAndUid) {
  for (const std::string_view json :
       {R"({"metadata":{"name":"p"}})", R"({"metadata":{"uid":"u"}})", R"({"metadata":[]})", "[]", "no JSON", ""}) {
    EXPECT_THAT(PodView::decode_minimal(json), IsError(ErrorCode::kInvalidArgument)) << json;
    EXPECT_THAT(ObjectView::decode_minimal(json), IsError(ErrorCode::kInvalidArgument)) << json;
  }
}

TEST(AMinimalNode, HasAllItsLabels) {
  const std::string json = fmt::format(
      R"({{"metadata":{{"name":"n","uid":"u","resourceVersion":"7","labels":{{{}
      "cloud.google.com/gke-nodepool":"pool-a","cloud.google.com/gke-tpu-accelerator":"tpu-v6e-slice"}}}},
      "status":{{"allocatable":{{"google.com/tpu":"many"}},"conditions":[{{"type":"Ready","status":"True"}}]}}}})",
      many_labels(100));
  EXPECT_THAT(NodeView::decode(json), IsError(ErrorCode::kInvalidArgument));
  const NodeView node = NodeView::decode_minimal(json, &kKept).value();
  EXPECT_TRUE(node.minimal);
  EXPECT_EQ(node.key, (ObjectKey{"", "n"}));
  EXPECT_EQ(node.resource_version, "7");
  EXPECT_THAT(node.labels, SizeIs(102));
  EXPECT_THAT(node.labels, testing::Contains(Pair("cloud.google.com/gke-nodepool", "pool-a")));
  EXPECT_FALSE(node.ready);
  EXPECT_THAT(*node.allocatable, IsEmpty());
}

TEST(AMinimalView, IsNotEqualToAWholeOne) {
  constexpr std::string_view kJson = R"({"metadata":{"name":"p","uid":"u"}})";
  EXPECT_FALSE(JobView::decode(kJson).value() == JobView::decode_minimal(kJson).value());
  EXPECT_FALSE(NodeView::decode(kJson).value() == NodeView::decode_minimal(kJson).value());
  EXPECT_FALSE(ServiceView::decode(kJson).value() == ServiceView::decode_minimal(kJson).value());
  EXPECT_FALSE(StatefulSetView::decode(kJson).value() == StatefulSetView::decode_minimal(kJson).value());
}

TEST(AMinimalObject, HasMetadataButNoText) {
  const ObjectView view =
      ObjectView::decode_minimal(R"({"metadata":{"name":"p","namespace":"a","uid":"u","deletionTimestamp":
      "2026-01-01T00:00:00Z"},"spec":{"groups":[1]}})")
          .value();
  EXPECT_THAT(view.text, IsEmpty());
  const Object object = view.object();
  EXPECT_EQ(object.key(), view.key);
  EXPECT_EQ(object.uid(), "u");
  EXPECT_TRUE(object.deletion_timestamp().has_value());
  EXPECT_FALSE(object.json().contains("spec"));
}

TEST(PodsAndJobs, KeepOnlyLabelsThatAreRead) {
  const std::string json = fmt::format(
      R"({{"metadata":{{"name":"p","uid":"u","labels":{{{}"app":"x","jobset.sigs.k8s.io/jobset-name":"train"}}}}}})",
      [] {
        std::string many;
        for (int i = 0; i < 513; ++i) many += fmt::format(R"("example.com/{}":"v",)", i);
        return many;
      }());
  EXPECT_THAT(PodView::decode(json, &kKept)->labels,
              UnorderedElementsAre(Pair("jobset.sigs.k8s.io/jobset-name", "train")));
  EXPECT_THAT(JobView::decode(json, &kKept)->labels, SizeIs(1));
  EXPECT_THAT(StatefulSetView::decode(json, &kKept)->labels, SizeIs(515)) << "they may be those of its owner";
  EXPECT_THAT(NodeView::decode(json, &kKept)->labels, SizeIs(515)) << "users select nodes by any label";
}

TEST(SuspendedJobs, HaveALimitedNumberOfValuesInTheirTemplate) {
  std::string terms;
  for (int i = 0; i < 150'000; ++i) terms += "{},";
  const std::string json = fmt::format(
      R"({{"metadata":{{"name":"j","uid":"u"}},"spec":{{"suspend":true,"template":{{"spec":{{"tolerations":[{}{{}}]}}}}}}}})",
      terms);
  const auto view = JobView::decode(json);
  EXPECT_THAT(view, IsError(ErrorCode::kInvalidArgument, HasSubstr(".spec.template")));
  EXPECT_TRUE(JobView::decode_minimal(json).ok());
}

}  // namespace
}  // namespace tpuslice
