#include "api/sim/schema/builtin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "api/sim/builtin_resources.h"
#include "api/types/patch.h"
#include "api/types/yaml.h"
#include "tests/unit/api/sim/resources.h"

namespace tpuslice::sim {
namespace {

using testing::parse;
using testing::resource;

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> check(std::string_view kind, const Json& object, const Json* old = nullptr) {
  std::vector<std::string> lines;
  for (const FieldProblem& each : validate_builtin(resource(kind), object, old)) {
    lines.push_back(each.path + ": " + each.message);
  }
  return lines;
}

Json defaulted(std::string_view kind, Json object) {
  default_builtin(resource(kind), object);
  return object;
}

Json a_pod() {
  return parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default"},
    "spec":{"containers":[{"name":"main","image":"ray:2.9","resources":{"limits":{"google.com/tpu":4,"cpu":0.5}}}]}})");
}

TEST(BuiltinSchema, IsThereForEveryResource) {
  for (const Resource& each : builtin_resources()) {
    const Json& schema = builtin_schema(each);
    ASSERT_TRUE(schema.is_object()) << each.id();
    EXPECT_TRUE(schema["properties"].contains("metadata")) << each.id();
  }
  const Json& pods = builtin_schema(resource("Pod"));
  const Json* containers = find_path(pods, {"properties", "spec", "properties", "containers"});
  ASSERT_NE(containers, nullptr);
  EXPECT_EQ((*containers)["x-kubernetes-patch-merge-key"], "name");
  EXPECT_EQ((*containers)["x-kubernetes-list-map-keys"], parse(R"(["name"])"));
}

TEST(BuiltinDefaults, CompleteAPodAsTheServerDoes) {
  const Json pod = defaulted("Pod", a_pod());
  const Json& spec = pod["spec"];
  EXPECT_EQ(spec["restartPolicy"], "Always");
  EXPECT_EQ(spec["dnsPolicy"], "ClusterFirst");
  EXPECT_EQ(spec["terminationGracePeriodSeconds"], 30);
  EXPECT_EQ(spec["schedulerName"], "default-scheduler");
  EXPECT_EQ(spec["securityContext"], Json::object());
  EXPECT_EQ(spec["enableServiceLinks"], true);
  EXPECT_EQ(spec["serviceAccountName"], "default");
  EXPECT_EQ(spec["serviceAccount"], "default");
  EXPECT_EQ(spec["priority"], 0);
  EXPECT_EQ(spec["preemptionPolicy"], "PreemptLowerPriority");
  EXPECT_EQ(spec["tolerations"].size(), 2U);
  const Json& container = spec["containers"][0];
  EXPECT_EQ(container["imagePullPolicy"], "IfNotPresent");
  EXPECT_EQ(container["terminationMessagePath"], "/dev/termination-log");
  EXPECT_EQ(container["resources"], parse(R"({"limits":{"google.com/tpu":"4","cpu":"500m"},
                                              "requests":{"google.com/tpu":"4","cpu":"500m"}})"));
  EXPECT_EQ(pod["status"], parse(R"({"phase":"Pending","qosClass":"Burstable"})"));
  EXPECT_EQ(defaulted("Pod", pod), pod) << "defaults are idempotent";
  EXPECT_THAT(check("Pod", pod), IsEmpty());
}

TEST(BuiltinDefaults, ChooseThePullPolicyByTheTag) {
  for (const auto& [image, policy] : std::map<std::string, std::string>{{"ray", "Always"},
                                                                        {"ray:latest", "Always"},
                                                                        {"host:5000/ray", "Always"},
                                                                        {"host:5000/ray:1", "IfNotPresent"},
                                                                        {"ray@sha256:00", "IfNotPresent"}}) {
    Json pod = a_pod();
    pod["spec"]["containers"][0]["image"] = image;
    EXPECT_EQ(defaulted("Pod", pod)["spec"]["containers"][0]["imagePullPolicy"], policy) << image;
  }
}

TEST(BuiltinDefaults, CompleteProbesPortsAndVolumes) {
  Json pod = a_pod();
  pod["spec"]["containers"][0]["readinessProbe"] = parse(R"({"httpGet":{"port":8080}})");
  pod["spec"]["containers"][0]["ports"] = parse(R"([{"containerPort":80}])");
  pod["spec"]["volumes"] = parse(R"([{"name":"e"},{"name":"s","secret":{"secretName":"x"}}])");
  const Json spec = defaulted("Pod", pod)["spec"];
  EXPECT_EQ(spec["containers"][0]["readinessProbe"],
            parse(R"({"httpGet":{"port":8080,"path":"/","scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,
                      "successThreshold":1,"failureThreshold":3})"));
  EXPECT_EQ(spec["containers"][0]["ports"][0]["protocol"], "TCP");
  EXPECT_EQ(spec["volumes"], parse(R"([{"name":"e","emptyDir":{}},
                                       {"name":"s","secret":{"secretName":"x","defaultMode":420}}])"));
}

TEST(BuiltinDefaults, CompleteOtherKinds) {
  const Json service = defaulted("Service", parse(R"({"spec":{"clusterIP":"None","ports":[{"port":80}]}})"))["spec"];
  EXPECT_EQ(service, parse(R"({"type":"ClusterIP","clusterIP":"None","clusterIPs":["None"],"sessionAffinity":"None",
    "ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack","internalTrafficPolicy":"Cluster",
    "ports":[{"port":80,"protocol":"TCP","targetPort":80}]})"));
  const Json job = defaulted("Job", parse(R"({"metadata":{"name":"j","uid":"u"},"spec":{"template":{}}})"));
  EXPECT_EQ(job["spec"]["backoffLimit"], 6);
  EXPECT_EQ(job["spec"]["completions"], 1);
  EXPECT_EQ(job["spec"]["selector"], parse(R"({"matchLabels":{"batch.kubernetes.io/controller-uid":"u"}})"));
  EXPECT_EQ(job["spec"]["template"]["metadata"]["labels"]["job-name"], "j");
  EXPECT_FALSE(job["spec"]["template"]["spec"].contains("tolerations")) << "templates get no admission defaults";
  const Json secret = defaulted("Secret", parse(R"({"stringData":{"a":"hello"}})"));
  EXPECT_EQ(secret, parse(R"({"type":"Opaque","data":{"a":"aGVsbG8="}})"));
  const Json space = defaulted("Namespace", parse(R"({"metadata":{"name":"n"}})"));
  EXPECT_EQ(space["metadata"]["labels"]["kubernetes.io/metadata.name"], "n");
  const Json set = defaulted("StatefulSet", parse(R"({"spec":{"template":{}}})"))["spec"];
  EXPECT_EQ(set["updateStrategy"], parse(R"({"type":"RollingUpdate","rollingUpdate":{"partition":0}})"));
  const Json hook = defaulted("MutatingWebhookConfiguration", parse(R"({"webhooks":[{"name":"a.b.c"}]})"));
  EXPECT_EQ(hook["webhooks"][0]["timeoutSeconds"], 10);
  EXPECT_EQ(hook["webhooks"][0]["reinvocationPolicy"], "Never");
}

struct PodCase {
  const char* change;  ///< A merge patch for spec.
  const char* problem;
};

class PodValidation : public ::testing::TestWithParam<PodCase> {};

TEST_P(PodValidation, NamesFieldAndValue) {
  Json pod = defaulted("Pod", a_pod());
  pod["spec"] = apply_merge_patch(pod["spec"], parse(GetParam().change));
  EXPECT_THAT(check("Pod", pod), Contains(HasSubstr(GetParam().problem))) << GetParam().change;
}

INSTANTIATE_TEST_SUITE_P(
    Table, PodValidation,
    ::testing::Values(
        PodCase{R"({"containers":null})", "spec.containers: Required value"},
        PodCase{R"({"containers":[]})", "spec.containers: Required value"},
        PodCase{R"({"containers":[{"name":"A","image":"i"}]})", "spec.containers[0].name: Invalid value: \"A\""},
        PodCase{R"({"containers":[{"name":"a"}]})", "spec.containers[0].image: Required value"},
        PodCase{R"({"containers":[{"name":"a","image":"i"},{"name":"a","image":"i"}]})",
                "spec.containers[1].name: Duplicate value: \"a\""},
        PodCase{R"({"containers":[{"name":"a","image":"i","env":[{"name":""}]}]})",
                "spec.containers[0].env[0].name: Required value"},
        PodCase{
            R"({"containers":[{"name":"a","image":"i","ports":[{"containerPort":70000}]}]})",
            "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive"},
        PodCase{R"({"containers":[{"name":"a","image":"i","volumeMounts":[{"name":"v","mountPath":"/v"}]}]})",
                "spec.containers[0].volumeMounts[0].name: Not found: \"v\""},
        PodCase{
            R"({"containers":[{"name":"a","image":"i","resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}}}]})",
            "spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of "
            "1"},
        PodCase{
            R"({"containers":[{"name":"a","image":"i","resources":{"requests":{"google.com/tpu":"2"}}}]})",
            "spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources"},
        PodCase{R"({"containers":[{"name":"a","image":"i",
                    "resources":{"requests":{"google.com/tpu":"2"},"limits":{"google.com/tpu":"4"}}}]})",
                "must be equal to google.com/tpu limit of 4"},
        PodCase{R"({"containers":[{"name":"a","image":"i","resources":{"limits":{"google.com/tpu":"1500m"}}}]})",
                "spec.containers[0].resources.limits[google.com/tpu]: Invalid value: \"1500m\": must be an integer"},
        PodCase{R"({"containers":[{"name":"a","image":"i","livenessProbe":{}}]})",
                "spec.containers[0].livenessProbe: Required value: must specify a handler type"},
        PodCase{R"({"restartPolicy":"Sometimes"})",
                "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \"OnFailure\", "
                "\"Never\""},
        PodCase{R"({"hostname":"a.b"})", "spec.hostname: Invalid value: \"a.b\""},
        PodCase{R"({"subdomain":"A"})", "spec.subdomain: Invalid value: \"A\""},
        PodCase{R"({"terminationGracePeriodSeconds":"x"})",
                "spec.terminationGracePeriodSeconds: Invalid value: \"string\": spec.terminationGracePeriodSeconds in "
                "body must be of type integer: \"string\""},
        PodCase{R"({"tolerations":[{"operator":"Equal","value":"x"}]})",
                "spec.tolerations[0].operator: Invalid value: \"Equal\": operator must be Exists when `key` is empty"},
        PodCase{R"({"nodeSelector":{"a b":"c"}})", "spec.nodeSelector: Invalid value: \"a b\""},
        PodCase{R"({"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}}})",
                "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required "
                "value: can not be empty"},
        PodCase{R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
                    {"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In"}]}]}}}})",
                "nodeSelectorTerms[0].matchExpressions[0].values: Required value"},
        PodCase{R"({"schedulingGates":[{"name":"a"},{"name":"a"}]})",
                "spec.schedulingGates[1]: Duplicate value: \"a\""},
        PodCase{R"({"volumes":[{"name":"v"}]})", "spec.volumes[0]: Required value: must specify a volume type"}));

TEST(BuiltinValidation, ChecksLabelsOwnersAndAnnotations) {
  Json pod = defaulted("Pod", a_pod());
  pod["metadata"]["labels"] = parse(R"({"-bad":"x","good":"a b"})");
  pod["metadata"]["ownerReferences"] = parse(R"([{"apiVersion":"v1","kind":"A","name":"a","uid":"1","controller":true},
                                                 {"apiVersion":"v1","kind":"B","name":"b","uid":"2","controller":true}])");
  const auto problems = check("Pod", pod);
  EXPECT_THAT(problems, Contains(HasSubstr("metadata.labels: Invalid value: \"-bad\"")));
  EXPECT_THAT(problems, Contains(HasSubstr("metadata.labels: Invalid value: \"a b\"")));
  EXPECT_THAT(problems, Contains(HasSubstr("Only one reference can have Controller set to true")));
}

TEST(BuiltinValidation, LetsEnvironmentVariablesRepeat) {
  Json pod = defaulted("Pod", a_pod());
  pod["spec"]["containers"][0]["env"] = parse(R"([{"name":"A","value":"1"},{"name":"A","value":"2"}])");
  EXPECT_THAT(check("Pod", pod), IsEmpty());
}

TEST(BuiltinValidation, ChecksServices) {
  EXPECT_THAT(check("Service", parse(R"({"spec":{"type":"ClusterIP"}})")), ElementsAre("spec.ports: Required value"));
  EXPECT_THAT(check("Service", parse(R"({"spec":{"clusterIP":"None"}})")), IsEmpty());
  EXPECT_THAT(check("Service", parse(R"({"spec":{"ports":[{"port":1},{"port":1}]}})")),
              ElementsAre("spec.ports[0].name: Required value", "spec.ports[1].name: Required value",
                          R"(spec.ports[1]: Duplicate value: {"port":1,"protocol":"TCP"})"));
  const Json old = parse(R"({"spec":{"clusterIP":"10.0.0.1","ports":[{"port":1}]}})");
  EXPECT_THAT(check("Service", parse(R"({"spec":{"clusterIP":"10.0.0.2","ports":[{"port":1}]}})"), &old),
              ElementsAre(R"(spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set)"));
}

TEST(BuiltinValidation, ChecksJobsAndTheirUpdates) {
  const Json job = defaulted("Job", parse(R"({"metadata":{"name":"j","uid":"u"},"spec":{"suspend":true,
    "template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"i"}]}}}})"));
  EXPECT_THAT(check("Job", job), IsEmpty());
  Json bad = job;
  bad["spec"]["completionMode"] = "Indexed";
  bad["spec"].erase("completions");
  bad["spec"]["parallelism"] = -1;
  bad["spec"]["template"]["spec"]["restartPolicy"] = "Always";
  EXPECT_THAT(check("Job", bad),
              ElementsAre("spec.parallelism: Invalid value: -1: must be greater than or equal to 0",
                          "spec.completions: Required value: when completion mode is Indexed",
                          "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\""));
  Json moved = job;
  moved["spec"]["template"]["spec"]["nodeSelector"] = {{"pool", "a"}};
  EXPECT_THAT(check("Job", moved, &job), IsEmpty()) << "a suspended job may be moved";
  Json running = job;
  running["spec"]["suspend"] = false;
  EXPECT_THAT(check("Job", moved, &running), Contains(HasSubstr("spec.template: Invalid value")));
}

TEST(BuiltinValidation, ChecksSelectorsOfWorkloads) {
  Json set = defaulted("StatefulSet", parse(R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{
    "metadata":{"labels":{"a":"c"}},"spec":{"containers":[{"name":"a","image":"i"}]}}}})"));
  EXPECT_THAT(check("StatefulSet", set), Contains(HasSubstr("`selector` does not match template `labels`")));
  set["spec"]["template"]["metadata"]["labels"]["a"] = "b";
  EXPECT_THAT(check("StatefulSet", set), IsEmpty());
  Json renamed = set;
  renamed["spec"]["serviceName"] = "other";
  EXPECT_THAT(check("StatefulSet", renamed, &set),
              ElementsAre(HasSubstr("spec: Forbidden: updates to statefulset spec for fields other than 'replicas'")));
  set["spec"]["selector"] = Json::object();
  EXPECT_THAT(check("StatefulSet", set), Contains(HasSubstr("empty selector is invalid for statefulset")));
}

TEST(BuiltinValidation, ChecksWebhookConfigurations) {
  const auto problems =
      check("MutatingWebhookConfiguration", parse(R"j({"webhooks":[{"name":"short","sideEffects":"Some",
    "admissionReviewVersions":["v1beta1"],"clientConfig":{},"timeoutSeconds":60,"rules":[{"operations":["PATCH"],
    "apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}],
    "matchConditions":[{"name":"c","expression":"object.sort()"}]
}]
})j"));
  for (const char* expected :
       {"webhooks[0].name: Invalid value: \"short\"", "webhooks[0].clientConfig: Required value",
        "webhooks[0].sideEffects: Unsupported value: \"Some\"",
        "webhooks[0].timeoutSeconds: Invalid value: 60: the timeout value must be between 1 and 30 seconds",
        "webhooks[0].rules[0].operations[0]: Unsupported value: \"PATCH\"",
        "webhooks[0].matchConditions[0].expression: Invalid value: \"object.sort()\": compilation failed",
        "webhooks[0].admissionReviewVersions: Invalid value"}) {
    EXPECT_THAT(problems, Contains(HasSubstr(expected)));
  }
}

TEST(BuiltinValidation, AcceptsTheWebhooksWeShip) {
  std::ostringstream text;
  text << std::ifstream("deploy/webhook/webhook.yaml").rdbuf();
  const auto documents = parse_yaml_documents(text.str());
  ASSERT_TRUE(documents.ok()) << documents.error().message();
  std::size_t configurations = 0;
  for (const YamlDocument& document : *documents) {
    const std::string kind = string_at(document.value, {"kind"});
    EXPECT_THAT(check(kind, defaulted(kind, document.value)), IsEmpty()) << kind;
    configurations += kind.ends_with("WebhookConfiguration") ? 1U : 0U;
  }
  EXPECT_EQ(configurations, 2U);
}

}  // namespace
}  // namespace tpuslice::sim
