#include "tpu/identity_parts.h"

#include <fmt/format.h>

#include "api/base/strings.h"
#include "api/types/utf8.h"
#include "api/types/validation_names.h"
#include "tpu/labels.h"

namespace tpuslice::tpu {
namespace {

constexpr std::size_t kMaxShownName = 63;  // Maximum shown of a container's name, in messages.

Result<std::optional<int>> index_at(const Json& pod, std::string_view kind, std::string_view key) {
  const std::string text = string_at(pod, {"metadata", kind, key});
  if (text.empty()) return std::optional<int>();
  const std::optional<int> index = parse_count(text);
  if (!index) {
    return Error::invalid_argument("metadata.{}[{}]: Invalid value: \"{}\": must be a number from 0", kind, key,
                                   clip(text, 64));
  }
  return index;
}

/// All processes of a slice have equally many chips, and before tpu7x a host is one process.
Status check_containers(const std::vector<TpuContainer>& containers, const Accelerator& accelerator) {
  if (containers.size() > 1 && !accelerator.splits_hosts()) {
    return Error::invalid_argument(
        "spec.containers: {} containers ask for {}; on {} one container must ask for all {} chips of its host",
        containers.size(), kTpuResource, accelerator.label, total_chips(containers));
  }
  for (const TpuContainer& container : containers) {
    if (container.chips != containers.front().chips) {
      return Error::invalid_argument(
          "spec.containers[{}].resources.limits[{}]: Invalid value: {}: container {} asks for {}; all TPU containers "
          "of a pod must ask for the same number of chips",
          container.position, kTpuResource, container.chips, clip(containers.front().name, kMaxShownName),
          containers.front().chips);
    }
  }
  return {};
}

/// Init containers run one after another, so a pod with chips in those only uses the chips of one of them.
std::int64_t chips_of_host(const SliceIdentity& identity) {
  return identity.containers.empty() ? identity.init_containers.front().chips : total_chips(identity.containers);
}

}  // namespace

std::string label_path(std::string_view label) { return fmt::format("metadata.labels[{}]", label); }
std::string annotation_path(std::string_view annotation) { return fmt::format("metadata.annotations[{}]", annotation); }

Result<std::optional<int>> index_label(const Json& pod, std::string_view label) {
  return index_at(pod, "labels", label);
}

Result<std::optional<int>> index_annotation(const Json& pod, std::string_view annotation) {
  return index_at(pod, "annotations", annotation);
}

Status check_label_part(std::string_view label, std::string_view text) {
  const ErrorMessages messages = check_label_value(text);
  return messages.empty() ? Status() : first_error(label_path(label), text, messages);
}

std::string controller_uid(const Json& pod) {
  for (const Json& owner : array_at(pod, {"metadata", "ownerReferences"})) {
    if (bool_at(owner, {"controller"})) return string_at(owner, {"uid"});
  }
  return {};
}

Result<int> set_shape(SliceIdentity& identity, const SliceShape& shape) {
  RETURN_IF_ERROR(check_containers(identity.containers, *shape.accelerator));
  const auto hosts = host_count(shape.topology, chips_of_host(identity));
  if (!hosts) return hosts.error().within("spec.containers");
  identity.accelerator = shape.accelerator;
  identity.topology = shape.topology;
  return *hosts;
}

Result<std::vector<TpuContainer>> pod_containers(const Json& pod, std::string_view list) {
  const Json* spec = find_path(pod, {"spec"});
  return spec == nullptr ? std::vector<TpuContainer>() : tpu_containers(*spec, list);
}

std::string describe_hosts(const SliceIdentity& identity, int hosts) {
  return fmt::format("topology {} has {} chips; with {} chips per host that is {} host{}",
                     identity.topology->to_string(), identity.topology->chips(), chips_of_host(identity), hosts,
                     hosts == 1 ? "" : "s");
}

}  // namespace tpuslice::tpu
