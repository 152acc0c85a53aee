#include "cmd/tpu-slice-sim/report/slice_pods.h"

#include "api/base/strings.h"
#include "api/types/object.h"
#include "tpu/labels.h"
#include "tpu/placement.h"

namespace tpuslice {
namespace {

/// `name`, behind the namespace of the object unless that is `default`.
std::string in_namespace(const Json& object, std::string_view name) {
  const std::string space = string_at(object, {"metadata", "namespace"});
  return space.empty() || space == "default" ? std::string(name) : space + "/" + std::string(name);
}

}  // namespace

std::optional<SlicePod> read_slice_pod(const Json& pod) {
  const std::string label = string_at(pod, {"metadata", "labels", tpu::kSlice});
  if (label.empty() || label == tpu::kNoSlice) return std::nullopt;
  const auto annotation = [&](std::string_view name) { return string_at(pod, {"metadata", "annotations", name}); };
  if (annotation(tpu::kSliceHost).empty() && annotation(tpu::kMutatedBy).empty()) return std::nullopt;
  const std::optional<int> hosts = parse_count(annotation(tpu::kSliceHosts));
  if (!hosts) return std::nullopt;
  return SlicePod{in_namespace(pod, tpu::name_in_slice_key(label)), *hosts};
}

std::string short_key(const Json& object) { return in_namespace(object, string_at(object, {"metadata", "name"})); }

}  // namespace tpuslice
