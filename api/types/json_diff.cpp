// The JSON patch between two documents. What changed little becomes few operations: nlohmann's own diff rewrites every
// item behind one that was put into an array, and compares subtrees again at each level.
#include <algorithm>

#include "api/types/json_pointer.h"
#include "api/types/patch.h"

namespace tpuslice {
namespace {

class Differ {
 public:
  explicit Differ(std::string_view at) : path_(at) {}

  Json operations = Json::array();

  void compare(const Json& before, const Json& after) {
    if (before.is_object() && after.is_object()) {
      compare_objects(before, after);
    } else if (before.is_array() && after.is_array()) {
      compare_arrays(before, after);
    } else if (before != after) {
      emit("replace", &after);
    }
  }

 private:
  void emit(const char* operation, const Json* value) {
    Json& operation_json = operations.emplace_back(Json::object());
    operation_json["op"] = operation;
    operation_json["path"] = path_;
    if (value != nullptr) operation_json["value"] = *value;
  }

  /// Runs `body` with the path one step longer.
  template <typename Body>
  void within(std::string_view step, const Body& body) {
    const std::size_t length = path_.size();
    append_to_json_pointer(path_, step);
    body();
    path_.resize(length);
  }

  void add(std::string_view step, const Json& value) {
    within(step, [&] { emit("add", &value); });
  }
  void remove(std::string_view step) {
    within(step, [&] { emit("remove", nullptr); });
  }

  void compare_objects(const Json& before, const Json& after) {
    for (const auto& [key, value] : before.items()) {
      const auto counterpart = after.find(key);
      if (counterpart == after.end()) {
        remove(key);
      } else {
        within(key, [&, &old = value] { compare(old, *counterpart); });
      }
    }
    for (const auto& [key, value] : after.items()) {
      if (!before.contains(key)) add(key, value);
    }
  }

  /// Common items at both ends are kept; in between, items are compared in pairs, and the rest is added or removed.
  void compare_arrays(const Json& before, const Json& after) {
    const std::size_t shorter = std::min(before.size(), after.size());
    std::size_t head = 0;
    while (head < shorter && before[head] == after[head]) ++head;
    std::size_t tail = 0;
    while (head + tail < shorter && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
    const std::size_t paired = shorter - tail;
    for (std::size_t index = head; index < paired; ++index) {
      within(std::to_string(index), [&] { compare(before[index], after[index]); });
    }
    for (std::size_t index = before.size() - tail; index > paired; --index) remove(std::to_string(index - 1));
    for (std::size_t index = paired; index < after.size() - tail; ++index) add(std::to_string(index), after[index]);
  }

  std::string path_;
};

}  // namespace

Json json_diff(const Json& before, const Json& after, std::string_view at) {
  Differ differ(at);
  differ.compare(before, after);
  return std::move(differ.operations);
}

}  // namespace tpuslice
