#include "cmd/kubectl-tpu/operator_info.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cmd/kubectl-tpu/checks/types.h"
#include "cmd/tpu-slice-operator/options.h"
#include "cmd/tpu-slice-operator/slice_settings.h"
#include "controllers/history/history_page.h"
#include "controllers/history/ring.h"
#include "controllers/placement/preemption_budget.h"
#include "controllers/placement/scale_up/autoscaler_status.h"

namespace tpuslice::plugin {
namespace {

/// "0.1.0" of "registry.example/tpu-slice-operator:0.1.0@sha256:..."; empty without a tag.
std::string tag_of(std::string image) {
  if (const std::size_t digest = image.find('@'); digest != std::string::npos) image.resize(digest);
  const std::size_t colon = image.rfind(':');
  const std::size_t slash = image.rfind('/');
  const bool is_tag = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return is_tag ? image.substr(colon + 1) : std::string();
}

const Json& operator_container(const Json& deployment) {
  static const Json kNone = Json::object();
  for (const Json& each : array_at(deployment, {"spec", "template", "spec", "containers"})) {
    for (const Json& argument : array_at(each, {"args"})) {
      if (argument.is_string() && argument.get<std::string>().starts_with("--leader-election")) return each;
    }
  }
  const Json& all = array_at(deployment, {"spec", "template", "spec", "containers"});
  return all.empty() ? kNone : all.front();
}

/// False if the container has other options than those that are read.
bool read_options(const Json& container, const std::string& namespace_name, fleet::Snapshot& out) {
  std::vector<std::string> arguments = {std::string(kOperatorName)};
  bool is_all = true;
  for (const Json& argument : array_at(container, {"args"})) {
    if (!argument.is_string()) continue;
    const bool is_config = argument.get<std::string>().starts_with("--config");  // A path is one in the container.
    if (is_config) is_all = false;
    if (!is_config) arguments.push_back(argument);
  }
  std::vector<const char*> argv;
  argv.reserve(arguments.size());
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  const auto line = parse_command_line(static_cast<int>(argv.size()), argv.data());
  if (!line || !line->output.empty() || line->drain) return false;
  out.options = placement_options(line->options, namespace_name);
  out.topology_key = line->options.topology_key;
  return is_all;
}

}  // namespace

bool read_deployment(const Json& deployment, fleet::Snapshot& out) {
  const Json& container = operator_container(deployment);
  out.cluster.operator_version = tag_of(string_at(container, {"image"}));
  out.cluster.replicas = int_at(deployment, {"spec", "replicas"}, 1);
  out.cluster.ready = int_at(deployment, {"status", "readyReplicas"});
  return read_options(container, string_at(deployment, {"metadata", "namespace"}, kOperatorNamespace), out);
}

void read_operator(Context& context, client::Client& api, ReadFleet& read) {
  fleet::Snapshot& out = read.snapshot;
  const std::stop_token& stop = context.stop();
  out.options.scale_up.namespace_name = kOperatorNamespace;
  if (const auto response = api.raw({.target = "/version"}, stop)) {
    if (const auto version = parse_json(response->body)) out.cluster.kubernetes = string_at(*version, {"gitVersion"});
  }
  if (const auto config = context.config()) out.cluster.name = context.options().context;
  const auto deployment = api.get(kDeployments, {std::string(kOperatorNamespace), std::string(kOperatorName)}, stop);
  if (!deployment) {
    read.assumed = fmt::format("The options of the operator are not known, its defaults are assumed: {}",
                               deployment.error().message());
  } else if (!read_deployment(deployment->json(), out)) {
    read.assumed =
        "Not all options of the operator are known, for the others its defaults are assumed: it has a "
        "configuration file, or flags that this program does not know";
  }
  const auto status = api.get(
      kConfigMaps, {std::string(placement::kAutoscalerNamespace), std::string(placement::kAutoscalerConfigMap)}, stop);
  if (status) {
    placement::ConfigMapStore store(kConfigMaps);
    if (auto view = placement::MetadataView::decode(status->json().dump())) store.put(*view);
    out.has_autoscaler = placement::has_autoscaler(store, out.time);
  }
  if (const Status history = read_history(api, stop, out); !history.ok()) {
    context.log().debug(history.error().message());
    read.history_error = history.error();
  }
  if (out.options.max_preemptions_per_hour == 0) return;
  const auto records =
      api.get(kConfigMaps, {out.options.scale_up.namespace_name, std::string(placement::kPreemptionsConfigMap)}, stop);
  if (!records) return;
  if (auto view = placement::PreemptionRecords::decode(records->json().dump())) {
    out.preemptions = std::make_shared<const placement::PreemptionRecords>(*std::move(view));
  }
}

Status read_history(client::Client& api, const std::stop_token& stop, fleet::Snapshot& out) {
  for (std::size_t page = 0; page < history::kPages; ++page) {
    const auto config_map = api.get(kConfigMaps, history::page_key(out.options.scale_up.namespace_name, page), stop);
    if (!config_map && config_map.error().code() == ErrorCode::kNotFound) break;
    if (!config_map) return config_map.error();
    std::ranges::move(fleet::read_history_lines(string_at(config_map->json(), {"data", "records"})),
                      std::back_inserter(out.history));
  }
  std::ranges::stable_sort(out.history, {}, &fleet::HistoryRecord::time);
  return {};
}

}  // namespace tpuslice::plugin
