#include "controllers/leaderworkerset/rules/normal_form.h"

#include <gtest/gtest.h>

namespace tpuslice::leaderworkerset {
namespace {

Json parsed(const char* text) { return Json::parse(text); }

struct Spelling {
  const char* name;
  const char* written;
  const char* normal;
};

class PodTemplateSpellings : public testing::TestWithParam<Spelling> {};

TEST_P(PodTemplateSpellings, HaveOneNormalForm) {
  EXPECT_EQ(normal_pod_template(parsed(GetParam().written)), parsed(GetParam().normal));
  EXPECT_EQ(normal_pod_template(parsed(GetParam().normal)), parsed(GetParam().normal)) << "idempotent";
}

INSTANTIATE_TEST_SUITE_P(
    Cases, PodTemplateSpellings,
    testing::Values(
        Spelling{"Empty", R"({})", R"({"metadata": {}})"},
        Spelling{"CreationTimestamp", R"({"metadata": {"creationTimestamp": null}})", R"({"metadata": {}})"},
        Spelling{"NullArgs", R"({"spec": {"containers": [{"name": "c", "args": null, "command": []}]}})",
                 R"({"metadata": {}, "spec": {"containers": [{"name": "c", "resources": {}}]}})"},
        Spelling{"Quantities",
                 R"({"spec": {"overhead": {"cpu": "0.5"}, "initContainers": [
                        {"resources": {"limits": {"memory": "1024Mi", "google.com/tpu": 4}, "requests": null}}]}})",
                 R"({"metadata": {}, "spec": {"overhead": {"cpu": "500m"}, "initContainers": [
                        {"resources": {"limits": {"memory": "1Gi", "google.com/tpu": "4"}}}]}})"},
        Spelling{"EmptyValues",
                 R"({"metadata": {"labels": {"a": ""}, "annotations": {}}, "spec": {"hostNetwork": false,
                        "schedulerName": "", "containers": [{"resources": {}, "tty": false,
                        "env": [{"name": "N", "value": ""}], "envFrom": []}]}})",
                 R"({"metadata": {"labels": {"a": ""}}, "spec": {"containers": [
                        {"resources": {}, "env": [{"name": "N"}]}]}})"},
        Spelling{"Ports", R"({"spec": {"containers": [{"ports": [{"containerPort": 1, "hostPort": 0, "name": ""},
                        {"containerPort": 1, "protocol": "UDP"}]}]}})",
                 R"({"metadata": {}, "spec": {"containers": [{"resources": {}, "ports": [
                        {"containerPort": 1, "protocol": "TCP"}, {"containerPort": 1, "protocol": "UDP"}]}]}})"},
        Spelling{"Divisor",
                 R"({"spec": {"containers": [{"env": [
                        {"valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
                        {"valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": 0}}}]}]}})",
                 R"({"metadata": {}, "spec": {"containers": [{"resources": {}, "env": [
                        {"valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}},
                        {"valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}}]}]}})"},
        Spelling{"Probes",
                 R"({"spec": {"containers": [{"livenessProbe": {"initialDelaySeconds": 0, "periodSeconds": 5}}]}})",
                 R"({"metadata": {}, "spec": {"containers": [
                        {"resources": {}, "livenessProbe": {"periodSeconds": 5}}]}})"},
        Spelling{"SizeLimit", R"({"spec": {"volumes": [{"emptyDir": {"sizeLimit": "1024Mi", "medium": ""}}]}})",
                 R"({"metadata": {}, "spec": {"volumes": [{"emptyDir": {"sizeLimit": "1Gi"}}]}})"}),
    [](const auto& test) { return std::string(test.param.name); });

class EmptyValues : public testing::TestWithParam<const char*> {};

TEST_P(EmptyValues, StayIfTheyDifferFromAbsent) {
  const Json pod = {{"metadata", Json::object()}, {"spec", parsed(GetParam())}};
  EXPECT_EQ(normal_pod_template(pod), pod);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, EmptyValues,
    testing::Values(R"({"terminationGracePeriodSeconds": 0, "automountServiceAccountToken": false})",
                    R"({"securityContext": {"runAsUser": 0, "runAsNonRoot": false}, "enableServiceLinks": false})",
                    R"({"tolerations": [{"operator": "Exists", "tolerationSeconds": 0}]})",
                    R"({"volumes": [{"name": "v", "emptyDir": {}}]})",
                    R"({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                        [{"topologyKey": "k", "labelSelector": {}, "namespaceSelector": {}}]}}})",
                    R"({"nodeSelector": {"empty": ""}})", R"({"priority": 0})"));

TEST(GroupTemplates, HaveDefaults) {
  const Json bare = parsed(R"({"spec": {"leaderWorkerTemplate": {"workerTemplate": {}}}})");
  const Json normal =
      parsed(R"({"size": 1, "restartPolicy": "RecreateGroupOnPodRestart", "workerTemplate": {"metadata": {}}})");
  EXPECT_EQ(normal_group_template(bare), normal);
  EXPECT_EQ(normal_group_template({{"spec", {{"leaderWorkerTemplate", normal}}}}), normal);
  EXPECT_EQ(normal_group_template(parsed(R"({"spec": {"leaderWorkerTemplate": {"$patch": "replace", "size": null,
      "leaderTemplate": null, "subGroupPolicy": null, "volumeClaimTemplates": [], "restartPolicy": "",
      "workerTemplate": {"metadata": {"creationTimestamp": null}}}}})")),
            normal);
}

TEST(GroupTemplates, ReplaceTheDeprecatedRestartPolicyDefaultWithNone) {
  const Json normal =
      normal_group_template(parsed(R"({"spec": {"leaderWorkerTemplate": {"restartPolicy": "Default"}}})"));
  EXPECT_EQ(normal["restartPolicy"], "None");
}

TEST(GroupTemplates, HaveADefaultSubGroupPolicyType) {
  const Json normal =
      normal_group_template(parsed(R"({"spec": {"leaderWorkerTemplate": {"subGroupPolicy": {"subGroupSize": 2}}}})"));
  EXPECT_EQ(normal["subGroupPolicy"], parsed(R"({"subGroupSize": 2, "subGroupPolicyType": "LeaderWorker"})"));
}

TEST(GroupTemplates, HaveVolumeClaimsAsGoPrintsThem) {
  const Json normal = normal_group_template(parsed(R"({"spec": {"leaderWorkerTemplate": {"volumeClaimTemplates": [
      {"metadata": {"name": "d"}, "spec": {"storageClassName": "", "resources": {"requests": {"storage": 1024}}}},
      {"metadata": {"name": "e"}}]}}})"));
  EXPECT_EQ(normal["volumeClaimTemplates"], parsed(R"([
      {"metadata": {"name": "d"}, "status": {},
       "spec": {"storageClassName": "", "resources": {"requests": {"storage": "1024"}}}},
      {"metadata": {"name": "e"}, "status": {}, "spec": {"resources": {}}}])"));
}

class MalformedTemplates : public testing::TestWithParam<const char*> {};

TEST_P(MalformedTemplates, DoNotThrow) {
  EXPECT_NO_THROW((void)normal_group_template({{"spec", {{"leaderWorkerTemplate", parsed(GetParam())}}}}));
}

INSTANTIATE_TEST_SUITE_P(Shapes, MalformedTemplates,
                         testing::Values("null", "[]", "3", R"({"workerTemplate": 1, "leaderTemplate": "x"})",
                                         R"({"volumeClaimTemplates": [1, null, {"spec": 2}], "subGroupPolicy": 1})",
                                         R"({"workerTemplate": {"spec": {"containers": [1, null, {"resources":
                                             {"limits": {"cpu": {}, "memory": "x"}}}]}}})",
                                         R"({"workerTemplate": {"metadata": [], "spec": {"overhead": 1}}})"));

}  // namespace
}  // namespace tpuslice::leaderworkerset
