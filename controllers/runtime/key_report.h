// What a controller knows of a key: for people who ask why an object does not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/result.h"
#include "api/types/object.h"

namespace tpuslice::runtime {

/// A key in the work queue, and its state there.
struct QueuedKey {
  enum class State : std::uint8_t { kIdle, kQueued, kRunning, kScheduled };
  State state = State::kIdle;
  Duration time = Duration::zero();  ///< Queued or running: for how long; scheduled: until when.
  int retries = 0;                   ///< Failures in a row.
};

/// The last plan of a key, or the error that there is instead.
struct LastPlan {
  Timestamp time = {};
  std::string reason;  ///< Plan::reason; empty if planning failed.
  std::string error;   ///< Empty if the plan was applied.
  std::size_t writes = 0;
};

struct KeyReport {
  std::string controller;
  ObjectKey key;
  QueuedKey queue;
  std::optional<LastPlan> last_plan;  ///< None: not planned, or longer ago than RecentPlans remembers.
  std::size_t unseen_writes = 0;      ///< The key waits until the stores show them.
};

/// The keys that are reported. Empty texts match all.
struct KeyQuery {
  std::string controller;
  std::string namespace_name;
  std::string name;
  std::size_t limit = 100;
};

/// Reads the parameters controller, namespace, name and limit of a request's target. Errors: InvalidArgument for
/// others, and for a limit that is not a number from 1 to 1000.
[[nodiscard]] Result<KeyQuery> parse_key_query(std::string_view target);

/// A JSON object with the member `keys`, a list of reports.
[[nodiscard]] std::string to_json(const std::vector<KeyReport>& reports);

}  // namespace tpuslice::runtime
