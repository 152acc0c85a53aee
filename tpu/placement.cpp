#include "tpu/placement.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/hash.h"
#include "tpu/labels.h"

namespace tpuslice::tpu {
namespace {

constexpr std::size_t kSliceHashLength = 13;
constexpr std::size_t kReadablePart = 49;  // With the hash still a label value.

/// The object or array under `key`; `empty` is added if it is absent or null.
Json& member(Json& parent, const char* key, Json empty) {
  Json& found = parent[key];
  if (found.is_null()) found = std::move(empty);
  return found;
}

Json& terms_of(Json& affinity, const char* kind) {
  return member(member(affinity, kind, Json::object()), "requiredDuringSchedulingIgnoredDuringExecution",
                Json::array());
}

bool contains(const Json& terms, const Json& term) {
  return std::find(terms.begin(), terms.end(), term) != terms.end();
}

void add_term(Json& terms, Json term) {
  if (!contains(terms, term)) terms.push_back(std::move(term));
}

/// Pods whose label is `value`, another ("NotIn"), or any ("Exists").
Json pods_with(std::string_view label, const char* relation, std::string_view value = {}) {
  Json expression;
  expression["key"] = label;
  expression["operator"] = relation;
  if (!value.empty()) expression["values"].push_back(value);
  return expression;
}

Json term(std::vector<Json> expressions, std::string_view topology_key) {
  Json json;
  json["labelSelector"]["matchExpressions"] = std::move(expressions);
  json["topologyKey"] = topology_key;
  return json;
}

/// Whether a toleration covers google.com/tpu=present:NoSchedule.
bool covers_tpu(const Json& toleration) {
  const std::string key = string_at(toleration, {"key"});
  const std::string effect = string_at(toleration, {"effect"});
  const bool exists = string_at(toleration, {"operator"}) == "Exists";
  if (!effect.empty() && effect != "NoSchedule") return false;
  if (key.empty()) return exists;
  return key == kTpuTaint && (exists || string_at(toleration, {"value"}) == "present");
}

}  // namespace

std::string slice_key(const SliceIdentity& identity) {
  const std::string hash = short_hash(fmt::format("{}/{}", identity.owner, identity.slice_name), kSliceHashLength);
  return fmt::format("{}-{}", std::string_view(identity.slice_name).substr(0, kReadablePart), hash);
}

std::string_view name_in_slice_key(std::string_view key) {
  return key.size() > kSliceHashLength + 1 ? key.substr(0, key.size() - kSliceHashLength - 1) : key;
}

std::string gang_key(const SliceIdentity& identity) { return short_hash(identity.coordinator, kSliceHashLength); }

void add_slice_affinity(Json& affinity, std::string_view key, std::string_view topology_key) {
  add_exclusive_affinity(affinity, kSlice, key, topology_key);
}

void add_exclusive_affinity(Json& affinity, std::string_view label, std::string_view value,
                            std::string_view topology_key) {
  add_term(terms_of(affinity, "podAffinity"), term({pods_with(label, "In", value)}, topology_key));
  Json other = term({pods_with(label, "Exists"), pods_with(label, "NotIn", value)}, topology_key);
  Json& terms = terms_of(affinity, "podAntiAffinity");
  if (contains(terms, other)) return;
  other["namespaceSelector"] = Json::object();
  add_term(terms, std::move(other));
}

void add_affinity_to_slice(Json& affinity, std::string_view key, std::string_view topology_key) {
  add_term(terms_of(affinity, "podAffinity"), term({pods_with(kSlice, "In", key)}, topology_key));
}

bool tolerates_tpu(const Json& pod) {
  const Json& tolerations = array_at(pod, {"spec", "tolerations"});
  return std::any_of(tolerations.begin(), tolerations.end(), covers_tpu);
}

void add_tpu_toleration(Json& tolerations) {
  tolerations.push_back({{"key", kTpuTaint}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
}

}  // namespace tpuslice::tpu
