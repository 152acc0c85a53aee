#include "tpu/rules/field_changes.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "api/types/quantity.h"
#include "api/types/utf8.h"

namespace tpuslice::rules {
namespace {

template <std::size_t kSize>
bool is_among(const std::array<std::string_view, kSize>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Maps with user-defined keys, in which "" is a value.
constexpr std::array<std::string_view, 5> kStringMaps = {"labels", "annotations", "nodeSelector", "matchLabels",
                                                         "volumeAttributes"};
constexpr std::array<std::string_view, 4> kQuantityMaps = {"limits", "requests", "overhead", "capacity"};
constexpr std::string_view kDivisor = "divisor";
constexpr std::array<std::string_view, 2> kQuantities = {"sizeLimit", kDivisor};
/// Objects for which {} means absent; for others, such as emptyDir or namespaceSelector, {} is a value.
constexpr std::array<std::string_view, 5> kPlainObjects = {"metadata", "resources", "spec", "status", "template"};
/// Fields that Go clients omit if zero.
constexpr std::array<std::string_view, 14> kPlainScalars = {
    "hostNetwork",         "hostPID",  "hostIPC",        "stdin",         "stdinOnce",        "tty",      "readOnly",
    "initialDelaySeconds", "hostPort", "timeoutSeconds", "periodSeconds", "successThreshold", "jobIndex", "podIndex"};
/// Strings for which "" is a value.
constexpr std::array<std::string_view, 1> kNullableStrings = {"storageClassName"};

bool is_map(std::string_view key) { return is_among(kStringMaps, key) || is_among(kQuantityMaps, key); }

bool is_zero_quantity(const Json& value) {
  const auto quantity = Quantity::from_json(value);
  return quantity.ok() && quantity->is_zero();
}

/// Whether `value`, the member `key` of the member `parent`, means absent.
bool is_absent(const Json* value, std::string_view key, std::string_view parent) {
  if (value == nullptr || value->is_null()) return true;
  if (is_map(parent)) return false;
  if (value->is_array()) return value->empty();
  if (value->is_object()) return value->empty() && (is_map(key) || is_among(kPlainObjects, key));
  if (key == kDivisor && is_zero_quantity(*value)) return true;  // Go clients write "0".
  if (value->is_string()) return value->get_ref<const std::string&>().empty() && !is_among(kNullableStrings, key);
  return is_among(kPlainScalars, key) && (*value == false || *value == 0);
}

bool is_same_scalar(const Json& before, const Json& after, std::string_view key, std::string_view parent) {
  if (before == after) return true;
  if (!is_among(kQuantityMaps, parent) && !is_among(kQuantities, key)) return false;
  const auto left = Quantity::from_json(before);
  const auto right = Quantity::from_json(after);
  return left.ok() && right.ok() && *left == *right;
}

const Json* member(const Json& object, const std::string& key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

/// Bytes of a path; below it, everything has that path. Each change has one, and keys can be as long as a request.
constexpr std::size_t kMaxChangedPath = 512;

std::string item_of(const std::string& path, std::size_t index) {
  return path.size() > kMaxChangedPath ? path : fmt::format("{}[{}]", path, index);
}

std::string member_of(const std::string& path, const std::string& name, bool of_map) {
  if (path.size() > kMaxChangedPath) return path;
  const std::string shown = clip(name, kMaxChangedPath);
  return of_map ? fmt::format("{}[{}]", path, shown) : fmt::format("{}.{}", path, shown);
}

class Comparison {
 public:
  explicit Comparison(const std::function<void(FieldChange&&)>& visit) : visit_(visit) {}

  void compare(const Json* before, const Json* after, std::string_view key, std::string_view parent,
               const std::string& path) {
    static const Json kEmpty = Json::object();
    const bool absent_before = is_absent(before, key, parent);
    const bool absent_after = is_absent(after, key, parent);
    if (absent_before && absent_after) return;
    if (!is_map(parent) && (is_map(key) || is_among(kPlainObjects, key))) {
      if (absent_before) before = &kEmpty;
      if (absent_after) after = &kEmpty;
    } else if (absent_before || absent_after) {
      add(before, after, path);
      return;
    }
    if (before->is_object() && after->is_object()) {
      compare_members(*before, *after, key, path);
    } else if (before->is_array() && after->is_array() && before->size() == after->size()) {
      for (std::size_t index = 0; index < before->size(); ++index) {
        compare(&(*before)[index], &(*after)[index], {}, key, item_of(path, index));
      }
    } else if (!is_same_scalar(*before, *after, key, parent)) {
      add(before, after, path);
    }
  }

 private:
  void compare_members(const Json& before, const Json& after, std::string_view key, const std::string& path) {
    std::set<std::string> keys;
    for (const auto& item : before.items()) keys.insert(item.key());
    for (const auto& item : after.items()) keys.insert(item.key());
    for (const std::string& name : keys) {
      compare(member(before, name), member(after, name), name, key, member_of(path, name, is_map(key)));
    }
  }

  void add(const Json* before, const Json* after, const std::string& path) {
    visit_({path, before == nullptr ? Json() : *before, after == nullptr ? Json() : *after});
  }

  const std::function<void(FieldChange&&)>& visit_;
};

}  // namespace

std::vector<FieldChange> field_changes(const Json& before, const Json& after, const std::string& path) {
  std::vector<FieldChange> changes;
  for_each_change(before, after, path, [&](FieldChange&& change) { changes.push_back(std::move(change)); });
  return changes;
}

void for_each_change(const Json& before, const Json& after, const std::string& path,
                     const std::function<void(FieldChange&& change)>& visit) {
  Comparison(visit).compare(&before, &after, path.substr(path.rfind('.') + 1), {}, path);
}

}  // namespace tpuslice::rules
