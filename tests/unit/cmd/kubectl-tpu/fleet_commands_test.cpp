// The commands about fleets, on snapshots in files.
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmd/kubectl-tpu/app.h"
#include "cmd/kubectl-tpu/operator_info.h"
#include "fleet/fleet_json.h"
#include "tests/support/fleet_document.h"

namespace tpuslice::plugin {
namespace {

using namespace std::chrono_literals;
using testing::FleetDocument;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class FleetCommands : public ::testing::Test {
 protected:
  int run(std::vector<std::string> arguments) {
    out_.str({});
    err_.str({});
    return run_app(arguments, {.out = out_, .err = err_, .clock = clock_});
  }
  /// The same, on the fleet.
  int ask(std::vector<std::string> arguments) {
    const std::string path = ::testing::TempDir() + "/fleet-commands.json";
    std::ofstream(path) << document_.json();
    arguments.insert(arguments.end(), {"--snapshot", path});
    return run(std::move(arguments));
  }

  static std::string write(const std::string& name, const std::string& text) {
    const std::string path = ::testing::TempDir() + "/fleet-commands-" + name;
    std::ofstream(path) << text;
    return path;
  }

  FakeClock clock_;
  FleetDocument document_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(FleetCommands, StatusIsHealthyUntilSomethingNeedsSomeone) {
  document_.pool({.name = "v6e-a"}).slice({.workload = "train", .pool = "v6e-a"});
  EXPECT_EQ(ask({"status"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), StartsWith("prod, operator 0.1.0, 2 of 2 ready, Kubernetes v1.36.3, 12:00 UTC\n"));
  document_.pool({.name = "v6e-b", .not_ready = {0}});
  EXPECT_EQ(ask({"status"}), 4);
  EXPECT_THAT(out_.str(), HasSubstr("1 thing needs someone\n"));
  EXPECT_EQ(ask({"status", "-o", "json"}), 4);
  EXPECT_TRUE(fleet::read_fleet(Json::parse(out_.str())).ok());
}

TEST_F(FleetCommands, StatusWithoutTpuNodesShowsWhoWaitsAndEndsAlikeInAllFormats) {
  EXPECT_EQ(ask({"status"}), 4);
  EXPECT_EQ(ask({"status", "-o", "json"}), 4);
  document_.slice({.workload = "serve", .topology = "8x8", .hosts = 16});
  EXPECT_EQ(ask({"status"}), 4);
  EXPECT_THAT(out_.str(), StartsWith("The cluster has no TPU nodes.\n"));
  EXPECT_THAT(out_.str(), HasSubstr("8x8"));
  EXPECT_EQ(ask({"status", "-o", "json"}), 4);
}

TEST_F(FleetCommands, TopEndsWhenItsOutputIsClosed) {
  document_.pool({.name = "v6e-a"});
  out_.setstate(std::ios::badbit);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(ask({"top", "--rounds", "2", "--interval", "30"}), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST_F(FleetCommands, VersionsHaveASchema) {
  EXPECT_EQ(run({"version", "--client", "-o", "json"}), 0);
  EXPECT_EQ(Json::parse(out_.str())["schema"], "tpuslice.dev/version.v1");
}

TEST_F(FleetCommands, TopIsDrawnAgain) {
  document_.pool({.name = "v6e-a"}).slice({.workload = "serve", .topology = "8x8", .hosts = 16});
  EXPECT_EQ(ask({"top", "--rounds", "2", "--interval", "1"}), 0) << err_.str();
  const std::string text = out_.str();
  EXPECT_NE(text.find("TOPOLOGY"), text.rfind("TOPOLOGY"));
  EXPECT_THAT(text, HasSubstr("NoMatchingNodes"));
}

TEST_F(FleetCommands, PoolsAreChosenByStateAndTpu) {
  document_.pool({.name = "v6e-a"}).pool({.name = "v6e-b", .not_ready = {0}});
  document_.pool({.name = "v6e-c", .topology = "2x4", .hosts = 2});
  EXPECT_EQ(ask({"pools", "-o", "name"}), 0);
  EXPECT_EQ(out_.str(), "pool/v6e-c\npool/v6e-a\npool/v6e-b\n");
  EXPECT_EQ(ask({"pools", "--state", "broken", "-o", "name"}), 0);
  EXPECT_EQ(out_.str(), "pool/v6e-b\n");
  EXPECT_EQ(ask({"pools", "--tpu", "v6e-2x4", "-o", "name"}), 0);
  EXPECT_EQ(out_.str(), "pool/v6e-c\n");
  EXPECT_EQ(ask({"pools"}), 0);
  EXPECT_THAT(err_.str(), HasSubstr("kubectl tpu explain pool/v6e-b"));
}

TEST_F(FleetCommands, SlicesThatWaitHaveAReason) {
  document_.pool({.name = "v6e-a"}).slice({.workload = "train", .pool = "v6e-a"});
  document_.slice({.workload = "next", .namespace_name = "ml"});
  EXPECT_EQ(ask({"slices", "-A", "--waiting"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("NodesInUse"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("train")));
  EXPECT_EQ(ask({"slices", "-n", "default"}), 0);
  EXPECT_THAT(out_.str(), Not(HasSubstr("next")));
}

TEST_F(FleetCommands, ExplainHasAnExitCode) {
  document_.pool({.name = "v6e-a"}).slice({.workload = "train", .pool = "v6e-a"}).slice({.workload = "next"});
  document_.slice({.workload = "serve", .topology = "8x8", .hosts = 16});
  EXPECT_EQ(ask({"explain", "jobset/train"}), 0);
  EXPECT_EQ(ask({"explain", "jobset/next"}), 3);
  EXPECT_THAT(out_.str(), HasSubstr("default/jobset/train (train-0), 30m, no deadline"));
  EXPECT_EQ(ask({"explain", "jobset/serve"}), 4);
  EXPECT_EQ(ask({"explain", "jobset/none"}), 1);
  EXPECT_EQ(ask({"explain", "none"}), 2);
  EXPECT_EQ(ask({"explain", "pool/v6e-a", "-o", "json"}), 0);
  EXPECT_EQ(Json::parse(out_.str())["pool"]["name"], "v6e-a");
}

TEST_F(FleetCommands, WhatIfTakesSeveralChanges) {
  document_.pool({.name = "v6e-a"}).slice({.workload = "train", .pool = "v6e-a"});
  EXPECT_EQ(ask({"what-if", "drain", "pool/v6e-a", "add", "v6e 4x4"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("v6e-4x4-new-1"));
  EXPECT_EQ(ask({"what-if", "drain"}), 2);
  EXPECT_EQ(ask({"what-if"}), 2);
}

TEST_F(FleetCommands, WhatIfSuggestsOnlyCommandsThatMakeTheChange) {
  document_.pool({.name = "v6e-a"}).slice({.workload = "train", .namespace_name = "ml", .pool = "v6e-a"});
  EXPECT_EQ(ask({"what-if", "drain", "pools/v6e-a"}), 0) << err_.str();
  EXPECT_THAT(err_.str(), HasSubstr(" drain pool/v6e-a --dry-run"));
  EXPECT_EQ(ask({"what-if", "drain", "node/v6e-a-1"}), 0) << err_.str();
  EXPECT_THAT(err_.str(), Not(HasSubstr("drain")));
  EXPECT_EQ(ask({"what-if", "delete", "jobset/train"}), 0) << err_.str();
  EXPECT_THAT(err_.str(), HasSubstr("kubectl delete jobset/train -n ml"));
}

TEST_F(FleetCommands, WhatIfOfARefusedManifestEndsAsPlanDoes) {
  const std::string path = write("refused.yaml",
                                 "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: x}, spec: "
                                 "{replicatedJobs: [{name: UPPER, template: {spec: {template: {spec: {containers: "
                                 "[]}}}}}]}}");
  document_.pool({.name = "v6e-a"});
  EXPECT_EQ(ask({"what-if", "-f", path}), 5);
  EXPECT_THAT(err_.str(), HasSubstr("refused: jobset/x: "));
}

TEST_F(FleetCommands, WhatIfAppliesAManifest) {
  document_.pool({.name = "v6e-a"}).slice({.workload = "train", .pool = "v6e-a"});
  EXPECT_EQ(ask({"what-if", "delete", "jobset/train", "-f", "deploy/samples/job-train-v6e-4x4.yaml"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("is deleted"));
  EXPECT_THAT(out_.str(), HasSubstr("is new"));
}

TEST_F(FleetCommands, HistoryIsOfATime) {
  document_.history(
      {{"time", "2026-01-01T11:00:00Z"}, {"namespace", "ml"}, {"kind", "JobSet"}, {"name", "a"}, {"what", "TornDown"}});
  document_.history(
      {{"time", "2026-01-01T01:00:00Z"}, {"namespace", "ml"}, {"kind", "JobSet"}, {"name", "b"}, {"what", "TornDown"}});
  EXPECT_EQ(ask({"history", "-A", "--since", "2h"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("ml/jobset/a"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("ml/jobset/b")));
  EXPECT_EQ(ask({"history", "--since", "soon"}), 2);
}

struct Sample {
  const char* file;
  const char* pools;
  int hosts;
};

// The names and variables are those of the operator and its webhook, which run in the rehearsal.
TEST_F(FleetCommands, PlanNamesTheHostsOfEachKind) {
  for (const Sample& sample :
       {Sample{"job-train-v6e-4x4.yaml", "v6e 4x4", 4}, Sample{"jobset-maxtext-v5p-2x2x4.yaml", "v5p 2x2x4 x2", 8},
        Sample{"leaderworkerset-jetstream-pathways-v6e-4x4.yaml", "v6e 4x4 x2", 4},
        Sample{"rayjob-train-v6e-4x4.yaml", "v6e 4x4 x2", 4}, Sample{"statefulset-serve-v5e-4x4.yaml", "v5e 4x4", 4}}) {
    const std::string file = std::string("deploy/samples/") + sample.file;
    EXPECT_EQ(run({"plan", "-f", file, "--pools", sample.pools, "-o", "json"}), 0) << file << err_.str() << out_.str();
    const Json plan = Json::parse(out_.str());
    EXPECT_GE(plan["hosts"].size(), static_cast<std::size_t>(sample.hosts)) << file;
    for (const Json& host : plan["hosts"]) {
      bool has_id = false;
      for (const Json& variable : host["env"]) has_id = has_id || variable["name"] == "TPU_WORKER_ID";
      EXPECT_TRUE(has_id) << file << host["pod"];
    }
    EXPECT_EQ(run({"plan", "-f", file, "--pools", "v4 2x2x1"}), 4) << file << out_.str();
  }
}

TEST_F(FleetCommands, PlanSaysWhatAdmissionRefuses) {
  const std::string path = ::testing::TempDir() + "/refused.yaml";
  std::ofstream(path) << "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: x}, spec: "
                         "{replicatedJobs: [{name: UPPER, template: {spec: {template: {spec: {containers: []}}}}}]}}";
  EXPECT_EQ(run({"plan", "-f", path, "--pools", "v6e 4x4"}), 5) << err_.str();
  EXPECT_THAT(err_.str(), HasSubstr("refused: jobset/x: "));
}

// An Indexed Job whose pods name a topology key of their own.
constexpr const char* kJobByRack = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: by-rack}
spec:
  completionMode: Indexed
  completions: 4
  parallelism: 4
  template:
    metadata: {annotations: {tpuslice.dev/topology-key: example.com/rack}}
    spec:
      restartPolicy: Never
      subdomain: by-rack
      nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 4x4}
      containers: [{name: a, image: a, resources: {limits: {google.com/tpu: "4"}}}]
)";

TEST_F(FleetCommands, PlanSaysWhichPodsAdmissionRefuses) {
  const std::string path = write("by-rack.yaml", kJobByRack);
  EXPECT_EQ(run({"plan", "-f", path, "--pools", "v6e 4x4"}), 5) << out_.str();
  EXPECT_THAT(err_.str(), HasSubstr("example.com/rack"));
}

TEST_F(FleetCommands, PlanAllowsTheTopologyKeysOfTheOperator) {
  document_.pool({.name = "v6e-a"}).option("topologyKeys", Json::array({"example.com/rack"}));
  const int code = ask({"plan", "-f", write("by-rack.yaml", kJobByRack), "-o", "json"});
  EXPECT_EQ(code, 4) << "no node has the label: " << err_.str();
  EXPECT_EQ(Json::parse(out_.str())["hosts"].size(), 4U);
}

TEST_F(FleetCommands, PlanTakesObjectsThatHaveNoNamespace) {
  const std::string path = write("cluster-scoped.yaml",
                                 "{apiVersion: v1, kind: Namespace, metadata: {name: ml}}\n---\n"
                                 "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, "
                                 "value: 1000}\n");
  EXPECT_EQ(run({"plan", "-f", path, "--pools", "v6e 4x4"}), 0) << err_.str();
}

TEST_F(FleetCommands, PlanNamesAFieldOfAnotherType) {
  const std::string path = write("metadata.yaml", "{apiVersion: v1, kind: Pod, metadata: foo}");
  EXPECT_EQ(run({"plan", "-f", path, "--pools", "v6e 4x4"}), 2) << err_.str();
  EXPECT_THAT(err_.str(), HasSubstr("metadata: Invalid value"));
  for (const char* manifest :
       {"{apiVersion: v1, kind: Pod, metadata: {name: 5}}", "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: x}",
        "{apiVersion: v1, kind: Pod, metadata: {name: a, labels: x, annotations: [1]}, spec: {containers: x}}",
        "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {metadata: x, spec: {containers: "
        "[x]}}}}",
        "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: x}",
        "{apiVersion: 1, kind: [x], metadata: {}}"}) {
    EXPECT_NE(run({"plan", "-f", write("odd.yaml", manifest), "--pools", "v6e 4x4"}), 0) << manifest << out_.str();
  }
}

TEST(OperatorInfo, ReadsTheOptionsOfTheDeployment) {
  const Json deployment = {
      {"metadata", {{"namespace", "tpu"}}},
      {"spec",
       {{"replicas", 2},
        {"template",
         {{"spec",
           {{"containers",
             Json::array({Json{{"image", "registry.example:5000/tpu-slice-operator:0.1.0@sha256:abc"},
                               {"args", Json::array({"--leader-election-namespace=tpu", "--scale-up=scout",
                                                     "--feature-gates=SlicePreemption=true",
                                                     "--max-preemptions-per-hour=3", "--config=/etc/x"})}}})}}}}}}},
      {"status", {{"readyReplicas", 1}}}};
  fleet::Snapshot snapshot;
  EXPECT_FALSE(read_deployment(deployment, snapshot)) << "it has a configuration file";
  EXPECT_EQ(snapshot.cluster.operator_version, "0.1.0");
  EXPECT_EQ(snapshot.cluster.replicas, 2);
  EXPECT_EQ(snapshot.cluster.ready, 1);
  EXPECT_EQ(snapshot.options.scale_up.mode, placement::ScaleUp::kScout);
  EXPECT_EQ(snapshot.options.scale_up.namespace_name, "tpu");
  EXPECT_EQ(snapshot.options.max_preemptions_per_hour, 3U);
}

}  // namespace
}  // namespace tpuslice::plugin
