#include "tpu/placement.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/types/hash.h"
#include "tpu/labels.h"

namespace tpuslice::tpu {
namespace {

constexpr std::size_t kSliceHashLength = 13;
constexpr std::size_t kReadablePart = 49;  // With the hash still a label value.

/// The object or array under `key`, made where absent or null.
Json& member(Json& parent, const char* key, Json empty) {
  Json& found = parent[key];
  if (found.is_null()) found = std::move(empty);
  return found;
}

void add_term(Json& affinity, const char* kind, const Json& term) {
  Json& terms =
      member(member(affinity, kind, Json::object()), "requiredDuringSchedulingIgnoredDuringExecution", Json::array());
  if (std::find(terms.begin(), terms.end(), term) == terms.end()) terms.push_back(term);
}

/// Whether a toleration covers google.com/tpu=present:NoSchedule.
bool tolerates_tpu(const Json& toleration) {
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

std::string gang_key(const SliceIdentity& identity) { return short_hash(identity.coordinator, kSliceHashLength); }

void join_slice_affinity(Json& affinity, std::string_view key, std::string_view topology_key) {
  const Json same = {{"key", kSlice}, {"operator", "In"}, {"values", Json::array({key})}};
  const Json any = {{"key", kSlice}, {"operator", "Exists"}};
  const Json other = {{"key", kSlice}, {"operator", "NotIn"}, {"values", Json::array({key})}};
  add_term(affinity, "podAffinity",
           {{"labelSelector", {{"matchExpressions", Json::array({same})}}}, {"topologyKey", topology_key}});
  add_term(affinity, "podAntiAffinity",
           {{"labelSelector", {{"matchExpressions", Json::array({any, other})}}},
            {"namespaceSelector", Json::object()},
            {"topologyKey", topology_key}});
}

void join_tpu_toleration(Json& tolerations) {
  if (std::any_of(tolerations.begin(), tolerations.end(), tolerates_tpu)) return;
  tolerations.push_back({{"key", kTpuTaint}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
}

}  // namespace tpuslice::tpu
