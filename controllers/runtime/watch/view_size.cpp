#include "controllers/runtime/watch/view_size.h"

#include <algorithm>

namespace tpuslice::runtime {
namespace {

/// A view pays for at least this part of a text that it shares, whatever the number of sharers, ...
constexpr std::size_t kMaxSharers = 16;
/// ... and is granted at most so much. The texts of a usual pod are about as long.
constexpr std::size_t kMaxDiscount = 4096;
constexpr std::size_t kInlineText = 15;  ///< std::string keeps shorter texts in itself.
/// An entry of the store and its bucket, and pointers and keys of indexes.
constexpr std::size_t kEntries = 160;
/// Settings of a StatefulSet, parsed: API servers accept nothing long there.
constexpr std::size_t kSettingsSize = 1024;

/// What malloc takes for `size` bytes.
std::size_t block(std::size_t size) { return std::max<std::size_t>(32, (size + 8 + 15) / 16 * 16); }

std::size_t heap_of_text(std::size_t length) { return length <= kInlineText ? 0 : block(length + 1); }

constexpr std::size_t kSharedText = 48;  ///< A shared string without its characters.

std::size_t size_of_resources(const ResourceAmounts& resources) {
  if (resources.empty()) return 0;
  std::size_t bytes = block(resources.capacity() * sizeof(ResourceAmount));
  for (const ResourceAmount& each : resources) bytes += kSharedText + each.name.size();
  return bytes;
}

/// Size of PodView::scheduling. Its strings count in full: all of it is shared by the pods of a group.
std::size_t scheduling_size(const PodScheduling& scheduling) {
  std::size_t bytes = block(sizeof(PodScheduling)) + heap_of_text(scheduling.node_affinity.size()) +
                      heap_of_text(scheduling.preferred_affinity.size()) +
                      heap_of_text(scheduling.resource_claims.size()) + size_of_resources(scheduling.resources) +
                      size_of_resources(scheduling.requests);
  for (const auto& [key, value] : scheduling.node_selector) bytes += 2 * kSharedText + key.size() + value.size();
  for (const TolerationView& each : scheduling.tolerations) {
    bytes += sizeof(each) + 3 * kSharedText + each.key.size() + each.value.size() + each.effect.size();
  }
  for (const SharedString& gate : scheduling.gates) bytes += kSharedText + gate.size();
  return bytes;
}

}  // namespace

void HeapSize::add(const std::string& text) { bytes_ += heap_of_text(text.capacity()); }

void HeapSize::add(const SharedString& text) {
  if (text.empty()) return;
  // One of the sharers is what decoded() may return.
  const std::uint32_t sharers = text.sharers();
  add_shared(block(sizeof(std::string) + sizeof(std::uint64_t)) + heap_of_text(text.size()),
             sharers > 1 ? sharers - 1 : 1);
}

void HeapSize::add(const StringMap& map) {
  if (map.empty()) return;
  bytes_ += block(map.capacity() * sizeof(StringMap::value_type));
  for (const auto& [key, value] : map) {
    add(key);
    add(value);
  }
}

void HeapSize::add(const std::optional<ControllerRef>& controller) {
  if (!controller) return;
  for (const SharedString* text : {&controller->api_version, &controller->kind, &controller->name, &controller->uid}) {
    add(*text);
  }
}

void HeapSize::add_shared(std::size_t bytes, std::size_t sharers) {
  bytes_ += bytes;
  discount_ += bytes - bytes / std::clamp<std::size_t>(sharers, 1, kMaxSharers);
}

std::size_t HeapSize::total() const { return bytes_ - std::min(discount_, kMaxDiscount); }

std::size_t place_size(std::size_t size_of_view) { return block(size_of_view + 2 * sizeof(void*)) + kEntries; }

void add_members(const PodView& pod, HeapSize& size) {
  size.add(pod.labels);
  size.add(pod.annotations);
  size.add(pod.node_name);
  size.add(pod.pod_ip);
  for (const SharedString* text :
       {&pod.restart_policy, &pod.disruption, &pod.unschedulable, &pod.reason, &pod.message, &pod.ready_reason,
        &pod.ready_message, &pod.stuck, &pod.failure, &pod.scheduling_error}) {
    size.add(*text);
  }
  if (pod.scheduling.sharers() > 0) {
    // One sharer is what decoded() may return, as for strings.
    size.add_shared(scheduling_size(*pod.scheduling), static_cast<std::size_t>(pod.scheduling.sharers()) - 1);
  }
  if (!pod.containers.empty()) size.add_bytes(block(pod.containers.capacity() * sizeof(ContainerView)));
  for (const ContainerView& each : pod.containers) {
    for (const SharedString* text :
         {&each.name, &each.waiting_reason, &each.waiting_message, &each.terminated_reason, &each.terminated_message}) {
      size.add(*text);
    }
  }
}

void add_members(const NodeView& node, HeapSize& size) {
  size.add(node.labels);
  if (node.allocatable.sharers() > 0) {
    size.add_shared(block(sizeof(ResourceAmounts)) + size_of_resources(*node.allocatable),
                    static_cast<std::size_t>(node.allocatable.sharers()) - 1);
  }
  if (!node.taints.empty()) size.add_bytes(block(node.taints.capacity() * sizeof(NodeTaint)));
  for (const NodeTaint& taint : node.taints) {
    for (const SharedString* text : {&taint.key, &taint.value, &taint.effect}) size.add(*text);
  }
}

void add_members(const JobView& job, HeapSize& size) {
  size.add(job.labels);
  size.add(job.annotations);
  size.add(job.template_labels);
  size.add(job.pod_template);
  if (!job.conditions.empty()) size.add_bytes(block(job.conditions.capacity() * sizeof(JobCondition)));
  for (const JobCondition& each : job.conditions) {
    for (const std::string* text : {&each.type, &each.reason, &each.message}) size.add(*text);
  }
}

void add_members(const StatefulSetView& set, HeapSize& size) {
  size.add(set.labels);
  size.add(set.annotations);
  size.add(set.pod_template);
  size.add(set.current_revision);
  size.add(set.update_revision);
  if (!set.minimal) size.add_bytes(kSettingsSize);
}

void add_members(const ServiceView& service, HeapSize& size) {
  size.add(service.selector);
  if (!service.ports.empty()) size.add_bytes(block(service.ports.capacity() * sizeof(ServicePort)));
  for (const ServicePort& port : service.ports) {
    for (const SharedString* text : {&port.name, &port.protocol, &port.target}) size.add(*text);
  }
}

}  // namespace tpuslice::runtime
