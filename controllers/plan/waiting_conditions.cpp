#include "controllers/plan/waiting_conditions.h"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "controllers/plan/refused_pods.h"
#include "controllers/plan/unschedulable.h"
#include "controllers/plan/waiting_code.h"
#include "tpu/labels.h"
#include "tpu/placement.h"

namespace tpuslice::plan {
namespace {

using Phase = PodProgress::Phase;

/// One slice may need several lines.
constexpr std::size_t kMaxReasonsInMessage = 3;

/// Waiting reasons by slice or pod.
using Reasons = std::map<std::string, std::string, std::less<>>;

/// Lists at most kMaxReasonsInMessage reasons, without the number of others, and prefers those in `before`, the last
/// message: otherwise the message would change, and the status be written, for every slice.
std::string to_message(const Reasons& reasons, std::string_view before) {
  std::vector<std::string> named_before;
  std::vector<std::string> listed;
  for (const auto& [name, reason] : reasons) {
    std::string line = fmt::format("{}: {}", name, reason);
    if (named_before.size() < kMaxReasonsInMessage && before.find(line) != std::string_view::npos) {
      named_before.push_back(line);
    }
    if (listed.size() < kMaxReasonsInMessage) listed.push_back(std::move(line));
  }
  if (!named_before.empty() && reasons.size() > kMaxReasonsInMessage) listed = std::move(named_before);
  if (reasons.size() > listed.size()) listed.emplace_back("others wait, too");
  return fmt::format("{}", fmt::join(listed, "; "));
}

struct State {
  bool value = false;
  std::string reason;
  std::string message;
};

/// The state in a phase in which the pods do not count; nothing for kActive.
std::optional<State> state_of_phase(Phase phase) {
  switch (phase) {
    case Phase::kActive:
      return std::nullopt;
    case Phase::kSuspended:
      return State{false, "Suspended", "the workload is suspended"};
    case Phase::kFinished:
      return State{false, "Finished", "the workload has finished"};
    case Phase::kRefused:
      return State{false, "NotAccepted", "the spec is refused"};
  }
  return std::nullopt;
}

std::string message_of(const Json& conditions, std::string_view type) {
  const Json* condition = find_condition(conditions, type);
  return condition == nullptr ? std::string() : string_at(*condition, {"message"});
}

void set(std::string_view type, const State& state, std::int64_t generation, Timestamp now, Json& conditions) {
  set_condition(conditions,
                {std::string(type), state.value ? "True" : "False", state.reason, state.message, generation}, now);
}

/// Sets the condition in a phase in which the pods do not count.
void set_inactive(std::string_view type, Phase phase, State state, std::int64_t generation, Timestamp now,
                  Json& conditions) {
  const Json* before = find_condition(conditions, type);
  if (before != nullptr && phase == Phase::kRefused) return;
  if (before != nullptr && phase == Phase::kFinished) {
    const bool is_true = is_condition_true(conditions, type);
    // The message may name failed pods, which are deleted one day.
    if (is_true || string_at(*before, {"reason"}) == state.reason) {
      state = {is_true, string_at(*before, {"reason"}), string_at(*before, {"message"})};
    }
  }
  set(type, state, generation, now, conditions);
}

/// Host 0 of a slice that is not placed, or a gated pod without TPUs.
bool waits_for_placement(const PodView& pod) {
  if (std::ranges::count(pod.scheduling->gates, tpu::kSliceGate) == 0) return false;
  const auto host = pod.annotations.find(tpu::kSliceHost);
  const std::string& index = host == pod.annotations.end() ? pod.label(tpu::kCompletionIndex) : host->second.str();
  return index.empty() || index == "0";
}

/// kube-scheduler has no node for the pod of a single-host slice. No slice controller writes a reason on it.
bool lacks_node(const PodView& pod) {
  return pod.annotation(tpu::kSliceHosts) == "1" && pod.node_name.empty() && pod.scheduling->gates.empty() &&
         !pod.unschedulable.empty();
}

/// Upstream's conditions come first: clients may read them by position.
void move_to_end(Json& conditions) {
  const auto is_upstream = [](const Json& condition) {
    return !string_at(condition, {"type"}).starts_with("tpuslice.dev/");
  };
  if (std::is_partitioned(conditions.begin(), conditions.end(), is_upstream)) return;
  std::stable_partition(conditions.begin(), conditions.end(), is_upstream);
}

/// `code`: of the first slice that waits. `lost`: of placed slices whose node is not Ready. What waits behind refused
/// pods is left out: hosts are missing, as these are.
State placement_state(const std::string& refused, const Reasons& waiting, const std::string& code, const Reasons& lost,
                      bool all_placed, std::string_view before) {
  if (!refused.empty()) return {false, std::string(kPodsRefused), refused};
  if (!waiting.empty()) return {false, code, to_message(waiting, before)};
  if (!all_placed) return {false, "PodsPending", "pods are being created, or their slices are being placed"};
  State placed{true, "SlicesPlaced", "all pods exist, and no slice waits for nodes"};
  if (!lost.empty()) placed.message += "; " + to_message(lost, before);
  return placed;
}

/// `waits`: slices wait for nodes.
State container_state(const Reasons& stuck, bool all_started, bool waits, std::string_view before) {
  if (!stuck.empty()) return {false, std::string(kContainersStuck), to_message(stuck, before)};
  if (waits) return {false, "ContainersPending", "slices wait for nodes, see tpuslice.dev/SlicesPlaced"};
  if (!all_started) return {false, "ContainersPending", "the containers of some pods have not started"};
  return {true, "ContainersStarted", "the containers of all pods have started"};
}

bool has_failed(const PodView& pod) { return pod.phase == PodPhase::kFailed && !pod.failure.empty(); }

Reasons failures_of(const std::vector<std::shared_ptr<const PodView>>& pods) {
  Reasons failures;
  for (const auto& pod : pods) {
    if (!pod->terminating() && has_failed(*pod)) failures[fmt::format("pod {} failed", pod->key.name)] = pod->failure;
  }
  return failures;
}

/// Names the failed pods of a finished workload in the message.
void add_failures(const Reasons& failures, State finished, std::int64_t generation, Timestamp now, Json& conditions) {
  if (failures.empty()) return;
  if (is_condition_true(conditions, kContainersStarted)) finished = container_state({}, true, false, {});
  finished.message += "; " + to_message(failures, message_of(conditions, kContainersStarted));
  set(kContainersStarted, finished, generation, now, conditions);
}

}  // namespace

bool begins_to_wait(const Json& conditions, const Problem& problem) {
  const Json* const before = find_condition(conditions, kSlicesPlaced);
  const bool is_known = before != nullptr && string_at(*before, {"reason"}) == problem.reason;
  return parse_waiting_code(problem.reason) && !is_known;
}

bool is_waiting(const PodView& pod) {
  return !pod.terminating() && (!pod.stuck.empty() || pod.annotations.contains(tpu::kWaiting) ||
                                pod.annotations.contains(tpu::kNodeNotReady) || waits_for_placement(pod) ||
                                lacks_node(pod) || has_failed(pod));
}

void update_waiting_conditions(const std::vector<std::shared_ptr<const PodView>>& pods, const PodProgress& progress,
                               std::int64_t generation, Timestamp now, Json& conditions) {
  if (const std::optional<State> state = state_of_phase(progress.phase)) {
    for (const std::string_view type : {kSlicesPlaced, kContainersStarted}) {
      set_inactive(type, progress.phase, *state, generation, now, conditions);
    }
    if (progress.phase == Phase::kFinished) add_failures(failures_of(pods), *state, generation, now, conditions);
    return move_to_end(conditions);
  }
  Reasons slices;
  std::string code = "SlicesWaiting";
  Reasons lost;
  Reasons stuck;
  bool all_placed = progress.all_created;
  for (const auto& pod : pods) {
    if (!is_waiting(*pod)) continue;
    if (waits_for_placement(*pod)) all_placed = false;
    const std::string slice(tpu::name_in_slice_key(pod->label(tpu::kSlice)));
    if (const std::string& reason = pod->annotation(tpu::kWaiting); !reason.empty()) {
      const auto entry = slices.insert_or_assign(slice, reason).first;
      const std::string& word = pod->annotation(tpu::kWaitingReason);
      if (entry == slices.begin() && parse_waiting_code(word)) code = word;
    }
    if (lacks_node(*pod)) {
      const Unschedulable why = read_unschedulable(*pod);
      const auto entry =
          slices.insert_or_assign(slice, fmt::format("pod {} has no node yet: {}", pod->key.name, why.reasons)).first;
      if (entry == slices.begin()) code = to_string(why.code);
    }
    if (const std::string& report = pod->annotation(tpu::kNodeNotReady); !report.empty()) lost[slice] = report;
    if (!pod->stuck.empty()) stuck["pod " + pod->key.name] = pod->stuck;
  }
  // A container that becomes unready later has started all the same.
  const bool started =
      all_placed && slices.empty() && (progress.all_started || is_condition_true(conditions, kContainersStarted));
  // Once all have started, a failed pod has been replaced.
  if (!started) stuck.merge(failures_of(pods));
  set(kSlicesPlaced,
      placement_state(progress.refused, slices, code, lost, all_placed, message_of(conditions, kSlicesPlaced)),
      generation, now, conditions);
  set(kContainersStarted, container_state(stuck, started, !slices.empty(), message_of(conditions, kContainersStarted)),
      generation, now, conditions);
  move_to_end(conditions);
}

}  // namespace tpuslice::plan
