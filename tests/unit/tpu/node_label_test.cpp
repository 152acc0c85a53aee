#include "tpu/node_label.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::tpu {
namespace {

constexpr const char* kTopology = "cloud.google.com/gke-tpu-topology";

Json pod_with_terms(const char* terms) {
  Json pod;
  pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"] =
      Json::parse(terms);
  return pod;
}

std::string topology_of(const char* terms) { return node_label(pod_with_terms(terms), kTopology); }

TEST(NodeLabel, IsThatOfTheSelectorBeforeThatOfTheAffinity) {
  Json pod = pod_with_terms(
      R"([{"matchExpressions": [{"key": "cloud.google.com/gke-tpu-topology", "operator": "In", "values": ["4x4"]}]}])");
  EXPECT_EQ(node_label(pod, kTopology), "4x4");
  EXPECT_EQ(node_label(pod, "zone"), "");
  pod["spec"]["nodeSelector"][kTopology] = "2x4";
  EXPECT_EQ(node_label(pod, kTopology), "2x4");
  EXPECT_EQ(node_label(Json(), kTopology), "");
}

TEST(NodeLabel, IsDemandedByEveryTerm) {
  EXPECT_EQ(topology_of(R"([
    {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]},
                          {"key": "cloud.google.com/gke-tpu-topology", "operator": "In", "values": ["4x4"]}]},
    {"matchExpressions": [{"key": "cloud.google.com/gke-tpu-topology", "operator": "In", "values": ["4x4"]}]}])"),
            "4x4");
  EXPECT_EQ(topology_of(R"([
    {"matchExpressions": [{"key": "cloud.google.com/gke-tpu-topology", "operator": "In", "values": ["4x4"]}]},
    {"matchExpressions": [{"key": "cloud.google.com/gke-tpu-topology", "operator": "In", "values": ["4x8"]}]}])"),
            "");
  EXPECT_EQ(topology_of(R"([
    {"matchExpressions": [{"key": "cloud.google.com/gke-tpu-topology", "operator": "In", "values": ["4x4"]}]},
    {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}])"),
            "");
}

TEST(NodeLabel, IsOneValue) {
  for (const char* expression :
       {R"({"key": "cloud.google.com/gke-tpu-topology", "operator": "In", "values": ["4x4", "4x8"]})",
        R"({"key": "cloud.google.com/gke-tpu-topology", "operator": "NotIn", "values": ["4x4"]})",
        R"({"key": "cloud.google.com/gke-tpu-topology", "operator": "In", "values": [4]})",
        R"({"key": "cloud.google.com/gke-tpu-topology", "operator": "Exists"})", R"("4x4")"}) {
    EXPECT_EQ(topology_of(fmt::format(R"([{{"matchExpressions": [{}]}}])", expression).c_str()), "") << expression;
  }
  EXPECT_EQ(topology_of("[]"), "");
  EXPECT_EQ(topology_of(R"({"matchExpressions": 1})"), "");
}

}  // namespace
}  // namespace tpuslice::tpu
