#include "cmd/tpu-slice-sim/schema/builtin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmd/tpu-slice-sim/resources/builtin_resources.h"
#include "tests/unit/cmd/tpu-slice-sim/resources.h"

namespace tpuslice::sim {
namespace {

using testing::parse;
using testing::resource;

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

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

TEST(BuiltinSchema, HasAnEntryForEveryResource) {
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

TEST(BuiltinDefaults, CompleteAPodTemplate) {
  const Json object =
      defaulted("PodTemplate", parse(R"({"template":{"spec":{"containers":[{"name":"a","image":"b"}]}}})"));
  const Json& spec = object["template"]["spec"];
  EXPECT_EQ(spec["restartPolicy"], "Always");
  EXPECT_EQ(spec["containers"][0]["terminationMessagePath"], "/dev/termination-log");
  EXPECT_FALSE(object.contains("spec"));
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
  const Json job = defaulted("Job", parse(R"({"spec":{"template":{}}})"));
  EXPECT_EQ(job["spec"]["backoffLimit"], 6);
  EXPECT_EQ(job["spec"]["completions"], 1);
  EXPECT_FALSE(job["spec"]["template"]["spec"].contains("tolerations")) << "templates get no admission defaults";
  const Json secret = defaulted("Secret", parse(R"({"stringData":{"a":"hello"}})"));
  EXPECT_EQ(secret, parse(R"({"type":"Opaque","data":{"a":"aGVsbG8="}})"));
  const Json set = defaulted("StatefulSet", parse(R"({"spec":{"template":{}}})"))["spec"];
  EXPECT_EQ(set["updateStrategy"], parse(R"({"type":"RollingUpdate","rollingUpdate":{"partition":0}})"));
  const Json hook = defaulted("MutatingWebhookConfiguration", parse(R"({"webhooks":[{"name":"a.b.c"}]})"));
  EXPECT_EQ(hook["webhooks"][0]["timeoutSeconds"], 10);
  EXPECT_EQ(hook["webhooks"][0]["reinvocationPolicy"], "Never");
}

TEST(BuiltinValidation, AllowsDuplicateEnvironmentVariables) {
  Json pod = defaulted("Pod", a_pod());
  pod["spec"]["containers"][0]["env"] = parse(R"([{"name":"A","value":"1"},{"name":"A","value":"2"}])");
  EXPECT_THAT(check("Pod", pod), IsEmpty());
}

TEST(BuiltinValidation, ChecksTypesCountsAndQuantities) {
  Json set = defaulted("StatefulSet", parse(R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{
    "metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"i"}]}}}})"));
  EXPECT_THAT(check("StatefulSet", set), IsEmpty());
  set["spec"]["replicas"] = -1;
  set["spec"]["serviceName"] = 5;
  set["spec"]["template"]["spec"]["containers"][0]["resources"] = parse(R"({"limits":{"cpu":"many"}})");
  EXPECT_THAT(check("StatefulSet", set),
              UnorderedElementsAre(HasSubstr("spec.replicas: Invalid value: -1"),
                                   HasSubstr("spec.serviceName in body must be of type string"),
                                   HasSubstr("resources.limits.cpu in body must be of type quantity")));
}

TEST(BuiltinValidation, ChecksLabelsAndSelectorOfTemplates) {
  Json set = defaulted("StatefulSet", parse(R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{
    "metadata":{"labels":{"a":"c","-bad":"x y"}},"spec":{"containers":[{"name":"a","image":"i"}]}}}})"));
  const auto problems = check("StatefulSet", set);
  EXPECT_THAT(problems, Contains(HasSubstr("spec.template.metadata.labels: Invalid value: \"-bad\"")));
  EXPECT_THAT(problems, Contains(HasSubstr("spec.template.metadata.labels: Invalid value: \"x y\"")));
  EXPECT_THAT(problems, Contains(HasSubstr("`selector` does not match template `labels`")));
  set["spec"]["selector"] = Json::object();
  EXPECT_THAT(check("StatefulSet", set), Contains(HasSubstr("empty selector is invalid for statefulset")));
}

TEST(BuiltinValidation, ChecksWhatMayChange) {
  const Json service = parse(R"({"spec":{"clusterIP":"10.0.0.1"}})");
  EXPECT_THAT(check("Service", parse(R"({"spec":{"clusterIP":"10.0.0.2"}})"), &service),
              ElementsAre(R"(spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set)"));
  const Json revision = parse(R"({"revision":1,"data":{"a":"b"}})");
  EXPECT_THAT(check("ControllerRevision", parse(R"({"revision":2,"data":{"a":"c"}})"), &revision),
              ElementsAre(R"(data: Invalid value: {"a":"c"}: field is immutable)"));
  const Json set = parse(R"({"spec":{"serviceName":"a","selector":{"matchLabels":{"a":"b"}},"template":{
    "metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a"}]}}}})");
  Json renamed = set;
  renamed["spec"]["serviceName"] = "other";
  EXPECT_THAT(check("StatefulSet", renamed, &set),
              ElementsAre(HasSubstr("spec: Forbidden: updates to statefulset spec for fields other than 'replicas'")));
}

}  // namespace
}  // namespace tpuslice::sim
