// kubectl tpu version: the versions of the program, the API server and the operator.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cmd/kubectl-tpu/commands/commands.h"

namespace tpuslice::plugin {
namespace {

struct VersionOptions {
  bool client = false;
};

/// The gitVersion of the API server.
Result<std::string> server_version(client::Client& api, const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const http::Response response, api.raw({.target = "/version"}, stop));
  ASSIGN_OR_RETURN(const Json version, parse_json(response.body));
  return string_at(version, {"gitVersion"});
}

Result<ExitCode> print_version(Context& context, const VersionOptions& options) {
  Json versions = {{"schema", "tpuslice.dev/version.v1"}, {"client", TPUSLICE_VERSION}};
  if (!options.client) {
    ASSIGN_OR_RETURN(client::Client* const api, context.api());
    ASSIGN_OR_RETURN(const std::string server, server_version(*api, context.stop()));
    versions["kubernetes"] = server;
  }
  if (!context.is_table()) {
    context.print_document(versions);
    return ExitCode::kYes;
  }
  context.print(fmt::format("kubectl-tpu  {}\n", TPUSLICE_VERSION));
  if (versions.contains("kubernetes")) {
    context.print(fmt::format("Kubernetes   {}\n", string_at(versions, {"kubernetes"})));
    context.suggest("check");
  }
  return ExitCode::kYes;
}

}  // namespace

void add_version(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<VersionOptions>();
  CLI::App& command = commands.add(app, "version", "Print the versions of this program and the cluster",
                                   [options](Context& context) { return print_version(context, *options); });
  command.add_flag("--client", options->client, "Print only the version of this program, without a cluster");
}

}  // namespace tpuslice::plugin
