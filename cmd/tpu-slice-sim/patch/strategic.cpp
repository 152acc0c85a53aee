#include "cmd/tpu-slice-sim/patch/strategic.h"

#include <algorithm>

#include <fmt/format.h>

namespace tpuslice::sim {
namespace {

constexpr std::string_view kOrder = "$setElementOrder/";
constexpr std::string_view kDelete = "$deleteFromPrimitiveList/";

const Json* value_at(const Json* object, const std::string& name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(name);
  return found == object->end() ? nullptr : &*found;
}

const Json* member_schema(const Json* schema, const std::string& name) {
  const Json* found = value_at(value_at(schema, "properties"), name);
  return found != nullptr ? found : value_at(schema, "additionalProperties");
}

std::string text_at(const Json* object, const char* name) {
  return object == nullptr ? std::string() : string_at(*object, {name});
}

bool merges(const Json* schema) {
  return text_at(schema, "x-kubernetes-patch-strategy").find("merge") != std::string::npos;
}

std::string directive(const Json& patch) { return patch.is_object() ? string_at(patch, {"$patch"}) : std::string(); }

Status check_directive(const std::string& found) {
  if (found.empty() || found == "replace" || found == "delete" || found == "merge") return {};
  return Error::invalid_argument("unknown patch type found: {}", found);
}

/// A map as Go prints it.
std::string go_map(const Json& object) {
  std::string text;
  for (const auto& [name, value] : object.items()) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", name,
                        value.is_string() ? value.get<std::string>() : value.dump());
  }
  return "map[" + text + "]";
}

/// Reorders `list` as `order` has it; items it does not name keep their places relative to those they had before.
Json in_order(const Json& list, const Json& order, const Json& before, const std::string& key) {
  const auto identity = [&key](const Json& item) -> Json {
    if (key.empty() || !item.is_object()) return item;
    const auto found = item.find(key);
    return found == item.end() ? Json() : *found;
  };
  const auto position = [&identity](const Json& in, const Json& id) {
    const auto found = std::find_if(in.begin(), in.end(), [&](const Json& each) { return identity(each) == id; });
    return found == in.end() ? in.size() : static_cast<std::size_t>(found - in.begin());
  };
  Json named = Json::array();
  for (const Json& each : order) {
    const std::size_t where = position(list, identity(each));
    if (where < list.size()) named.push_back(list[where]);
  }
  Json sorted = Json::array();
  std::size_t next = 0;
  for (const Json& item : list) {
    if (position(order, identity(item)) < order.size()) continue;
    const std::size_t own = position(before, identity(item));
    // New items are placed before existing ones, in the order of the directive.
    while (next < named.size()) {
      const std::size_t other = position(before, identity(named[next]));
      if (other < before.size() && own < other) break;
      sorted.push_back(named[next++]);
    }
    sorted.push_back(item);
  }
  while (next < named.size()) sorted.push_back(named[next++]);
  return sorted;
}

class Merger {
 public:
  Result<Json> objects(const Json* schema, Json document, const Json& patch) {
    const std::string what = directive(patch);
    RETURN_IF_ERROR(check_directive(what));
    if (what == "delete") return Json(Json::object());
    if (what == "replace") document = Json::object();
    if (!document.is_object()) document = Json::object();
    const Json before = document;
    for (const auto& [name, value] : patch.items()) {
      if (name.starts_with('$')) continue;
      RETURN_IF_ERROR(member(member_schema(schema, name), name, document, value));
    }
    for (const auto& [name, value] : patch.items()) {
      if (name.starts_with('$')) RETURN_IF_ERROR(control(schema, name, value, before, document));
    }
    return document;
  }

 private:
  Status member(const Json* schema, const std::string& name, Json& document, const Json& value) {
    if (value.is_null()) {
      document.erase(name);
      return {};
    }
    const auto found = document.find(name);
    if (value.is_object()) {
      if (directive(value) == "delete") {
        document.erase(name);
        return {};
      }
      // In a new object, the server drops the members beside a replace directive.
      if (directive(value) == "replace" && found == document.end()) {
        document[name] = Json::object();
        return {};
      }
      ASSIGN_OR_RETURN(Json merged, objects(schema, found == document.end() ? Json() : *found, value));
      document[name] = std::move(merged);
      return {};
    }
    if (!value.is_array()) {
      document[name] = value;
      return {};
    }
    const Json before = found != document.end() && found->is_array() ? *found : Json::array();
    ASSIGN_OR_RETURN(Json merged, lists(schema, before, value));
    document[name] = std::move(merged);
    return {};
  }

  Result<Json> lists(const Json* schema, const Json& before, const Json& patch) {
    const std::string key = text_at(schema, "x-kubernetes-patch-merge-key");
    const Json* items = value_at(schema, "items");
    const bool replace =
        std::any_of(patch.begin(), patch.end(), [](const Json& each) { return directive(each) == "replace"; });
    if (!merges(schema) || replace) return replaced(items, patch);
    Json merged = key.empty() ? united(before, patch) : before;
    if (!key.empty()) {
      for (const Json& item : patch) {
        RETURN_IF_ERROR(keyed_item(items, key, merged, item));
      }
    }
    return in_order(merged, patch, before, key);
  }

  /// The patch's own items, without directives.
  Result<Json> replaced(const Json* items, const Json& patch) {
    Json list = Json::array();
    for (const Json& item : patch) {
      if (!item.is_object()) {
        list.push_back(item);
        continue;
      }
      if (!directive(item).empty()) continue;
      ASSIGN_OR_RETURN(Json plain, objects(items, Json(), item));
      list.push_back(std::move(plain));
    }
    return list;
  }

  static Json united(const Json& before, const Json& patch) {
    Json list = before;
    for (const Json& item : patch) {
      if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
    }
    return list;
  }

  Status keyed_item(const Json* items, const std::string& key, Json& list, const Json& item) {
    if (!item.is_object()) return Error::invalid_argument("list item {} must be an object with {}", item.dump(), key);
    const std::string what = directive(item);
    RETURN_IF_ERROR(check_directive(what));
    const auto id = item.find(key);
    if (id == item.end()) {
      if (what == "merge" && item.size() == 1) return {};
      return Error::invalid_argument("map: {} does not contain declared merge key: {}", go_map(item), key);
    }
    const auto same = std::find_if(list.begin(), list.end(), [&](const Json& each) {
      const Json* other = value_at(&each, key);
      return other != nullptr && *other == *id;
    });
    if (what == "delete") {
      if (same != list.end()) list.erase(same);
      return {};
    }
    ASSIGN_OR_RETURN(Json merged, objects(items, same == list.end() ? Json() : *same, item));
    if (same == list.end()) {
      list.push_back(std::move(merged));
    } else {
      *same = std::move(merged);
    }
    return {};
  }

  static Status control(const Json* schema, const std::string& name, const Json& value, const Json& before,
                        Json& document) {
    if (name == "$patch") return {};
    if (!value.is_array()) return Error::invalid_argument("{} must be a list, it is {}", name, value.dump());
    if (name == "$retainKeys") {
      for (auto member = document.begin(); member != document.end();) {
        const bool kept = std::find(value.begin(), value.end(), Json(member.key())) != value.end();
        member = kept ? std::next(member) : document.erase(member);
      }
      return {};
    }
    const bool order = name.starts_with(kOrder);
    if (!order && !name.starts_with(kDelete)) return Error::invalid_argument("unknown directive {}", name);
    const std::string field = name.substr((order ? kOrder : kDelete).size());
    const auto list = document.find(field);
    if (list == document.end() || !list->is_array()) return {};
    if (order) {
      const Json* old = value_at(&before, field);
      const std::string key = text_at(member_schema(schema, field), "x-kubernetes-patch-merge-key");
      *list = in_order(*list, value, old != nullptr && old->is_array() ? *old : Json::array(), key);
      return {};
    }
    Json kept = Json::array();
    for (const Json& item : *list) {
      if (std::find(value.begin(), value.end(), item) == value.end()) kept.push_back(item);
    }
    *list = std::move(kept);
    return {};
  }
};

}  // namespace

Result<Json> apply_strategic_merge(const Json& schema, Json document, const Json& patch) {
  if (!patch.is_object())
    return Error::invalid_argument("strategic merge patch must be an object, it is {}", patch.dump());
  return Merger().objects(&schema, std::move(document), patch);
}

}  // namespace tpuslice::sim
