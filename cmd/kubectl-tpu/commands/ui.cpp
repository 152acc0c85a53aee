// kubectl tpu ui: the fleet as a page in the browser, live or from a file; or as one file to send.
#include <fstream>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "api/base/file.h"
#include "api/base/pause.h"
#include "cmd/kubectl-tpu/commands/commands.h"
#include "cmd/kubectl-tpu/ui/page_server.h"
#include "cmd/kubectl-tpu/ui/saved_fleet.h"
#include "fleet/page/one_file.h"

namespace tpuslice::plugin {
namespace {

struct UiOptions {
  std::string snapshot;
  std::string export_to;
  std::uint16_t port = 0;
};

/// The source of a file, which is read again when the page asks, so that a file that is replaced is shown.
PageSource source_of_file(const std::string& path, const Clock& clock) {
  PageSource source;
  source.fleet = [path, &clock]() -> Result<Json> {
    ASSIGN_OR_RETURN(const SavedFleet saved, read_saved_fleet(path, clock.wall()));
    return saved.fleet;
  };
  source.history = [path, &clock]() -> Result<Json> {
    ASSIGN_OR_RETURN(const SavedFleet saved, read_saved_fleet(path, clock.wall()));
    return Json{{"records", saved.history}};
  };
  source.what_if = what_if_of_file(path, clock);
  return source;
}

Result<ExitCode> export_page(Context& context, const PageSource& source, const std::string& path) {
  ASSIGN_OR_RETURN(const Json fleet, source.fleet());
  Json records = Json::array();
  if (source.history) {
    ASSIGN_OR_RETURN(const Json history, source.history());
    records = array_at(history, {"records"});
  }
  RETURN_IF_ERROR(write_private_file(path, fleet::page_in_one_file(fleet, records)));
  context.note(fmt::format("{}: one file; open it in a browser\n", path));
  return ExitCode::kYes;
}

Result<ExitCode> serve_page(Context& context, PageSource source, std::uint16_t port) {
  RETURN_IF_ERROR(source.fleet());  // What cannot be read is said here, and not only on the page.
  const PageServerOptions options{.port = port, .command = context.surroundings().invoked};
  ASSIGN_OR_RETURN(const auto server, PageServer::start(std::move(source), options, context.clock()));
  context.print(server->url() + "\n");
  context.out().flush();
  context.note("open it in a browser of this machine; Ctrl-C ends it\n");
  wait_for_stop(context.stop());
  return ExitCode::kYes;
}

Result<ExitCode> run_ui(Context& context, const UiOptions& options) {
  PageSource source = source_of_file(options.snapshot, context.clock());
  if (!options.export_to.empty()) return export_page(context, source, options.export_to);
  return serve_page(context, std::move(source), options.port);
}

}  // namespace

void add_ui(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<UiOptions>();
  CLI::App& command = commands.add(app, "ui", "Show the fleet as a page in the browser, from this machine alone",
                                   [options](Context& context) { return run_ui(context, *options); });
  command.add_option("--snapshot", options->snapshot, "Show the fleet of this file: status -o json, or kubectl get -o json");
  command.add_option("--export", options->export_to, "Write the page with the fleet to this file, and end");
  command.add_option("--port", options->port, "Port of 127.0.0.1. Default: a free one");
}

}  // namespace tpuslice::plugin
