// Reading of a RayCluster's fields, for its validators: absent, null and ill-typed members are told apart from values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "webhook/rules/field_errors.h"

namespace tpuslice::webhook {

/// Like find_path, but a null is absent.
[[nodiscard]] const Json* find_set(const Json& json, std::initializer_list<std::string_view> path);
/// True only for a JSON true.
[[nodiscard]] bool is_true(const Json& json, std::initializer_list<std::string_view> path);
/// A whole number that an int32 can hold.
[[nodiscard]] std::optional<std::int64_t> int_at(const Json& json, std::initializer_list<std::string_view> path);

/// Calls `visit(group, "spec.workerGroupSpecs[0]")` for each worker group that is an object.
void for_each_group(const Json& cluster, const std::function<void(const Json&, const std::string&)>& visit);

/// What TPU slices demand of the cluster's groups.
void check_tpu_rules(const Json& cluster, std::vector<FieldError>& errors);

}  // namespace tpuslice::webhook
