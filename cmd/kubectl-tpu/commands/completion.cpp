// kubectl tpu completion and __complete: completion of command lines.
#include "cmd/kubectl-tpu/completion.h"

#include <memory>

#include <CLI/CLI.hpp>

#include "cmd/kubectl-tpu/commands/commands.h"

namespace tpuslice::plugin {
namespace {

struct CompletionOptions {
  std::vector<std::string> words;
};

/// kubectl looks for this program in PATH.
constexpr std::string_view kProgram = R"(#!/bin/sh
# Completion of "kubectl tpu" (save it as kubectl_complete-tpu in a folder of PATH, executable).
exec kubectl-tpu __complete -- "$@"
)";

Result<ExitCode> print_completions(const Context& context, const CompletionOptions& options) {
  GlobalOptions globals;
  Commands commands;
  const std::unique_ptr<CLI::App> app = make_app(globals, commands);
  for (const std::string& line : complete(*app, options.words)) context.print(line + "\n");
  return ExitCode::kYes;
}

}  // namespace

void add_completion(CLI::App& app, Commands& commands) {
  commands.add(app, "completion", "Print the program that kubectl runs to complete commands of this one",
               [](Context& context) -> Result<ExitCode> {
                 context.print(kProgram);
                 context.suggest_command(
                     "kubectl tpu completion > ~/bin/kubectl_complete-tpu && chmod +x ~/bin/kubectl_complete-tpu");
                 return ExitCode::kYes;
               });
  const auto options = std::make_shared<CompletionOptions>();
  CLI::App& complete = commands.add(app, "__complete", "Print completions of a command line",
                                    [options](Context& context) { return print_completions(context, *options); });
  complete.group("");  // Not in --help.
  complete.add_option("words", options->words, "Words of the command line; the last one is completed");
}

}  // namespace tpuslice::plugin
