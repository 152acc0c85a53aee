// Reading of a custom resource's fields, for validators: absent, null and ill-typed members are told apart from values.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "api/types/json.h"

namespace tpuslice::webhook {

/// Like find_path, but a null is absent.
[[nodiscard]] const Json* find_set(const Json& json, std::initializer_list<std::string_view> path);
/// True only for a JSON true.
[[nodiscard]] bool is_true(const Json& json, std::initializer_list<std::string_view> path);
/// A whole number that an int32 can hold.
[[nodiscard]] std::optional<std::int64_t> int_at(const Json& json, std::initializer_list<std::string_view> path);

}  // namespace tpuslice::webhook
