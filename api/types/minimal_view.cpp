// Minimal views from bytes: reads what it can. A member of a wrong type is left out, as is what follows broken JSON.
#include <algorithm>

#include "api/types/quantity.h"
#include "api/types/view_reader.h"

namespace tpuslice {
namespace view {
namespace {

/// A minimal view is small whatever the object has. Nodes have all their labels, as whole views do: users do not create
/// nodes, and any label may be a topology key.
template <typename View>
constexpr std::size_t kMaxMinimalLabels = std::same_as<View, NodeView> ? std::string_view::npos : 1024;  // Bytes.
constexpr std::size_t kMaxMinimalText = 512;
/// More than any pod has of an extended resource.
constexpr std::int64_t kMaxMinimalAmount = 1'000'000;

template <typename Visit>
void try_members(Value value, Visit visit) {
  simdjson::ondemand::object members;
  if (value.get_object().get(members) != simdjson::SUCCESS) return;
  for (auto field : members) {
    std::string_view key;
    Value member;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return;
    if (field.value().get(member) != simdjson::SUCCESS) return;
    visit(key, member);
  }
}

template <typename Visit>
void try_items(Value value, Visit visit) {
  Array items;
  if (value.get_array().get(items) != simdjson::SUCCESS) return;
  for (auto item : items) {
    Value element;
    if (item.get(element) != simdjson::SUCCESS) return;
    visit(element);
  }
}

/// Empty if it is no string, or a long one.
std::string_view try_text(Value value) {
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS || text.size() > kMaxMinimalText) return {};
  return text;
}

bool try_flag(Value value) {
  bool flag = false;
  return value.get_bool().get(flag) == simdjson::SUCCESS && flag;
}

void try_labels(Value value, const KeptKeys* keep, std::size_t max_bytes, StringMap& labels) {
  std::size_t bytes = 0;
  try_members(value, [&](std::string_view key, Value member) {
    const std::string_view text = try_text(member);
    const std::size_t size = key.size() + text.size();
    if (text.empty() || !is_kept(key, keep)) return;
    if (bytes + size > max_bytes && (keep == nullptr || !has_key(*keep, key))) return;
    bytes += size;
    labels.insert_or_assign(SharedString::decoded(key), SharedString::decoded(text));
  });
  labels.shrink_to_fit();
}

void try_owner(Value value, Metadata& metadata) {
  metadata.has_owner = true;
  ControllerRef owner;
  bool controls = false;
  try_members(value, [&](std::string_view key, Value member) {
    if (key == "apiVersion") owner.api_version = SharedString::decoded(try_text(member));
    if (key == "kind") owner.kind = SharedString::decoded(try_text(member));
    if (key == "name") owner.name = SharedString::decoded(try_text(member));
    if (key == "uid") owner.uid = SharedString::decoded(try_text(member));
    if (key == "controller") controls = try_flag(member);
  });
  if (controls && !metadata.controller) metadata.controller = std::move(owner);
}

Metadata try_metadata(Value value, const KeptKeys* keep, std::size_t max_labels) {
  Metadata metadata;
  try_members(value, [&](std::string_view key, Value member) {
    if (key == "name") {
      metadata.key.name = try_text(member);
    } else if (key == "namespace") {
      metadata.key.namespace_name = try_text(member);
    } else if (key == "uid") {
      metadata.uid = try_text(member);
    } else if (key == "resourceVersion") {
      metadata.resource_version = try_text(member);
    } else if (key == "deletionTimestamp") {
      metadata.deletion = parse_rfc3339(try_text(member));
    } else if (key == "labels") {
      try_labels(member, keep, max_labels, metadata.labels);
    } else if (key == "ownerReferences") {
      try_items(member, [&](Value owner) { try_owner(owner, metadata); });
    }
  });
  return metadata;
}

/// The amount of an extended resource; one that cannot be read counts as 1.
std::int64_t try_amount(Value value) {
  std::string_view text = try_text(value);
  if (text.empty()) text = value.raw_json_token();
  while (!text.empty() && text.back() <= ' ') text.remove_suffix(1);  // A raw token runs up to the next one.
  const Result<Quantity> amount = Quantity::parse(text);
  return amount ? std::clamp<std::int64_t>(amount->value(), 0, kMaxMinimalAmount) : 1;
}

/// Calls `visit(name, amount)` for each limit that is kept.
template <typename Visit>
void try_limits(Value container, const KeptKeys* keep, Visit visit) {
  try_members(container, [&](std::string_view key, Value resources) {
    if (key != "resources") return;
    try_members(resources, [&](std::string_view part, Value amounts) {
      if (part != "limits") return;
      try_members(amounts, [&](std::string_view name, Value amount) {
        if (is_kept_resource(name, keep)) visit(name, try_amount(amount));
      });
    });
  });
}

void try_pod_spec(Value value, const KeptKeys* keep, PodView& pod) {
  ResourceAmounts running;
  ResourceAmounts starting;
  const auto add = [&](std::string_view name, std::int64_t amount) {
    std::int64_t& sum = amount_in(running, name);
    sum = std::min(sum + amount, kMaxMinimalAmount);
  };
  const auto start = [&](std::string_view name, std::int64_t amount) {
    std::int64_t& largest = amount_in(starting, name);
    largest = std::max(largest, amount);
  };
  try_members(value, [&](std::string_view key, Value member) {
    if (key == "nodeName") pod.node_name = try_text(member);
    if (key == "containers") {
      try_items(member, [&](Value each) { try_limits(each, keep, add); });
    }
    if (key == "initContainers") {
      try_items(member, [&](Value each) { try_limits(each, keep, start); });
    }
  });
  for (const auto& [name, amount] : starting) {
    std::int64_t& sum = amount_in(running, name);
    sum = std::max(sum, amount);
  }
  normalize(running);
  if (!running.empty()) pod.scheduling = SharedValue<PodScheduling>::decoded({.resources = std::move(running)});
}

void try_pod_status(Value value, PodView& pod) {
  try_members(value, [&](std::string_view key, Value member) {
    if (key != "phase") return;
    const std::string_view text = try_text(member);
    pod.phase = text.empty() ? PodPhase::kPending : PodPhase::kUnknown;
    for (const auto phase : {PodPhase::kPending, PodPhase::kRunning, PodPhase::kSucceeded, PodPhase::kFailed}) {
      if (text == to_string(phase)) pod.phase = phase;
    }
  });
}

template <typename View>
Result<View> try_object(std::string_view kind, std::string_view json, const KeptKeys* keep) {
  View out;
  Metadata metadata;
  // What could be read before an error counts.
  const Status whole = decode(kind, json, [&](std::string_view member, Value value) {
    if (member == "metadata") metadata = try_metadata(value, keep, kMaxMinimalLabels<View>);
    if constexpr (std::same_as<View, PodView>) {
      if (member == "spec") try_pod_spec(value, keep, out);
      if (member == "status") try_pod_status(value, out);
    }
  });
  if (metadata.key.name.empty() && !whole) return whole.error();
  RETURN_IF_ERROR(take_metadata(kind, std::move(metadata), out));
  out.minimal = true;
  return out;
}

}  // namespace
}  // namespace view

Result<PodView> PodView::decode_minimal(std::string_view json, const KeptKeys* keep) {
  return view::try_object<PodView>("pod", json, keep);
}

Result<NodeView> NodeView::decode_minimal(std::string_view json, const KeptKeys* /*keep*/) {
  return view::try_object<NodeView>("node", json, nullptr);
}

Result<JobView> JobView::decode_minimal(std::string_view json, const KeptKeys* keep) {
  return view::try_object<JobView>("job", json, keep);
}

Result<StatefulSetView> StatefulSetView::decode_minimal(std::string_view json, const KeptKeys* keep) {
  return view::try_object<StatefulSetView>("stateful set", json, keep);
}

Result<ServiceView> ServiceView::decode_minimal(std::string_view json, const KeptKeys* keep) {
  return view::try_object<ServiceView>("service", json, keep);
}

Result<ObjectView> ObjectView::decode_minimal(std::string_view json, const KeptKeys* keep) {
  return view::try_object<ObjectView>("object", json, keep);
}

}  // namespace tpuslice
