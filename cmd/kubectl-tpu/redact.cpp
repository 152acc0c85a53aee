#include "cmd/kubectl-tpu/redact.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace tpuslice::plugin {
namespace {

constexpr std::string_view kRedacted = "<redacted>";
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/// Members whose text users write: commands and arguments of containers, Ray's entry point and runtime environment,
/// start parameters, data of ConfigMaps.
constexpr std::array<std::string_view, 10> kTexts = {"command",       "args",           "entrypoint", "runtimeEnvYAML",
                                                     "runtimeEnv",    "rayStartParams", "data",       "binaryData",
                                                     "serveConfigV2", "stringData"};

/// Annotations that are kept: parts of their keys.
constexpr std::array<std::string_view, 6> kKeptAnnotations = {"tpuslice.dev/", "kubernetes.io/", "x-k8s.io/",
                                                              "k8s.io/",       "ray.io/",        "cloud.google.com/"};

bool is_of_operator(std::string_view variable) {
  return variable.starts_with("TPU_") || variable.starts_with("MEGASCALE_");
}

void redact_environment(Json& environment) {
  if (!environment.is_array()) return;
  for (Json& variable : environment) {
    if (!variable.is_object() || !variable.contains("value")) continue;
    if (!is_of_operator(string_at(variable, {"name"}))) variable["value"] = kRedacted;
  }
}

void redact_annotations(Json& annotations) {
  if (!annotations.is_object()) return;
  annotations.erase(std::string(kLastApplied));
  for (auto& [key, value] : annotations.items()) {
    const bool kept = std::ranges::any_of(
        kKeptAnnotations, [&key = key](std::string_view part) { return key.find(part) != std::string::npos; });
    if (!kept) value = kRedacted;
  }
}

/// Objects and arrays keep their keys and sizes, so that the shape can be seen.
void redact_value(Json& value) {
  if (value.is_structured()) {
    for (Json& each : value) redact_value(each);
  } else if (!value.is_null()) {
    value = kRedacted;
  }
}

/// Whether the member has values that are compared with each other, and no secrets.
bool is_of_scheduling(std::string_view key) { return key == "tolerations" || key == "taints"; }

/// The end of a log, if a container has terminationMessagePolicy FallbackToLogsOnError.
void redact_messages(Json& terminated) {
  if (terminated.is_object() && terminated.contains("message")) terminated["message"] = kRedacted;
}

void redact_members(Json& json) {
  if (json.is_array()) {
    for (Json& each : json) redact_members(each);
    return;
  }
  if (!json.is_object()) return;
  json.erase("managedFields");
  for (auto& [key, value] : json.items()) {
    if (key == "env") {
      redact_environment(value);
    } else if (key == "annotations") {
      redact_annotations(value);
    } else if (std::ranges::find(kTexts, key) != kTexts.end()) {
      redact_value(value);
    } else if (key == "value" && value.is_string()) {
      value = kRedacted;  // Headers of probes, passwords.
    } else if (!is_of_scheduling(key)) {
      if (key == "terminated") redact_messages(value);
      redact_members(value);
    }
  }
}

}  // namespace

Json redacted(Json object) {
  redact_members(object);
  return object;
}

}  // namespace tpuslice::plugin
