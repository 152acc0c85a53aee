// Restarts: when a group has to start anew, and how soon after its last restart it may.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controllers/leaderworkerset/groups.h"
#include "controllers/leaderworkerset/options.h"

namespace tpuslice::leaderworkerset {

/// What the leader set's annotation kRestarts remembers of a group that was restarted.
struct RestartRecord {
  std::string leader;  ///< UID of the leader that was ended.
  int count = 0;       ///< Restarts without a quiet time between them.
  Timestamp last;
};
using RestartRecords = std::map<int, RestartRecord>;  ///< By group.

/// What is illegible counts as absent.
[[nodiscard]] RestartRecords read_restarts(const std::string& annotation);
/// Of groups below `count`; empty if there are none.
[[nodiscard]] std::string print_restarts(const RestartRecords& records, int count);

/// Why a group cannot go on, by the restart policy; empty if it can. A group whose leader is being deleted is on its
/// way already.
[[nodiscard]] std::string breakage_of(const LeaderWorkerSetSpec& spec, const Group& group);

struct RestartVerdict {
  enum class Kind : std::uint8_t {
    kNow,
    kLater,      ///< `due` is when.
    kExhausted,  ///< No more restarts are allowed.
  };
  Kind kind = Kind::kNow;
  RestartRecord record;  ///< kNow: with this restart.
  Timestamp due;
};

/// Whether `group` may be restarted. `limit`: so many in a row are allowed; nothing for any number.
[[nodiscard]] RestartVerdict judge_restart(const Group& group, const RestartRecords& records, std::optional<int> limit,
                                           Timestamp now, const Options& options);

}  // namespace tpuslice::leaderworkerset
