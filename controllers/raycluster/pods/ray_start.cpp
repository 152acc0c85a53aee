#include "controllers/raycluster/pods/ray_start.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "api/base/strings.h"
#include "api/types/quantity.h"
#include "controllers/raycluster/rules/raycluster_labels.h"

namespace tpuslice::raycluster {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kAccelerators{
    {{"aws.amazon.com/neuroncore", "neuron_cores"}, {"google.com/tpu", "TPU"}}};
/// Flags of `ray start` with the value true or false.
constexpr std::array<std::string_view, 3> kBooleanArguments{"include-dashboard", "include-log-monitor", "log-color"};

std::optional<Quantity> amount(const Json& container, const char* section, std::string_view name) {
  const Json* value = find_path(container, {"resources", section, name});
  if (value == nullptr) return std::nullopt;
  const Result<Quantity> parsed = Quantity::from_json(*value);
  if (!parsed || parsed->is_zero()) return std::nullopt;
  return *parsed;
}

std::string whole(const Quantity& quantity) { return std::to_string(quantity.value()); }

/// Ray counts custom resources in floating point; quantities of them are precise to a thousandth.
double approximate(const Quantity& quantity) {
  constexpr std::int64_t kExact = 1'000'000'000'000;  // milli_value() would overflow far beyond
  const std::int64_t units = quantity.value();
  if (units > kExact || units < -kExact) return static_cast<double>(units);
  return static_cast<double>(quantity.milli_value()) / 1000.0;
}

/// A number as encoding/json prints a float64.
std::string print_number(double value) {
  std::array<char, 64> buffer{};
  const bool plain = value == 0 || (std::fabs(value) >= 1e-6 && std::fabs(value) < 1e21);
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format);
  return {buffer.data(), end.ptr};
}

/// {"TPU":4}, quoted for the shell.
std::string print_resources(const std::map<std::string, double>& resources) {
  std::string out = "'{";
  for (const auto& [name, value] : resources) {
    if (out.size() > 2) out += ',';
    out += Json(name).dump() + ":" + print_number(value);
  }
  return out + "}'";
}

/// The user's parameter `resources`; nothing if it is not a JSON object of numbers.
std::optional<std::map<std::string, double>> parse_resources(const StringMap& params) {
  std::map<std::string, double> out;
  const auto found = params.find("resources");
  if (found == params.end()) return out;
  constexpr std::string_view kQuotes = "'\"` ";
  std::string_view text = found->second;
  const std::size_t begin = text.find_first_not_of(kQuotes);
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin, text.find_last_not_of(kQuotes) - begin + 1);
  const Result<Json> json = parse_json(text);
  if (!json || !json->is_object()) return std::nullopt;
  for (const auto& [name, value] : json->items()) {
    if (!value.is_number()) return std::nullopt;
    out[name] = value.get<double>();
  }
  return out;
}

/// Adds the first accelerator that Ray supports, unless the user lists one, and the first GPU.
void add_accelerators(StringMap& params, const Json& container) {
  const Json* limits = find_path(container, {"resources", "limits"});
  if (limits == nullptr || !limits->is_object() || limits->empty()) return;
  std::optional<std::map<std::string, double>> resources = parse_resources(params);
  if (!resources) return;
  bool listed = std::ranges::any_of(kAccelerators,
                                    [&](const auto& known) { return resources->contains(std::string(known.second)); });
  for (const auto& [name, value] : limits->items()) {  // sorted by name
    const Result<Quantity> quantity = Quantity::from_json(value);
    if (!quantity || quantity->is_zero()) continue;
    if (is_gpu_resource(name)) params.try_emplace("num-gpus", whole(*quantity));
    const auto known =
        std::ranges::find(kAccelerators, std::string_view(name), [](const auto& pair) { return pair.first; });
    if (listed || known == kAccelerators.end()) continue;
    (*resources)[std::string(known->second)] = approximate(*quantity);
    params["resources"] = print_resources(*resources);
    listed = true;
  }
}

void add_container_resources(StringMap& params, const Json& container) {
  std::optional<Quantity> cpu = amount(container, "limits", "cpu");
  if (!cpu) cpu = amount(container, "requests", "cpu");
  if (cpu) params.try_emplace("num-cpus", whole(*cpu));
  if (const auto memory = amount(container, "limits", "memory")) params.try_emplace("memory", whole(*memory));
  add_accelerators(params, container);
}

void apply_group_resources(StringMap& params, const StringMap& resources) {
  std::map<std::string, double> custom;
  for (const auto& [name, text] : resources) {
    const Result<Quantity> quantity = Quantity::parse(text);
    if (!quantity) continue;
    const std::string known = to_lower(name);
    if (known == "cpu") {
      params["num-cpus"] = whole(*quantity);
    } else if (known == "memory") {
      params["memory"] = whole(*quantity);
    } else if (is_gpu_resource(known)) {
      params["num-gpus"] = whole(*quantity);
    } else {
      custom[name] = approximate(*quantity);
    }
  }
  if (!custom.empty()) params["resources"] = print_resources(custom);
}

/// By name, as commands print it.
std::map<std::string, std::string> in_order(const StringMap& map) { return {map.begin(), map.end()}; }

void apply_group_labels(StringMap& params, const StringMap& labels) {
  if (labels.empty()) return;
  std::string list;
  for (const auto& [key, value] : in_order(labels)) {
    if (!list.empty()) list += ',';
    list.append(key).append("=").append(value);
  }
  params["labels"] = std::move(list);
}

/// The user's command as upstream joins it: with a space before and after every word.
std::string user_command(const Json& container) {
  std::string out;
  for (const char* member : {"command", "args"}) {
    const auto words = container.find(member);
    if (words == container.end() || !words->is_array()) continue;
    for (const Json& word : *words) {
      if (word.is_string()) out += " " + word.get<std::string>() + " ";
    }
  }
  return out;
}

}  // namespace

std::string_view to_string(NodeType type) { return type == NodeType::kHead ? kHeadNode : kWorkerNode; }

StringMap ray_start_params(const GroupSpec& group, NodeType type, const Json& container, const std::string& address) {
  StringMap params = group.ray_start_params;
  apply_group_resources(params, group.resources);
  apply_group_labels(params, group.labels);
  if (type == NodeType::kWorker) params.try_emplace("address", address);
  if (type == NodeType::kHead) params.try_emplace("dashboard-host", "0.0.0.0");
  params.try_emplace("metrics-export-port", std::to_string(kMetricsPort));
  params["block"] = "true";
  params.try_emplace("dashboard-agent-listen-port", std::to_string(kAgentPort));
  add_container_resources(params, container);
  return params;
}

std::string ray_start_command(const StringMap& params, NodeType type) {
  std::string out = type == NodeType::kHead ? "ray start --head " : "ray start ";
  for (const auto& [flag, value] : in_order(params)) {
    const std::string word = to_lower(value);
    const bool takes_words = std::ranges::find(kBooleanArguments, flag) != kBooleanArguments.end();
    if (!takes_words && word == "false") continue;
    out.append(" --").append(flag);
    if (takes_words || word != "true") out.append("=").append(value);
    out += ' ';
  }
  return out;
}

void set_ray_command(Json& container, const std::string& ray_start, bool overwrite) {
  const std::string command = user_command(container);
  if (!overwrite || command.find("ray start") != std::string::npos) return;
  const std::string start = "ulimit -n ${RAY_START_ULIMIT_OPEN_FILES:-65536}; " + ray_start;
  container["command"] = {"/bin/bash", "-c", "--"};
  container["args"] = Json::array({command.empty() ? start : command + " && " + start});
}

}  // namespace tpuslice::raycluster
