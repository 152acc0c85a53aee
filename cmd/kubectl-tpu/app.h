// The command line of kubectl-tpu: a tree of commands, each in a file of its own (commands/).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/base/result.h"
#include "cmd/kubectl-tpu/context.h"

namespace CLI {
class App;
}  // namespace CLI

namespace tpuslice::plugin {

/// Runs a command. An error is printed and ends the program with its exit code (exit_code_of()).
using RunCommand = std::function<Result<ExitCode>(Context& context)>;

/// The commands of the tree, filled by add_all_commands().
class Commands {
 public:
  /// Adds command `name` below `parent`. Its options are added to the returned App, into variables that `run` owns
  /// (a shared_ptr that it captures).
  CLI::App& add(CLI::App& parent, const std::string& name, const std::string& description, RunCommand run);
  /// The function of the command that the parsed command line asks for; null: none.
  [[nodiscard]] const RunCommand* chosen() const;

 private:
  std::vector<std::pair<CLI::App*, RunCommand>> all_;
};

/// Adds every command of the program (commands.cpp).
void add_all_commands(CLI::App& app, Commands& commands);

/// The tree of commands with the global options, which are set in `options`. It outlives the tree.
[[nodiscard]] std::unique_ptr<CLI::App> make_app(GlobalOptions& options, Commands& commands);

/// Parses `arguments` (without the program's name), runs the command and prints what it returns. Returns the exit code
/// of the process.
[[nodiscard]] int run_app(const std::vector<std::string>& arguments, const Surroundings& surroundings);

/// The exit code of a command that returned `error`.
[[nodiscard]] ExitCode exit_code_of(const Error& error);

}  // namespace tpuslice::plugin
