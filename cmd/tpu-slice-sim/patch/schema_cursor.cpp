#include "cmd/tpu-slice-sim/patch/field_set.h"
#include "cmd/tpu-slice-sim/schema/builtin.h"

namespace tpuslice::sim {
namespace {

/// Custom resources have the standard metadata, whatever their schema specifies.
const Json& meta_schema() {
  static const Json& meta = []() -> const Json& {
    Resource pods;
    pods.plural = "pods";
    return builtin_schema(pods).at("properties").at("metadata");
  }();
  return meta;
}

std::string keyword(const Json* schema, const char* name) {
  return schema == nullptr ? std::string() : string_at(*schema, {name});
}

/// The value of the member, or "absent".
const Json* at(const Json* object, const std::string& name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(name);
  return found == object->end() ? nullptr : &*found;
}

const Json* item_with(const SchemaCursor& schema, const Json* list, const std::string& element) {
  if (list == nullptr || !list->is_array()) return nullptr;
  for (const Json& item : *list) {
    if (schema.element_of(item) == element) return &item;
  }
  return nullptr;
}

void add(FieldSet& set, const std::string& element, FieldSet child) {
  if (!child.empty()) set.children[element] = std::move(child);
}

FieldSet leaf() {
  FieldSet set;
  set.member = true;
  return set;
}

FieldSet list_fields(const SchemaCursor& schema, const Json& list) {
  FieldSet set;
  for (const Json& item : list) {
    FieldSet child = schema.shape(list) == Shape::kKeyedList ? fields_of(schema.item(), item) : FieldSet();
    child.member = true;
    set.children[schema.element_of(item)] = std::move(child);
  }
  return set;
}

class Comparer {
 public:
  /// Null pointers are absent values; at least one side is present.
  void run(const SchemaCursor& schema, const Json* before, const Json* after, FieldSet& changed, FieldSet& removed) {
    const Shape shape = schema.shape(after != nullptr ? *after : *before);
    const bool same_shape = before == nullptr || after == nullptr || schema.shape(*before) == shape;
    if (before != nullptr && after != nullptr && *before == *after) return;
    if (before == nullptr) changed.member = true;
    if (after == nullptr) removed.member = true;
    if (shape == Shape::kLeaf || !same_shape) {
      if (after != nullptr) changed.member = true;
      return;
    }
    if (shape == Shape::kMap) {
      members(schema, before, after, changed, removed);
    } else {
      items(schema, before, after, changed, removed);
    }
  }

 private:
  void descend(const SchemaCursor& schema, const std::string& element, const Json* before, const Json* after,
               FieldSet& changed, FieldSet& removed) {
    FieldSet child_changed;
    FieldSet child_removed;
    run(schema, before, after, child_changed, child_removed);
    add(changed, element, std::move(child_changed));
    add(removed, element, std::move(child_removed));
  }

  void members(const SchemaCursor& schema, const Json* before, const Json* after, FieldSet& changed,
               FieldSet& removed) {
    if (after != nullptr) {
      for (const auto& [name, value] : after->items()) {
        descend(schema.member(name), "f:" + name, at(before, name), &value, changed, removed);
      }
    }
    if (before == nullptr) return;
    for (const auto& [name, value] : before->items()) {
      if (at(after, name) == nullptr) descend(schema.member(name), "f:" + name, &value, nullptr, changed, removed);
    }
  }

  void items(const SchemaCursor& schema, const Json* before, const Json* after, FieldSet& changed, FieldSet& removed) {
    if (after != nullptr) {
      for (const Json& item : *after) {
        const std::string element = schema.element_of(item);
        descend(schema.item(), element, item_with(schema, before, element), &item, changed, removed);
      }
    }
    if (before == nullptr) return;
    for (const Json& item : *before) {
      const std::string element = schema.element_of(item);
      if (item_with(schema, after, element) == nullptr) {
        descend(schema.item(), element, &item, nullptr, changed, removed);
      }
    }
  }
};

}  // namespace

SchemaCursor SchemaCursor::root(const Resource& resource) {
  SchemaCursor cursor;
  cursor.schema_ = resource.custom ? &resource.schema : &builtin_schema(resource);
  cursor.root_ = true;
  return cursor;
}

Shape SchemaCursor::shape(const Json& value) const {
  if (value.is_object()) return keyword(schema_, "x-kubernetes-map-type") == "atomic" ? Shape::kLeaf : Shape::kMap;
  if (!value.is_array()) return Shape::kLeaf;
  const std::string type = keyword(schema_, "x-kubernetes-list-type");
  if (type == "set") return Shape::kSet;
  return type == "map" && at(schema_, "x-kubernetes-list-map-keys") != nullptr ? Shape::kKeyedList : Shape::kLeaf;
}

SchemaCursor SchemaCursor::member(const std::string& name) const {
  SchemaCursor cursor;
  if (root_ && name == "metadata") {
    cursor.schema_ = &meta_schema();
    return cursor;
  }
  cursor.schema_ = at(at(schema_, "properties"), name);
  if (cursor.schema_ == nullptr) cursor.schema_ = at(schema_, "additionalProperties");
  return cursor;
}

SchemaCursor SchemaCursor::item() const {
  SchemaCursor cursor;
  cursor.schema_ = at(schema_, "items");
  return cursor;
}

bool SchemaCursor::declares(const std::string& name) const {
  return (root_ && name == "metadata") || at(at(schema_, "properties"), name) != nullptr;
}

std::string SchemaCursor::element_of(const Json& item) const {
  const Json* keys = at(schema_, "x-kubernetes-list-map-keys");
  if (keyword(schema_, "x-kubernetes-list-type") != "map" || keys == nullptr || !item.is_object()) {
    return "v:" + item.dump();
  }
  Json key = Json::object();
  for (const Json& name : *keys) {
    const auto& text = name.get_ref<const std::string&>();
    const Json* value = at(&item, text);
    if (value == nullptr) value = find_path(*schema_, {"items", "properties", text, "default"});
    if (value != nullptr) key[text] = *value;
  }
  return "k:" + key.dump();
}

FieldSet fields_of(const SchemaCursor& schema, const Json& object) {
  const Shape shape = schema.shape(object);
  if (shape == Shape::kLeaf) return leaf();
  if (shape != Shape::kMap) return list_fields(schema, object);
  FieldSet set;
  for (const auto& [name, value] : object.items()) {
    FieldSet child = fields_of(schema.member(name), value);
    const bool bare = value.is_null() || (value.is_object() && value.empty());
    if (bare || !schema.declares(name)) child.member = true;
    add(set, "f:" + name, std::move(child));
  }
  return set;
}

Comparison compare_fields(const SchemaCursor& schema, const Json& before, const Json& after) {
  Comparison result;
  const Json none = Json::object();
  const Json& from = before.is_object() ? before : none;
  const Json& to = after.is_object() ? after : none;
  Comparer().run(schema, &from, &to, result.changed, result.removed);
  return result;
}

}  // namespace tpuslice::sim
