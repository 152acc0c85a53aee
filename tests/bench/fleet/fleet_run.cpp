#include "tests/bench/fleet/fleet_run.h"

#include <algorithm>

#include "api/base/check.h"
#include "tests/bench/fleet/draws.h"

namespace tpuslice::fleet_bench {

FleetRun::FleetRun(const Fleet& fleet, const Trace& trace)
    : fleet_(fleet),
      trace_(trace),
      now_(trace.start),
      account_(trace.start, trace.measured_from),
      nodes_(fleet.nodes.size()),
      domains_(fleet.domains.size()),
      used_of_pool_(fleet.pools.size()),
      runs_(trace.jobs.size()) {
  for (NodeState& node : nodes_) node.ready_changed = trace.start;
}

bool FleetRun::is_free(DomainId id) const {
  const DomainState& domain = domains_[static_cast<std::size_t>(id)];
  return domain.used == 0 && domain.unusable == 0;
}

bool FleetRun::is_active(const HostRef& host) const {
  if (host.job < 0) return false;
  const JobPhase phase = run(host.job).phase;
  return phase == JobPhase::kWaiting || phase == JobPhase::kRunning;
}

void FleetRun::advance(Timestamp now) {
  now_ = now;
  account_.advance(now);
}

void FleetRun::create_pods(int id) {
  JobRun& run = runs_[id];
  const int hosts = fleet_.shapes[job(id).shape].hosts;
  if (run.attempt == 0 && counts() != nullptr) ++counts()->arrived;
  run.phase = JobPhase::kWaiting;
  ++run.attempt;
  run.created = now_;
  run.gained = now_;
  run.slices.assign(static_cast<std::size_t>(job(id).slices), {});
  for (SliceRun& slice : run.slices) slice.nodes.assign(static_cast<std::size_t>(hosts), -1);
  run.bound = 0;
  waiting_.insert(id);
  created_.push_back(id);
}

void FleetRun::bind(const HostRef& host, NodeId id) {
  JobRun& run = runs_[host.job];
  SliceRun& slice = run.slices[host.slice];
  NodeState& node = nodes_[id];
  TPUSLICE_CHECK(run.phase == JobPhase::kWaiting && slice.nodes[host.host] < 0 && node.user.job < 0);
  slice.nodes[host.host] = id;
  ++slice.bound;
  ++run.bound;
  run.gained = now_;
  node.user = host;
  count_used(id, 1);
  account_.add(Held::kWaiting, 1);
  if (run.bound == hosts_of(fleet_, job(host.job))) start(host.job);
}

void FleetRun::start(int id) {
  JobRun& run = runs_[id];
  account_.add(Held::kWaiting, -run.bound);
  account_.add(Held::kRunning, run.bound);
  run.phase = JobPhase::kRunning;
  run.started = now_;
  run.stalled.reset();
  waiting_.erase(id);
  if (!run.first_start) {
    run.first_start = now_;
  } else if (counts() != nullptr) {
    restart_waits_.push_back(hours_of(now_ - run.created));
  }
  const auto has_fault = [&](NodeId node) { return nodes_[node].faults > 0; };
  for (const SliceRun& slice : run.slices) {
    if (std::ranges::any_of(slice.nodes, has_fault)) run.stalled = now_;
  }
  events_.add({work_began(run) + job(id).length - run.done, EventKind::kJobEnds, id, run.attempt});
}

void FleetRun::stall(int id) {
  JobRun& run = runs_[id];
  if (run.phase == JobPhase::kRunning && !run.stalled) run.stalled = now_;
}

Duration FleetRun::progress(const JobRun& run) const {
  const Timestamp until = std::min(now_, run.stalled.value_or(now_));
  return std::max(until - work_began(run), Duration::zero());
}

void FleetRun::finish(int id) {
  JobRun& run = runs_[id];
  TPUSLICE_CHECK(run.phase == JobPhase::kRunning);
  account_.add_useful(work_began(run), now_, run.bound);
  account_.add(Held::kRunning, -run.bound);
  run.phase = JobPhase::kSucceeded;
  if (counts() != nullptr) ++counts()->succeeded;
}

void FleetRun::stop(int id, StopCause cause) {
  JobRun& run = runs_[id];
  TPUSLICE_CHECK(is_active({.job = id}));
  if (run.phase == JobPhase::kRunning) {
    const Duration made = progress(run);
    const Duration interval = job(id).checkpoint;
    const Duration saved = std::max((run.done + made) / interval * interval, run.done);
    account_.add_useful(work_began(run), work_began(run) + (saved - run.done), run.bound);
    if (cause == StopCause::kPreempted && counts() != nullptr) {
      counts()->lost_to_preemption += run.bound * hours_of(run.done + made - saved);
    }
    run.done = saved;
    account_.add(Held::kRunning, -run.bound);
  } else {
    account_.add(Held::kWaiting, -run.bound);
    waiting_.erase(id);
  }
  account_.add(Held::kStopping, run.bound);
  run.phase = JobPhase::kStopping;
  if (cause == StopCause::kLost) ++run.restarts;
  if (counts() == nullptr) return;
  if (cause == StopCause::kLost) ++counts()->restarts;
  if (cause == StopCause::kPreempted) ++counts()->preemptions;
}

void FleetRun::release(const HostRef& host) {
  JobRun& run = runs_[host.job];
  if (run.slices.empty()) return;
  SliceRun& slice = run.slices[host.slice];
  const NodeId id = std::exchange(slice.nodes[host.host], -1);
  if (id < 0) return;
  TPUSLICE_CHECK(run.phase != JobPhase::kRunning);
  --slice.bound;
  --run.bound;
  nodes_[id].user = {};
  count_used(id, -1);
  if (run.phase == JobPhase::kWaiting) account_.add(Held::kWaiting, -1);
  if (run.phase == JobPhase::kStopping) account_.add(Held::kStopping, -1);
}

void FleetRun::release_all(int id) {
  JobRun& run = runs_[id];
  for (std::size_t slice = 0; slice < run.slices.size(); ++slice) {
    for (std::size_t host = 0; host < run.slices[slice].nodes.size(); ++host) {
      release({id, static_cast<int>(slice), static_cast<int>(host)});
    }
  }
  run.slices.clear();
}

void FleetRun::recreate(int id) {
  JobRun& run = runs_[id];
  TPUSLICE_CHECK(run.phase == JobPhase::kStopping && run.bound == 0);
  if (run.restarts <= job(id).max_restarts) {
    create_pods(id);
    return;
  }
  run.phase = JobPhase::kFailed;
  run.slices.clear();
  if (counts() != nullptr) ++counts()->failed;
}

void FleetRun::count_used(NodeId id, int change) {
  const Node& node = fleet_.nodes[id];
  for (const DomainId domain : node.domains) domains_[domain].used += change;
  used_of_pool_[node.pool] += change;
}

void FleetRun::count_unusable(NodeId id, int change) {
  for (const DomainId domain : fleet_.nodes[id].domains) domains_[domain].unusable += change;
}

void FleetRun::finish_measuring() {
  for (const JobRun& run : runs_) {
    if (run.phase == JobPhase::kRunning)
      account_.add_useful(work_began(run), work_began(run) + progress(run), run.bound);
  }
}

}  // namespace tpuslice::fleet_bench
