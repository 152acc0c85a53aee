// The Helm chart: its default values, other values on a real API server, and values that it refuses.
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "api/base/strings.h"
#include "tests/e2e/install/install_plane.h"

namespace tpuslice::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

constexpr const char* kTemplate =
    "helm template tpu-slice-operator deploy/helm/tpu-slice-operator --namespace tpu-slice-system 2>/dev/null";

/// Of Helm, on every object.
void remove_labels_of_helm(ObjectSet& objects) {
  for (auto& [id, object] : objects) {
    Json& metadata = object["metadata"];
    for (const char* label :
         {"helm.sh/chart", "app.kubernetes.io/managed-by", "app.kubernetes.io/instance", "app.kubernetes.io/version"}) {
      if (metadata.contains("labels")) metadata["labels"].erase(label);
    }
    if (metadata.contains("annotations")) metadata["annotations"].erase("helm.sh/resource-policy");
    for (const char* member : {"labels", "annotations"}) {
      if (metadata.contains(member) && metadata[member].empty()) metadata.erase(member);
    }
  }
}

class Chart : public InstallPlane {
 protected:
  /// The objects that a command prints.
  static ObjectSet objects_of(const std::string& command) {
    const auto objects = object_set(expect_run(command));
    EXPECT_TRUE(objects.ok()) << command << ": " << (objects.ok() ? "" : objects.error().message());
    return objects.ok() ? *objects : ObjectSet();
  }
};

TEST_F(Chart, HasNoLintErrors) {
  EXPECT_THAT(expect_run("helm lint --strict deploy/helm/tpu-slice-operator"), HasSubstr("0 chart(s) failed"));
}

TEST_F(Chart, InstallsWhatTheDefaultOverlayDoes) {
  ObjectSet chart = objects_of(kTemplate);
  remove_labels_of_helm(chart);
  ObjectSet overlay = objects_of("kubectl kustomize deploy/overlays/default");
  ASSERT_EQ(overlay.erase("Namespace tpu-slice-system"), 1U);
  EXPECT_THAT(differences(chart, overlay), IsEmpty());
}

TEST_F(Chart, InstallsWhatTheOverlaysBesideUpstreamDo) {
  const std::map<std::string, std::string> overlays = {{"beside-kuberay", "{*,-raycluster}"},
                                                       {"beside-jobset", "{*,-jobset}"},
                                                       {"beside-lws", "{*,-leaderworkerset}"},
                                                       {"beside-upstream", "{slice}"},
                                                       {"webhook-only", "{-slice}"}};
  for (const auto& [name, controllers] : overlays) {
    ObjectSet chart = objects_of(fmt::format("{} --set 'controllers={}'", kTemplate, controllers));
    remove_labels_of_helm(chart);
    ObjectSet overlay = objects_of("kubectl kustomize deploy/overlays/" + name);
    overlay.erase("Namespace tpu-slice-system");
    // The order of the flags differs.
    for (ObjectSet* objects : {&chart, &overlay}) {
      Json& args = objects->at(
          "Deployment tpu-slice-system/tpu-slice-operator")["spec"]["template"]["spec"]["containers"][0]["args"];
      std::sort(args.begin(), args.end());
    }
    EXPECT_THAT(differences(chart, overlay), IsEmpty()) << name;
  }
}

TEST_F(Chart, CanBeInstalledInAnotherNamespace) {
  const std::string text = expect_run(
      "helm template x deploy/helm/tpu-slice-operator --namespace tpu 2>/dev/null | grep -v 'helm.sh/chart'");
  EXPECT_EQ(text.find("tpu-slice-system"), std::string::npos);
  EXPECT_THAT(text, HasSubstr("system:serviceaccount:tpu:tpu-slice-operator"));
}

TEST_F(Chart, GivesPodsTimeToEndAfterTheShutdownDelay) {
  const auto grace = [](const std::string& values) {
    const ObjectSet objects = objects_of(fmt::format("{} {}", kTemplate, values));
    return int_at(objects.at("Deployment tpu-slice-system/tpu-slice-operator"),
                  {"spec", "template", "spec", "terminationGracePeriodSeconds"});
  };
  EXPECT_EQ(grace(""), 30);
  EXPECT_EQ(grace("--set config.shutdownDelay=120"), 140);
  EXPECT_EQ(grace("--set config.shutdownDelay=0"), 30);
}

TEST_F(Chart, LeavesTheWebhookOpenOnRequest) {
  const std::string kMutating = "MutatingWebhookConfiguration tpu-slice-operator";
  const std::string kValidating = "ValidatingWebhookConfiguration tpu-slice-operator";
  const ObjectSet open =
      objects_of(fmt::format("{} --set webhook.failurePolicy=Ignore --set webhook.annotations.a=b", kTemplate));
  EXPECT_EQ(open.at(kMutating)["metadata"]["annotations"],
            Json({{"a", "b"}, {"tpuslice.dev/failure-policy", "Ignore"}}));
  EXPECT_EQ(open.at(kValidating)["metadata"]["annotations"], Json({{"a", "b"}}));
  for (const char* values : {"", "--set webhook.failurePolicy=Ignore"}) {
    const ObjectSet objects = objects_of(fmt::format("{} {}", kTemplate, values));
    for (const Json& webhook : objects.at(kMutating)["webhooks"]) {
      EXPECT_EQ(webhook["failurePolicy"], "Ignore") << values << ": the operator sets Fail";
    }
  }
}

/// With a certificate of the user, the operator needs no permission but that for the failure policy.
TEST_F(Chart, GrantsWhatTheCertificateAndTheFailurePolicyNeed) {
  const auto has = [](const std::string& values, const std::string& role) {
    const ObjectSet objects = objects_of(fmt::format("{} --set webhook.certificateSecret=tls {}", kTemplate, values));
    return objects.contains("ClusterRole " + role);
  };
  EXPECT_TRUE(has("", "tpu-slice-operator-webhook"));
  EXPECT_FALSE(has("", "tpu-slice-operator-webhook-certificate"));
  EXPECT_FALSE(has("--set webhook.failurePolicy=Ignore", "tpu-slice-operator-webhook"));
}

TEST_F(Chart, GrantsThePermissionsOfKindsInNamespacesOnRequest) {
  const std::string values = "--set rbac.namespaced=true --set 'config.watchNamespace={a,b}'";
  const ObjectSet objects = objects_of(fmt::format("{} {}", kTemplate, values));
  const auto resources = [&](const std::string& role) {
    std::set<std::string> out;
    for (const Json& rule : objects.at(role)["rules"]) {
      for (const Json& resource : rule["resources"]) out.insert(resource.get<std::string>());
    }
    return out;
  };
  const std::string name = "tpu-slice-operator-leaderworkerset";
  EXPECT_THAT(resources("ClusterRole " + name), ElementsAre("leases", "nodes", "pods", "subjectaccessreviews"));
  for (const char* space : {"a/", "b/"}) {
    EXPECT_THAT(resources("Role " + (space + name)), IsSupersetOf({"leaderworkersets", "pods", "statefulsets"}));
    EXPECT_THAT(resources("Role " + (space + name)), Not(Contains("nodes")));
    EXPECT_EQ(objects.at("RoleBinding " + (space + name))["roleRef"]["kind"], "Role");
    EXPECT_TRUE(objects.contains(fmt::format("Role {}tpu-slice-operator-raycluster-autoscaler", space)));
  }
  EXPECT_FALSE(objects.contains("ClusterRole tpu-slice-operator-raycluster-autoscaler")) << "nothing is left for it";
  EXPECT_THAT(resources("ClusterRole tpu-slice-operator-slice"), Contains("pods/status"));
  EXPECT_NE(run(fmt::format("{} --set rbac.namespaced=true", kTemplate)).exit_code, 0) << "in which namespaces?";
}

TEST_F(Chart, HasRolesOfUsersUnlessTheyAreSwitchedOff) {
  constexpr const char* kRole = "ClusterRole tpu-slice-jobset-editor";
  EXPECT_TRUE(objects_of(kTemplate).contains(kRole));
  EXPECT_FALSE(objects_of(fmt::format("{} --set rbac.userRoles=false", kTemplate)).contains(kRole));
  EXPECT_FALSE(objects_of(fmt::format("{} --set 'controllers={{*,-jobset}}'", kTemplate)).contains(kRole));
}

TEST_F(Chart, IsTheSameWhenItIsPackaged) {
  const std::string folder = plane().dir() + "/package";
  expect_run(fmt::format("mkdir -p {0} && helm package deploy/helm/tpu-slice-operator --destination {0}", folder));
  const ObjectSet packaged = objects_of(
      fmt::format("helm template tpu-slice-operator {}/tpu-slice-operator-*.tgz --namespace tpu-slice-system", folder));
  EXPECT_THAT(differences(packaged, objects_of(kTemplate)), IsEmpty());
}

/// Values in the commands of the page, and more that touch what they do not.
std::set<std::string> combinations() {
  std::set<std::string> values = {
      "",
      "--set replicas=1",
      "--set 'controllers={*,-raycluster,-jobset,-leaderworkerset}'",
      "--set crds.install=false --set rbac.rayAutoscaler=false",
      "--set rbac.userRoles=false",
      "--set rbac.namespaced=true --set 'config.watchNamespace={default,kube-public}'",
      "--set metrics.secure=false --set metrics.port=8080",
      "--set metrics.certificateSecret=tls --set webhook.clientCaConfigMap=ca",
      "--set webhook.failurePolicy=Ignore --set webhook.timeoutSeconds=10 --set admissionPolicy.enabled=false",
      "--set networkPolicy.enabled=false --set podDisruptionBudget.enabled=false --set topologySpread.enabled=false",
      "--set networkPolicy.metricsFrom=null --set podDisruptionBudget.minAvailable=50%",
      "--set priorityClass.create=false --set priorityClass.name=system-cluster-critical",
      "--set nodeSelector.pool=cpu --set 'tolerations[0].operator=Exists' --set podAnnotations.a=b --set podLabels.c=d",
      "--set serviceAccount.annotations.a=b --set 'imagePullSecrets[0].name=registry' --set image.pullPolicy=Always",
      "--set drain.enabled=true --set drain.gatePolicy=true --set config.logLevel=debug",
      "--set config.rayCluster.headClusterIp=true --set 'config.topologyKeys={a,b}' --set config.maxScaleUps=3"};
  const auto page = read_file("docs/install.md");
  for (const std::string& line : split(page.ok() ? *page : "", '\n')) {
    if (!trimmed(line).starts_with("helm ") || line.find("--set") == std::string::npos) continue;
    values.insert(trimmed(line.substr(line.find("--set"), line.find(" #") - line.find("--set"))));
  }
  return values;
}

TEST_F(Chart, EveryCombinationOfValuesIsAccepted) {
  expect_run("kubectl create namespace tpu-slice-system");
  const auto all = combinations();
  EXPECT_GT(all.size(), 15U) << "docs/install.md names no values";
  for (const std::string& values : all) {
    const CommandOutput applied =
        run(fmt::format("{} {} | kubectl apply --server-side --dry-run=server -f -", kTemplate, values));
    EXPECT_EQ(applied.exit_code, 0) << values << "\n" << applied.text.substr(0, 3000);
    EXPECT_THAT(applied.text, HasSubstr("deployment.apps/tpu-slice-operator serverside-applied")) << values;
  }
  expect_run("kubectl delete namespace tpu-slice-system");
}

TEST_F(Chart, RefusesOtherValuesAndNamesThem) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"--set replicas=two", "at '/replicas': got string, want integer"},
      {"--set replicas=0", "at '/replicas': minimum: got 0, want 1"},
      {"--set replicaCount=2", "additional properties 'replicaCount' not allowed"},
      {"--set 'controllers={*,-ray}'", "at '/controllers/1': '-ray' does not match pattern"},
      {"--set config.leaderElect=false", "at '/config': additional properties 'leaderElect' not allowed"},
      {"--set config.logLevel=trace", "at '/config/logLevel': value must be one of 'debug', 'info', 'warn', 'error'"},
      {"--set webhook.failurePolicy=Never", "at '/webhook/failurePolicy': value must be one of 'Fail', 'Ignore'"},
      {"--set webhook.port=0", "at '/webhook/port': minimum: got 0, want 1"},
      {"--set priorityClass.value=2000000000", "at '/priorityClass/value': maximum"},
      {"--set 'config.watchNamespace={A}'", "at '/config/watchNamespace/0': 'A' does not match pattern"},
      {"--set image.repository=", "at '/image/repository': minLength: got 0, want 1"}};
  for (const auto& [values, message] : cases) {
    const CommandOutput refused = run("helm template x deploy/helm/tpu-slice-operator " + values);
    EXPECT_NE(refused.exit_code, 0) << values;
    EXPECT_THAT(refused.text, HasSubstr(message)) << values;
  }
}

}  // namespace
}  // namespace tpuslice::testing
