// Changes of an object by its schema: defaults, pruning.
#include "cmd/tpu-slice-sim/schema/field_path.h"
#include "cmd/tpu-slice-sim/schema/keywords.h"
#include "cmd/tpu-slice-sim/schema/structural.h"

namespace tpuslice::sim {
namespace {

/// The schema of a member that `properties` does not name, or nullptr.
const Json* additional(const Json& schema) {
  const Json* found = keyword(schema, "additionalProperties");
  return found != nullptr && found->is_object() ? found : nullptr;
}

void set_defaults(const Json& schema, Json& object) {
  if (object.is_array()) {
    if (const Json* items = keyword(schema, "items"); items != nullptr) {
      for (Json& item : object) set_defaults(*items, item);
    }
    return;
  }
  if (!object.is_object()) return;
  const Json* properties = keyword(schema, "properties");
  if (properties != nullptr) {
    for (const auto& [name, property] : properties->items()) {
      auto member = object.find(name);
      const Json* value = keyword(property, "default");
      const bool missing = member == object.end() || (member->is_null() && !flag(property, "nullable"));
      if (missing && value != nullptr) {
        object[name] = *value;
        member = object.find(name);
      }
      if (member != object.end()) set_defaults(property, *member);
    }
  }
  const Json* others = additional(schema);
  if (others == nullptr) return;
  for (auto& [name, value] : object.items()) {
    if (properties != nullptr && properties->contains(name)) continue;
    const Json* fallback = keyword(*others, "default");
    if (value.is_null() && fallback != nullptr && !flag(*others, "nullable")) value = *fallback;
    set_defaults(*others, value);
  }
}

class Pruner {
 public:
  void run(const Json& schema, Json& value, const FieldPath& path, bool resource) {
    if (value.is_array()) {
      const Json* items = keyword(schema, "items");
      if (items == nullptr) return;
      for (std::size_t i = 0; i < value.size(); ++i) {
        run(*items, value[i], path.item(i), flag(*items, "x-kubernetes-embedded-resource"));
      }
    } else if (value.is_object()) {
      prune_members(schema, value, path, resource);
    }
  }

  std::vector<std::string> dropped;

 private:
  void prune_members(const Json& schema, Json& object, const FieldPath& path, bool resource) {
    const Json* properties = keyword(schema, "properties");
    const Json* others = additional(schema);
    const Json* any = keyword(schema, "additionalProperties");
    const bool keep_unknown =
        flag(schema, "x-kubernetes-preserve-unknown-fields") || (any != nullptr && *any == Json(true));
    for (auto member = object.begin(); member != object.end();) {
      const std::string& name = member.key();
      if (resource && (name == "apiVersion" || name == "kind" || name == "metadata")) {
        ++member;
        continue;
      }
      const Json* property = properties != nullptr ? keyword(*properties, name.c_str()) : nullptr;
      const bool mapped = property == nullptr && others != nullptr;
      if (mapped) property = others;
      if (property != nullptr) {
        run(*property, *member, mapped ? path.key(name) : path.member(name),
            flag(*property, "x-kubernetes-embedded-resource"));
      } else if (!keep_unknown) {
        dropped.push_back(path.member(name).to_string());
        member = object.erase(member);
        continue;
      }
      ++member;
    }
  }
};

}  // namespace

void drop_nulls(const Json& schema, Json& object) {
  if (object.is_array()) {
    if (const Json* items = keyword(schema, "items"); items != nullptr) {
      for (Json& item : object) drop_nulls(*items, item);
    }
    return;
  }
  if (!object.is_object()) return;
  const Json* properties = keyword(schema, "properties");
  for (auto member = object.begin(); member != object.end();) {
    const Json* property = properties == nullptr ? nullptr : keyword(*properties, member.key().c_str());
    if (property == nullptr) property = additional(schema);
    if (property == nullptr) {
      ++member;
    } else if (member->is_null() && !flag(*property, "nullable") && keyword(*property, "default") == nullptr) {
      member = object.erase(member);
    } else {
      drop_nulls(*property, *member);
      ++member;
    }
  }
}

void apply_defaults(const Json& schema, Json& object) { set_defaults(schema, object); }

std::vector<std::string> prune(const Json& schema, Json& object) {
  Pruner pruner;
  if (object.is_object()) pruner.run(schema, object, FieldPath(), true);
  return std::move(pruner.dropped);
}

}  // namespace tpuslice::sim
