// kubectl tpu report: an archive that shows others what the user sees, without secrets.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cmd/kubectl-tpu/archive.h"
#include "cmd/kubectl-tpu/checks/installation.h"
#include "cmd/kubectl-tpu/checks/types.h"
#include "cmd/kubectl-tpu/commands/commands.h"
#include "cmd/kubectl-tpu/missing_rights.h"
#include "cmd/kubectl-tpu/pod_logs.h"
#include "cmd/kubectl-tpu/redact.h"
#include "cmd/kubectl-tpu/workload_pods.h"
#include "cmd/tpu-slice-operator/kinds.h"
#include "tpu/labels.h"

namespace tpuslice::plugin {
namespace {

constexpr std::size_t kMaxArchive = 256U << 20U;  ///< Bytes before compression.
constexpr std::size_t kMaxEntry = 24U << 20U;     ///< Bytes of one list or log.
constexpr std::int64_t kLogLines = 5'000;         ///< Lines of the log of each replica.
constexpr std::string_view kHistoryPrefix = "tpu-slice-history";

struct ReportOptions {
  std::string file;
  std::string operator_namespace = "tpu-slice-system";
};

/// Writes the entries of a report. What cannot be read is noted in an entry of its own.
class Report {
 public:
  Report(Context& context, client::Client& api, Archive& archive) : context_(context), api_(api), archive_(archive) {}

  Status add_list(const std::string& entry, const ResourceType& type, const client::ListOptions& options) {
    return add_objects(entry, type, options, redacted, [](const Object&) { return true; });
  }
  /// The records of the operator, whose data is written by it and not by users.
  Status add_history(const std::string& namespace_name) {
    return add_objects(
        "operator/history.json", kConfigMaps, {.namespace_name = namespace_name}, [](Json object) { return object; },
        [](const Object& map) { return map.name().starts_with(kHistoryPrefix); });
  }
  Status add_log(http::Transport& streams, const Object& pod) {
    std::string text;
    const auto take = [&text](std::string_view line) {
      if (text.size() < kMaxEntry) text += std::string(line) + "\n";
    };
    const Status read = read_log(streams, pod, {.tail = kLogLines}, take, context_.stop());
    if (!read) note("log of " + pod.name(), read.error());
    return archive_.add("operator/" + pod.name() + ".log", text);
  }
  Status add_findings(const std::vector<Finding>& findings) {
    return archive_.add("check.json", findings_document(findings).dump(2));
  }
  void note(const std::string& what, const Error& error) {
    missing_ += fmt::format("{}: {}\n", what, error.message());
    if (const std::string grant = grant_for(error); !grant.empty()) missing_ += "  " + grant + "\n";
  }
  Status finish() {
    for (const std::string& name : archive_.cut()) missing_ += name + ": cut, the report is too long\n";
    if (!missing_.empty()) RETURN_IF_ERROR(archive_.add("missing.txt", missing_));
    return archive_.finish();
  }
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  Status add_objects(const std::string& entry, const ResourceType& type, const client::ListOptions& options,
                     const std::function<Json(Json)>& change, const std::function<bool(const Object&)>& wanted) {
    std::string text = "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [";
    bool first = true;
    bool cut = false;
    const auto take = [&](Object object) {
      if (!wanted(object)) return true;
      Json json = change(std::move(object.mutable_json()));
      json["apiVersion"] = type.api_version();  // Items of lists have none.
      json["kind"] = type.kind;
      text += (first ? "\n" : ",\n") + json.dump();
      first = false;
      cut = text.size() >= kMaxEntry;
      return !cut;
    };
    const Status read = for_each_object(api_, type, options, take, context_.stop());
    if (cut) missing_ += fmt::format("{}: cut after {} bytes\n", entry, kMaxEntry);
    if (!read && read.error().code() == ErrorCode::kNotFound) return {};
    if (!read) note(entry, read.error());
    if (first && !read) return {};
    return archive_.add(entry, text + "\n]}\n");
  }

  Context& context_;
  client::Client& api_;
  Archive& archive_;
  std::string missing_;
};

Status add_operator(Context& context, client::Client& api, Report& report, const std::string& namespace_name) {
  RETURN_IF_ERROR(report.add_list("operator/deployments.json", kDeployments, {.namespace_name = namespace_name}));
  RETURN_IF_ERROR(report.add_list("operator/leases.json", kLeases, {.namespace_name = namespace_name}));
  RETURN_IF_ERROR(report.add_history(namespace_name));
  const client::ListOptions pods_of_operator{.namespace_name = namespace_name,
                                             .label_selector = fmt::format("{}={}", tpu::kAppName, kOperatorName)};
  const auto pods = list_all(api, kPods, pods_of_operator, 10, context.stop());
  if (!pods) {
    report.note("logs of the operator", pods.error());
    return {};
  }
  ASSIGN_OR_RETURN(http::Transport* const streams, context.streams());
  for (const Object& pod : *pods) RETURN_IF_ERROR(report.add_log(*streams, pod));
  return {};
}

Status write_report(Context& context, Report& report, const ReportOptions& options) {
  ASSIGN_OR_RETURN(client::Client* const api, context.api());
  ASSIGN_OR_RETURN(const client::ClientConfig* const config, context.config());
  const std::string& chosen = context.options().namespace_name;
  const std::string own = chosen.empty() ? config->namespace_name : chosen;
  const std::string listed = context.options().all_namespaces ? std::string() : own;
  const CheckInput input{*api, options.operator_namespace, own, context.now(), context.stop()};
  RETURN_IF_ERROR(report.add_findings(check_installation(input)));
  RETURN_IF_ERROR(report.add_list("nodes.json", kNodes, {.label_selector = std::string(tpu::kAcceleratorLabel)}));
  RETURN_IF_ERROR(
      report.add_list("pods.json", kPods, {.namespace_name = listed, .label_selector = std::string(tpu::kSlice)}));
  for (const kind::Kind* each : kinds()) {
    RETURN_IF_ERROR(
        report.add_list(fmt::format("workloads/{}.json", each->type.plural), each->type, {.namespace_name = listed}));
  }
  RETURN_IF_ERROR(report.add_list("events.json", kEvents, {.namespace_name = listed}));
  RETURN_IF_ERROR(add_operator(context, *api, report, options.operator_namespace));
  return report.finish();
}

Result<ExitCode> make_report(Context& context, const ReportOptions& options) {
  ASSIGN_OR_RETURN(client::Client* const api, context.api());
  const std::string time = format_rfc3339(context.now());
  const std::string file =
      options.file.empty() ? fmt::format("tpu-report-{}.tar.gz", time.substr(0, 10)) : options.file;
  ASSIGN_OR_RETURN(const std::unique_ptr<Archive> archive, Archive::create(file, kMaxArchive, context.now()));
  Report report(context, *api, *archive);
  RETURN_IF_ERROR(write_report(context, report, options));
  context.print(
      fmt::format("{}: {} files. Names are kept; values of environment variables, commands and data are not.\n", file,
                  archive->entries()));
  if (!report.missing().empty()) context.note("Not complete:\n" + report.missing());
  context.suggest_command("tar -tzf " + file);
  return ExitCode::kYes;
}

}  // namespace

void add_report(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App& command = commands.add(app, "report", "Write an archive for a bug report, without secrets",
                                   [options](Context& context) { return make_report(context, *options); });
  command.add_option("-f,--file", options->file, "File to create. Default: tpu-report-DATE.tar.gz");
  command.add_option("--operator-namespace", options->operator_namespace,
                     "Namespace of the operator. Default: tpu-slice-system");
}

}  // namespace tpuslice::plugin
