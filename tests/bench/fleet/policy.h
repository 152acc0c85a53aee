// Policy: decides which nodes the hosts of the jobs get.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tests/bench/fleet/fleet_run.h"

namespace tpuslice::fleet_bench {

/// How the pod of a host ends before its job does.
enum class HostEnd : std::uint8_t {
  kFails,    ///< Its process fails.
  kEvicted,  ///< Kubernetes evicts it, as its node is stopped or not Ready.
  kDeleted,  ///< An administrator deletes it.
};

struct PolicyOptions {
  std::uint64_t seed = 1;
  std::size_t preemptions_per_hour = 0;
  // ReservationLimits of the operator.
  std::int64_t reservation_minutes = 30;
  std::int64_t reservation_percent = 0;
};

/// `run` outlives it. The functions are called by the simulation, plan() after all events of a time.
class Policy {
 public:
  explicit Policy(FleetRun& run) : run_(run) {}
  virtual ~Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;

  /// The pods of the job exist from now on.
  virtual void pods_created(int /*job*/) {}
  /// The job has succeeded, and its pods are gone.
  virtual void job_finished(int job) { run_.release_all(job); }
  /// The pod of a host of an active job ends. The default stops the job.
  virtual void end_host(const HostRef& host, HostEnd how);
  /// The pods of a job that the default of end_host() has stopped are gone.
  virtual void pods_gone(int job);
  virtual void node_changed(NodeId /*node*/) {}
  virtual void plan() = 0;
  /// When plan() is due although nothing happens.
  [[nodiscard]] virtual std::optional<Timestamp> next_plan() const { return std::nullopt; }

 protected:
  /// Deletes the pods of the job, which have kGracePeriod. Those on nodes that are not Ready are deleted by force
  /// kLostPodTimeout later.
  void stop(int job, StopCause cause);

  FleetRun& run_;
};

/// How long the containers of a pod that is deleted take to stop.
inline constexpr Duration kGracePeriod = std::chrono::seconds(30);
/// The default of this operator, so that all policies lose the same time.
inline constexpr Duration kLostPodTimeout = std::chrono::minutes(5);

/// Names as in --policy; "bound" is not a policy (bound.h).
[[nodiscard]] const std::vector<std::string_view>& policy_names();
/// `name` is one of them.
[[nodiscard]] std::unique_ptr<Policy> make_policy(std::string_view name, FleetRun& run, const PolicyOptions& options);

}  // namespace tpuslice::fleet_bench
