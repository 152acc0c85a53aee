// KubeRay's metrics of RayClusters. Names, types and labels are those of ray_cluster_metrics.go of v1.7.0.
#include "controllers/raycluster/raycluster_metrics.h"

#include <gtest/gtest.h>

namespace tpuslice::raycluster {
namespace {

std::shared_ptr<const ObjectView> cluster(const std::string& name, Json status, Json labels = Json::object()) {
  return std::make_shared<const ObjectView>(*ObjectView::from_json({{"apiVersion", "ray.io/v1"},
                                                                    {"kind", "RayCluster"},
                                                                    {"metadata",
                                                                     {{"name", name},
                                                                      {"namespace", "team-a"},
                                                                      {"uid", "uid-" + name},
                                                                      {"creationTimestamp", "2026-03-01T10:00:00Z"},
                                                                      {"labels", std::move(labels)},
                                                                      {"annotations", {{"status", "ignored"}}}}},
                                                                    {"spec", {{"headGroupSpec", Json::object()}}},
                                                                    {"status", std::move(status)}}));
}

Json provisioned(const char* value, const char* since) {
  return {{"conditions",
           {{{"type", "HeadPodReady"}, {"status", "True"}, {"lastTransitionTime", "2026-03-01T10:00:30Z"}},
            {{"type", "RayClusterProvisioned"}, {"status", value}, {"lastTransitionTime", since}}}}};
}

std::string metrics(const std::vector<std::shared_ptr<const ObjectView>>& clusters) {
  std::string text;
  SeriesWriter out(text);
  write_metrics(clusters, out);
  return text;
}

TEST(RayClusterMetrics, AreKubeRays) {
  EXPECT_EQ(
      metrics({cluster("a", provisioned("True", "2026-03-01T10:02:05Z")),
               cluster("b", provisioned("False", "2026-03-01T10:00:01Z"), {{"ray.io/originated-from-crd", "RayJob"}}),
               cluster("c", Json())}),
      "# HELP kuberay_cluster_condition_provisioned 1, with the label condition: whether all pods of the RayCluster "
      "have "
      "been ready.\n"
      "# TYPE kuberay_cluster_condition_provisioned gauge\n"
      "kuberay_cluster_condition_provisioned{condition=\"true\",name=\"a\",namespace=\"team-a\",uid=\"uid-a\"} 1\n"
      "kuberay_cluster_condition_provisioned{condition=\"false\",name=\"b\",namespace=\"team-a\",uid=\"uid-b\"} 1\n"
      "kuberay_cluster_condition_provisioned{condition=\"false\",name=\"c\",namespace=\"team-a\",uid=\"uid-c\"} 1\n"
      "# HELP kuberay_cluster_info 1, with the kind of the object that the RayCluster was created for.\n"
      "# TYPE kuberay_cluster_info gauge\n"
      "kuberay_cluster_info{name=\"a\",namespace=\"team-a\",owner_kind=\"None\",uid=\"uid-a\"} 1\n"
      "kuberay_cluster_info{name=\"b\",namespace=\"team-a\",owner_kind=\"RayJob\",uid=\"uid-b\"} 1\n"
      "kuberay_cluster_info{name=\"c\",namespace=\"team-a\",owner_kind=\"None\",uid=\"uid-c\"} 1\n"
      "# HELP kuberay_cluster_provisioned_duration_seconds Seconds from the creation of the RayCluster until all its "
      "pods were ready.\n"
      "# TYPE kuberay_cluster_provisioned_duration_seconds gauge\n"
      "kuberay_cluster_provisioned_duration_seconds{name=\"a\",namespace=\"team-a\",uid=\"uid-a\"} 125\n");
}

TEST(RayClusterMetrics, OfNoClusterAreNothing) { EXPECT_EQ(metrics({}), ""); }

TEST(RayClusterMetrics, SayOfAMinimalViewThatTheClusterExists) {
  auto minimal = std::make_shared<ObjectView>(*cluster("a", Json()));
  minimal->minimal = true;
  minimal->text.clear();
  EXPECT_EQ(metrics({minimal}),
            "# HELP kuberay_cluster_info 1, with the kind of the object that the RayCluster was created for.\n"
            "# TYPE kuberay_cluster_info gauge\n"
            "kuberay_cluster_info{name=\"a\",namespace=\"team-a\",owner_kind=\"None\",uid=\"uid-a\"} 1\n");
}

TEST(RayClusterMetrics, HaveNoDurationWithoutTheTimeOfTheCondition) {
  const std::string text = metrics({cluster("a", provisioned("True", "soon"))});
  EXPECT_NE(text.find("condition_provisioned{condition=\"true\""), std::string::npos) << text;
  EXPECT_EQ(text.find("duration"), std::string::npos) << text;
}

}  // namespace
}  // namespace tpuslice::raycluster
