// KubeRay's metrics of RayServices. Names, types and labels are those of ray_service_metrics.go of v1.7.0.
#include "controllers/rayservice/rayservice_metrics.h"

#include <gtest/gtest.h>

namespace tpuslice::rayservice {
namespace {

std::shared_ptr<const ObjectView> service(const std::string& name, Json conditions) {
  return std::make_shared<const ObjectView>(
      *ObjectView::from_json({{"metadata", {{"name", name}, {"namespace", "team-a"}, {"uid", "uid-" + name}}},
                              {"spec", {{"serveConfigV2", "applications: []"}}},
                              {"status", {{"conditions", std::move(conditions)}}}}));
}

Json condition(const char* type, const char* status) { return {{"type", type}, {"status", status}}; }

std::string metrics(const std::vector<std::shared_ptr<const ObjectView>>& services) {
  std::string text;
  SeriesWriter out(text);
  write_metrics(services, out);
  return text;
}

TEST(RayServiceMetrics, AreKubeRays) {
  EXPECT_EQ(
      metrics({service("a", {condition("Ready", "True"), condition("UpgradeInProgress", "True")}),
               service("b", {condition("Ready", "Unknown"), condition("UpgradeInProgress", "False")})}),
      "# HELP kuberay_service_condition_ready 1, with the label condition: whether the RayService has endpoints that "
      "serve.\n"
      "# TYPE kuberay_service_condition_ready gauge\n"
      "kuberay_service_condition_ready{condition=\"true\",name=\"a\",namespace=\"team-a\",uid=\"uid-a\"} 1\n"
      "kuberay_service_condition_ready{condition=\"false\",name=\"b\",namespace=\"team-a\",uid=\"uid-b\"} 1\n"
      "# HELP kuberay_service_condition_upgrade_in_progress 1, with the label condition: whether a pending RayCluster "
      "exists beside the active one of the RayService.\n"
      "# TYPE kuberay_service_condition_upgrade_in_progress gauge\n"
      "kuberay_service_condition_upgrade_in_progress{condition=\"true\",name=\"a\",namespace=\"team-a\",uid=\"uid-a\"} "
      "1\n"
      "kuberay_service_condition_upgrade_in_progress{condition=\"false\",name=\"b\",namespace=\"team-a\",uid=\"uid-b\"}"
      " "
      "1\n"
      "# HELP kuberay_service_info 1 for each RayService.\n"
      "# TYPE kuberay_service_info gauge\n"
      "kuberay_service_info{name=\"a\",namespace=\"team-a\",uid=\"uid-a\"} 1\n"
      "kuberay_service_info{name=\"b\",namespace=\"team-a\",uid=\"uid-b\"} 1\n");
}

TEST(RayServiceMetrics, SayOfAMinimalViewThatTheRayServiceExists) {
  auto minimal = std::make_shared<ObjectView>(*service("a", Json::array()));
  minimal->minimal = true;
  minimal->text.clear();
  EXPECT_EQ(metrics({minimal}),
            "# HELP kuberay_service_info 1 for each RayService.\n"
            "# TYPE kuberay_service_info gauge\n"
            "kuberay_service_info{name=\"a\",namespace=\"team-a\",uid=\"uid-a\"} 1\n");
}

}  // namespace
}  // namespace tpuslice::rayservice
