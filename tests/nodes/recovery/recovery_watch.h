// RecoveryWatch: measures how a slice recovers from a fault, by phases.
//
//   ASSIGN_OR_RETURN(const auto watch, RecoveryWatch::start(config, {.namespace_name = "recovery", .hosts = 4, ...}));
//   RETURN_IF_ERROR(watch->wait_whole(limit));
//   watch->begin(watch->hosts().front());
//   cluster->kill_container(...);
//   RETURN_IF_ERROR(watch->wait_whole(limit));
//   report(watch->recovery());
//
// All times are those at which watch events arrived at this program: timestamps in objects are whole seconds, of
// several clocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/types/json.h"
#include "tests/bench/watch_stream.h"

namespace tpuslice::bench {

enum class Phase : std::uint8_t {
  kNoticed,  ///< A pod of the slice has failed, restarts a container or is deleted, or the victim's node is not Ready.
  kDeleted,  ///< All other hosts that are deleted have a deletion timestamp.
  kGone,     ///< The last of the old pods is gone.
  kCreated,  ///< All new pods exist.
  kPlaced,   ///< None of them has a scheduling gate.
  kBound,    ///< All have a node.
  kStarted,  ///< All their containers run: the slice can work again.
  kReady,
};
inline constexpr std::array<std::string_view, 8> kPhaseNames = {"noticed", "deleted", "gone",    "created",
                                                                "placed",  "bound",   "started", "Ready"};

/// Seconds from the fault to the end of each phase; empty for what was not observed.
using Recovery = std::array<std::optional<double>, kPhaseNames.size()>;

/// A pod with TPUs. Times are empty until the event arrives, and again if it no longer holds.
struct HostPod {
  std::string name = {};
  std::string uid = {};
  std::string node = {};
  bool failed = false;
  std::int64_t restarts = 0;           ///< Number, over all containers.
  Instant created = {};                ///< The first event.
  std::optional<Instant> broken = {};  ///< It failed, or a container ended or was restarted; stays.
  std::optional<Instant> terminating = {};
  std::optional<Instant> gone = {};
  std::optional<Instant> placed = {};
  std::optional<Instant> bound = {};
  std::optional<Instant> started = {};
  std::optional<Instant> ready = {};

  [[nodiscard]] bool live() const { return !failed && !terminating && !gone; }
};

struct RecoveryExtent {
  std::string namespace_name;    ///< Has no other pods with TPUs.
  std::string resource_version;  ///< Events after this one; the namespace is empty then.
  std::size_t hosts = 0;
};

/// Watches the pods of a namespace, and all nodes. Thread-safe.
class RecoveryWatch {
 public:
  /// Errors: Unavailable.
  static Result<std::unique_ptr<RecoveryWatch>> start(const client::ClientConfig& config, RecoveryExtent extent);

  /// Waits until exactly the expected hosts are live and all are Ready, which lasts for five seconds, and the victim
  /// has failed, restarted or been deleted. Errors: Timeout with the state of the pods; Unavailable if a watch has
  /// ended.
  Status wait_whole(Duration limit) const TPUSLICE_EXCLUDES(mutex_);
  /// Waits until the fault is noticed. Errors: as wait_whole().
  Status wait_noticed(Duration limit) const TPUSLICE_EXCLUDES(mutex_);
  /// Waits until no pod is left. Errors: as wait_whole().
  Status wait_gone(Duration limit) const TPUSLICE_EXCLUDES(mutex_);

  /// Pods that are live, by name.
  [[nodiscard]] std::vector<HostPod> hosts() const TPUSLICE_EXCLUDES(mutex_);
  /// The fault happens now, to this pod or its node.
  void begin(const HostPod& victim) TPUSLICE_EXCLUDES(mutex_);
  /// The phases since begin(), complete after wait_whole().
  [[nodiscard]] Recovery recovery() const TPUSLICE_EXCLUDES(mutex_);

 private:
  explicit RecoveryWatch(RecoveryExtent extent) : extent_(std::move(extent)) {}
  void on_pod(const Json& event, Instant now) TPUSLICE_EXCLUDES(mutex_);
  void on_node(const Json& event, Instant now) TPUSLICE_EXCLUDES(mutex_);
  void on_end() TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] bool is_whole() const TPUSLICE_REQUIRES(mutex_);
  [[nodiscard]] Recovery measure() const TPUSLICE_REQUIRES(mutex_);
  [[nodiscard]] Error time_out() const TPUSLICE_REQUIRES(mutex_);

  const RecoveryExtent extent_;
  const RealClock clock_;
  mutable Mutex mutex_;
  mutable ConditionVariable changed_;
  std::map<std::string, HostPod> pods_ TPUSLICE_GUARDED_BY(mutex_);  ///< By uid; those that are gone until begin().
  std::optional<Instant> whole_since_ TPUSLICE_GUARDED_BY(mutex_);
  Instant fault_ TPUSLICE_GUARDED_BY(mutex_){};
  HostPod victim_ TPUSLICE_GUARDED_BY(mutex_);
  std::set<std::string> old_ TPUSLICE_GUARDED_BY(mutex_);  ///< Uids of the pods at the time of the fault.
  std::optional<Instant> node_lost_ TPUSLICE_GUARDED_BY(mutex_);
  bool ended_ TPUSLICE_GUARDED_BY(mutex_) = false;
  std::vector<std::unique_ptr<WatchStream>> streams_;  ///< Destroyed first.
};

}  // namespace tpuslice::bench
