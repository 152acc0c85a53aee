// x-kubernetes-validations: the CEL rules of a schema, read when the CRD is created and checked at every write.
#include "api/sim/schema/rules.h"

#include "api/sim/schema/cel.h"
#include "api/sim/schema/field_path.h"
#include "api/sim/schema/formats.h"
#include "api/sim/schema/keywords.h"

namespace tpuslice::sim {
namespace {

/// Whether a rule may read the members `chain` (after self or oldSelf) of what the schema describes.
std::string undefined_field(const Json& schema, const std::vector<std::string>& chain, bool resource) {
  const Json* at = &schema;
  for (std::size_t i = 1; i < chain.size(); ++i) {
    const std::string& name = chain[i];
    const bool known_meta = name == "apiVersion" || name == "kind" || name == "metadata";
    if (resource && known_meta && (i == 1)) {
      if (name == "metadata" && chain.size() > 2 && chain[2] != "name" && chain[2] != "generateName") return chain[2];
      return {};
    }
    const Json* type = keyword(*at, "type");
    if (type == nullptr || *type != "object") return {};  // Evaluation says what is wrong with it.
    const Json* properties = keyword(*at, "properties");
    const Json* next = properties != nullptr ? keyword(*properties, name.c_str()) : nullptr;
    if (next == nullptr) next = keyword(*at, "additionalProperties");
    if (next == nullptr || !next->is_object()) {
      const bool open = next != nullptr || keyword(*at, "x-kubernetes-embedded-resource") != nullptr;
      return open ? std::string() : name;
    }
    at = next;
  }
  return {};
}

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

  /// The item of the old list with the same keys; lists without keys have none.
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
    if (!parsed) {
      complain(rule, value, path, fmt::format("rule compile error: {}", parsed.error().message()));
      return;
    }
    if (parsed->uses().contains("oldSelf") && old == nullptr) return;
    const cel::Variables variables = {{"self", &value}, {"oldSelf", old}};
    const Result<bool> verdict = parsed->holds(variables);
    if (!verdict) {
      problems.add(
          path, "FieldValueInvalid", "Invalid value: " + Json(string_at(schema, {"type"})).dump(),
          fmt::format("{} evaluating rule: {}", verdict.error().message(), string_at(rule, {"message"}, text)));
    } else if (!*verdict) {
      complain(rule, value, path, message_of(rule, variables));
    }
  }

  static std::string message_of(const Json& rule, const cel::Variables& variables) {
    if (const std::string expression = string_at(rule, {"messageExpression"}); !expression.empty()) {
      const auto parsed = cel::Expression::parse(expression, {"self", "oldSelf"});
      const Result<Json> text = parsed ? parsed->evaluate(variables) : Result<Json>(parsed.error());
      if (text && text->is_string() && !text->get_ref<const std::string&>().empty()) return text->get<std::string>();
    }
    return string_at(rule, {"message"}, "failed rule: " + string_at(rule, {"rule"}));
  }

  void complain(const Json& rule, const Json& value, const FieldPath& path, const std::string& message) {
    const std::string reason = string_at(rule, {"reason"}, "FieldValueInvalid");
    std::string field = string_at(rule, {"fieldPath"});
    if (field.starts_with('.')) field.erase(0, 1);
    const FieldPath at = path.member(field);
    // Values of one piece are shown, others are left out.
    const std::string shown = value.is_structured() ? "Invalid value" : "Invalid value: " + value.dump();
    if (reason == "FieldValueRequired") {
      problems.required(at, message);
    } else if (reason == "FieldValueForbidden") {
      problems.forbidden(at, message);
    } else if (reason == "FieldValueDuplicate") {
      problems.add(at, reason, value.is_structured() ? "Duplicate value" : "Duplicate value: " + value.dump(), {});
    } else {
      problems.add(at, reason, shown, message);
    }
  }
};

}  // namespace

std::string rule_problem(const Json& schema, const Json& rule, bool resource, bool correlatable) {
  const std::string text = string_at(rule, {"rule"});
  if (text.empty()) return "rule: Required value: rule is not specified";
  for (const auto& [name, value] : rule.items()) {
    if (name == "rule" || name == "message" || name == "messageExpression" || name == "reason" || name == "fieldPath") {
      if (!value.is_string()) return fmt::format("{}: Invalid value: {}: must be a string", name, value.dump());
      continue;
    }
    return fmt::format("{}: Forbidden: unsupported keyword of a rule", name);
  }
  const std::string reason = string_at(rule, {"reason"}, "FieldValueInvalid");
  if (reason != "FieldValueInvalid" && reason != "FieldValueForbidden" && reason != "FieldValueRequired" &&
      reason != "FieldValueDuplicate") {
    return fmt::format(
        "reason: Unsupported value: \"{}\": supported values: \"FieldValueRequired\", \"FieldValueInvalid\", "
        "\"FieldValueForbidden\", \"FieldValueDuplicate\"",
        reason);
  }
  for (const char* name : {"rule", "messageExpression"}) {
    const std::string expression = string_at(rule, {name});
    if (expression.empty()) continue;
    const auto parsed = cel::Expression::parse(expression, {"self", "oldSelf"});
    const auto refuse = [&](std::string_view why) {
      return fmt::format("{}: Invalid value: {}: compilation failed: {}", name, Json(expression).dump(), why);
    };
    if (!parsed) return refuse(parsed.error().message());
    for (const auto& chain : parsed->chains()) {
      if (const std::string field = undefined_field(schema, chain, resource); !field.empty()) {
        return refuse(fmt::format("undefined field '{}'", field));
      }
    }
    if (parsed->uses().contains("oldSelf") && !correlatable) {
      return fmt::format("{}: Invalid value: {}: oldSelf cannot be used on the uncorrelatable portion of the schema",
                         name, Json(expression).dump());
    }
  }
  return {};
}

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
