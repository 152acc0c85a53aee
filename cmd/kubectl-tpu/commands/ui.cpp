// kubectl tpu ui: the fleet as a page in the browser, live or from a file; or as one file to send.
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "api/base/file.h"
#include "api/base/mutex.h"
#include "api/base/pause.h"
#include "api/base/strings.h"
#include "cmd/kubectl-tpu/commands/commands.h"
#include "cmd/kubectl-tpu/read_fleet.h"
#include "cmd/kubectl-tpu/ui/page_server.h"
#include "cmd/kubectl-tpu/workload_document.h"
#include "fleet/changes.h"
#include "fleet/fleet_json.h"
#include "fleet/page/one_file.h"
#include "fleet/tables/texts.h"

namespace tpuslice::plugin {
namespace {

struct UiOptions {
  FleetSource source;
  std::string export_to;
  std::uint16_t port = 0;
};

/// The document if the file has one of the schema tpuslice.dev/fleet.v1, as `status -o json` prints it; absent for a
/// snapshot. Errors: of the file.
Result<std::optional<Json>> read_fleet_document(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  Result<Json> document = parse_json(text);
  if (!document || string_at(*document, {"schema"}) != fleet::kFleetSchema) return std::optional<Json>();
  return std::optional<Json>(*std::move(document));
}

/// The snapshot that was read last, from which the page's other questions are answered. Thread-safe, but for read().
class PageSnapshots {
 public:
  /// Both outlive it.
  PageSnapshots(Context& context, const FleetSource& source) : context_(context), source_(source) {}

  /// The fleet as it is now. Called by one thread at a time: only it uses the context.
  [[nodiscard]] Result<Json> read() TPUSLICE_EXCLUDES(mutex_) {
    ASSIGN_OR_RETURN(ReadFleet read, read_fleet(context_, source_));
    const auto snapshot = std::make_shared<const fleet::Snapshot>(std::move(read.snapshot));
    {
      const MutexLock lock(mutex_);
      latest_ = snapshot;
    }
    return fleet::write_fleet(fleet::build_fleet(*snapshot));
  }

  [[nodiscard]] Json history() const TPUSLICE_EXCLUDES(mutex_) {
    Json records = Json::array();
    if (const auto snapshot = latest()) {
      for (const auto& record : snapshot->history) records.push_back(fleet::write_history_record(record));
    }
    return {{"records", std::move(records)}};
  }

  /// The fleet when placement has done what it can after the changes, and what that does to the slices.
  [[nodiscard]] Result<Json> what_if(const std::vector<std::pair<std::string, std::string>>& wanted) const
      TPUSLICE_EXCLUDES(mutex_) {
    const auto snapshot = latest();
    if (!snapshot) return Error::unavailable("the fleet has not been read yet");
    std::vector<fleet::Change> changes;
    fleet::Snapshot after = *snapshot;
    for (const auto& [verb, subject] : wanted) {
      ASSIGN_OR_RETURN(fleet::Change change, fleet::read_change(verb, subject, *snapshot, ""));
      after = fleet::with_change(std::move(after), change);
      changes.push_back(std::move(change));
    }
    Json lines = Json::array();
    for (const std::string& line :
         split(fleet::what_if_text(fleet::what_if(*snapshot, changes), snapshot->time), '\n')) {
      if (!line.empty()) lines.push_back(line);
    }
    return Json{{"fleet", fleet::write_fleet(fleet::build_fleet(fleet::settled(std::move(after))))}, {"lines", lines}};
  }

 private:
  [[nodiscard]] std::shared_ptr<const fleet::Snapshot> latest() const TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return latest_;
  }

  Context& context_;
  const FleetSource& source_;
  mutable Mutex mutex_;
  std::shared_ptr<const fleet::Snapshot> latest_ TPUSLICE_GUARDED_BY(mutex_);
};

/// `context` and `options` outlive the source. Errors: of the connection, if the fleet is that of a cluster.
Result<PageSource> source_of_snapshots(Context& context, const UiOptions& options) {
  const auto snapshots = std::make_shared<PageSnapshots>(context, options.source);
  PageSource source;
  source.fleet = [snapshots] { return snapshots->read(); };
  source.history = [snapshots]() -> Result<Json> { return snapshots->history(); };
  source.what_if = [snapshots](const std::vector<std::pair<std::string, std::string>>& changes) {
    return snapshots->what_if(changes);
  };
  if (!options.source.snapshot.empty()) return source;
  ASSIGN_OR_RETURN(client::Client* const api, context.api());
  source.object = [api, stop = context.stop()](const std::string& kind, const ObjectKey& key) {
    return read_workload_document(*api, kind, key, stop);
  };
  return source;
}

/// The source of a file of the schema tpuslice.dev/fleet.v1. It has no objects to simulate with.
PageSource source_of_document(const std::string& path) {
  const auto read = [path]() -> Result<Json> {
    ASSIGN_OR_RETURN(std::optional<Json> document, read_fleet_document(path));
    if (!document) return Error::invalid_argument("{}: schema is not {}", path, fleet::kFleetSchema);
    return *std::move(document);
  };
  PageSource source;
  source.fleet = read;
  source.history = [read]() -> Result<Json> {
    ASSIGN_OR_RETURN(const Json document, read());
    return Json{{"records", array_at(document, {"history"})}};
  };
  return source;
}

/// A file is read again while the page is open, so that one that is replaced is shown.
Result<PageSource> make_source(Context& context, const UiOptions& options) {
  if (!options.source.snapshot.empty()) {
    ASSIGN_OR_RETURN(const std::optional<Json> document, read_fleet_document(options.source.snapshot));
    if (document) return source_of_document(options.source.snapshot);
  }
  return source_of_snapshots(context, options);
}

Result<ExitCode> export_page(Context& context, const PageSource& source, const std::string& path) {
  ASSIGN_OR_RETURN(const Json fleet, source.fleet());
  ASSIGN_OR_RETURN(const Json history, source.history());
  RETURN_IF_ERROR(write_private_file(path, fleet::page_in_one_file(fleet, array_at(history, {"records"}))));
  context.note(fmt::format("{} is written: the page in one file, to open in a browser", path));
  return ExitCode::kYes;
}

Result<ExitCode> serve_page(Context& context, PageSource source, std::uint16_t port) {
  RETURN_IF_ERROR(source.fleet());  // What cannot be read is said here, and not only on the page.
  const PageServerOptions options{.port = port, .command = context.invoked()};
  ASSIGN_OR_RETURN(const auto server, PageServer::start(std::move(source), options, context.clock()));
  context.print(server->url() + "\n");
  context.out().flush();
  context.note("Open this address in a browser of this machine. Ctrl-C ends the server.");
  wait_for_stop(context.stop());
  return ExitCode::kYes;
}

Result<ExitCode> run_ui(Context& context, const UiOptions& options) {
  ASSIGN_OR_RETURN(PageSource source, make_source(context, options));
  if (!options.export_to.empty()) return export_page(context, source, options.export_to);
  return serve_page(context, std::move(source), options.port);
}

}  // namespace

void add_ui(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<UiOptions>();
  CLI::App& command = commands.add(app, "ui", "Show the fleet as a page in a browser of this machine",
                                   [options](Context& context) { return run_ui(context, *options); });
  add_source_options(command, options->source);
  command.add_option("--export", options->export_to, "Write the page with the fleet as one file, and end");
  command.add_option("--port", options->port, "Port of 127.0.0.1. Default: a free one");
}

}  // namespace tpuslice::plugin
