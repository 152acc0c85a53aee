// The questions of docs/kubectl-tpu.md, asked of a real API server about workloads of every kind: they run, wait, have
// lost a host, or can never start.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include "api/base/strings.h"
#include "tests/e2e/install/ways.h"
#include "tests/e2e/plugin/plugin_plane.h"
#include "tests/e2e/uninstall/workloads.h"

namespace tpuslice::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kSlices = 9;  ///< That run.

/// Two roles of a slice each.
constexpr const char* kDisaggregatedSet = R"(
apiVersion: disaggregatedset.x-k8s.io/v1
kind: DisaggregatedSet
metadata: {name: llm}
spec:
  roles:
    - name: prefill
      spec: &role
        leaderWorkerTemplate:
          size: 4
          workerTemplate:
            spec:
              terminationGracePeriodSeconds: 0
              nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 4x4}
              containers: [{name: main, image: example, resources: {limits: {google.com/tpu: 4}}}]
    - {name: decode, spec: *role}
)";

/// As kubectl tpu names them.
constexpr const char* kWorkloads[] = {"raycluster/of-raycluster", "rayjob/rayjob",       "rayservice/rayservice",
                                      "jobset/of-jobset",         "lws/of-lws",          "job/of-job",
                                      "statefulset/of-sts",       "disaggregatedset/llm"};

class TenQuestions : public PluginPlane {
 protected:
  /// In namespace ml a slice of each kind runs, and that of a LeaderWorkerSet has been restarted; jobset/next waits
  /// for a pool with a cordoned node, jobset/never for an accelerator that the cluster has not.
  void start_workloads() {
    create_namespace("ml");
    ASSERT_TRUE(plane().add_pools({pool_named("tpu-8"), pool_named("tpu-9")}).ok());
    for (const char* kind : {"raycluster", "rayjob", "rayservice", "jobset", "leaderworkerset", "job", "statefulset"}) {
      apply_in("ml", workload_of(kind));
    }
    apply_in("ml", kDisaggregatedSet);
    ASSERT_NO_FATAL_FAILURE(wait_running("ml", kSlices * kHostsOfSlice));
    expect_run("kubectl -n ml delete pod of-lws-0-2");
    ASSERT_NO_FATAL_FAILURE(wait_until("kubectl tpu history -n ml | grep -E 'of-lws.* [0-9]+s, same pool'"));
    free_ = trimmed(expect_run("kubectl tpu pools --state free -o name | sed s,pool/,,"));
    used_ = trimmed(
        expect_run("kubectl tpu slices -n ml -o json | jq -r '.slices[] | select(.kind == \"RayCluster\").pool'"));
    expect_run("kubectl cordon " + free_ + "-1");
    apply_in("ml", jobset_manifest("next", false));
    std::string never = jobset_manifest("never", false);
    RE2::GlobalReplace(&never, "tpu-v6e-slice", "tpu-v5-lite-podslice");
    apply_in("ml", never);
    for (const char* each : {"next", "never"}) {
      ASSERT_NO_FATAL_FAILURE(
          wait_until(fmt::format("test -n \"$(kubectl -n ml get pods -l jobset.sigs.k8s.io/jobset-name={} -o "
                                 "jsonpath='{{.items[*].metadata.annotations.tpuslice\\.dev/waiting}}')\"",
                                 each)));
    }
  }

  static void ask_about_the_fleet();
  void ask_about_waiting_slices();
  static void ask_about_hosts();
  static void ask_for_plans();
  static void ask_about_the_installation();
  void read_an_object_by_the_page();
  void drain_a_pool();

  std::string free_;  ///< The pool with the cordoned node.
  std::string used_;  ///< That of the RayCluster.
};

void TenQuestions::ask_about_the_fleet() {
  expect_tpu("status", 4,
             {"^operator \\S+, 2 of 2 ready, Kubernetes v1\\.\\d+\\.\\d+, \\d\\d:\\d\\d UTC$",
              "^v6e +4x4 +10 +9 +0 +1 +144 of 160 \\(90%\\) +1 ", "^2 things need someone$",
              "^pool/tpu-\\d +node tpu-\\d-1 is cordoned: 16 chips idle +kubectl tpu explain pool/",
              "^ml/jobset/never .* kubectl tpu explain jobset/never -n ml$"});
  std::vector<std::string> rows = {"^tpu-\\d +v6e 4x4 +(\\.c\\.\\.) +draining +- .* node tpu-\\d-1 is cordoned$"};
  for (const char* each : {"raycluster/of-raycluster", "rayjob/rayjob", "rayservice/rayservice", "jobset/of-jobset",
                           "leaderworkerset/of-lws", "job/of-job", "statefulset/of-sts", "disaggregatedset/llm"}) {
    rows.push_back(fmt::format("^tpu-\\d +v6e 4x4 +#### +in use +ml/{} \\S+ +\\d+[sm] ", each));
  }
  expect_tpu("pools", 0, rows);
  expect_tpu("pools -o wide", 0, {" on-demand +1 +tpu-\\d-0,tpu-\\d-1,tpu-\\d-2,tpu-\\d-3$"});
  expect_tpu("slices -A", 0,
             {"^1 +ml +jobset/next +next-slice-0 +v6e 4x4 +0/4 +Waiting +\\d+s +- +NodesInUse +-$",
              "^- +ml +jobset/never +never-slice-0 +v5e 4x4 +0/4 +Waiting +\\d+s +- +NoMatchingNodes ",
              "^- +ml +disaggregatedset/llm +llm-0-\\S+-decode-0 +v6e 4x4 +4/4 +Running ",
              "^- +ml +rayservice/rayservice +tpu-0 +v6e 4x4 +4/4 +Running "});
  expect_tpu("slices --waiting", 0, {"^No slices wait in namespace default\\.$"});
  expect_tpu("slices -A -o json | jq -r '.schema, (.slices | length)'", 0, {"^tpuslice.dev/fleet.v1\n11$"});
  expect_tpu("top --rounds 1", 0, {"^v6e +4x4 +10 ", "jobset/next +next-slice-0 "});
  expect_tpu("history -A", 0,
             {"^\\d\\d:\\d\\d +ml/leaderworkerset/of-lws +of-lws-0 +\\w+ +pod of-lws-0-2 is being deleted +0\\.0 "
              "host-hours +\\d+s, same pool$",
              "^1 interruption, 0\\.0 host-hours lost of "});
  expect_tpu("history jobset/of-jobset -n ml", 0, {"^No interruptions are recorded\\.$"});
  expect_tpu("ui --export " + plane().dir() + "/fleet.html", 0, {"is written: the page in one file"});
  expect_run("grep -q of-raycluster " + plane().dir() + "/fleet.html");
}

void TenQuestions::ask_about_waiting_slices() {
  expect_tpu(
      "explain jobset/next -n ml", 3,
      {"^jobset/next waits: 1 slice of 4 hosts \\(v6e 4x4\\), for \\d+s, 1st in the queue\\.  \\[NodesInUse\\]$",
       fmt::format("^{} +yes +no +node {}-1 is cordoned$", free_, free_),
       fmt::format("^{} +yes +no +ml/raycluster/of-raycluster \\(tpu-0\\), \\d+[sm], no deadline$", used_),
       fmt::format("^Helps: +kubectl uncordon {}-1 \\(it starts at once\\)$", free_), "^Autoscaler: none found"});
  const std::string written =
      trimmed(expect_run("kubectl -n ml get pods -l jobset.sigs.k8s.io/jobset-name=next -o "
                         "jsonpath='{.items[*].metadata.annotations.tpuslice\\.dev/waiting}'"));
  EXPECT_THAT(tpu("explain jobset/next -n ml").text, HasSubstr("\n" + written + "\n")) << "what the operator wrote";
  expect_tpu("explain jobset/never -n ml", 4,
             {"^jobset/never .*\\[NoMatchingNodes\\]$", "no node pool of tpu-v5-lite-podslice"});
  for (const char* each : kWorkloads) {
    expect_tpu(fmt::format("explain {} -n ml", each), 0,
               {"runs: \\d slices? of 4 hosts \\(v6e 4x4\\), for ", "^\\S+ +4/4 +Running +\\d+[sm] +tpu-\\d +-$",
                fmt::format("^Next: kubectl tpu hosts {} -n ml$", each)});
  }
  expect_tpu("explain pool/" + free_, 4,
             {"is draining: v6e 4x4, 16 chips, 0 of 4 hosts in use\\.$", "^Waiting: +1 slice for v6e 4x4$",
              "^Repaired: +ml/jobset/next \\(next-slice-0\\) starts at once$"});
  expect_tpu("explain jobset/none -n ml", 1, {"none"});
  const std::string waits = "^ml/jobset/next +next-slice-0 +4 +waits, 1st +";
  expect_tpu("what-if delete jobset/of-jobset -n ml", 0,
             {"^ml/jobset/of-jobset +of-jobset-slice-0 +4 +tpu-\\d for .* is deleted +-$", waits + "starts +tpu-\\d$",
              "^Next: kubectl delete jobset/of-jobset -n ml$"});
  expect_tpu("what-if add 'v6e 4x4 x1'", 0, {waits + "starts +v6e-4x4-new-1$"});
  expect_tpu("what-if repair pool/" + free_, 0, {waits + "starts +" + free_ + "$"});
  expect_tpu(fmt::format("what-if lose node/{}-0", used_), 0,
             {"^ml/raycluster/of-raycluster +tpu-0 +4 .* ends +waits, 1st of 2$", waits + "waits longer +waits, 2nd"});
}

void TenQuestions::ask_about_hosts() {
  for (const char* each : kWorkloads) {
    expect_tpu(fmt::format("hosts {} -n ml --check", each), 0,
               {"(^|-0 +)0 +\\S+ +tpu-\\d-0 +yes +0 +- +0 ok +ok +ok$",
                "(^|-0 +)3 +\\S+ +tpu-\\d-3 +yes +0 +- +3 ok +ok +ok$"});
  }
  expect_tpu("hosts disaggregatedset/llm -n ml -o name | wc -l", 0, {"^8$"});
  expect_tpu("hosts jobset/next -n ml", 3, {"^3 +next-slice-0-3-\\S+ +- +no "});
  // Kubelets are not there; each host whose log cannot be read is named.
  expect_tpu("logs job/of-job -n ml", 1, {"^\\[host 0\\] get the log of pod ml/of-job-0-", "^\\[host 3\\] "});
  for (const char* each : {"raycluster/of-raycluster", "rayjob/rayjob", "rayservice/rayservice"}) {
    expect_tpu(fmt::format("session {} -n ml --print", each), 0,
               {"^http://127\\.0\\.0\\.1:8265$", "^Next: kubectl port-forward -n ml .*head-svc 8265:8265$"});
  }
}

void TenQuestions::ask_for_plans() {
  expect_tpu("plan -n ml -f deploy/samples/jobset-maxtext-v5p-2x2x4.yaml", 4,
             {"^Job +2 +maxtext-v5p-slice-0, maxtext-v5p-slice-1$",
              "^maxtext-v5p-slice-1 +3 +3 +1 +maxtext-v5p-slice-1-3\\.maxtext-v5p$", "^Requests: +32 google.com/tpu$",
              "^Fits: +no, not as the cluster is  \\[NoMatchingNodes\\]$", "^Autoscaler: none found"});
  const std::string made = plane().dir() + "/made.yaml";
  expect_tpu("create jobset made --tpu v6e-4x4 --image example -- sleep 9 2>/dev/null >" + made, 0, {});
  expect_tpu("plan -n ml -f " + made, 3,
             {"^made-slice-0 +3 +3 +- +made-slice-0-3\\.made$", "^Fits: +not now  \\[(QueuedBehind|NodesInUse)\\]$",
              "^Queue: +it would be 2nd of 2 "});
  expect_tpu("what-if -n ml -f " + made, 0, {"^ml/jobset/made +made-slice-0 +4 "});
  expect_run("kubectl -n ml apply --dry-run=server -f " + made);
}

void TenQuestions::ask_about_the_installation() {
  expect_tpu("check", 0,
             {"^api server +ok +Kubernetes v1\\.", "^crd rayclusters +ok +serves v1, installed by kubectl$",
              "^operator +ok +2 of 2 replicas Ready", "^leader +ok ", "^webhook call +ok +reached by a dry run",
              "^pods +ok +all TPU pods were seen by admission$", "^right +ok +you may list nodes$"});
  expect_tpu("migrate check -A", 0,
             {"^leaderworkersets +ok +3 objects: 0 cannot be taken over", "^rayjob/rayjob -n ml +warning "});
  const std::string archive = plane().dir() + "/report.tar.gz";
  expect_tpu("report -n ml -f " + archive, 0, {"report.tar.gz: \\d+ files\\."});
  EXPECT_THAT(expect_run("tar -xzOf " + archive + " pods.json"), HasSubstr("of-lws-0-1"));
  expect_tpu("version", 0, {"^kubectl-tpu +\\d", "^Kubernetes +v1\\."});
}

void TenQuestions::read_an_object_by_the_page() {
  const std::string log = plane().dir() + "/ui.log";
  const auto server =
      Process::start({.program = "/bin/bash", .args = {"-c", "exec kubectl tpu ui"}, .log = log, .env = environment()});
  ASSERT_TRUE(server.ok());
  ASSERT_NO_FATAL_FAILURE(wait_until("grep -q '#token=' " + log));
  const std::string object = expect_run(fmt::format(
      "url=$(grep -o 'http://[^ ]*' {0}) && base=${{url%%#*}} && curl -sf -c {0}.jar -d \"${{url##*#token=}}\" "
      "${{base}}session && curl -sf -b {0}.jar \"${{base}}fleet/v1/object?kind=JobSet&namespace=ml&name=next\"",
      log));
  EXPECT_THAT(object, HasSubstr("kind: JobSet"));
  EXPECT_THAT(object, HasSubstr("\"reason\":\"SliceWaiting\""));
  EXPECT_THAT(object, Not(HasSubstr("managedFields")));
  EXPECT_THAT(object, Not(HasSubstr("eventsProblem")));
}

/// What the answer says happens.
void TenQuestions::drain_a_pool() {
  expect_tpu(
      "what-if drain pool/" + used_, 0,
      {"^ml/raycluster/of-raycluster +tpu-0 +4 +" + used_ + " for .* ends +waits, 1st of 2$",
       "^ml/jobset/next .* waits longer +waits, 2nd of 2$", "^Next: kubectl tpu drain pool/" + used_ + " --dry-run$"});
  expect_tpu("drain pool/" + used_, 0, {"^pod/of-raycluster-\\S+ evicted$|evicted", "4 nodes, 1 slices$"});
  ASSERT_NO_FATAL_FAILURE(
      wait_until("kubectl tpu slices -n ml --waiting | grep -E '^1 +raycluster/of-raycluster ' && "
                 "kubectl tpu slices -n ml --waiting | grep -E '^2 +jobset/next '"));
  expect_tpu("undrain pool/" + used_, 0, {"^node/" + used_ + "-0 uncordoned$"});
  ASSERT_NO_FATAL_FAILURE(wait_until("kubectl tpu explain raycluster/of-raycluster -n ml"));
  expect_tpu("explain raycluster/of-raycluster -n ml", 0, {" " + used_ + " +-$"});
}

TEST_F(TenQuestions, AreAnsweredByTheApiServerForEveryKind) {
  ASSERT_NO_FATAL_FAILURE(start_workloads());
  ask_about_the_fleet();
  ask_about_waiting_slices();
  ask_about_hosts();
  ask_for_plans();
  ask_about_the_installation();
  read_an_object_by_the_page();
  drain_a_pool();
}

}  // namespace
}  // namespace tpuslice::testing
