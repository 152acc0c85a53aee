#include "cmd/tpu-slice-operator/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Result<CommandLine> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "tpu-slice-operator");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

std::string error_of(std::vector<const char*> arguments) {
  const auto parsed = parse(std::move(arguments));
  return parsed ? "no error" : parsed.error().message();
}

constexpr std::string_view kHeader = "apiVersion: config.tpuslice.dev/v1alpha1\nkind: OperatorConfiguration\n";

TEST(OperatorOptions, HelpListsEveryFlag) {
  const auto parsed = parse({"--help"});
  ASSERT_TRUE(parsed.ok());
  for (const char* flag : {"--kubeconfig", "--leader-elect", "--controllers", "--metrics-bind-address",
                           "--health-probe-bind-address", "--webhook-bind-address", "--config", "--log-format"}) {
    EXPECT_THAT(parsed->output, HasSubstr(flag));
  }
}

TEST(OperatorOptions, BooleanFlagsMayHaveAValue) {
  EXPECT_FALSE(parse({})->options.leader_elect);
  EXPECT_TRUE(parse({"--leader-elect"})->options.leader_elect);
  EXPECT_TRUE(parse({"--leader-elect=true"})->options.leader_elect);
  EXPECT_FALSE(parse({"--leader-elect=false"})->options.leader_elect);
}

TEST(OperatorOptions, MetricsAreSecureUnlessThatIsTurnedOff) {
  EXPECT_TRUE(parse({})->options.metrics_secure);
  EXPECT_TRUE(parse({"--metrics-secure"})->options.metrics_secure);
  EXPECT_FALSE(parse({"--metrics-secure=false"})->options.metrics_secure);
  OperatorOptions options;
  ASSERT_TRUE(apply_configuration("f", std::string(kHeader) + "metricsSecure: false\n", options).ok());
  EXPECT_FALSE(options.metrics_secure);
}

TEST(OperatorOptions, UpstreamMetricsAreServedUnlessThatIsTurnedOff) {
  EXPECT_TRUE(parse({})->options.upstream_metrics);
  EXPECT_FALSE(parse({"--upstream-metrics=false"})->options.upstream_metrics);
  OperatorOptions options;
  ASSERT_TRUE(apply_configuration("f", std::string(kHeader) + "upstreamMetrics: false\n", options).ok());
  EXPECT_FALSE(options.upstream_metrics);
}

TEST(OperatorOptions, WatchesAllNamespacesOrAListOfThem) {
  EXPECT_THAT(parse({})->options.watch_namespaces, testing::IsEmpty());
  EXPECT_THAT(parse({"--watch-namespace=team-a"})->options.watch_namespaces, ElementsAre("team-a"));
  EXPECT_THAT(parse({"--watch-namespace=b,a,b"})->options.watch_namespaces, ElementsAre("b", "a"));
  OperatorOptions options;
  ASSERT_TRUE(apply_configuration("f", std::string(kHeader) + "watchNamespace: [a, b]\n", options).ok());
  EXPECT_THAT(options.watch_namespaces, ElementsAre("a", "b"));
  ASSERT_TRUE(apply_configuration("f", std::string(kHeader) + "watchNamespace: []\n", options).ok());
  EXPECT_THAT(options.watch_namespaces, testing::IsEmpty());
  EXPECT_THAT(error_of({"--watch-namespace=a, b"}),
              AllOf(HasSubstr("--watch-namespace"), HasSubstr("\" b\""), HasSubstr("separated by commas")));
  std::string many = "--watch-namespace=n0";
  for (int i = 1; i < 20; ++i) many += ",n" + std::to_string(i);
  EXPECT_THAT(parse({many.c_str()})->options.watch_namespaces, testing::SizeIs(20));
  many += ",n20";
  EXPECT_THAT(error_of({many.c_str()}), AllOf(HasSubstr("found 21 namespaces, expected at most 20"),
                                              HasSubstr("leave it empty to serve all namespaces")));
}

TEST(OperatorOptions, TheLastEntryForAControllerWins) {
  EXPECT_TRUE(parse({})->options.enables("raycluster"));
  EXPECT_FALSE(parse({"--controllers=*,-raycluster"})->options.enables("raycluster"));
  EXPECT_TRUE(parse({"--controllers=raycluster"})->options.enables("raycluster"));
  // KubeRay serves the three kinds together.
  EXPECT_FALSE(parse({"--controllers=*,-raycluster"})->options.enables("rayjob"));
  EXPECT_FALSE(parse({"--controllers=*,-raycluster"})->options.enables("rayservice"));
  EXPECT_TRUE(parse({"--controllers=*,-raycluster,rayjob"})->options.enables("rayjob"));
  EXPECT_TRUE(parse({"--controllers=*,-rayjob"})->options.enables("raycluster"));
  // So does LeaderWorkerSet's manager with its two.
  EXPECT_FALSE(parse({"--controllers=*,-leaderworkerset"})->options.enables("disaggregatedset"));
  EXPECT_TRUE(parse({"--controllers=*,-disaggregatedset"})->options.enables("leaderworkerset"));
}

TEST(OperatorOptions, TakeOverNamesKindsThatHaveAnUpstreamController) {
  EXPECT_FALSE(parse({})->options.takes_over("jobset"));
  const OperatorOptions options = parse({"--take-over=raycluster,jobset"})->options;
  for (const char* name : {"raycluster", "rayjob", "raycronjob", "rayservice", "jobset"})
    EXPECT_TRUE(options.takes_over(name));
  EXPECT_FALSE(options.takes_over("leaderworkerset"));
  EXPECT_FALSE(parse({"--take-over=rayjob"})->options.takes_over("raycluster"));
  EXPECT_THAT(error_of({"--take-over=slice"}), AllOf(HasSubstr("--take-over"), HasSubstr("\"slice\""),
                                                     HasSubstr("raycluster, rayjob, raycronjob, rayservice, jobset")));
  OperatorOptions from_file;
  ASSERT_TRUE(apply_configuration("f", std::string(kHeader) + "takeOver: [rayjob]\n", from_file).ok());
  EXPECT_TRUE(from_file.takes_over("rayjob"));
}

TEST(OperatorOptions, ErrorsNameTheFlagAndTheSupportedValues) {
  EXPECT_THAT(
      error_of({"--controllers=rayclusters"}),
      AllOf(HasSubstr("--controllers"), HasSubstr("rayclusters"),
            HasSubstr("leaderworkerset, disaggregatedset, raycluster, rayjob, raycronjob, rayservice, jobset, slice")));
  EXPECT_THAT(error_of({"--max-concurrent-reconciles=0"}),
              AllOf(HasSubstr("--max-concurrent-reconciles"), HasSubstr("\"0\""), HasSubstr("1 to 64")));
  EXPECT_THAT(error_of({"--log-format=xml"}), AllOf(HasSubstr("--log-format"), HasSubstr("json, text")));
  EXPECT_THAT(error_of({"--no-such-flag"}), HasSubstr("--no-such-flag"));
}

TEST(OperatorOptions, TheMemoryBudgetIsAQuantity) {
  EXPECT_EQ(parse({})->options.memory_budget, 0U);
  EXPECT_EQ(parse({"--memory-budget=192Mi"})->options.memory_budget, 192U << 20U);
  OperatorOptions options;
  ASSERT_TRUE(apply_configuration("f", std::string(kHeader) + "memoryBudget: 2000000\n", options).ok());
  EXPECT_EQ(options.memory_budget, 2'000'000U);
  for (const char* flag : {"--memory-budget=much", "--memory-budget=1Ki", "--memory-budget=-1Gi"}) {
    EXPECT_THAT(error_of({flag}), AllOf(HasSubstr("--memory-budget"), HasSubstr("192Mi"))) << flag;
  }
}

TEST(OperatorOptions, DryRunIsOfTheDrainOnly) {
  EXPECT_FALSE(parse({})->drain);
  EXPECT_TRUE(parse({"--drain"})->drain);
  EXPECT_FALSE(parse({"--drain"})->dry_run);
  EXPECT_TRUE(parse({"--drain", "--dry-run"})->dry_run);
  EXPECT_THAT(error_of({"--dry-run"}), AllOf(HasSubstr("--dry-run"), HasSubstr("--drain")));
  // A file that the Deployment uses, too, cannot ask for it.
  OperatorOptions options;
  EXPECT_THAT(apply_configuration("op.yaml", std::string(kHeader) + "drain: true\n", options),
              IsError(ErrorCode::kInvalidArgument));
}

TEST(OperatorOptions, AConfigurationFileHasSettingsInCamelCase) {
  OperatorOptions options;
  const Status applied = apply_configuration("op.yaml",
                                             std::string(kHeader) +
                                                 "leaderElect: true\ncontrollers: [\"*\", -raycluster]\n"
                                                 "maxConcurrentReconciles: 8\nlogLevel: debug\n",
                                             options);
  ASSERT_TRUE(applied.ok()) << applied.error().message();
  EXPECT_TRUE(options.leader_elect);
  EXPECT_THAT(options.controllers, ElementsAre("*", "-raycluster"));
  EXPECT_EQ(options.max_concurrent_reconciles, 8);
  EXPECT_EQ(options.log_level, "debug");
}

TEST(OperatorOptions, ErrorsNameTheConfigurationFileAndTheKey) {
  OperatorOptions options;
  const auto error = [&options](const std::string& text) {
    const Status applied = apply_configuration("op.yaml", text, options);
    return applied ? "no error" : applied.error().message();
  };
  EXPECT_THAT(error("kind: Other"), AllOf(HasSubstr("op.yaml"), HasSubstr("OperatorConfiguration")));
  EXPECT_THAT(error(std::string(kHeader) + "leaderElection: true"),
              AllOf(HasSubstr("op.yaml"), HasSubstr("leaderElection"), HasSubstr("no such setting")));
  EXPECT_THAT(error(std::string(kHeader) + "leaderElect: maybe"), AllOf(HasSubstr("leaderElect"), HasSubstr("maybe")));
  EXPECT_THAT(error("a: [1"), HasSubstr("op.yaml"));
}

TEST(OperatorOptions, AllErrorsOfAConfigurationFileAreReported) {
  OperatorOptions options;
  const Status applied = apply_configuration("op.yaml",
                                             std::string(kHeader) +
                                                 "leaderElect: maybe\nleaderElection: true\n"
                                                 "rayCluster: {injectProbes: 1, sidecars: []}\n",
                                             options);
  EXPECT_THAT(
      applied,
      IsError(
          ErrorCode::kInvalidArgument,
          "op.yaml: leaderElect: found \"maybe\", expected true or false; leaderElection: no such setting; keys are "
          "rayCluster and the flags in camel case, e.g. leaderElect; rayCluster.injectProbes: Invalid value: 1: must "
          "be true or false; rayCluster.sidecars: Forbidden: no such setting; the keys are headSidecarContainers, "
          "workerSidecarContainers, defaultContainerEnvs, defaultPodLabels, defaultPodAnnotations, injectProbes, "
          "injectWaitGcsReady, headServiceClusterIP, redisCleanup"));
}

}  // namespace
}  // namespace tpuslice
