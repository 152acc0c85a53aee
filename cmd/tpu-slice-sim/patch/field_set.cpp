#include "cmd/tpu-slice-sim/patch/field_set.h"

#include <fmt/format.h>

namespace tpuslice::sim {
namespace {

Json parse_suffix(const std::string& element) {
  const Result<Json> parsed = parse_json(std::string_view(element).substr(2));
  return parsed ? *parsed : Json();
}

/// ".name", "[name=\"a\"]" or "[=\"x\"]".
std::string readable(const std::string& element) {
  if (element.starts_with("f:")) return "." + element.substr(2);
  const Json value = parse_suffix(element);
  if (element.starts_with("v:")) return fmt::format("[={}]", value.dump());
  if (!element.starts_with("k:") || !value.is_object()) return fmt::format("[{}]", element.substr(2));
  std::string keys;
  for (const auto& [name, key] : value.items()) {
    keys += fmt::format("{}{}={}", keys.empty() ? "" : ",", name, key.dump());
  }
  return fmt::format("[{}]", keys);
}

void collect_paths(const FieldSet& set, const std::string& path, std::vector<std::string>& paths) {
  for (const auto& [element, child] : set.children) {
    if (child.member) paths.push_back(path + readable(element));
  }
  for (const auto& [element, child] : set.children) collect_paths(child, path + readable(element), paths);
}

void keep(FieldSet& set, const std::string& element, FieldSet child) {
  if (!child.empty()) set.children[element] = std::move(child);
}

}  // namespace

const FieldSet* FieldSet::child(const std::string& element) const {
  const auto found = children.find(element);
  return found == children.end() ? nullptr : &found->second;
}

std::vector<std::string> FieldSet::paths() const {
  std::vector<std::string> paths;
  if (member) paths.emplace_back();
  collect_paths(*this, "", paths);
  return paths;
}

FieldSet fields_from_json(const Json& fields_v1) {
  FieldSet set;
  if (!fields_v1.is_object()) return set;
  for (const auto& [element, child] : fields_v1.items()) {
    if (element == ".") {
      set.member = true;
    } else if (element.size() > 2 && element[1] == ':' && child.is_object()) {
      FieldSet below = fields_from_json(child);
      if (below.children.empty()) below.member = true;
      set.children[element] = std::move(below);
    }
  }
  return set;
}

Json fields_to_json(const FieldSet& set) {
  Json fields = Json::object();
  if (set.member && !set.children.empty()) fields["."] = Json::object();
  for (const auto& [element, child] : set.children) fields[element] = fields_to_json(child);
  return fields;
}

FieldSet set_union(const FieldSet& a, const FieldSet& b) {
  FieldSet result = a;
  result.member = a.member || b.member;
  for (const auto& [element, child] : b.children) {
    const FieldSet* other = a.child(element);
    result.children[element] = other == nullptr ? child : set_union(*other, child);
  }
  return result;
}

FieldSet set_intersection(const FieldSet& a, const FieldSet& b) {
  FieldSet result;
  result.member = a.member && b.member;
  for (const auto& [element, child] : a.children) {
    if (const FieldSet* other = b.child(element); other != nullptr) {
      keep(result, element, set_intersection(child, *other));
    }
  }
  return result;
}

FieldSet set_difference(const FieldSet& a, const FieldSet& b) {
  FieldSet result;
  result.member = a.member && !b.member;
  for (const auto& [element, child] : a.children) {
    const FieldSet* other = b.child(element);
    keep(result, element, other == nullptr ? child : set_difference(child, *other));
  }
  return result;
}

}  // namespace tpuslice::sim
