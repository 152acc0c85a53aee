#include "cmd/tpu-slice-sim/cluster/saved_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/clock.h"
#include "cmd/tpu-slice-sim/cluster/cluster.h"
#include "cmd/tpu-slice-sim/cluster/conditions.h"
#include "tests/support/error_matchers.h"

namespace tpuslice::sim {
namespace {

using ::testing::HasSubstr;

/// A node as an API server prints it.
Json a_node(const std::string& name, const char* ready) {
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata",
           {{"name", name},
            {"uid", "1-2-3"},
            {"resourceVersion", "7"},
            {"labels", {{"cloud.google.com/gke-tpu-accelerator", "tpu-v6e-slice"}}},
            {"annotations", {{"node.alpha.kubernetes.io/ttl", "0"}}}}},
          {"spec",
           {{"podCIDR", "10.1.2.0/24"},
            {"unschedulable", true},
            {"taints",
             {{{"key", "google.com/tpu"}, {"value", "present"}, {"effect", "NoSchedule"}},
              {{"key", "node.kubernetes.io/unschedulable"}, {"effect", "NoSchedule"}}}}}},
          {"status",
           {{"capacity", {{"google.com/tpu", "4"}}},
            {"allocatable", {{"google.com/tpu", "4"}}},
            {"conditions", {{{"type", "Ready"}, {"status", ready}}}}}}};
}

Json a_list(std::vector<Json> items) { return {{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}}; }

Json a_job(const std::string& name) {
  return {{"apiVersion", "batch/v1"},
          {"kind", "Job"},
          {"metadata",
           {{"name", name}, {"namespace", "ml"}, {"uid", "4-5-6"}, {"resourceVersion", "9"}, {"labels", {{"a", "b"}}}}},
          {"spec", {{"completions", 4}}},
          {"status", {{"active", 4}}}};
}

TEST(SavedNodes, KeepWhatPlacementReads) {
  const auto nodes = saved_nodes(a_list({a_node("v6e-0", "True")}));
  ASSERT_TRUE(nodes.ok()) << nodes.error().message();
  const Json& node = nodes->front();
  EXPECT_EQ(node["metadata"],
            Json({{"name", "v6e-0"}, {"labels", {{"cloud.google.com/gke-tpu-accelerator", "tpu-v6e-slice"}}}}));
  EXPECT_EQ(node["spec"]["taints"].size(), 1U) << "the other one follows from the cordon";
  EXPECT_EQ(node["spec"]["unschedulable"], true);
  EXPECT_EQ(node["status"]["allocatable"]["google.com/tpu"], "4");
}

TEST(SavedNodes, AreReadyOrLostAsTheyWere) {
  const FakeClock clock;
  ClusterOptions options;
  options.pools.clear();
  options.nodes = saved_nodes(a_list({a_node("v6e-0", "True"), a_node("v6e-1", "Unknown")})).value();
  Cluster cluster(clock, std::move(options));
  while (cluster.step()) {
  }
  EXPECT_EQ(condition_status(*cluster.storage().get("nodes", {"", "v6e-0"}), "Ready"), "True");
  EXPECT_EQ(condition_status(*cluster.storage().get("nodes", {"", "v6e-1"}), "Ready"), "Unknown");
}

TEST(SavedNodes, RefuseOtherObjects) {
  EXPECT_THAT(saved_nodes(a_list({a_node("v6e-0", "True"), a_job("train")})),
              IsError(ErrorCode::kInvalidArgument, HasSubstr("items[1]")));
  EXPECT_THAT(saved_nodes(Json::object()), IsError(ErrorCode::kInvalidArgument, HasSubstr("items")));
}

TEST(SavedManifests, AreTheItemsOfAListWithTheirNamespaces) {
  const std::vector<Json> manifests = saved_manifests(a_list({a_job("train"), a_job("eval")}));
  ASSERT_EQ(manifests.size(), 3U);
  EXPECT_EQ(manifests[0], Json({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "ml"}}}}));
  EXPECT_EQ(manifests[1]["metadata"], Json({{"name", "train"}, {"namespace", "ml"}, {"labels", {{"a", "b"}}}}));
  EXPECT_FALSE(manifests[1].contains("status"));
  EXPECT_EQ(manifests[1]["spec"], a_job("train")["spec"]);
}

TEST(SavedManifests, LeaveOutWhatHasEndedOrIsControlled) {
  Json ended = a_job("ended");
  ended["status"] = {{"conditions", {{{"type", "Complete"}, {"status", "True"}}}}};
  Json ray_job = a_job("ray");
  ray_job["status"] = {{"jobDeploymentStatus", "Failed"}};
  Json child = a_job("child");
  child["metadata"]["ownerReferences"] = {{{"kind", "JobSet"}, {"name", "a"}, {"controller", true}}};
  EXPECT_TRUE(saved_manifests(a_list({ended, ray_job, child, Json("text"), Json::object()})).empty());
}

TEST(SavedManifests, KeepALeaderWorkerSetWithFailedGroups) {
  Json set = a_job("groups");
  set["kind"] = "LeaderWorkerSet";
  set["status"] = {{"conditions", {{{"type", "Failed"}, {"status", "True"}}}}};
  EXPECT_EQ(saved_manifests(a_list({set})).size(), 2U) << "its other groups run";
}

TEST(SavedManifests, LeaveOtherDocumentsAsTheyAre) {
  Json manifest = a_job("train");
  EXPECT_EQ(saved_manifests(manifest), std::vector<Json>{manifest});
}

}  // namespace
}  // namespace tpuslice::sim
