// Group restarts: which groups have failed, and the back-off and limit of restarts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controllers/leaderworkerset/groups/groups.h"
#include "controllers/leaderworkerset/leaderworkerset_options.h"

namespace tpuslice::leaderworkerset {

/// Entry of one group in the leader set's annotation kRestarts.
struct RestartRecord {
  std::string leader;  ///< UID of the leader that the restart deletes.
  int count = 0;       ///< Restarts in a row: Options::reset_after did not pass between them.
  Timestamp last;
  std::string exhausted = {};  ///< UID of the leader with which the group failed when no restart was left.
  /// The leader had the annotation kRecover already, which therefore does not restart the group.
  bool had_recover = false;

  friend bool operator==(const RestartRecord&, const RestartRecord&) = default;
};
using RestartRecords = std::map<int, RestartRecord>;  ///< By group.

/// Invalid entries are skipped.
[[nodiscard]] RestartRecords read_restarts(const std::string& annotation);
/// JSON of the records of groups below `count` that still matter at `now`, the latest kMaxRestartRecords; empty if
/// there are none.
[[nodiscard]] std::string format_restarts(const RestartRecords& records, int count, Timestamp now,
                                          const Options& options);

/// An object has no more than 256 KiB of annotations, and a record takes about 100 bytes.
inline constexpr std::size_t kMaxRestartRecords = 1000;

/// Why a group must be restarted.
struct GroupFailure {
  std::string cause;     ///< "a container of pod serve-0-1 was restarted"
  std::string pod = {};  ///< The pod that failed; empty for a failure that upstream does not know.
  /// A pod was lost or failed, so the others get tpu::teardown_grace(). False: one was deleted on purpose, or replaced.
  bool lost_host = false;
};

/// The failure of the group by its restart policy, or since a pod was not admitted by the webhook; nullopt if it must
/// not be restarted. A group whose leader is terminating is being restarted already.
///
/// The slice controller also tears down a slice that lost a pod (slice/slice_state.h). A group may be several slices,
/// or none, and its restart policy decides, so it has a rule of its own.
[[nodiscard]] std::optional<GroupFailure> failure_of(const LeaderWorkerSetSpec& spec, const Group& group,
                                                     const Options& options);

struct RestartDecision {
  enum class Kind : std::uint8_t {
    kRestart,
    kBackOff,    ///< Until `due`.
    kExhausted,  ///< The limit is reached.
  };
  Kind kind = Kind::kRestart;
  /// kRestart: includes this restart. kExhausted: of this leader.
  RestartRecord record;
  Timestamp due;
};

/// Whether `group` may be restarted now. `limit`: maximum restarts in a row; nullopt for no limit. One that is
/// exhausted is restarted without being counted once its leader gets the annotation kRecover.
[[nodiscard]] RestartDecision decide_restart(const Group& group, const RestartRecords& records,
                                             std::optional<int> limit, Timestamp now, const Options& options);

}  // namespace tpuslice::leaderworkerset
