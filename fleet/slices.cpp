#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "controllers/plan/waiting_code.h"
#include "fleet/accelerator_model.h"

namespace tpuslice::fleet {
namespace {

using placement::CachedSlice;
using placement::Slice;
using placement::SlicePhase;
using plan::WaitingCode;

bool is_done(const PodPtr& pod) { return pod->ready || pod->phase == PodPhase::kSucceeded; }

std::optional<Timestamp> earliest_deletion(const Slice& slice) {
  std::optional<Timestamp> first;
  for (const PodPtr& pod : slice.terminating) {
    if (pod->deletion && (!first || *pod->deletion < *first)) first = pod->deletion;
  }
  return first;
}

std::optional<Timestamp> known(Timestamp time) {
  const bool is_known = time != Timestamp{} && time != Timestamp::max() && time != Timestamp::min();
  return is_known ? std::optional(time) : std::nullopt;
}

/// Whether the code says that it waits until a person changes something.
bool needs_someone(WaitingCode code) {
  return code == WaitingCode::kTopologyKeyUnsupported || code == WaitingCode::kDuplicateHost ||
         code == WaitingCode::kUngated;
}

class SliceMaker {
 public:
  SliceMaker(const AcceleratorModel& model, const CachedSlice& cached) : model_(model), cached_(cached) {}

  /// `pod`: one of the slice.
  FleetSlice make(const PodView& pod) {
    const Slice& slice = cached_.slice;
    out_.workload = model_.names.of(pod);
    out_.slice = placement::short_name(slice);
    out_.key = slice.key.name;
    out_.topology_key = slice.topology_key;
    out_.accelerator = model_.cache.accelerator();
    out_.tpu = tpu_name(out_.accelerator);
    out_.topology = topology_of(pod);
    out_.hosts = slice.size > 0 ? slice.size : static_cast<std::int64_t>(slice.hosts.size());
    out_.ready = std::ranges::count_if(slice.hosts, is_done) + static_cast<std::int64_t>(slice.removed.size());
    out_.gang = slice.gang;
    out_.gang_slices = slice.gang_slices;
    out_.priority = slice.priority();
    out_.queued_since = known(slice.queued_since);
    out_.pool = pool_of();
    set_state();
    if (out_.state == SliceState::kWaiting) set_waiting();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string topology_of(const PodView& pod) const {
    if (const std::string& selected = value_of(pod.scheduling->node_selector, tpu::kTopologyLabel); !selected.empty())
      return selected;
    const placement::NodeUse* const use = std::as_const(model_.cache.domains()).find(pod.node_name);
    return use == nullptr ? std::string() : value_of(use->node->labels, tpu::kTopologyLabel);
  }

  /// The pool in which it runs.
  [[nodiscard]] std::string pool_of() const {
    if (!cached_.occupied.empty()) return cached_.occupied.front();
    for (const PodPtr& pod : cached_.slice.hosts) {
      const placement::NodeUse* const use = std::as_const(model_.cache.domains()).find(pod->node_name);
      if (use == nullptr || pod->finished()) continue;
      const std::string& pool = placement::domain_of_node(*use->node, model_.snapshot.topology_key);
      return pool.empty() ? use->node->key.name : pool;
    }
    return {};
  }

  void set_state() {
    const Slice& slice = cached_.slice;
    switch (cached_.state.phase) {
      case SlicePhase::kPlaced:
        return set_running();
      case SlicePhase::kBroken:
        out_.state = SliceState::kRestarting;
        out_.problem = cached_.state.reason;
        return;
      case SlicePhase::kIdle:
        return set_idle();
      case SlicePhase::kUngated: {
        const auto on_node = [](const PodPtr& pod) { return !pod->node_name.empty(); };
        if (!cached_.has_gate && std::ranges::all_of(slice.started(), on_node)) return set_running();
        break;
      }
      case SlicePhase::kForming:
      case SlicePhase::kReady:
        break;
    }
    out_.state = SliceState::kWaiting;
    out_.since = out_.queued_since;
    if (!cached_.has_gate && cached_.state.phase == SlicePhase::kUngated) out_.pool.clear();
  }

  void set_running() {
    const Slice& slice = cached_.slice;
    if (model_.outlook.preempted.contains(slice.key)) {
      out_.state = SliceState::kEnding;
      out_.problem = "it is preempted by a slice of higher priority";
      return;
    }
    out_.state = out_.ready >= out_.hosts ? SliceState::kRunning : SliceState::kPlaced;
    out_.since = known(placement::placed_at(slice));
    if (!out_.since) out_.since = known(slice.first_created());
    if (out_.state == SliceState::kPlaced) set_problem();
  }

  /// Why a slice with nodes does not run.
  void set_problem() {
    for (const PodPtr& pod : cached_.slice.hosts) {
      if (const std::string& waiting = pod->annotation(tpu::kWaiting); !waiting.empty()) {
        out_.problem = waiting;
        out_.code = pod->annotation(tpu::kWaitingReason);
        return;
      }
    }
    for (const PodPtr& pod : cached_.slice.hosts) {
      if (is_done(pod)) continue;
      const int host = placement::host_index(*pod).value_or(0);
      const std::string& why = pod->stuck.empty() ? pod->failure.str() : pod->stuck.str();
      if (why.empty()) continue;
      out_.problem = fmt::format("host {}: {}", host, why);
      return;
    }
  }

  void set_idle() {
    const Slice& slice = cached_.slice;
    out_.state = SliceState::kDone;
    if (!slice.terminating.empty()) {
      out_.state = SliceState::kEnding;
      out_.since = earliest_deletion(slice);
    } else if (!slice.failed.empty()) {
      const PodView& pod = *slice.failed.front();
      out_.problem = fmt::format("host {} failed: {}", placement::host_index(pod).value_or(0), pod.cause());
    }
  }

  void set_waiting() {
    const Verdict* const verdict = find_verdict();
    if (verdict == nullptr) return model_.snapshot.is_complete() ? set_waiting_ungated() : set_written_reason();
    if (verdict->domain) {
      out_.pool = *verdict->domain;
      return;
    }
    out_.code = to_string(verdict->code);
    out_.reason = verdict->reason;
    out_.position = static_cast<std::int64_t>(verdict->position);
    for (const ObjectKey& ahead : verdict->behind) {
      const Slice* const slice = find_slice(model_, ahead);
      const PodPtr pod = slice == nullptr ? nullptr : slice->any_pod();
      if (pod != nullptr && out_.behind.size() < kMaxBehind) {
        out_.behind.push_back(to_string(model_.names.of(*pod)));
      }
    }
    const bool too_few = verdict->position > 0 && verdict->matching + verdict->asked_in_gang < verdict->wanted;
    out_.never = too_few || needs_someone(verdict->code);
  }

  /// What the operator has written on the pods last.
  void set_written_reason() {
    for (const PodPtr& pod : cached_.slice.live()) {
      const std::string& waiting = pod->annotation(tpu::kWaiting);
      if (waiting.empty()) continue;
      out_.reason = waiting;
      out_.code = pod->annotation(tpu::kWaitingReason);
      return;
    }
    if (cached_.state.phase != SlicePhase::kReady) out_.code = to_string(cached_.state.code);
    out_.reason = cached_.state.reason;
  }

  /// A slice that kube-scheduler places.
  void set_waiting_ungated() {
    out_.code = to_string(cached_.state.phase == SlicePhase::kUngated && cached_.has_gate ? WaitingCode::kUngated
                                                                                          : WaitingCode::kNotScheduled);
    out_.reason = cached_.has_gate ? cached_.state.reason : std::string();
    for (const PodPtr& pod : cached_.slice.hosts) {
      if (!out_.reason.empty()) break;
      out_.reason = pod->unschedulable;
    }
  }

  [[nodiscard]] const Verdict* find_verdict() const {
    const auto found = model_.outlook.verdicts.find(cached_.slice.key);
    return found == model_.outlook.verdicts.end() ? nullptr : &found->second;
  }

  const AcceleratorModel& model_;
  const CachedSlice& cached_;
  FleetSlice out_;
};

}  // namespace

std::vector<FleetSlice> make_slices(const AcceleratorModel& model) {
  std::vector<FleetSlice> slices;
  for (const auto& [key, cached] : model.cache.slices()) {
    const PodPtr pod = cached.slice.any_pod();
    if (pod != nullptr) slices.push_back(SliceMaker(model, cached).make(*pod));
  }
  return slices;
}

}  // namespace tpuslice::fleet
