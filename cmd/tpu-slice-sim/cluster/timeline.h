// Timeline: the history of the cluster as text: "+0.4s  pod train-worker-0-2 scheduled to v6e-4x4-a-2".
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cmd/tpu-slice-sim/cluster/change_feed.h"
#include "cmd/tpu-slice-sim/registry/registry.h"

namespace tpuslice::sim {

/// Reports pods, services, nodes, custom resources and their events; not leases, EndpointSlices and heartbeats. Storage
/// has no times, so call it after every step. Not thread-safe.
class Timeline {
 public:
  /// Adds lines about a change, or returns false.
  using Summary = std::function<bool(const Change& change, std::vector<std::string>& lines)>;

  /// Times are relative to `start`. Objects that are in `registry` already are not reported. A change of which
  /// `summary` returns true is reported by its lines alone; null: none is.
  Timeline(Registry& registry, Instant start, Summary summary = nullptr);

  /// The changes since the last call, oldest first.
  [[nodiscard]] std::vector<std::string> take(Instant now);

 private:
  void report(const Change& change, std::vector<std::string>& lines) const;

  Registry& registry_;
  const Instant start_;
  const Summary summary_;
  ChangeFeed feed_;
};

/// "+0.4s", "+2m03s": a time since the start.
[[nodiscard]] std::string format_elapsed(Duration elapsed);

}  // namespace tpuslice::sim
