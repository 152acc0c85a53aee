// deploy/kubectl-tpu: what is shipped beside the program calls commands that exist.
#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include "api/base/file.h"
#include "api/base/strings.h"
#include "api/types/yaml.h"
#include "cmd/kubectl-tpu/app.h"
#include "cmd/kubectl-tpu/target.h"

namespace tpuslice::plugin {
namespace {

using ::testing::Contains;

std::vector<std::string> commands() {
  GlobalOptions options;
  Commands commands;
  const std::unique_ptr<CLI::App> app = make_app(options, commands);
  std::vector<std::string> names;
  for (const CLI::App* each : app->get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(each->get_name());
  }
  return names;
}

/// The words of a plugin of k9s, without the shell.
std::vector<std::string> words_of(const Json& plugin) {
  std::string line = string_at(plugin, {"command"}) == "sh" ? "" : string_at(plugin, {"command"}) + " ";
  for (const Json& argument : array_at(plugin, {"args"})) {
    if (argument != "-c") line += argument.get<std::string>() + " ";
  }
  return split(line, ' ');
}

TEST(K9sPlugins, CallCommandsThatExistForKindsThatExist) {
  const Json file = parse_yaml(read_file("deploy/kubectl-tpu/k9s-plugins.yaml").value()).value();
  ASSERT_GE(object_at(file, {"plugins"}).size(), 4U);
  for (const auto& [name, plugin] : object_at(file, {"plugins"}).items()) {
    const std::vector<std::string> words = words_of(plugin);
    ASSERT_GE(words.size(), 3U) << name;
    EXPECT_EQ(words[0] + " " + words[1], "kubectl tpu") << name;
    EXPECT_THAT(commands(), Contains(words[2])) << name;
    for (const Json& scope : array_at(plugin, {"scopes"})) {
      EXPECT_TRUE(workload_type_of(scope.get<std::string>()).ok()) << name << ": " << scope;
    }
  }
}

TEST(Completion, TheShippedProgramIsTheOneThatIsPrinted) {
  std::ostringstream out;
  std::ostringstream err;
  const FakeClock clock;
  EXPECT_EQ(run_app({"completion"}, {.out = out, .err = err, .clock = clock}), 0);
  EXPECT_EQ(out.str(), read_file("deploy/kubectl-tpu/kubectl_complete-tpu").value());
}

}  // namespace
}  // namespace tpuslice::plugin
