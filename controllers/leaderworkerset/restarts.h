// Group restarts: which groups have failed, and the back-off and limit of restarts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controllers/leaderworkerset/groups.h"
#include "controllers/leaderworkerset/options.h"

namespace tpuslice::leaderworkerset {

/// Entry of one group in the leader set's annotation kRestarts.
struct RestartRecord {
  std::string leader;  ///< UID of the leader that the restart deletes.
  int count = 0;       ///< Restarts in a row: Options::reset_after did not pass between them.
  Timestamp last;
};
using RestartRecords = std::map<int, RestartRecord>;  ///< By group.

/// Invalid entries are skipped.
[[nodiscard]] RestartRecords read_restarts(const std::string& annotation);
/// JSON of the records of groups below `count`; empty if there are none.
[[nodiscard]] std::string format_restarts(const RestartRecords& records, int count);

/// Why the group must be restarted: by its restart policy, or since a pod was not admitted by the webhook. Empty if it
/// must not. A group whose leader is terminating is being restarted already.
[[nodiscard]] std::string failure_of(const LeaderWorkerSetSpec& spec, const Group& group, const Options& options);

struct RestartDecision {
  enum class Kind : std::uint8_t {
    kRestart,
    kBackOff,    ///< Until `due`.
    kExhausted,  ///< The limit is reached.
  };
  Kind kind = Kind::kRestart;
  RestartRecord record;  ///< kRestart: includes this restart.
  Timestamp due;
};

/// Whether `group` may be restarted now. `limit`: maximum restarts in a row; nullopt for no limit.
[[nodiscard]] RestartDecision decide_restart(const Group& group, const RestartRecords& records,
                                             std::optional<int> limit, Timestamp now, const Options& options);

}  // namespace tpuslice::leaderworkerset
