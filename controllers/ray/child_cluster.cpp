#include "controllers/ray/child_cluster.h"

#include <fmt/format.h>

#include "api/base/hash.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tpu/labels.h"

namespace tpuslice::ray {
namespace {

constexpr std::size_t kSuffix = 5;

/// Annotations with this prefix are not copied: they describe an apply of the owner.
constexpr std::string_view kKubectlPrefix = "kubectl.kubernetes.io/";

}  // namespace

std::optional<std::string> index_head(const PodView& pod) {
  if (pod.label(raycluster::kRayNodeType) != raycluster::kHeadNode) return std::nullopt;
  return fmt::format("{}/{}", pod.key.namespace_name, pod.label(raycluster::kRayCluster));
}

std::string child_cluster_name(const Object& owner, std::string_view number) {
  return fmt::format("{}-{}", owner.name(), short_hash(fmt::format("{}/{}", owner.uid(), number), kSuffix));
}

Object build_child_cluster(const Object& owner, std::string name, Json spec) {
  Json labels = string_map_at(owner.json(), {"metadata", "labels"});
  raycluster::set_label(labels, raycluster::kOriginatedFromCrName, owner.name());
  raycluster::set_label(labels, raycluster::kOriginatedFromCrd, owner.kind());
  Json annotations = Json::object();
  for (const auto& [key, value] : string_map_at(owner.json(), {"metadata", "annotations"})) {
    if (!key.starts_with(kKubectlPrefix)) annotations[key] = value;
  }
  Json metadata = {{"name", std::move(name)},
                   {"namespace", owner.namespace_name()},
                   {"labels", std::move(labels)},
                   {"ownerReferences", Json::array({owner.as_controller().to_json()})}};
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
  return Object({{"apiVersion", raycluster::kRayClusters.api_version()},
                 {"kind", raycluster::kRayClusters.kind},
                 {"metadata", std::move(metadata)},
                 {"spec", std::move(spec)}});
}

}  // namespace tpuslice::ray
