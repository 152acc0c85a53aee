#include "webhook/rules/fields.h"

#include <limits>

namespace tpuslice::webhook {

const Json* find_set(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* found = find_path(json, path);
  return found == nullptr || found->is_null() ? nullptr : found;
}

bool is_true(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* found = find_path(json, path);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

std::optional<std::int64_t> int_at(const Json& json, std::initializer_list<std::string_view> path) {
  const Json* found = find_path(json, path);
  if (found == nullptr || !found->is_number_integer()) return std::nullopt;
  using Int32 = std::numeric_limits<std::int32_t>;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > static_cast<std::uint64_t>(Int32::max())) {
    return std::nullopt;
  }
  const auto value = found->get<std::int64_t>();
  if (value < Int32::min() || value > Int32::max()) return std::nullopt;
  return value;
}

}  // namespace tpuslice::webhook
