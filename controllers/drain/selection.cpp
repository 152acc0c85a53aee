#include "controllers/drain/selection.h"

#include <algorithm>
#include <initializer_list>

#include "tpu/labels.h"

namespace tpuslice::drain {
namespace {

/// The gates of `pod_spec` but ours; nothing if ours is not there.
std::optional<Json> other_gates(const Json& object, std::initializer_list<std::string_view> path) {
  const Json& gates = array_at(object, path);
  Json kept = Json::array();
  for (const Json& gate : gates) {
    if (string_at(gate, {"name"}) != tpu::kSliceGate) kept.push_back(gate);
  }
  return kept.size() == gates.size() ? std::nullopt : std::optional(std::move(kept));
}

/// A holder with a gate in its pod template.
std::optional<Holder> with_gate_in_template(const Object& object) {
  if (object.deletion_timestamp()) return std::nullopt;
  std::optional<Json> kept = other_gates(object.json(), {"spec", "template", "spec", "schedulingGates"});
  if (!kept) return std::nullopt;
  Holder holder = holder_of(object);
  holder.kept = *std::move(kept);
  return holder;
}

bool is_finished(const Json& job) {
  const Json& conditions = array_at(job, {"status", "conditions"});
  return std::ranges::any_of(conditions, [](const Json& each) {
    const std::string type = string_at(each, {"type"});
    return (type == "Complete" || type == "Failed") && string_at(each, {"status"}) == "True";
  });
}

bool is_suspended(const Object& job) { return bool_at(job.json(), {"spec", "suspend"}); }

bool replaces_pods(const Object& set) {
  return string_at(set.json(), {"spec", "updateStrategy", "type"}) != "OnDelete" &&
         int_at(set.json(), {"spec", "replicas"}, 1) > 0;
}

}  // namespace

std::optional<Holder> gated_pod(const Object& pod) {
  if (pod.deletion_timestamp()) return std::nullopt;
  std::optional<Json> kept = other_gates(pod.json(), {"spec", "schedulingGates"});
  if (!kept) return std::nullopt;
  Holder holder = holder_of(pod);
  holder.kept = *std::move(kept);
  holder.slice = pod.label(tpu::kSlice);
  if (holder.slice.empty()) holder.slice = pod.name();
  return holder;
}

std::optional<Holder> scout_pod(const Object& pod) {
  if (pod.deletion_timestamp() || pod.annotation(tpu::kScaleUpFor).empty()) return std::nullopt;
  return holder_of(pod);
}

std::optional<Holder> suspended_job_with_gate(const Object& job) {
  if (!is_suspended(job) || is_finished(job.json())) return std::nullopt;
  std::optional<Holder> holder = with_gate_in_template(job);
  if (holder) holder->started = !string_at(job.json(), {"status", "startTime"}).empty();
  return holder;
}

std::optional<Holder> running_job_with_gate(const Object& job) {
  if (is_suspended(job) || is_finished(job.json())) return std::nullopt;
  return with_gate_in_template(job);
}

std::optional<Holder> idle_set_with_gate(const Object& set) {
  return replaces_pods(set) ? std::nullopt : with_gate_in_template(set);
}

std::optional<Holder> rolling_set_with_gate(const Object& set) {
  return replaces_pods(set) ? with_gate_in_template(set) : std::nullopt;
}

std::optional<Holder> object_with_finalizer(const Object& object, std::string_view finalizer) {
  const Json& all = array_at(object.json(), {"metadata", "finalizers"});
  Json kept = Json::array();
  for (const Json& each : all) {
    if (each != Json(finalizer)) kept.push_back(each);
  }
  if (kept.size() == all.size()) return std::nullopt;
  Holder holder = holder_of(object);
  holder.kept = std::move(kept);
  return holder;
}

}  // namespace tpuslice::drain
