// Pods from bytes.
#include <algorithm>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "api/types/utf8.h"
#include "api/types/view_reader.h"

namespace tpuslice {
namespace {

/// Bytes of a message of the kubelet, of a container or of kube-scheduler in texts that are made of them.
constexpr std::size_t kMaxMessage = 256;

/// ": <message>", shortened; empty without one.
std::string details_of(std::string_view message) {
  std::string text = trimmed(message);
  return text.empty() ? text : ": " + clip(std::move(text), kMaxMessage);
}

}  // namespace

namespace view {
namespace {

TolerationView read_toleration(Value value) {
  TolerationView toleration;
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "key") toleration.key = shared_text_of(member);
    if (key == "value") toleration.value = shared_text_of(member);
    if (key == "effect") toleration.effect = shared_text_of(member);
    if (key == "operator") toleration.exists = std::string_view(member.get_string()) == "Exists";
  });
  return toleration;
}

void read_node_affinity(Value value, PodScheduling& scheduling) {
  each_member(value, [&](std::string_view kind, Value affinity) {
    if (kind != "nodeAffinity") return;
    each_member(affinity, [&](std::string_view key, Value terms) {
      if (key == "requiredDuringSchedulingIgnoredDuringExecution") {
        scheduling.node_affinity = SharedString::decoded(simdjson::to_json_string(terms));
      } else if (key == "preferredDuringSchedulingIgnoredDuringExecution") {
        scheduling.preferred_affinity = SharedString::decoded(simdjson::to_json_string(terms));
      }
    });
  });
}

/// Drops what is only kept for a pod without a node.
void drop_node_choice(PodScheduling& scheduling, PodView& pod) {
  scheduling.requests = {};
  scheduling.tolerations = {};
  scheduling.node_affinity = {};
  scheduling.preferred_affinity = {};
  scheduling.resource_claims = {};
  pod.unschedulable = {};
  pod.scheduling_error = {};
  pod.nominated = false;
}

/// Bytes of node selector, node affinity, tolerations and gates of a pod without a node, which are kept and compared.
/// Far more than any workload needs.
constexpr std::size_t kMaxNodeChoice = 32U << 10U;

Status check_size(const PodScheduling& scheduling, const ObjectKey& pod) {
  std::size_t bytes = scheduling.node_affinity.size() + scheduling.preferred_affinity.size();
  for (const auto& [key, value] : scheduling.node_selector) bytes += key.size() + value.size();
  for (const TolerationView& each : scheduling.tolerations) {
    bytes += sizeof(each) + each.key.size() + each.value.size() + each.effect.size();
  }
  for (const SharedString& gate : scheduling.gates) bytes += sizeof(gate) + gate.size();
  if (bytes <= kMaxNodeChoice) return {};
  return Error::invalid_argument(
      "pod {}: node selector, node affinity, tolerations and scheduling gates have {} bytes, no more than {} are read",
      pod.to_string(), bytes, kMaxNodeChoice);
}

SharedString read_resource_claims(Value claims) {
  std::string out;
  int index = 0;
  each_item(claims, [&](Value claim) {
    each_member(claim, [&](std::string_view key, Value name) {
      if ((key != "resourceClaimTemplateName" && key != "resourceClaimName") || out.size() > kMaxMessage) return;
      out += fmt::format("{}spec.resourceClaims[{}].{} {}", out.empty() ? "" : ", ", index, key, text_of(name));
    });
    ++index;
  });
  return SharedString::decoded(clip(std::move(out), kMaxMessage));
}

void add_amount(std::string_view name, std::int64_t amount, std::int64_t& sum) {
  if (__builtin_add_overflow(sum, amount, &sum)) throw BadMember{fmt::format("{} is too large", name)};
}

/// Adds the requests of kComputeResources, and the limits of extended resources, which are their requests.
void add_resources(Value resources, const KeptKeys* keep, ResourceAmounts& sum) {
  each_member(resources, [&](std::string_view part, Value amounts) {
    if (part != "limits" && part != "requests") return;
    each_member(amounts, [&](std::string_view name, Value amount) {
      const bool counts = part == "limits" ? is_kept_resource(name, keep) : is_compute_resource(name);
      if (counts) add_amount(name, amount_of(amount, name), amount_in(sum, name));
    });
  });
}

/// The requests of kComputeResources.
ResourceAmounts read_requests(Value amounts) {
  ResourceAmounts requests;
  each_member(amounts, [&](std::string_view name, Value amount) {
    if (is_compute_resource(name)) amount_in(requests, name) = amount_of(amount, name);
  });
  return requests;
}

/// What a pod asks for, as kube-scheduler counts it: sidecars run beside all that start after them, other init
/// containers one by one.
struct PodResources {
  ResourceAmounts containers;
  ResourceAmounts sidecars;
  ResourceAmounts largest_init;  ///< With the sidecars before it.
  ResourceAmounts pod_requests;  ///< spec.resources.requests, which replace the sums.
  ResourceAmounts overhead;      ///< spec.overhead

  [[nodiscard]] ResourceAmounts total() && {
    for (const auto& [name, amount] : sidecars) add_amount(name, amount, amount_in(containers, name));
    for (const auto& [name, amount] : largest_init) {
      std::int64_t& running = amount_in(containers, name);
      running = std::max(running, amount);
    }
    for (const auto& [name, amount] : pod_requests) amount_in(containers, name) = amount;
    for (const auto& [name, amount] : overhead) add_amount(name, amount, amount_in(containers, name));
    normalize(containers);
    return std::move(containers);
  }
};

void read_container(Value value, const KeptKeys* keep, PodResources& pod) {
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "resources") add_resources(member, keep, pod.containers);
  });
}

void read_init_container(Value value, const KeptKeys* keep, PodResources& pod) {
  ResourceAmounts resources;
  bool sidecar = false;
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "resources") add_resources(member, keep, resources);
    if (key == "restartPolicy") sidecar = text_of(member) == "Always";
  });
  for (auto& [name, amount] : resources) {
    if (sidecar) {
      add_amount(name, amount, amount_in(pod.sidecars, name));
    } else {
      add_amount(name, tpuslice::amount_of(pod.sidecars, name), amount);
      std::int64_t& largest = amount_in(pod.largest_init, name);
      largest = std::max(largest, amount);
    }
  }
}

void set_resources(ResourceAmounts total, PodScheduling& scheduling) {
  scheduling.requests.clear();
  scheduling.resources.clear();
  for (ResourceAmount& each : total) {
    (is_compute_resource(each.name) ? scheduling.requests : scheduling.resources).push_back(std::move(each));
  }
}

void read_pod_spec(Value value, const KeptKeys* keep, PodScheduling& scheduling, PodView& pod) {
  PodResources resources;
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "nodeName") {
      pod.node_name = text_of(member);
    } else if (key == "priority") {
      pod.priority = int32_of(member, key);
    } else if (key == "preemptionPolicy") {
      pod.never_preempts = text_of(member) == "Never";
    } else if (key == "activeDeadlineSeconds") {
      pod.active_deadline_seconds = number_of(member);
    } else if (key == "terminationGracePeriodSeconds") {
      pod.grace_seconds = number_of(member);
    } else if (key == "nodeSelector") {
      scheduling.node_selector = strings_of(member);
    } else if (key == "affinity") {
      read_node_affinity(member, scheduling);
    } else if (key == "tolerations") {
      scheduling.tolerations.clear();
      each_item(member, [&](Value item) { scheduling.tolerations.push_back(read_toleration(item)); });
    } else if (key == "restartPolicy") {
      pod.restart_policy = shared_text_of(member);
    } else if (key == "schedulingGates") {
      scheduling.gates.clear();
      each_item(member, [&](Value gate) {
        each_member(gate, [&](std::string_view part, Value name) {
          if (part == "name") scheduling.gates.push_back(shared_text_of(name));
        });
      });
    } else if (key == "resources") {
      each_member(member, [&](std::string_view part, Value amounts) {
        if (part == "requests") resources.pod_requests = read_requests(amounts);
      });
    } else if (key == "overhead") {
      resources.overhead = read_requests(member);
    } else if (key == "resourceClaims") {
      scheduling.resource_claims = read_resource_claims(member);
    } else if (key == "containers") {
      each_item(member, [&](Value container) { read_container(container, keep, resources); });
    } else if (key == "initContainers") {
      each_item(member, [&](Value container) { read_init_container(container, keep, resources); });
    }
  });
  set_resources(std::move(resources).total(), scheduling);
}

void read_container_state(Value value, ContainerView& container) {
  each_member(value, [&](std::string_view state, Value details) {
    const bool waiting = state == "waiting";
    if (!waiting && state != "terminated") return;
    if (!waiting) container.terminated = true;
    each_member(details, [&](std::string_view key, Value member) {
      if (key == "reason") (waiting ? container.waiting_reason : container.terminated_reason) = shared_text_of(member);
      if (key == "message")
        (waiting ? container.waiting_message : container.terminated_message) = shared_text_of(member);
      if (key == "exitCode") container.exit_code = int32_of(member, key);
    });
  });
}

/// A container status.
struct ContainerStatus {
  ContainerView container;
  ContainerView last;  ///< How it ended before it was started again (lastState).
};

ContainerStatus read_container_status(Value value) {
  ContainerStatus status;
  ContainerView& container = status.container;
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "name") {
      container.name = shared_text_of(member);
    } else if (key == "ready") {
      container.ready = flag_of(member);
    } else if (key == "restartCount") {
      container.restarts = int32_of(member, key);
    } else if (key == "state") {
      read_container_state(member, container);
    } else if (key == "lastState") {
      read_container_state(member, status.last);
    }
  });
  return status;
}

/// The text of PodView::stuck for the container; empty if it starts normally.
std::string stuck_reason(const ContainerStatus& status) {
  const ContainerView& container = status.container;
  std::string reason = container.waiting_reason;
  if (reason.empty() || reason == "ContainerCreating" || reason == "PodInitializing") return {};
  // The kubelet alternates between the two reasons, and its messages contain the current back-off.
  if (reason == "ErrImagePull") reason = "ImagePullBackOff";
  std::string details;
  if (reason == "CrashLoopBackOff") {
    if (const std::string failure = status.last.failure(); !failure.empty()) details = ": " + failure;
  } else if (reason != "ImagePullBackOff") {
    details = details_of(container.waiting_message);
  }
  return fmt::format("container {}: {}{}", container.name, reason, details);
}

/// The failures of a pod's containers. One that has not been started again matters more.
struct Failures {
  std::string last;
  std::string before;
};

void note_failure(const SharedString& container, const ContainerView& ended, std::string& first) {
  if (!first.empty()) return;
  if (const std::string failure = ended.failure(); !failure.empty()) {
    first = fmt::format("container {}: {}", container, failure);
  }
}

void note_problems(const ContainerStatus& status, PodView& pod, Failures& failures) {
  const ContainerView& container = status.container;
  pod.restarted = pod.restarted || container.restarts > 0;
  if (pod.stuck.empty()) pod.stuck = stuck_reason(status);
  note_failure(container.name, container, failures.last);
  note_failure(container.name, status.last, failures.before);
}

void read_scheduled_condition(ConditionView scheduled, PodView& pod) {
  if (scheduled.reason == "Unschedulable") {
    pod.unschedulable = std::move(scheduled.message);
  } else if (!scheduled.is_true && !scheduled.reason.empty() && scheduled.reason != "SchedulingGated") {
    pod.scheduling_error = fmt::format("{}{}", scheduled.reason, details_of(scheduled.message));
  }
}

PodPhase phase_of(Value value) {
  const std::string_view text = value.get_string();
  for (const auto phase : {PodPhase::kPending, PodPhase::kRunning, PodPhase::kSucceeded, PodPhase::kFailed}) {
    if (text == to_string(phase)) return phase;
  }
  return text.empty() ? PodPhase::kPending : PodPhase::kUnknown;
}

void read_pod_status(Value value, PodView& pod) {
  Failures failures;
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "phase") {
      pod.phase = phase_of(member);
    } else if (key == "reason") {
      pod.reason = shared_text_of(member);
    } else if (key == "message") {
      pod.message = shared_text_of(member);
    } else if (key == "nominatedNodeName") {
      pod.nominated = !text_of(member).empty();
    } else if (key == "podIP") {
      pod.pod_ip = text_of(member);
    } else if (key == "conditions") {
      Conditions conditions = read_conditions(member);
      pod.ready = conditions.ready.is_true;
      pod.not_ready = !conditions.ready.type.empty() && !pod.ready;
      pod.ready_reason = std::move(conditions.ready.reason);
      pod.ready_message = std::move(conditions.ready.message);
      read_scheduled_condition(std::move(conditions.scheduled), pod);
      if (conditions.disruption.is_true) pod.disruption = std::move(conditions.disruption.reason);
    } else if (key == "containerStatuses") {
      pod.containers.clear();
      each_item(member, [&](Value status) {
        ContainerStatus read = read_container_status(status);
        note_problems(read, pod, failures);
        pod.containers.push_back(std::move(read.container));
      });
    } else if (key == "initContainerStatuses") {
      each_item(member, [&](Value status) { note_problems(read_container_status(status), pod, failures); });
    }
  });
  pod.failure = std::move(failures.last.empty() ? failures.before : failures.last);
}

}  // namespace
}  // namespace view

std::string ContainerView::failure() const {
  if (exit_code == 0) return {};
  return fmt::format("{}, exit code {}{}", terminated_reason.empty() ? "Error" : terminated_reason.str(), exit_code,
                     details_of(terminated_message));
}

Result<PodView> PodView::decode(std::string_view json, const KeptKeys* keep) {
  PodView pod;
  PodScheduling scheduling;
  view::Metadata metadata;
  RETURN_IF_ERROR(view::decode("pod", json, [&](std::string_view member, view::Value value) {
    if (member == "metadata") metadata = view::read_metadata(value, keep);
    if (member == "spec") view::read_pod_spec(value, keep, scheduling, pod);
    if (member == "status") view::read_pod_status(value, pod);
  }));
  if (metadata.deletion_grace_seconds) pod.grace_seconds = *metadata.deletion_grace_seconds;
  RETURN_IF_ERROR(view::take_metadata("pod", std::move(metadata), pod));
  if (!pod.node_name.empty()) view::drop_node_choice(scheduling, pod);
  RETURN_IF_ERROR(view::check_size(scheduling, pod.key));
  pod.scheduling = SharedValue<PodScheduling>::decoded(std::move(scheduling));
  return pod;
}

}  // namespace tpuslice
