// FleetRun: the state of a fleet while one policy runs a trace: nodes, what uses them, and how far the jobs are.
//
// The simulation moves time and jobs, the policy decides which nodes hosts get. Kubernetes' part of a job's life is the
// same for all policies: a job runs while all of its hosts have nodes; when it loses one, its controller deletes all of
// its pods and creates them again, and it continues from its last checkpoint.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tests/bench/fleet/chip_account.h"
#include "tests/bench/fleet/event_queue.h"
#include "tests/bench/fleet/trace.h"

namespace tpuslice::fleet_bench {

/// A host of a slice of a job.
struct HostRef {
  int job = -1;  ///< -1: none.
  int slice = 0;
  int host = 0;
  friend auto operator<=>(const HostRef&, const HostRef&) = default;
};

struct NodeState {
  int faults = 0;  ///< Those under way that stop the host.
  // As the API server shows it.
  bool exists = true;
  bool ready = true;
  Timestamp ready_changed;
  bool cordoned = false;
  std::optional<Timestamp> maintenance;  ///< When it is scheduled.
  HostRef user;                          ///< The host that has the node.

  [[nodiscard]] bool is_usable() const { return exists && ready && !cordoned; }
};

enum class JobPhase : std::uint8_t {
  kFuture,    ///< It has not arrived.
  kWaiting,   ///< Its pods exist, and some have no node.
  kRunning,   ///< All its pods have nodes.
  kStopping,  ///< Its pods are being deleted.
  kSucceeded,
  kFailed,  ///< It has used up its restarts.
};

/// Why a job is stopped before its work is done.
enum class StopCause : std::uint8_t {
  kLost,       ///< It lost a host. Counts as a restart.
  kPreempted,  ///< A job of higher priority needs its nodes.
  kDeleted,    ///< An administrator has deleted a pod to end a deadlock.
};

struct SliceRun {
  std::vector<NodeId> nodes;  ///< By host; -1: none.
  int bound = 0;              ///< Hosts with a node.
};

struct JobRun {
  JobPhase phase = JobPhase::kFuture;
  int attempt = 0;    ///< How often its pods were created.
  int restarts = 0;   ///< Those that its budget counts.
  Timestamp created;  ///< Creation of its pods.
  Timestamp gained;   ///< When one of its hosts got a node last, or its pods were created.
  std::optional<Timestamp> first_start;
  Timestamp started;                 ///< Start of the current attempt.
  std::optional<Timestamp> stalled;  ///< Since when a host of it has been lost, which may be unnoticed.
  Duration done{};                   ///< Work that a checkpoint holds.
  std::vector<SliceRun> slices;      ///< Empty unless its pods exist.
  int bound = 0;                     ///< Hosts with a node.
};

/// Since measuring began.
struct RunCounts {
  int arrived = 0;
  int succeeded = 0;
  int failed = 0;
  int losses = 0;  ///< Faults that have hit a job, counted for each job.
  int restarts = 0;
  int preemptions = 0;
  int deadlocks = 0;
  double lost_to_preemption = 0;  ///< Host-hours of work.
  double stranded = 0;            ///< Host-hours: stranded_hosts(), sampled.
};

class FleetRun {
 public:
  /// The fleet and the trace outlive it.
  FleetRun(const Fleet& fleet, const Trace& trace);

  [[nodiscard]] const Fleet& fleet() const { return fleet_; }
  [[nodiscard]] const Trace& trace() const { return trace_; }
  [[nodiscard]] Timestamp now() const { return now_; }
  [[nodiscard]] const Job& job(int id) const { return trace_.jobs[static_cast<std::size_t>(id)]; }
  [[nodiscard]] const JobRun& run(int id) const { return runs_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] const NodeState& node(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  /// Jobs in phase kWaiting, by id.
  [[nodiscard]] const std::set<int>& waiting() const { return waiting_; }
  /// All its nodes are usable, and none is used.
  [[nodiscard]] bool is_free(DomainId id) const;
  [[nodiscard]] int used_nodes(DomainId id) const { return domains_[static_cast<std::size_t>(id)].used; }
  /// Of a node pool.
  [[nodiscard]] int used_nodes_of_pool(PoolId id) const { return used_of_pool_[static_cast<std::size_t>(id)]; }
  /// Its pods exist and are not being deleted.
  [[nodiscard]] bool is_active(const HostRef& host) const;

  // What policies do.
  /// The host, of a waiting job, gets the node. The job starts with its last host.
  void bind(const HostRef& host, NodeId node);
  /// The pod of the host is gone from its node, if it has one.
  void release(const HostRef& host);
  void release_all(int job);
  /// The controller of an active job deletes its pods.
  void stop(int job, StopCause cause);
  /// All pods of a stopped job are gone: they are created again, or the job has failed.
  void recreate(int job);
  EventQueue& events() { return events_; }

  // What the simulation does.
  void advance(Timestamp now);
  void arrive(int job) { create_pods(job); }
  void finish(int job);
  /// One of the hosts has stopped, so the job makes no progress.
  void stall(int job);
  template <typename Change>
  void change_node(NodeId id, Change change) {
    NodeState& node = nodes_[static_cast<std::size_t>(id)];
    const bool before = node.is_usable();
    change(node);
    if (before != node.is_usable()) count_unusable(id, before ? 1 : -1);
  }
  /// Jobs whose pods have been created since the last call.
  [[nodiscard]] std::vector<int> take_created() { return std::exchange(created_, {}); }
  [[nodiscard]] bool has_created() const { return !created_.empty(); }
  /// Null until measuring has begun.
  [[nodiscard]] RunCounts* counts() { return now_ > trace_.measured_from ? &counts_ : nullptr; }
  /// Counts the work of the jobs that still run.
  void finish_measuring();

  [[nodiscard]] const RunCounts& total_counts() const { return counts_; }
  [[nodiscard]] ChipAccount& account() { return account_; }
  [[nodiscard]] const ChipAccount& account() const { return account_; }
  /// Hours from when the pods of a job were created again until it ran, since measuring began.
  [[nodiscard]] const std::vector<double>& restart_waits() const { return restart_waits_; }

 private:
  struct DomainState {
    int used = 0;
    int unusable = 0;
  };

  void create_pods(int job);
  void start(int job);
  void count_used(NodeId id, int change);
  void count_unusable(NodeId id, int change);
  /// When work began, or will, in the current attempt.
  [[nodiscard]] static Timestamp work_began(const JobRun& run) { return run.started + kStartUp; }
  /// Work of the current attempt.
  [[nodiscard]] Duration progress(const JobRun& run) const;

  const Fleet& fleet_;
  const Trace& trace_;
  Timestamp now_;
  EventQueue events_;
  ChipAccount account_;
  RunCounts counts_;
  std::vector<NodeState> nodes_;
  std::vector<DomainState> domains_;
  std::vector<int> used_of_pool_;
  std::vector<JobRun> runs_;
  std::set<int> waiting_;
  std::vector<int> created_;
  std::vector<double> restart_waits_;
};

}  // namespace tpuslice::fleet_bench
