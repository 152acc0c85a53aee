// Jobs and the workloads of apps/v1.
#include <fmt/format.h>

#include "api/base/strings.h"
#include "api/types/selector.h"
#include "cmd/tpu-slice-sim/table/age.h"
#include "cmd/tpu-slice-sim/table/builtin_columns.h"

namespace tpuslice::sim {
namespace {

std::string job_status(const Json& job) {
  const Json* conditions = find_path(job, {"status", "conditions"});
  const auto has = [conditions](std::string_view type) {
    if (conditions == nullptr || !conditions->is_array()) return false;
    return std::any_of(conditions->begin(), conditions->end(), [type](const Json& each) {
      return string_at(each, {"type"}) == type && string_at(each, {"status"}) == "True";
    });
  };
  if (has("Complete")) return "Complete";
  if (has("Failed")) return "Failed";
  if (find_path(job, {"metadata", "deletionTimestamp"}) != nullptr) return "Terminating";
  if (has("Suspended")) return "Suspended";
  if (has("FailureTarget")) return "FailureTarget";
  if (has("SuccessCriteriaMet")) return "SuccessCriteriaMet";
  return "Running";
}

std::string job_completions(const Json& job) {
  const std::int64_t succeeded = int_at(job, {"status", "succeeded"});
  if (find_path(job, {"spec", "completions"}) != nullptr) {
    return fmt::format("{}/{}", succeeded, int_at(job, {"spec", "completions"}));
  }
  const std::int64_t parallelism = int_at(job, {"spec", "parallelism"});
  return parallelism > 1 ? fmt::format("{}/1 of {}", succeeded, parallelism) : fmt::format("{}/1", succeeded);
}

Json job_duration(const Json& job, Timestamp now) {
  const auto start = parse_rfc3339(string_at(job, {"status", "startTime"}));
  if (!start) return "";
  const auto end = parse_rfc3339(string_at(job, {"status", "completionTime"}));
  return human_duration(end.value_or(now) - *start);
}

Column ready_of_replicas() {
  return text_column("Ready", [](const Json& object) {
    return fmt::format("{}/{}", int_at(object, {"status", "readyReplicas"}), int_at(object, {"spec", "replicas"}));
  });
}

std::vector<Column> with_containers(std::vector<Column> columns, bool selector) {
  for (Column& each : container_columns({"spec", "template"}, 1)) columns.push_back(std::move(each));
  if (selector) columns.push_back(selector_column());
  return columns;
}

}  // namespace

std::vector<Column> job_columns() {
  Column duration;
  duration.name = "Duration";
  duration.cell = job_duration;
  return with_containers({name_column(), text_column("Status", job_status), text_column("Completions", job_completions),
                          duration, age_column()},
                         true);
}

std::vector<Column> stateful_set_columns() {
  return with_containers({name_column(), ready_of_replicas(), age_column()}, false);
}

std::vector<Column> revision_columns() {
  const auto controller = [](const Json& object) -> std::string {
    for (const Json& owner : array_at(object, {"metadata", "ownerReferences"})) {
      if (!bool_at(owner, {"controller"})) continue;
      std::string kind = string_at(owner, {"kind"});
      const std::string version = string_at(owner, {"apiVersion"});
      if (const auto slash = version.find('/'); slash != std::string::npos) kind += "." + version.substr(0, slash);
      return to_lower(kind) + "/" + string_at(owner, {"name"});
    }
    return "<none>";
  };
  Column number = number_column("Revision", [](const Json& object) { return int_at(object, {"revision"}); });
  number.type = "string";
  return {name_column(), text_column("Controller", controller), std::move(number), age_column()};
}

std::vector<Column> pod_template_columns() {
  std::vector<Column> columns = {name_column()};
  for (Column& each : container_columns({"template"}, 0)) columns.push_back(std::move(each));
  columns.push_back(text_column("Pod Labels", [](const Json& object) {
    std::string text;
    for (const auto& [key, value] : string_map_at(object, {"template", "metadata", "labels"})) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
    }
    return or_none(std::move(text));
  }));
  return columns;
}

}  // namespace tpuslice::sim
