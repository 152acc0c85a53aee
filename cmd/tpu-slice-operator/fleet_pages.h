// FleetPages: /fleet/v1/snapshot, /fleet/v1/history and /fleet/v1/watch of the metrics server: the fleet as the caller
// may see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "cmd/tpu-slice-operator/metrics_server.h"
#include "cmd/tpu-slice-operator/resource_access.h"
#include "fleet/model.h"

namespace tpuslice {

struct FleetPagesOptions {
  Duration interval = std::chrono::seconds(1);    ///< The fleet is read again after this long, if it is asked for.
  int pace = 9;                                   ///< The same, as a multiple of how long reading it took.
  std::size_t max_bytes = 8U << 20U;              ///< Length of an answer.
  Duration max_stream = std::chrono::minutes(5);  ///< Then a stream ends, and its client is authorized again.
  Duration heartbeat = std::chrono::seconds(15);  ///< Between the comments of a stream that has nothing to send.
};

/// What a caller may see.
struct FleetRights {
  bool all_namespaces = false;
  std::vector<std::string> namespaces = {};  ///< Sorted; beside all_namespaces not used.
  bool nodes = false;
  [[nodiscard]] bool may_read(const std::string& namespace_name) const;
};

/// What a request asks for.
struct FleetQuery {
  static constexpr std::size_t kMaxNamespaces = 10;
  std::vector<std::string> namespaces = {};  ///< Parameter "namespace", repeated: whose names the caller wants to see.
  bool nodes = false;                        ///< Parameter "nodes": with the names of the nodes of each pool.
};
/// Errors: InvalidArgument for other parameters, and for more than kMaxNamespaces.
[[nodiscard]] Result<FleetQuery> parse_fleet_query(std::string_view target);

/// Thread-safe.
///
/// A caller who may list the pods of all namespaces sees all. Another one sees pools and queues, and of the namespaces
/// that it asks for those whose pods it may list. The names of the nodes of pools are for callers who may list nodes;
/// the reason of an interruption names the node that was lost to everybody who may read the record.
class FleetPages {
 public:
  using Take = std::function<Result<fleet::Snapshot>()>;
  /// `access` and `clock` outlive it.
  FleetPages(Take take, ResourceAccess& access, const Clock& clock, FleetPagesOptions options = {});

  /// By path. They refer to this object.
  [[nodiscard]] std::map<std::string, DebugPage, std::less<>> pages();

  /// The JSON of fleet::write_fleet(), or an error: Unavailable, or if it is longer than max_bytes.
  [[nodiscard]] Result<std::string> snapshot(const FleetQuery& query, const FleetRights& rights);
  /// {"schema": "tpuslice.dev/history.v1", "records": [...]}, the oldest first.
  [[nodiscard]] Result<std::string> history(const FleetQuery& query, const FleetRights& rights);
  [[nodiscard]] const FleetPagesOptions& options() const { return options_; }
  /// Number of snapshots that were written, too long ones included.
  [[nodiscard]] std::size_t written() const TPUSLICE_EXCLUDES(mutex_);

 private:
  struct Model {
    fleet::Fleet fleet;
    std::vector<fleet::HistoryRecord> history;
  };
  /// Marks that the fleet is being read.
  class Reading;
  using Answer = Result<std::string> (FleetPages::*)(const FleetQuery&, const FleetRights&);

  [[nodiscard]] http::Reply reply(const http::Request& request, const Json& user, Answer answer);
  [[nodiscard]] http::Reply watch(const http::Request& request, const Json& user);
  /// Errors: those of ResourceAccess.
  [[nodiscard]] Result<FleetRights> rights_of(const Json& user, const FleetQuery& query);
  /// Reads the fleet if that is due. Meanwhile other threads get the last one, and wait if there is none.
  [[nodiscard]] Result<std::shared_ptr<const Model>> model() TPUSLICE_EXCLUDES(mutex_);
  /// What was written of the model; absent if nothing was, or another model has taken its place.
  [[nodiscard]] std::optional<Result<std::string>> known_text(const std::shared_ptr<const Model>& model,
                                                              const std::string& key) const TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] Result<std::string> write(const Model& model, const FleetQuery& query, const FleetRights& rights) const;

  const Take take_;
  ResourceAccess& access_;
  const Clock& clock_;
  const FleetPagesOptions options_;
  Mutex writing_;  ///< Is held while a snapshot is written: one at a time.
  mutable Mutex mutex_;
  ConditionVariable read_;
  bool reading_ TPUSLICE_GUARDED_BY(mutex_) = false;
  std::shared_ptr<const Model> model_ TPUSLICE_GUARDED_BY(mutex_);
  /// The first snapshots that were written of the model, or why not, by what the callers may see and ask for.
  std::map<std::string, Result<std::string>> texts_ TPUSLICE_GUARDED_BY(mutex_);
  std::size_t written_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  Instant due_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice
