#include "cmd/kubectl-tpu/app.h"

#include <sstream>

#include <CLI/CLI.hpp>

#include "cmd/kubectl-tpu/missing_rights.h"

namespace tpuslice::plugin {
namespace {

constexpr int kMaxRequestTimeout = 3600;  ///< Seconds.
constexpr int kMaxVerbosity = 10;

void add_global_options(CLI::App& app, GlobalOptions& options) {
  app.add_option("--kubeconfig", options.kubeconfig, "Path of the kubeconfig. Default: KUBECONFIG, else ~/.kube/config")
      ->group("Global options");
  app.add_option("--context", options.context, "Context of the kubeconfig. Default: the current one")
      ->group("Global options");
  app.add_option("-n,--namespace", options.namespace_name, "Namespace. Default: the context's")
      ->group("Global options");
  app.add_flag("-A,--all-namespaces", options.all_namespaces, "All namespaces")->group("Global options");
  app.add_option("-o,--output", options.output, "wide, json, yaml or name. Default: a table")
      ->check(CLI::IsMember({"wide", "json", "yaml", "name"}))
      ->group("Global options");
  app.add_flag("--no-headers", options.no_headers, "Print tables without the line of column names")
      ->group("Global options");
  app.add_option("--color", options.colour, "auto, always or never. Default: auto, which is on a terminal")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->group("Global options");
  app.add_option("--request-timeout", options.request_timeout, "Seconds for one request. Default: 30")
      ->check(CLI::Range(1, kMaxRequestTimeout))
      ->group("Global options");
  app.add_option("--http", options.http, "HTTP client for calls: cpprestsdk or own. Default: cpprestsdk")
      ->check(CLI::IsMember({"cpprestsdk", "own"}))
      ->group("Global options");
  app.add_option("-v,--v", options.verbosity, "Log level: 1 says what is done, 6 each request. Default: 0")
      ->check(CLI::Range(0, kMaxVerbosity))
      ->group("Global options");
}

/// CLI11 takes arguments in reverse order.
std::vector<std::string> reversed(const std::vector<std::string>& arguments) {
  return {arguments.rbegin(), arguments.rend()};
}

}  // namespace

CLI::App& Commands::add(CLI::App& parent, const std::string& name, const std::string& description, RunCommand run) {
  CLI::App* const command = parent.add_subcommand(name, description);
  all_.emplace_back(command, std::move(run));
  return *command;
}

const RunCommand* Commands::chosen() const {
  const RunCommand* last = nullptr;  // Commands below others are behind them.
  for (const auto& [command, run] : all_) {
    if (command->parsed() && run) last = &run;
  }
  return last;
}

std::unique_ptr<CLI::App> make_app(GlobalOptions& options, Commands& commands) {
  auto app = std::make_unique<CLI::App>(
      "Shows TPU slices and node pools, why slices wait and what would help, and runs the commands that slices need.",
      "kubectl tpu");
  app->set_help_flag("-h,--help", "Print this help");
  app->set_version_flag("--version", TPUSLICE_VERSION);
  app->require_subcommand(0, 1);
  app->fallthrough();  // Global options may follow the command, as in kubectl.
  add_global_options(*app, options);
  add_all_commands(*app, commands);
  return app;
}

int run_app(const std::vector<std::string>& arguments, const Surroundings& surroundings) {
  GlobalOptions options;
  Commands commands;
  const std::unique_ptr<CLI::App> app = make_app(options, commands);
  try {
    app->parse(reversed(arguments));
  } catch (const CLI::Success& success) {
    app->exit(success, surroundings.out, surroundings.err);
    return static_cast<int>(ExitCode::kYes);
  } catch (const CLI::ParseError& error) {
    surroundings.err << "kubectl-tpu: " << error.what() << "; see --help\n";
    return static_cast<int>(ExitCode::kUsage);
  }
  const RunCommand* const run = commands.chosen();
  if (run == nullptr) {
    surroundings.out << app->help();
    return static_cast<int>(ExitCode::kYes);
  }
  Context context(options, surroundings);
  const Result<ExitCode> code = (*run)(context);
  if (code) return static_cast<int>(*code);
  surroundings.out.flush();
  surroundings.err << "kubectl-tpu: " << code.error().message() << "\n";
  if (const std::string grant = grant_for(code.error()); !grant.empty()) {
    surroundings.err << "An administrator can grant it:\n  " << grant << "\n";
  }
  return static_cast<int>(exit_code_of(code.error()));
}

ExitCode exit_code_of(const Error& error) {
  return error.code() == ErrorCode::kInvalidArgument ? ExitCode::kUsage : ExitCode::kError;
}

}  // namespace tpuslice::plugin
