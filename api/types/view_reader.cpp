#include "api/types/view_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/types/quantity.h"

namespace tpuslice::view {
namespace {

/// Threads decode a list or an event at a time; more than this at once are rare.
constexpr std::size_t kKeptDecoders = 4;

void read_owner(Value value, Metadata& metadata) {
  metadata.has_owner = true;
  ControllerRef owner;
  bool controls = false;
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "apiVersion") owner.api_version = shared_text_of(member);
    if (key == "kind") owner.kind = shared_text_of(member);
    if (key == "name") owner.name = shared_text_of(member);
    if (key == "uid") owner.uid = shared_text_of(member);
    if (key == "controller") controls = flag_of(member);
  });
  if (controls && !metadata.controller) metadata.controller = std::move(owner);
}

}  // namespace

std::string text_of(Value value) { return std::string(std::string_view(value.get_string())); }
SharedString shared_text_of(Value value) { return SharedString::decoded(value.get_string()); }
bool flag_of(Value value) { return value.get_bool(); }
std::int64_t number_of(Value value) { return value.get_int64(); }

Timestamp time_of(Value value) {
  const std::string_view text = value.get_string();
  const auto time = parse_rfc3339(text);
  if (!time) throw BadMember{fmt::format("\"{}\" is not an RFC 3339 time", text)};
  return *time;
}

std::int64_t amount_of(Value value, std::string_view resource) {
  const bool quoted = value.type() == simdjson::ondemand::json_type::string;
  std::string_view text = quoted ? std::string_view(value.get_string()) : value.raw_json_token();
  while (!text.empty() && text.back() <= ' ') text.remove_suffix(1);  // A raw token runs up to the next one.
  const Result<Quantity> amount = Quantity::parse(text);
  if (!amount) throw BadMember{amount.error().message()};
  return resource == "cpu" ? amount->milli_value() : amount->value();
}

bool is_kept(std::string_view key, const KeptKeys* keep) {
  return keep == nullptr || std::ranges::any_of(*keep, [&](const auto& prefix) { return key.starts_with(prefix); });
}

StringMap strings_of(Value value, const KeptKeys* keep) {
  StringMap map;
  each_member(value, [&](std::string_view key, Value member) {
    if (is_kept(key, keep)) map.insert_or_assign(SharedString::decoded(key), shared_text_of(member));
  });
  map.shrink_to_fit();
  return map;
}

std::int32_t int32_of(Value value, std::string_view name) {
  const std::int64_t number = number_of(value);
  if (!std::in_range<std::int32_t>(number)) throw BadMember{fmt::format("{} {} is not an int32", name, number)};
  return static_cast<std::int32_t>(number);
}

Metadata read_metadata(Value value, const KeptKeys* keep) {
  Metadata metadata;
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "name") {
      metadata.key.name = text_of(member);
    } else if (key == "namespace") {
      metadata.key.namespace_name = text_of(member);
    } else if (key == "uid") {
      metadata.uid = text_of(member);
    } else if (key == "resourceVersion") {
      metadata.resource_version = text_of(member);
    } else if (key == "generation") {
      metadata.generation = number_of(member);
    } else if (key == "creationTimestamp") {
      metadata.created = time_of(member);
    } else if (key == "deletionTimestamp") {
      metadata.deletion = time_of(member);
    } else if (key == "deletionGracePeriodSeconds") {
      metadata.deletion_grace_seconds = number_of(member);
    } else if (key == "finalizers") {
      each_item(member, [&](Value name) {
        metadata.foreground_deletion = metadata.foreground_deletion || text_of(name) == "foregroundDeletion";
      });
    } else if (key == "labels") {
      metadata.labels = strings_of(member, keep);
    } else if (key == "annotations") {
      metadata.annotations = strings_of(member, keep);
    } else if (key == "ownerReferences") {
      each_item(member, [&](Value owner) { read_owner(owner, metadata); });
    }
  });
  return metadata;
}

bool has_key(const KeptKeys& keep, std::string_view key) { return std::ranges::find(keep, key) != keep.end(); }

bool is_kept_resource(std::string_view name, const KeptKeys* keep) {
  return name.find('/') != std::string_view::npos && (keep == nullptr || has_key(*keep, name));
}

bool is_compute_resource(std::string_view name) { return std::ranges::count(kComputeResources, name) > 0; }

std::int64_t& amount_in(ResourceAmounts& resources, std::string_view name) {
  for (ResourceAmount& each : resources) {
    if (each.name == name) return each.amount;
  }
  return resources.emplace_back(ResourceAmount{SharedString::decoded(name), 0}).amount;
}

void normalize(ResourceAmounts& resources) {
  std::erase_if(resources, [](const ResourceAmount& each) { return each.amount <= 0; });
  std::ranges::sort(resources, {}, &ResourceAmount::name);
}

ConditionView read_condition(Value value) {
  ConditionView condition;
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "type") condition.type = text_of(member);
    if (key == "status") condition.is_true = std::string_view(member.get_string()) == "True";
    if (key == "reason") condition.reason = shared_text_of(member);
    if (key == "message") condition.message = shared_text_of(member);
    if (key == "lastTransitionTime") condition.changed = time_of(member);
  });
  return condition;
}

Conditions read_conditions(Value value) {
  Conditions found;
  each_item(value, [&](Value item) {
    ConditionView condition = read_condition(item);
    if (condition.type == "Ready") {
      found.ready = std::move(condition);
    } else if (condition.type == "PodScheduled") {
      found.scheduled = std::move(condition);
    } else if (condition.type == "DisruptionTarget") {
      found.disruption = std::move(condition);
    }
  });
  return found;
}

Pool<Decoder>& decoders() {
  // Never destroyed, since threads may still decode while the program ends.
  static auto& pool = *new Pool<Decoder>(kKeptDecoders);
  return pool;
}

Status check_identity(std::string_view kind, const Metadata& metadata) {
  const ObjectKey& key = metadata.key;
  if (key.name.empty()) return Error::invalid_argument("{} has no metadata.name", kind);
  if (metadata.uid.empty()) return Error::invalid_argument("{} {} has no metadata.uid", kind, key.to_string());
  return {};
}

}  // namespace tpuslice::view
