// x-kubernetes-validations: the CEL rules of a schema, read when the CRD is created and checked at every write.
#include "cmd/tpu-slice-sim/schema/cel.h"
#include "cmd/tpu-slice-sim/schema/field_path.h"
#include "cmd/tpu-slice-sim/schema/keywords.h"
#include "cmd/tpu-slice-sim/schema/structural.h"

namespace tpuslice::sim {
namespace {

class RuleChecker {
 public:
  void run(const Json& schema, const Json& value, const Json* old, const FieldPath& path) {
    if (!schema.is_object() || value.is_null()) return;
    if (const Json* rules = keyword(schema, "x-kubernetes-validations"); rules != nullptr && rules->is_array()) {
      for (const Json& rule : *rules) check(schema, rule, value, old, path);
    }
    if (value.is_object()) {
      walk_members(schema, value, old, path);
    } else if (value.is_array()) {
      walk_items(schema, value, old, path);
    }
  }

  Problems problems;

 private:
  void walk_members(const Json& schema, const Json& object, const Json* old, const FieldPath& path) {
    const Json* properties = keyword(schema, "properties");
    const Json* others = keyword(schema, "additionalProperties");
    if (properties == nullptr && others == nullptr) return;
    for (const auto& [name, value] : object.items()) {
      const Json* property = properties != nullptr ? keyword(*properties, name.c_str()) : nullptr;
      const bool mapped = property == nullptr;
      if (mapped) property = others;
      if (property == nullptr) continue;
      const Json* before = old != nullptr && old->is_object() ? keyword(*old, name.c_str()) : nullptr;
      run(*property, value, before, mapped ? path.key(name) : path.member(name));
    }
  }

  void walk_items(const Json& schema, const Json& list, const Json* old, const FieldPath& path) {
    const Json* items = keyword(schema, "items");
    if (items == nullptr) return;
    for (std::size_t i = 0; i < list.size(); ++i) run(*items, list[i], same_item(schema, list[i], old), path.item(i));
  }

  /// The item of the old list with the same keys; null for lists without keys.
  static const Json* same_item(const Json& schema, const Json& item, const Json* old) {
    const Json* keys = keyword(schema, "x-kubernetes-list-map-keys");
    if (old == nullptr || !old->is_array() || keys == nullptr) return nullptr;
    for (const Json& candidate : *old) {
      bool same = candidate.is_object() && item.is_object();
      for (const Json& key : *keys) {
        const char* name = key.get_ref<const std::string&>().c_str();
        if (!same) break;
        const Json* left = keyword(candidate, name);
        const Json* right = keyword(item, name);
        same = left != nullptr && right != nullptr ? *left == *right : left == right;
      }
      if (same) return &candidate;
    }
    return nullptr;
  }

  void check(const Json& schema, const Json& rule, const Json& value, const Json* old, const FieldPath& path) {
    const std::string text = string_at(rule, {"rule"});
    const auto parsed = cel::Expression::parse(text, {"self", "oldSelf"});
    if (!parsed) return refuse(rule, value, path, fmt::format("rule compile error: {}", parsed.error().message()));
    if (parsed->uses("oldSelf") && old == nullptr) return;
    const Result<bool> verdict = parsed->holds({{"self", &value}, {"oldSelf", old}});
    if (!verdict) {
      problems.add(
          path, "FieldValueInvalid", "Invalid value: " + Json(string_at(schema, {"type"})).dump(),
          fmt::format("{} evaluating rule: {}", verdict.error().message(), string_at(rule, {"message"}, text)));
    } else if (!*verdict) {
      refuse(rule, value, path, string_at(rule, {"message"}, "failed rule: " + text));
    }
  }

  void refuse(const Json& rule, const Json& value, const FieldPath& path, const std::string& message) {
    std::string field = string_at(rule, {"fieldPath"});
    if (field.starts_with('.')) field.erase(0, 1);
    // Lists and objects are not printed.
    const std::string shown = value.is_structured() ? "Invalid value" : "Invalid value: " + value.dump();
    problems.add(path.member(field), "FieldValueInvalid", shown, message);
  }
};

}  // namespace

bool has_rules(const Json& schema) {
  if (!schema.is_structured()) return false;
  if (schema.is_object() && schema.contains("x-kubernetes-validations")) return true;
  return std::any_of(schema.begin(), schema.end(), [](const Json& each) { return has_rules(each); });
}

std::vector<FieldProblem> validate_rules(const Json& schema, const Json& object, const Json* old) {
  RuleChecker checker;
  if (old != nullptr && old->is_null()) old = nullptr;
  checker.run(schema, object, old, FieldPath());
  return checker.problems.take();
}

}  // namespace tpuslice::sim
