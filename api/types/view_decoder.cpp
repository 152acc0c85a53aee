// Pods and nodes from bytes, by simdjson's on-demand API: it walks the text once, members in the order they come, and
// skips what nobody asks for without looking inside.

#include <algorithm>
#include <cstring>
#include <limits>

#include <simdjson.h>

#include "api/types/quantity.h"
#include "api/types/views.h"

namespace tpuslice {
namespace {

using Array = simdjson::ondemand::array;
using Value = simdjson::ondemand::value;

/// Not only a member of the wrong type, but a member whose text is no timestamp, quantity or number in range.
struct BadMember {
  std::string complaint;
};

bool is_null(Value value) { return value.type() == simdjson::ondemand::json_type::null; }

/// Calls `visit(key, value)` for every member that is not null. Absent and null mean the same in the Kubernetes API.
template <typename Visit>
void each_member(Value value, Visit visit) {
  for (auto field : value.get_object()) {
    const std::string_view key = field.unescaped_key();
    Value member = field.value();
    if (!is_null(member)) visit(key, member);
  }
}

template <typename Visit>
void each_item(Value value, Visit visit) {
  for (auto item : value.get_array()) {
    Value element = item.value();
    if (!is_null(element)) visit(element);
  }
}

std::string text_of(Value value) { return std::string(std::string_view(value.get_string())); }
bool flag_of(Value value) { return value.get_bool(); }
std::int64_t number_of(Value value) { return value.get_int64(); }

Timestamp time_of(Value value) {
  const std::string_view text = value.get_string();
  const auto time = parse_rfc3339(text);
  if (!time) throw BadMember{fmt::format("\"{}\" is no RFC 3339 time", text)};
  return *time;
}

/// A quantity, string or number, as whole units.
std::int64_t amount_of(Value value) {
  const bool quoted = value.type() == simdjson::ondemand::json_type::string;
  std::string_view text = quoted ? std::string_view(value.get_string()) : value.raw_json_token();
  while (!text.empty() && text.back() <= ' ') text.remove_suffix(1);  // A raw token runs up to the next one.
  const Result<Quantity> amount = Quantity::parse(text);
  if (!amount) throw BadMember{amount.error().message()};
  return amount->value();
}

StringMap strings_of(Value value) {
  StringMap map;
  each_member(value,
              [&](std::string_view key, Value member) { map.insert_or_assign(std::string(key), text_of(member)); });
  map.shrink_to_fit();
  return map;
}

bool is_kept_annotation(std::string_view key) {
  static constexpr std::array<std::string_view, 4> kPrefixes = {"tpuslice.dev/", "ray.io/", "jobset.sigs.k8s.io/",
                                                                "leaderworkerset.sigs.k8s.io/"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return key.starts_with(prefix); });
}

/// What pods and nodes have in common.
struct Metadata {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  std::optional<Timestamp> created;
  std::optional<Timestamp> deletion;
  StringMap labels;
  StringMap annotations;
  std::optional<ControllerRef> controller;
};

void read_owner(Value value, Metadata& metadata) {
  ControllerRef owner;
  bool controls = false;
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "apiVersion") owner.api_version = text_of(member);
    if (key == "kind") owner.kind = text_of(member);
    if (key == "name") owner.name = text_of(member);
    if (key == "uid") owner.uid = text_of(member);
    if (key == "controller") controls = flag_of(member);
  });
  if (controls && !metadata.controller) metadata.controller = std::move(owner);
}

Metadata read_metadata(Value value) {
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
    } else if (key == "labels") {
      metadata.labels = strings_of(member);
    } else if (key == "annotations") {
      each_member(member, [&](std::string_view name, Value text) {
        if (is_kept_annotation(name)) metadata.annotations.insert_or_assign(std::string(name), text_of(text));
      });
    } else if (key == "ownerReferences") {
      each_item(member, [&](Value owner) { read_owner(owner, metadata); });
    }
  });
  return metadata;
}

std::int64_t read_tpu_amount(Value resources) {
  std::int64_t chips = 0;
  each_member(resources, [&](std::string_view name, Value amount) {
    if (name == "google.com/tpu") chips = amount_of(amount);
  });
  return chips;
}

std::int64_t read_container_chips(Value container) {
  std::int64_t chips = 0;
  each_member(container, [&](std::string_view key, Value member) {
    if (key != "resources") return;
    each_member(member, [&](std::string_view part, Value amounts) {
      if (part == "limits") chips = read_tpu_amount(amounts);
    });
  });
  return chips;
}

void read_pod_spec(Value value, PodView& pod) {
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "nodeName") {
      pod.node_name = text_of(member);
    } else if (key == "hostname") {
      pod.hostname = text_of(member);
    } else if (key == "restartPolicy") {
      pod.restart_policy = text_of(member);
    } else if (key == "schedulingGates") {
      pod.scheduling_gates.clear();
      each_item(member, [&](Value gate) {
        each_member(gate, [&](std::string_view part, Value name) {
          if (part == "name") pod.scheduling_gates.push_back(text_of(name));
        });
      });
    } else if (key == "containers") {
      pod.tpu_chips = 0;
      each_item(member, [&](Value container) {
        const std::int64_t chips = read_container_chips(container);
        if (__builtin_add_overflow(pod.tpu_chips, chips, &pod.tpu_chips))
          throw BadMember{"google.com/tpu is too large"};
      });
    }
  });
}

void read_container_state(Value value, ContainerView& container) {
  each_member(value, [&](std::string_view state, Value details) {
    const bool waiting = state == "waiting";
    if (!waiting && state != "terminated") return;
    if (!waiting) container.terminated = true;
    each_member(details, [&](std::string_view key, Value member) {
      if (key == "reason") (waiting ? container.waiting_reason : container.terminated_reason) = text_of(member);
      if (key == "message") (waiting ? container.waiting_message : container.terminated_message) = text_of(member);
    });
  });
}

ContainerView read_container_status(Value value) {
  ContainerView container;
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "name") {
      container.name = text_of(member);
    } else if (key == "ready") {
      container.ready = flag_of(member);
    } else if (key == "restartCount") {
      const std::int64_t count = number_of(member);
      if (!std::in_range<std::int32_t>(count)) throw BadMember{fmt::format("restartCount {} is no int32", count)};
      container.restarts = static_cast<std::int32_t>(count);
    } else if (key == "state") {
      read_container_state(member, container);
    }
  });
  return container;
}

struct ReadyCondition {
  bool ready = false;
  std::string reason;
  std::string message;
};

ReadyCondition read_conditions(Value value) {
  ReadyCondition found;
  each_item(value, [&](Value item) {
    std::string type;
    ReadyCondition condition;
    each_member(item, [&](std::string_view key, Value member) {
      if (key == "type") type = text_of(member);
      if (key == "status") condition.ready = std::string_view(member.get_string()) == "True";
      if (key == "reason") condition.reason = text_of(member);
      if (key == "message") condition.message = text_of(member);
    });
    if (type == "Ready") found = std::move(condition);
  });
  return found;
}

PodPhase phase_of(Value value) {
  const std::string_view text = value.get_string();
  for (const auto phase : {PodPhase::kPending, PodPhase::kRunning, PodPhase::kSucceeded, PodPhase::kFailed}) {
    if (text == to_string(phase)) return phase;
  }
  return text.empty() ? PodPhase::kPending : PodPhase::kUnknown;
}

void read_pod_status(Value value, PodView& pod) {
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "phase") {
      pod.phase = phase_of(member);
    } else if (key == "reason") {
      pod.reason = text_of(member);
    } else if (key == "message") {
      pod.message = text_of(member);
    } else if (key == "podIP") {
      pod.pod_ip = text_of(member);
    } else if (key == "conditions") {
      ReadyCondition condition = read_conditions(member);
      pod.ready = condition.ready;
      pod.ready_reason = std::move(condition.reason);
      pod.ready_message = std::move(condition.message);
    } else if (key == "containerStatuses") {
      pod.containers.clear();
      each_item(member, [&](Value status) { pod.containers.push_back(read_container_status(status)); });
    }
  });
}

void read_node_spec(Value value, NodeView& node) {
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "unschedulable") node.unschedulable = flag_of(member);
    if (key != "taints") return;
    node.taints.clear();
    each_item(member, [&](Value item) {
      NodeTaint taint;
      each_member(item, [&](std::string_view part, Value text) {
        if (part == "key") taint.key = text_of(text);
        if (part == "value") taint.value = text_of(text);
        if (part == "effect") taint.effect = text_of(text);
      });
      node.taints.push_back(std::move(taint));
    });
  });
}

void read_node_status(Value value, NodeView& node) {
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "allocatable") node.tpu_chips = read_tpu_amount(member);
    if (key == "conditions") node.ready = read_conditions(member).ready;
  });
}

/// simdjson reads past the end of its input, up to a fixed padding, so the bytes are copied to where they may be
/// followed by some. Parser and buffer are kept per thread: allocating them costs more than decoding a pod.
class Decoder {
 public:
  /// Calls `visit(key, value)` for every member of the document. Errors: "<kind>: <part>: <what is wrong>".
  template <typename Visit>
  Status decode(std::string_view kind, std::string_view json, Visit visit) {
    std::string part;
    try {
      simdjson::ondemand::document document = parser_.iterate(padded(json));
      for (auto field : document.get_object()) {
        const std::string_view key = field.unescaped_key();
        part = key;
        Value member = field.value();
        if (!is_null(member)) visit(key, member);
      }
      part.clear();
      // The only place past the last token is the end of the text.
      if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
        return Error::invalid_argument("{} is followed by other text", kind);
      return {};
    } catch (const simdjson::simdjson_error& error) {
      return failure(kind, part, error.what());
    } catch (const BadMember& bad) {
      return failure(kind, part, bad.complaint);
    } catch (const std::exception& error) {
      return failure(kind, part, error.what());
    }
  }

 private:
  static Error failure(std::string_view kind, std::string_view part, std::string_view complaint) {
    if (part.empty()) return Error::invalid_argument("{} is not readable: {}", kind, complaint);
    return Error::invalid_argument("{} is not readable in .{}: {}", kind, part, complaint);
  }

  simdjson::padded_string_view padded(std::string_view json) {
    const std::size_t needed = json.size() + simdjson::SIMDJSON_PADDING;
    if (buffer_.size() < needed) buffer_.resize(needed);
    std::memcpy(buffer_.data(), json.data(), json.size());
    std::memset(buffer_.data() + json.size(), 0, simdjson::SIMDJSON_PADDING);
    return simdjson::padded_string_view(buffer_.data(), json.size(), buffer_.size());
  }

  simdjson::ondemand::parser parser_{JsonLimits().bytes};
  std::string buffer_;
};

Decoder& decoder() {
  thread_local Decoder instance;
  return instance;
}

Status check_identity(std::string_view kind, const ObjectKey& key, const std::string& uid) {
  if (key.name.empty()) return Error::invalid_argument("{} has no metadata.name", kind);
  if (uid.empty()) return Error::invalid_argument("{} {} has no metadata.uid", kind, key.to_string());
  return {};
}

}  // namespace

Result<PodView> PodView::decode(std::string_view json) {
  PodView pod;
  Metadata metadata;
  RETURN_IF_ERROR(decoder().decode("pod", json, [&](std::string_view member, Value value) {
    if (member == "metadata") metadata = read_metadata(value);
    if (member == "spec") read_pod_spec(value, pod);
    if (member == "status") read_pod_status(value, pod);
  }));
  RETURN_IF_ERROR(check_identity("pod", metadata.key, metadata.uid));
  pod.key = std::move(metadata.key);
  pod.uid = std::move(metadata.uid);
  pod.resource_version = std::move(metadata.resource_version);
  pod.generation = metadata.generation;
  pod.created = metadata.created;
  pod.deletion = metadata.deletion;
  pod.labels = std::move(metadata.labels);
  pod.annotations = std::move(metadata.annotations);
  pod.controller = std::move(metadata.controller);
  return pod;
}

Result<NodeView> NodeView::decode(std::string_view json) {
  NodeView node;
  Metadata metadata;
  RETURN_IF_ERROR(decoder().decode("node", json, [&](std::string_view member, Value value) {
    if (member == "metadata") metadata = read_metadata(value);
    if (member == "spec") read_node_spec(value, node);
    if (member == "status") read_node_status(value, node);
  }));
  RETURN_IF_ERROR(check_identity("node", metadata.key, metadata.uid));
  node.key = std::move(metadata.key);
  node.uid = std::move(metadata.uid);
  node.resource_version = std::move(metadata.resource_version);
  node.deletion = metadata.deletion;
  node.labels = std::move(metadata.labels);
  node.controller = std::move(metadata.controller);
  return node;
}

}  // namespace tpuslice
