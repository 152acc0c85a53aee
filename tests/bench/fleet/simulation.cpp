#include "tests/bench/fleet/simulation.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "tests/bench/cpu_clock.h"
#include "tests/bench/fleet/deadlocks.h"
#include "tests/bench/fleet/draws.h"
#include "tests/bench/fleet/stranded.h"

namespace tpuslice::fleet_bench {
namespace {

// Times of Kubernetes: a silent node is not Ready after 50 s, and its pods are evicted after further 300 s. The
// operator tears a slice down after the same time; the eviction comes a second later.
constexpr Duration kNotReadyAfter = std::chrono::seconds(50);
constexpr Duration kEvictedAfter = kNotReadyAfter + std::chrono::seconds(301);
/// A node that is stopped on purpose goes when its pods have gone.
constexpr Duration kStoppedAfter = kGracePeriod + std::chrono::seconds(1);
constexpr Duration kSampleInterval = std::chrono::hours(1);

class Simulation {
 public:
  Simulation(const Fleet& fleet, const Trace& trace, std::string_view policy, const PolicyOptions& options)
      : trace_(trace), run_(fleet, trace), policy_(make_policy(policy, run_, options)), counted_(trace.faults.size()) {
    for (const Job& job : trace.jobs) add(job.arrives, EventKind::kJobArrives, job.id);
    for (std::size_t i = 0; i < trace.faults.size(); ++i) {
      const Fault& fault = trace.faults[i];
      add(fault.at, EventKind::kFaultBegins, static_cast<int>(i));
      if (fault.kind != FaultKind::kMaintenance) continue;
      add(std::max(fault.at - kMaintenanceNotice, trace.start), EventKind::kMaintenanceAnnounced, static_cast<int>(i));
    }
    add(trace.start + kSampleInterval, EventKind::kSample, 0);
  }

  void run() {
    EventQueue& events = run_.events();
    while (!events.empty() && events.next_time() <= trace_.end) {
      run_.advance(events.next_time());
      while (!events.empty() && events.next_time() == run_.now()) handle(events.take());
      plan();
    }
    run_.advance(trace_.end);
    run_.finish_measuring();
  }

  [[nodiscard]] const FleetRun& state() const { return run_; }

 private:
  void add(Timestamp at, EventKind kind, int subject) { run_.events().add({at, kind, subject}); }

  void handle(const Event& event) {
    switch (event.kind) {
      case EventKind::kJobArrives:
        run_.arrive(event.subject);
        break;
      case EventKind::kJobEnds:
        end_job(event);
        break;
      case EventKind::kPodsGone: {
        const JobRun& job = run_.run(event.subject);
        if (job.attempt == event.attempt && job.phase == JobPhase::kStopping) policy_->pods_gone(event.subject);
        break;
      }
      case EventKind::kMaintenanceAnnounced:
        change_nodes(fault_of(event), [&](NodeState& node) { node.maintenance = fault_of(event).at; });
        break;
      case EventKind::kFaultBegins:
        begin_fault(event.subject);
        break;
      case EventKind::kFaultSeen:
        show_fault(fault_of(event));
        break;
      case EventKind::kEviction:
        end_hosts(event.subject, HostEnd::kEvicted);
        break;
      case EventKind::kFaultEnds:
        end_fault(fault_of(event));
        break;
      case EventKind::kPlan:
        planned_.reset();
        break;
      case EventKind::kSample:
        sample();
        break;
    }
  }

  /// Lets the policy decide until nothing is created any more, and asks for its next plan.
  void plan() {
    do {
      for (const int job : run_.take_created()) policy_->pods_created(job);
      policy_->plan();
    } while (run_.has_created());
    const std::optional<Timestamp> next = policy_->next_plan();
    if (!next || (planned_ && *planned_ <= *next)) return;
    planned_ = next;
    add(*next, EventKind::kPlan, 0);
  }

  void end_job(const Event& event) {
    const JobRun& job = run_.run(event.subject);
    if (job.attempt != event.attempt || job.phase != JobPhase::kRunning || job.stalled) return;
    run_.finish(event.subject);
    policy_->job_finished(event.subject);
  }

  // Faults.

  [[nodiscard]] const Fault& fault_of(const Event& event) const {
    return trace_.faults[static_cast<std::size_t>(event.subject)];
  }

  template <typename Change>
  void change_nodes(const Fault& fault, Change change) {
    for (NodeId node = fault.first_node; node < fault.first_node + fault.nodes; ++node) {
      run_.change_node(node, change);
      policy_->node_changed(node);
    }
  }

  void begin_fault(int index) {
    const Fault& fault = trace_.faults[static_cast<std::size_t>(index)];
    if (fault.kind == FaultKind::kProcessFails) {
      end_hosts(index, HostEnd::kFails);
      return;
    }
    add(fault.at + fault.down, EventKind::kFaultEnds, index);
    if (fault.kind == FaultKind::kHostLost) {
      const NodeId id = fault.first_node;
      run_.change_node(id, [](NodeState& node) { ++node.faults; });
      const HostRef user = run_.node(id).user;
      if (run_.is_active(user)) {
        run_.stall(user.job);
        count_loss(index, user.job);
      }
      add(fault.at + kNotReadyAfter, EventKind::kFaultSeen, index);
      add(fault.at + kEvictedAfter, EventKind::kEviction, index);
      return;
    }
    change_nodes(fault, [](NodeState& node) {
      ++node.faults;
      node.cordoned = true;
    });
    end_hosts(index, HostEnd::kEvicted);
    add(fault.at + kStoppedAfter, EventKind::kFaultSeen, index);
  }

  void show_fault(const Fault& fault) {
    change_nodes(fault, [&](NodeState& node) {
      if (node.faults == 0) return;
      if (fault.kind == FaultKind::kSpotReclaimed) node.exists = false;
      if (node.ready) node.ready_changed = run_.now();
      node.ready = false;
    });
  }

  void end_fault(const Fault& fault) {
    change_nodes(fault, [&](NodeState& node) {
      if (--node.faults > 0) return;
      NodeState repaired{.ready_changed = run_.now(), .user = node.user};
      if (fault.kind != FaultKind::kMaintenance) repaired.maintenance = node.maintenance;
      node = repaired;
    });
  }

  /// Ends the pods on the nodes of the fault.
  void end_hosts(int index, HostEnd how) {
    const Fault& fault = trace_.faults[static_cast<std::size_t>(index)];
    for (NodeId node = fault.first_node; node < fault.first_node + fault.nodes; ++node) {
      const HostRef user = run_.node(node).user;
      if (!run_.is_active(user)) continue;
      count_loss(index, user.job);
      policy_->end_host(user, how);
    }
  }

  void count_loss(int fault, int job) {
    const bool is_new = counted_[static_cast<std::size_t>(fault)].insert(job).second;
    if (is_new && run_.counts() != nullptr) ++run_.counts()->losses;
  }

  void sample() {
    run_.account().take_sample();
    RunCounts* const counts = run_.counts();
    if (counts != nullptr) counts->stranded += stranded_hosts(run_) * hours_of(kSampleInterval);
    for (const HostRef& host : deadlocked_hosts(run_)) {
      if (counts != nullptr) ++counts->deadlocks;
      policy_->end_host(host, HostEnd::kDeleted);
    }
    add(run_.now() + kSampleInterval, EventKind::kSample, 0);
  }

  const Trace& trace_;
  FleetRun run_;
  const std::unique_ptr<Policy> policy_;
  std::vector<std::set<int>> counted_;  ///< By fault, the jobs that it has hit.
  std::optional<Timestamp> planned_;    ///< The next event kPlan.
};

void add_waits(const FleetRun& run, Outcome& out) {
  for (const Job& job : run.trace().jobs) {
    if (job.arrives < run.trace().measured_from) continue;
    Waits& waits = out.waits[size_class(hosts_of(run.fleet(), job) * kChipsPerHost)];
    const std::optional<Timestamp>& started = run.run(job.id).first_start;
    waits.hours.push_back(hours_of(started.value_or(run.trace().end) - job.arrives));
    if (!started) ++waits.not_started;
  }
  for (Waits& waits : out.waits) std::ranges::sort(waits.hours);
}

}  // namespace

Outcome simulate(const Fleet& fleet, const Trace& trace, std::string_view policy, const PolicyOptions& options) {
  const double before = bench::cpu_seconds_of(CLOCK_THREAD_CPUTIME_ID);
  Simulation simulation(fleet, trace, policy, options);
  simulation.run();
  const FleetRun& run = simulation.state();
  Outcome out;
  out.policy = policy;
  out.capacity = fleet.node_count() * hours_of(trace.end - trace.measured_from);
  out.running = run.account().held(Held::kRunning);
  out.half_placed = run.account().held(Held::kWaiting);
  out.useful = run.account().useful();
  out.useful_in_all = run.account().useful_in_all();
  out.counts = run.total_counts();
  add_waits(run, out);
  out.restart_waits = run.restart_waits();
  std::ranges::sort(out.restart_waits);
  out.samples = run.account().samples();
  out.cpu_seconds = bench::cpu_seconds_of(CLOCK_THREAD_CPUTIME_ID) - before;
  return out;
}

}  // namespace tpuslice::fleet_bench
