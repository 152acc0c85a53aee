// What a user with rights in one namespace sees of a fleet that others use, too: no name of theirs, neither from the
// API server nor from the operator's fleet pages.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/strings.h"
#include "tests/e2e/install/ways.h"
#include "tests/e2e/plugin/plugin_plane.h"
#include "tests/e2e/uninstall/workloads.h"

namespace tpuslice::testing {
namespace {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

/// Names of the other team: no text of ours has these words.
constexpr const char* kOthers = "zebra";
constexpr const char* kTheirName = "quokka";

MATCHER(NamesNoOther, "") {
  return arg.find(kOthers) == std::string::npos && arg.find(kTheirName) == std::string::npos;
}

class OneNamespace : public PluginPlane {
 protected:
  /// Team red has one slice that runs and one that waits; the other slices, and another one that waits, are others'.
  void start_workloads() {
    apply_in("red", jobset_manifest("own", false));
    ASSERT_NO_FATAL_FAILURE(wait_running("red", kHostsOfSlice));
    for (int i = 0; i < kPools - 1; ++i) {
      apply_in(kOthers, jobset_manifest(fmt::format("{}-{}", kTheirName, i), false));
    }
    ASSERT_NO_FATAL_FAILURE(wait_running(kOthers, (kPools - 1) * kHostsOfSlice));
    // Each has lost a host.
    expect_run(
        fmt::format("kubectl -n red delete --wait=false $(kubectl -n red get pods -o name | head -n 1) && "
                    "kubectl -n {0} delete --wait=false $(kubectl -n {0} get pods -o name | head -n 1)",
                    kOthers));
    ASSERT_NO_FATAL_FAILURE(wait_until(fmt::format(
        "kubectl tpu history -A | grep ' red/jobset/own ' && kubectl tpu history -A | grep {}/jobset", kOthers)));
    ASSERT_NO_FATAL_FAILURE(wait_running("red", kHostsOfSlice));
    ASSERT_NO_FATAL_FAILURE(wait_running(kOthers, (kPools - 1) * kHostsOfSlice));
    apply_in(kOthers, jobset_manifest(fmt::format("{}-waits", kTheirName), false));
    ASSERT_NO_FATAL_FAILURE(wait_until(fmt::format("kubectl tpu slices -n {} --waiting | grep '^1 '", kOthers)));
    apply_in("red", jobset_manifest("next", false));
    ASSERT_NO_FATAL_FAILURE(
        wait_until("test -n \"$(kubectl -n red get pods -l jobset.sigs.k8s.io/jobset-name=next -o "
                   "jsonpath='{.items[*].metadata.annotations.tpuslice\\.dev/waiting}')\""));
  }

  /// Of a service account of team red that may read its namespace, and has these ClusterRoles.
  std::string account(const std::string& name, const std::vector<std::string>& cluster_roles) {
    expect_run(
        fmt::format("kubectl -n red create serviceaccount {0} && kubectl -n red create rolebinding {0} "
                    "--clusterrole=tpu-slice-view --serviceaccount=red:{0}",
                    name));
    for (const std::string& role : cluster_roles) {
      expect_run(fmt::format("kubectl create clusterrolebinding red-{0}-{1} --clusterrole={1} --serviceaccount=red:{0}",
                             name, role));
      bindings_ += fmt::format(" red-{}-{}", name, role);
    }
    const auto kubeconfig = plane().service_account_kubeconfig({"red", name});
    EXPECT_TRUE(kubeconfig.ok());
    return kubeconfig.value_or("");
  }

  /// The answer of the operator's fleet page to a token, with its status.
  std::string page(const std::string& token, const std::string& path) {
    return run(fmt::format("curl -sk -w '\\nstatus %{{http_code}}\\n' -H 'Authorization: Bearer {}' "
                           "'https://127.0.0.1:{}{}'",
                           token, metrics_port(), path))
        .text;
  }
  static std::string token_of(const std::string& account) {
    return trimmed(expect_run("kubectl -n red create token " + account));
  }

  void TearDown() override {
    if (!bindings_.empty()) expect_run("kubectl delete clusterrolebinding" + bindings_);
    PluginPlane::TearDown();
  }

  std::string bindings_;
};

TEST_F(OneNamespace, TheOthersHaveNoNamesForItsUsers) {
  create_namespace("red");
  create_namespace(kOthers);
  const std::string user = account("anna", {});
  ASSERT_NO_FATAL_FAILURE(start_workloads());
  ASSERT_THAT(tpu("slices -A").text, HasSubstr(kTheirName)) << "an administrator sees them";

  const auto ask = [&](const std::string& arguments) {
    const CommandOutput output = tpu(arguments, user);
    EXPECT_THAT(output.text, NamesNoOther()) << arguments;
    return output;
  };
  const CommandOutput slices = ask("slices");
  EXPECT_EQ(slices.exit_code, 0);
  EXPECT_THAT(slices.text, ContainsRegex("jobset/own +own-slice-0 +v6e 4x4 +4/4 +Running"));
  EXPECT_THAT(slices.text, ContainsRegex("jobset/next +next-slice-0 +v6e 4x4 +0/4 +Waiting"));
  const CommandOutput explain = ask("explain jobset/next");
  EXPECT_EQ(explain.exit_code, 3);
  EXPECT_THAT(explain.text, HasSubstr("a workload of another namespace"));
  const CommandOutput hosts = ask("hosts jobset/own --check");
  EXPECT_EQ(hosts.exit_code, 0);
  EXPECT_THAT(hosts.text, ContainsRegex("3 +own-slice-0-3-.* 3 ok +ok +ok"));
  const std::pair<const char*, int> asked[] = {
      {"slices -A", 0},
      {"slices -o json", 0},
      {"explain jobset/next -o json", 3},
      {"explain jobset/own", 0},
      {"history", 1},
      {"history -A", 1},
      {"history pool/tpu-0", 1},
      {"status", 1},
      {"pools", 1},
      {"explain pool/tpu-0", 1},
      {"what-if delete jobset/own", 1},
      {"top --rounds 1", 1},
      {"plan -f deploy/samples/job-train-v6e-4x4.yaml", 1},
      {"plan --pools 'v6e 4x4' -f deploy/samples/job-train-v6e-4x4.yaml", 0},
      {"check", 0},
      {"migrate check -A", 1},
      {"logs jobset/own", 1},
      {"restart jobset/own --dry-run", 1},
      {"drain pool/tpu-0 --dry-run", 1},
  };
  for (const auto& [arguments, exit_code] : asked) {
    const CommandOutput output = ask(arguments);
    EXPECT_EQ(output.exit_code, exit_code) << arguments << "\n" << output.text;
  }
  for (const char* each : {"status", "pools", "history"}) {
    EXPECT_THAT(tpu(each, user).text, HasSubstr("An administrator can grant it:\n  kubectl create ")) << each;
  }
  const std::string files = plane().dir() + "/red";
  ask(fmt::format("report -f {}.tar.gz", files));
  EXPECT_THAT(run(fmt::format("tar -xzOf {}.tar.gz", files)).text, NamesNoOther());
  ask(fmt::format("ui --export {}.html", files));
  EXPECT_THAT(expect_run(fmt::format("cat {}.html", files)), NamesNoOther());
  // It is asked for by its name, and still nothing is known of it.
  for (const char* each : {"slices", "hosts jobset/quokka-0", "explain jobset/quokka-0", "logs jobset/quokka-0"}) {
    const CommandOutput refused = tpu(fmt::format("{} -n {}", each, kOthers), user);
    EXPECT_EQ(refused.exit_code, 1) << each << refused.text;
    EXPECT_THAT(refused.text, AnyOf(HasSubstr("cannot list"), HasSubstr("cannot get"))) << each;
    EXPECT_THAT(refused.text, Not(HasSubstr("slice-0"))) << each;
  }
}

TEST_F(OneNamespace, TheOthersHaveNoNamesOnTheFleetPages) {
  create_namespace("red");
  create_namespace(kOthers);
  account("anna", {"tpu-slice-fleet"});
  account("otto", {});
  const std::string anna = token_of("anna");
  ASSERT_NO_FATAL_FAILURE(start_workloads());
  const std::string both = fmt::format("namespace=red&namespace={}", kOthers);
  for (const std::string& query : {std::string("?namespace=red"), "?nodes=1&" + both, std::string()}) {
    for (const char* path : {"/fleet/v1/snapshot", "/fleet/v1/history"}) {
      const std::string answer = page(anna, path + query);
      EXPECT_THAT(answer, HasSubstr("\nstatus 200\n")) << path << query;
      EXPECT_THAT(answer, NamesNoOther()) << path << query;
      EXPECT_EQ(answer.find("\"own\"") != std::string::npos, !query.empty()) << path << query;
    }
  }
  const std::string fleet = page(anna, "/fleet/v1/snapshot?nodes=1&" + both);
  EXPECT_THAT(fleet, HasSubstr("another namespace")) << "what is ahead of jobset/next";
  EXPECT_THAT(fleet, HasSubstr("tpu-0-0")) << "it may read nodes";
  const std::string refused = page(token_of("otto"), "/fleet/v1/snapshot?namespace=red");
  EXPECT_THAT(refused, HasSubstr("\nstatus 403\n"));
  EXPECT_THAT(refused, NamesNoOther());
}

}  // namespace
}  // namespace tpuslice::testing
