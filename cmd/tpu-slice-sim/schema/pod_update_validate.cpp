// Pods: immutable fields.
#include <algorithm>

#include "api/types/patch.h"
#include "cmd/tpu-slice-sim/schema/builtin_checks.h"

namespace tpuslice::sim {
namespace {

constexpr std::string_view kMutable =
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

void take_member(Json& spec, const Json& old, const char* name) {
  if (const auto found = old.find(name); found != old.end()) {
    spec[name] = *found;
  } else {
    spec.erase(name);
  }
}

/// Images may change; returns false when containers were added or removed.
bool take_images(Json& spec, const Json& old, const char* kind) {
  const Json& before = list_at(old, kind);
  if (before.size() != list_at(spec, kind).size()) return false;
  for (std::size_t i = 0; i < before.size(); ++i) take_member(spec[kind][i], before[i], "image");
  return true;
}

void check_deadline(Problems& problems, const FieldPath& path, const Json& spec, const Json& old) {
  const Json* before = find_path(old, {"activeDeadlineSeconds"});
  const Json* after = find_path(spec, {"activeDeadlineSeconds"});
  if (before == nullptr) return;
  if (after == nullptr) {
    problems.invalid(path, nullptr, "must not update from a positive integer to nil value");
  } else if (*after > *before) {
    problems.invalid(path, *after, "must be less than or equal to previous value");
  }
}

Json without_seconds(Json toleration) {
  toleration.erase("tolerationSeconds");
  return toleration;
}

void check_tolerations(Problems& problems, const FieldPath& path, const Json& spec, const Json& old) {
  const Json& after = list_at(spec, "tolerations");
  for (const Json& before : list_at(old, "tolerations")) {
    const bool kept = std::any_of(after.begin(), after.end(), [&before](const Json& each) {
      return without_seconds(each) == without_seconds(before);
    });
    if (!kept) {
      return problems.forbidden(path, "existing toleration can not be modified except its tolerationSeconds");
    }
  }
}

void check_gates(Problems& problems, const FieldPath& path, const Json& spec, const Json& old) {
  const Json& before = list_at(old, "schedulingGates");
  const Json& after = list_at(spec, "schedulingGates");
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (std::find(before.begin(), before.end(), after[i]) != before.end()) continue;
    const FieldPath item = path.item(i);
    problems.forbidden(item.member("name"), fmt::format("only deletion is allowed, but found new scheduling gate '{}'",
                                                        string_at(after[i], {"name"})));
  }
}

void check_selector_additions(Problems& problems, const FieldPath& path, const Json& spec, const Json& old) {
  const Json& after = map_at(spec, "nodeSelector");
  for (const auto& [key, value] : map_at(old, "nodeSelector").items()) {
    const auto found = after.find(key);
    if (found != after.end() && *found == value) continue;
    return problems.invalid(path, after, "only additions to spec.nodeSelector are allowed (no mutations or deletions)");
  }
}

/// Whether `after` starts with all expressions of `before`, in their order.
bool extends(const Json& after, const Json& before) {
  for (const char* name : {"matchExpressions", "matchFields"}) {
    const Json& old_list = list_at(before, name);
    const Json& new_list = list_at(after, name);
    if (old_list.size() > new_list.size() || !std::equal(old_list.begin(), old_list.end(), new_list.begin()))
      return false;
  }
  return true;
}

/// The node affinity of a gated pod may only get more restrictive.
void check_affinity_additions(Problems& problems, const FieldPath& path, const Json& spec, const Json& old) {
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  const Json* before = find_path(old, {"affinity", "nodeAffinity", kRequired, "nodeSelectorTerms"});
  if (before == nullptr || before->empty()) return;
  const Json* after = find_path(spec, {"affinity", "nodeAffinity", kRequired, "nodeSelectorTerms"});
  if (after == nullptr || after->size() != before->size()) {
    return problems.invalid(path, after == nullptr ? Json() : *after,
                            "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
  }
  for (std::size_t i = 0; i < before->size(); ++i) {
    if (!extends((*after)[i], (*before)[i])) {
      problems.invalid(path.item(i), (*after)[i], "only additions are allowed (no mutations or deletions)");
    }
  }
}

/// Reverts fields that only a pod with scheduling gates may change.
void take_gated(Json& spec, const Json& old) {
  take_member(spec, old, "nodeSelector");
  const Json* before = find_path(old, {"affinity", "nodeAffinity"});
  if (before != nullptr) {
    spec["affinity"]["nodeAffinity"] = *before;
  } else if (spec.contains("affinity") && spec["affinity"].is_object()) {
    spec["affinity"].erase("nodeAffinity");
    if (spec["affinity"].empty() && !old.contains("affinity")) spec.erase("affinity");
  }
}

}  // namespace

void check_pod_update(Problems& problems, const Json& pod, const Json& old_pod) {
  const Json& old = map_at(old_pod, "spec");
  Json spec = map_at(pod, "spec");
  const FieldPath path("spec");
  check_deadline(problems, path.member("activeDeadlineSeconds"), spec, old);
  check_tolerations(problems, path.member("tolerations"), spec, old);
  check_gates(problems, path.member("schedulingGates"), spec, old);
  const bool gated = !list_at(old, "schedulingGates").empty();
  if (gated) {
    check_selector_additions(problems, path.member("nodeSelector"), spec, old);
    check_affinity_additions(problems, path.member("affinity").member("nodeAffinity"), spec, old);
  }
  for (const char* kind : {"containers", "initContainers"}) {
    if (!take_images(spec, old, kind)) {
      return problems.forbidden(path.member(kind), "pod updates may not add or remove containers");
    }
  }
  for (const char* name : {"activeDeadlineSeconds", "tolerations", "schedulingGates"}) take_member(spec, old, name);
  if (gated) take_gated(spec, old);
  const Json* grace = find_path(old, {"terminationGracePeriodSeconds"});
  if (grace != nullptr && *grace < Json(0) && spec["terminationGracePeriodSeconds"] == 1) {
    spec["terminationGracePeriodSeconds"] = *grace;
  }
  if (spec != old) problems.forbidden(path, fmt::format("{}\n{}", kMutable, json_diff(old, spec).dump()));
}

}  // namespace tpuslice::sim
