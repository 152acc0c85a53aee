#include "tpu/rules/tpu_rules.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tpu/catalog.h"
#include "tpu/geometry.h"
#include "tpu/labels.h"
#include "tpu/node_label.h"
#include "tpu/pod_request.h"
#include "tpu/slice_shape.h"

namespace tpuslice::rules {
namespace {

using tpu::SliceShape;
using tpu::Topology;
using tpu::TpuContainer;
using Containers = std::vector<TpuContainer>;

std::string chips_path(const std::string& pod_path, std::size_t position, std::string_view kind) {
  return fmt::format("{}.spec.containers[{}].resources.{}[{}]", pod_path, position, kind, tpu::kTpuResource);
}

/// The shape that tpu::selected_shape() returns. Appends all errors, with paths in the template. Nothing for an unknown
/// accelerator.
std::optional<SliceShape> check_shape(const Json& pod, const std::string& pod_path, bool needs_node_selector,
                                      FieldErrors& errors) {
  const auto selector = [&](std::string_view label) {
    return fmt::format("{}.spec.nodeSelector[{}]", pod_path, label);
  };
  const std::string label = tpu::node_label(pod, tpu::kAcceleratorLabel);
  const std::string selected = tpu::node_label(pod, tpu::kTopologyLabel);
  const std::string annotated = string_at(pod, {"metadata", "annotations", tpu::kSliceTopologyAnnotation});
  if (label.empty() && needs_node_selector) {
    errors.push_back(required_value(selector(tpu::kAcceleratorLabel),
                                    "required when google.com/tpu is requested, for example tpu-v6e-slice", kGkeRule));
  }
  const auto accelerator = tpu::find_accelerator(label);
  if (!label.empty() && !accelerator) return std::nullopt;  // warn_unknown_accelerators() warns.
  if (selected.empty() && annotated.empty()) {
    if (!needs_node_selector) return std::nullopt;
    errors.push_back(required_value(selector(tpu::kTopologyLabel),
                                    "required when google.com/tpu is requested, for example 4x4", kGkeRule));
    return std::nullopt;
  }
  const std::string path = selected.empty()
                               ? fmt::format("{}.metadata.annotations[{}]", pod_path, tpu::kSliceTopologyAnnotation)
                               : selector(tpu::kTopologyLabel);
  const std::string& text = selected.empty() ? annotated : selected;
  const auto topology = Topology::parse(text);
  if (!topology) errors.push_back(invalid_value(path, text, topology.error().message(), kGkeRule));
  if (!topology || !accelerator) return std::nullopt;
  if (const Status legal = tpu::check_topology(**accelerator, *topology); !legal) {
    errors.push_back(invalid_value(path, text, legal.error().message(), kGkeRule));
    return std::nullopt;
  }
  return SliceShape{*accelerator,
                    selected.empty() ? *topology : tpu::annotated_topology(**accelerator, *topology, annotated)};
}

/// Kubernetes requires a limit for extended resources, and a request to equal it.
void check_limits(const Json& pod, const std::string& pod_path, const Containers& containers, FieldErrors& errors) {
  for (const TpuContainer& container : containers) {
    const Json& spec = (*find_path(pod, {"spec", "containers"}))[container.position];
    const Json* limit = find_set(spec, {"resources", "limits", tpu::kTpuResource});
    const Json* request = find_set(spec, {"resources", "requests", tpu::kTpuResource});
    if (limit == nullptr) {
      errors.add([&] {
        return required_value(chips_path(pod_path, container.position, "limits"),
                              fmt::format("google.com/tpu needs a limit equal to its request, {}", container.chips),
                              kKubernetesRule);
      });
    } else if (request != nullptr) {
      const auto amount = [](const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); };
      if (amount(*request) == amount(*limit)) continue;
      errors.add([&] {
        return invalid_value(chips_path(pod_path, container.position, "requests"), *request,
                             fmt::format("must equal the limit, {}", container.chips), kKubernetesRule);
      });
    }
  }
}

/// The chips of each container and of all together. False if the number of hosts cannot be computed.
bool check_chips(const SliceShape& shape, const std::string& pod_path, const Containers& containers,
                 FieldErrors& errors) {
  const std::size_t before = errors.size();
  const std::int64_t chips = tpu::total_chips(containers);
  const auto choices = tpu::chips_per_host_choices(*shape.accelerator, shape.topology);
  const bool splits = shape.accelerator->splits_hosts();
  for (const TpuContainer& container : containers) {
    if (const auto bounds = tpu::chips_per_host_bounds(container.chips); !bounds) {
      errors.add([&] {
        return invalid_value(chips_path(pod_path, container.position, "limits"), container.chips,
                             bounds.error().message(), kGkeRule);
      });
    } else if (container.chips != containers.front().chips) {
      errors.add([&] {
        return invalid_value(
            chips_path(pod_path, container.position, "limits"), container.chips,
            fmt::format("container {} asks for {}; the TPU containers of a pod must ask for equally many chips",
                        clip(containers.front().name, 63), containers.front().chips),
            kGkeRule);
      });
    }
  }
  if (containers.size() > 1 && !splits) {
    errors.push_back(forbidden(fmt::format("{}.spec.containers", pod_path),
                               fmt::format("{} containers ask for google.com/tpu; on {} one container must ask for "
                                           "all chips of its host",
                                           containers.size(), shape.accelerator->label),
                               kGkeRule));
  }
  if (errors.size() > before) return false;
  const bool legal = std::any_of(choices.begin(), choices.end(), [&](std::int64_t choice) {
    return chips == choice || (splits && chips < choice && choice % chips == 0);
  });
  if (legal) return true;
  errors.push_back(
      invalid_value(chips_path(pod_path, containers.front().position, "limits"), containers.front().chips,
                    fmt::format("the pod asks for {} chips; a host of {} {} has {}, ask for all of them", chips,
                                shape.accelerator->label, shape.topology.to_string(), fmt::join(choices, " or ")),
                    kGkeRule));
  return false;
}

void check_hosts(const SliceShape& shape, const Containers& containers, const HostsField& field, FieldErrors& errors) {
  const std::int64_t chips = tpu::total_chips(containers);
  const auto hosts = tpu::host_count(shape.topology, chips);
  if (!hosts) {
    errors.push_back(invalid_value(field.path, field.found, hosts.error().message(), kGkeRule));
    return;
  }
  if (*hosts == field.pods || (*hosts == 1 && field.many_single_hosts)) return;
  errors.push_back(
      invalid_value(field.path, field.found,
                    fmt::format("topology {} of {} has {} chips; with {} chips per host that is {} host{}, {}",
                                shape.topology.to_string(), shape.accelerator->label, shape.topology.chips(), chips,
                                *hosts, *hosts == 1 ? "" : "s", field.advice(*hosts)),
                    kGkeRule));
}

}  // namespace

bool asks_for_tpus(const Json& pod) {
  const Json* spec = find_set(pod, {"spec"});
  if (spec == nullptr) return false;
  const auto containers = tpu::tpu_containers(*spec);
  return !containers || !containers->empty();
}

bool init_containers_ask_for_tpus(const Json& pod) {
  const Json* spec = find_set(pod, {"spec"});
  if (spec == nullptr) return false;
  const auto containers = tpu::tpu_containers(*spec, "initContainers");
  return !containers || !containers->empty();
}

bool selects_tpu_nodes(const Json& pod) {
  return !tpu::node_label(pod, tpu::kAcceleratorLabel).empty() || !tpu::node_label(pod, tpu::kTopologyLabel).empty() ||
         !string_at(pod, {"metadata", "annotations", tpu::kSliceTopologyAnnotation}).empty();
}

std::string warn_unselected_nodes(const Json& pod, std::string_view path) {
  if (selects_tpu_nodes(pod)) return {};
  return fmt::format(
      "{}.spec.nodeSelector: GKE schedules pods with TPUs by {} and {}; without them the number of hosts cannot be "
      "checked",
      path, tpu::kAcceleratorLabel, tpu::kTopologyLabel);
}

bool lacks_cluster_dns(const Json& pod) {
  return bool_at(pod, {"spec", "hostNetwork"}) && string_at(pod, {"spec", "dnsPolicy"}) != "ClusterFirstWithHostNet";
}

void check_tpu_pod(const Json& pod, const std::string& pod_path, const HostsField& hosts, FieldErrors& errors) {
  const Json* spec = find_set(pod, {"spec"});
  if (spec == nullptr) return;
  const auto containers = tpu::tpu_containers(*spec);
  if (!containers) {
    errors.push_back(forbidden(pod_path, containers.error().message(), kKubernetesRule));
    return;
  }
  if (containers->empty()) return;
  check_limits(pod, pod_path, *containers, errors);
  const auto shape = check_shape(pod, pod_path, hosts.needs_node_selector && selects_tpu_nodes(pod), errors);
  if (!shape || !check_chips(*shape, pod_path, *containers, errors)) return;
  check_hosts(*shape, *containers, hosts, errors);
}

}  // namespace tpuslice::rules
