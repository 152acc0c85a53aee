#include "controllers/rayservice/config_hash.h"

#include "api/base/hash.h"
#include "api/base/strings.h"
#include "controllers/raycluster/upgrade.h"
#include "controllers/rayservice/rules/rayservice_labels.h"

namespace tpuslice::rayservice {
namespace {

std::string hash_of(const Json& config) {
  raycluster::RayClusterSpec spec;
  spec.source = &config;
  return raycluster::spec_hash(spec);
}

Json numbers_of(const Json& config) {
  Json out = Json::object();
  for (const Json& group : array_at(config, {"workerGroupSpecs"})) {
    Json& numbers = out[string_at(group, {"groupName"})] = Json::array();
    for (const char* member : {"replicas", "minReplicas", "maxReplicas"}) {
      const Json* value = find_set(group, {member});
      numbers.push_back(value == nullptr ? Json() : *value);
    }
  }
  return out;
}

}  // namespace

ConfigHash::ConfigHash(const Json& config) : config_(config), whole_(hash_of(config)), replicas_(numbers_of(config)) {}

std::size_t ConfigHash::groups() const { return array_at(config_, {"workerGroupSpecs"}).size(); }

bool ConfigHash::matches(const Cluster& cluster) const {
  return !is_of_other_operator(cluster) && cluster.annotation(kClusterHash) == whole_;
}

bool ConfigHash::appends_groups(const Cluster& cluster) const {
  if (is_of_other_operator(cluster)) return false;
  const std::optional<int> before = parse_count(cluster.annotation(kNumberOfGroups));
  if (!before || static_cast<std::size_t>(*before) >= groups()) return false;
  Json shorter = config_;
  Json& list = shorter["workerGroupSpecs"];
  list.erase(list.begin() + *before, list.end());
  // An empty list and an absent one are equivalent, but have different hashes.
  const std::string hash = cluster.annotation(kClusterHash);
  if (hash_of(shorter) == hash) return true;
  if (!list.empty()) return false;
  shorter.erase("workerGroupSpecs");
  return hash_of(shorter) == hash;
}

bool ConfigHash::fits(const Cluster& cluster) const {
  if (!is_of_other_operator(cluster)) return matches(cluster) || appends_groups(cluster);
  const Json* spec = find_set(cluster.object.json(), {"spec"});
  return spec != nullptr && hash_of(*spec) == whole_;
}

bool is_of_other_operator(const Cluster& cluster) {
  return cluster.annotation(kClusterHashVersion) != raycluster::kHashVersion;
}

}  // namespace tpuslice::rayservice
