// UpstreamControllers: whether the upstream controller of a kind runs in the cluster. Two controllers must not serve
// one kind, so ours leaves the kind to it.
//
// Upstream's controllers elect their leader by a Lease, whose name is fixed and whose namespace is where they are
// installed. Users may create Leases in their own namespaces, so a Lease alone says nothing: its holder must be a pod
// whose service account may update the status of all objects of the kind (docs/adr/0034).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/log.h"
#include "api/base/metrics.h"
#include "api/base/mutex.h"
#include "api/client/client.h"
#include "controllers/runtime/watch/store.h"

namespace tpuslice::runtime {

/// Another program that serves a kind.
struct UpstreamController {
  std::string name;                      ///< "KubeRay"
  std::string lease;                     ///< Name of its Lease: "ray-operator-leader".
  ResourceType kind;                     ///< It may update the status of this kind in all namespaces.
  std::vector<std::string> controllers;  ///< Ours, which do not run beside it: "raycluster", "rayjob".
};

/// An upstream controller counts as running while its Lease has a holder that was renewed within the last
/// kAbandonedAfter. That is longer than a restart or an update takes: ours does not begin meanwhile. A Lease that is
/// released or deleted is a hand-over: ours begins at once.
///
/// One thread steps it; may_run() and left() are thread-safe.
class UpstreamControllers {
 public:
  /// References outlive it. `reader` and `writer` are for the pods of holders and for SubjectAccessReviews.
  UpstreamControllers(client::Reader& reader, client::Writer& writer, const Clock& clock, Metrics& metrics, Logger log);

  /// `leases` holds at least those with the name of its Lease, in all namespaces. Before the first step().
  void add(UpstreamController upstream, const ObjectStore& leases);
  /// Called after left() may have changed, from step(), without a lock held. Set before the first step().
  void on_change(std::function<void()> listener) { listener_ = std::move(listener); }

  /// Returns when to look again; changes of the Leases may come sooner.
  Instant step(Instant now, const std::stop_token& stop) TPUSLICE_EXCLUDES(mutex_);
  /// Steps until `stop`; `changed` is called after may_run() may have changed.
  void run(const std::stop_token& stop, const std::function<void()>& changed);
  [[nodiscard]] bool empty() const { return watched_.empty(); }

  /// Our controller may act: no upstream controller serves its kind. False until that is known.
  [[nodiscard]] bool may_run(std::string_view controller) const TPUSLICE_EXCLUDES(mutex_);
  /// An upstream controller is known to serve the kind. Neither is true while nothing is known.
  [[nodiscard]] bool left(std::string_view controller) const TPUSLICE_EXCLUDES(mutex_);

  static constexpr Duration kAbandonedAfter = std::chrono::minutes(10);

 private:
  enum class State : std::uint8_t { kUnknown, kAbsent, kRunning };
  struct SeenLease {
    std::string resource_version;  ///< Version that was read; empty: none yet.
    Json spec;
    std::string holder;  ///< Empty: released.
    Instant renewed;     ///< By this process' clock.
    bool abandoned = false;
    std::optional<bool> counts;           ///< Whether the holder is a controller of the kind; absent: not known yet.
    std::string judged_holder;            ///< The one that `counts` is about.
    std::string_view missing_permission;  ///< For lack of it, it was not read or not judged; empty: none is missing.
    Instant read_due;                     ///< Not read by a request before this time.
    Instant judge_due;  ///< Not judged again before this time, unless the holder of a Lease that counts changes.
  };
  struct Watched {
    UpstreamController upstream;
    const ObjectStore* leases;
    std::map<ObjectKey, SeenLease> seen = {};
    State state = State::kUnknown;
  };

  Instant look(Watched& watched, Instant now, const std::stop_token& stop);
  /// For lack of `permission` nothing is known: controllers run after a while. Returns when.
  Instant give_up(Watched& watched, Instant now, std::string_view permission);
  void refresh(Watched& watched, Instant now, Instant& due, const std::stop_token& stop) const;
  /// By a request: of a minimal view the holder is unknown, and a watch may be broken. False if it failed, or is not
  /// due.
  bool read(const ObjectKey& key, SeenLease& lease, Instant now, const std::stop_token& stop) const;
  void observe(SeenLease& lease, const Object& object, Instant now) const;
  /// Whether the Lease was not renewed for too long. One that counts is read again before: the watch may be broken.
  bool abandoned(const ObjectKey& key, SeenLease& lease, Instant now, Instant& due, const std::stop_token& stop);
  void judge(const Watched& watched, const ObjectKey& key, SeenLease& lease, Instant now, const std::stop_token& stop);
  [[nodiscard]] Result<bool> is_controller(const ResourceType& kind, const std::string& namespace_name,
                                           SeenLease& lease, const std::stop_token& stop);
  /// `lease`: that of an upstream controller that runs; null: none.
  void enter(Watched& watched, State state, const ObjectKey* lease) TPUSLICE_EXCLUDES(mutex_);

  client::Reader& reader_;
  client::Writer& writer_;
  const Clock& clock_;
  Metrics& metrics_;
  const Logger log_;
  std::function<void()> listener_;
  bool changed_ = false;          ///< Something changed since run() looked.
  std::optional<Instant> begun_;  ///< The first step.
  std::vector<Watched> watched_;  ///< Used by the stepping thread only.

  mutable Mutex mutex_;
  std::map<std::string, State, std::less<>> states_ TPUSLICE_GUARDED_BY(mutex_);  ///< By controller of ours.
};

}  // namespace tpuslice::runtime
