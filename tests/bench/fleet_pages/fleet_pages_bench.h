// FleetPagesBench: time, bytes and memory of answers about a large fleet; see docs/performance.md.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "tests/bench/fleet_pages/large_fleet.h"
#include "tests/support/operator_process.h"

namespace tpuslice::bench {

struct FleetPagesOptions {
  std::string operator_program;
  std::string plugin;  ///< Path of kubectl-tpu.
  LargeFleetOptions fleet = {};
  int answers = 10;
};

struct ServedAnswer {
  double milliseconds = 0;
  double bytes = 0;  ///< Compressed.
};

/// A run of the plugin.
struct DirectAnswer {
  double seconds = 0;
  double cpu_seconds = 0;
  double peak = 0;  ///< MiB
};

struct FleetPagesFigures {
  std::vector<ServedAnswer> first;  ///< The fleet is read for it.
  std::vector<ServedAnswer> later;  ///< Within the interval.
  std::vector<DirectAnswer> direct;
  double resident = 0;          ///< Of the operator before the first answer, MiB.
  double resident_watched = 0;  ///< After half a minute with a stream, MiB.
  double cpu_unwatched = 0;     ///< Percent of a core.
  double cpu_watched = 0;
};

/// A control plane with the objects of the fleet, without kube-scheduler, controllers and kubelets. Used by one thread.
class FleetPagesBench {
 public:
  /// Creates the objects and starts the operator. Errors: as ControlPlane::start.
  static Result<std::unique_ptr<FleetPagesBench>> start(FleetPagesOptions options);
  Result<FleetPagesFigures> measure();

 private:
  explicit FleetPagesBench(FleetPagesOptions options) : options_(std::move(options)) {}

  Status create_objects();
  Status make_ready();
  Status start_operator();
  /// Waits until the operator has read the fleet and written its reasons.
  Status wait_until_at_rest();
  [[nodiscard]] Result<ServedAnswer> ask() const;
  [[nodiscard]] Result<DirectAnswer> run_plugin(const std::string& command) const;
  Status measure_watch(FleetPagesFigures& out);

  const FleetPagesOptions options_;
  const RealClock clock_;
  std::unique_ptr<testing::ControlPlane> plane_;
  std::unique_ptr<testing::OperatorProcess> operator_;
  std::string token_;
};

}  // namespace tpuslice::bench
