#include "cmd/kubectl-tpu/app.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tpuslice::plugin {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class AppTest : public ::testing::Test {
 protected:
  int run(const std::vector<std::string>& arguments) {
    const Surroundings surroundings{
        .out = out_,
        .err = err_,
        .clock = clock_,
        .connect = [this](const GlobalOptions& options, const Clock&, const Logger&) -> Result<Connection> {
          seen_ = options;
          return Error::unavailable("no cluster here");
        }};
    return run_app(arguments, surroundings);
  }

  FakeClock clock_;
  std::ostringstream out_;
  std::ostringstream err_;
  GlobalOptions seen_;
};

TEST_F(AppTest, TheNextCommandIsOfTheSameCluster) {
  const GlobalOptions options{.kubeconfig = "/tmp/config", .context = "prod east"};
  const Surroundings surroundings{.out = out_, .err = err_, .clock = clock_};
  const Context context(options, surroundings);
  context.suggest("drain pool/a");
  EXPECT_EQ(err_.str(), "\nNext: kubectl tpu --kubeconfig=/tmp/config --context='prod east' drain pool/a\n");
  err_.str("");
  context.suggest_command("kubectl get pods");
  EXPECT_EQ(err_.str(), "\nNext: kubectl get pods --kubeconfig=/tmp/config --context='prod east'\n");
}

TEST_F(AppTest, WithoutACommandPrintsTheHelp) {
  EXPECT_EQ(run({}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("version"));
}

TEST_F(AppTest, HelpIsPrintedToStandardOutput) {
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("--kubeconfig"));
  EXPECT_THAT(err_.str(), IsEmpty());
}

TEST_F(AppTest, PrintsItsVersionAlone) {
  EXPECT_EQ(run({"--version"}), 0);
  EXPECT_EQ(out_.str(), TPUSLICE_VERSION "\n");
}

TEST_F(AppTest, AnUnknownCommandIsAUsageError) {
  EXPECT_EQ(run({"frobnicate"}), 2);
  EXPECT_THAT(err_.str(), StartsWith("kubectl-tpu: "));
  EXPECT_THAT(out_.str(), IsEmpty());
}

TEST_F(AppTest, AnUnknownFormatIsAUsageError) { EXPECT_EQ(run({"version", "-o", "xml"}), 2); }

TEST_F(AppTest, TheVersionOfTheProgramNeedsNoCluster) {
  EXPECT_EQ(run({"version", "--client"}), 0);
  EXPECT_EQ(out_.str(), "kubectl-tpu  " TPUSLICE_VERSION "\n");
}

TEST_F(AppTest, GlobalOptionsMayFollowTheCommand) {
  EXPECT_EQ(run({"version", "--context", "prod", "-n", "ml", "--kubeconfig=/tmp/x"}), 1);
  EXPECT_EQ(seen_.context, "prod");
  EXPECT_EQ(seen_.namespace_name, "ml");
  EXPECT_EQ(seen_.kubeconfig, "/tmp/x");
}

TEST_F(AppTest, AnErrorIsPrintedToStandardErrorOnly) {
  EXPECT_EQ(run({"version"}), 1);
  EXPECT_EQ(err_.str(), "kubectl-tpu: no cluster here\n");
  EXPECT_THAT(out_.str(), IsEmpty());
}

TEST_F(AppTest, PrintsJson) {
  EXPECT_EQ(run({"version", "--client", "-o", "json"}), 0);
  EXPECT_EQ(out_.str(), "{\n  \"client\": \"" TPUSLICE_VERSION "\",\n  \"schema\": \"tpuslice.dev/version.v1\"\n}\n");
}

}  // namespace
}  // namespace tpuslice::plugin
