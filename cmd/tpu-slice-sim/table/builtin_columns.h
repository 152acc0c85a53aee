// The table columns of the built-in kinds.
#pragma once

#include <vector>

#include "cmd/tpu-slice-sim/table/table.h"

namespace tpuslice::sim {

/// Empty for a kind with only name and age.
[[nodiscard]] std::vector<Column> builtin_columns(const Resource& resource);

[[nodiscard]] std::vector<Column> pod_columns();
[[nodiscard]] std::vector<Column> node_columns();
[[nodiscard]] std::vector<Column> service_columns();
[[nodiscard]] std::vector<Column> event_columns(bool events_group);
[[nodiscard]] std::vector<Column> job_columns();
[[nodiscard]] std::vector<Column> stateful_set_columns();
[[nodiscard]] std::vector<Column> revision_columns();
[[nodiscard]] std::vector<Column> pod_template_columns();

/// The pod columns of kubectl; status is "Running", "Init:0/1", "CrashLoopBackOff", "Terminating", ...
struct PodSummary {
  std::string status;
  std::int64_t ready = 0;
  std::int64_t containers = 0;
  std::int64_t restarts = 0;
  std::string last_restart;  ///< RFC 3339; empty without one.
};
[[nodiscard]] PodSummary summarize_pod(const Json& pod);

/// Building blocks.
[[nodiscard]] Column name_column();
[[nodiscard]] Column age_column();
[[nodiscard]] Column text_column(std::string name, std::function<std::string(const Json&)> text, int priority = 0);
[[nodiscard]] Column number_column(std::string name, std::function<std::int64_t(const Json&)> number);
/// CONTAINERS and IMAGES of the pod template at `path`.
[[nodiscard]] std::vector<Column> container_columns(const std::vector<std::string>& path, int priority);
[[nodiscard]] Column selector_column();
[[nodiscard]] std::string or_none(std::string text);

}  // namespace tpuslice::sim
