#include "cmd/kubectl-tpu/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include "cmd/kubectl-tpu/app.h"

namespace tpuslice::plugin {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> completed(const std::vector<std::string>& words) {
  GlobalOptions options;
  Commands commands;
  return complete(*make_app(options, commands), words);
}

TEST(Completion, CompletesCommandsWithTheirDescriptions) {
  EXPECT_THAT(completed({"und"}), ElementsAre("undrain\tUncordon all nodes of a pool", ":4"));
  EXPECT_THAT(completed({""}), Not(Contains(StartsWith("__complete"))));
  EXPECT_THAT(completed({"migrate", "c"}), ElementsAre(StartsWith("check\t"), ":4"));
}

TEST(Completion, CompletesOptionsOfTheCommandAndGlobalOnes) {
  EXPECT_THAT(completed({"logs", "--fo"}), ElementsAre(StartsWith("--follow\t"), ":4"));
  EXPECT_THAT(completed({"logs", "--kubec"}), ElementsAre(StartsWith("--kubeconfig\t"), ":4"));
}

TEST(Completion, CompletesValues) {
  EXPECT_THAT(completed({"hosts", "x", "-o", "y"}), ElementsAre("yaml", ":4"));
  EXPECT_THAT(completed({"create", "jobs"}), Contains("jobset"));
  EXPECT_THAT(completed({"hosts", "rayj"}), ElementsAre("rayjob/", ":6"));
  EXPECT_THAT(completed({"drain", ""}), ElementsAre("pool/", ":6"));
}

TEST(Completion, AnOptionWithAnyValueLeavesFilesToTheShell) {
  EXPECT_THAT(completed({"--kubeconfig", ""}), ElementsAre(":0"));
}

}  // namespace
}  // namespace tpuslice::plugin
