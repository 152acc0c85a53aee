// SessionRegistry: the open connections of a server and their limits. Private to this folder.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/base/clock.h"
#include "api/base/mutex.h"

namespace tpuslice::http {

/// What a connection does, and since when. Thread-safe.
class Activity {
 public:
  enum class Phase : std::uint8_t {
    kIdle,     ///< Handshake, or between two requests.
    kReading,  ///< A request.
    kBusy,     ///< Handles the request, or writes the reply or a stream.
  };

  void enter(Phase phase) {
    since_ = std::chrono::steady_clock::now().time_since_epoch().count();
    phase_ = phase;
  }
  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] std::chrono::steady_clock::time_point since() const {
    return std::chrono::steady_clock::time_point(std::chrono::steady_clock::duration(since_));
  }

 private:
  std::atomic<Phase> phase_ = Phase::kIdle;
  std::atomic<std::chrono::steady_clock::rep> since_ = std::chrono::steady_clock::now().time_since_epoch().count();
};

class Session {
 public:
  virtual ~Session() = default;
  [[nodiscard]] const Activity& activity() const { return activity_; }
  virtual void start() = 0;
  /// Ends once what is being answered is answered; at once if nothing is. Streams are ended.
  virtual void drain() = 0;
  /// Ends now.
  virtual void abort() = 0;

 protected:
  Activity activity_;
};

/// The open sessions. Thread-safe.
class SessionRegistry {
 public:
  struct Limits {
    std::size_t total = 0;
    std::size_t per_peer = 0;
  };

  /// If a limit is reached, closes the session that has been idle for the longest time or, if none is idle, reading for
  /// the longest time: a session of this peer if its own limit is reached. False if all of them are busy.
  [[nodiscard]] bool add(const std::shared_ptr<Session>& session, const std::string& peer, const Limits& limits)
      TPUSLICE_EXCLUDES(mutex_);
  /// Closes the session that has been reading for the longest time, if that is more than `time`. Searches at most 20
  /// times a second, however often it is called.
  void end_slow_reader(Duration time) TPUSLICE_EXCLUDES(mutex_);
  /// The destructor of a session calls this first.
  void remove(const Session* session) TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::vector<std::shared_ptr<Session>> all() const TPUSLICE_EXCLUDES(mutex_);
  /// Returns when all sessions have ended, or after `wait`.
  void wait_empty(Duration wait) TPUSLICE_EXCLUDES(mutex_);

 private:
  struct Entry {
    std::weak_ptr<Session> session;
    std::string peer;
  };

  /// The first session by `rank` among those of `peer` (empty: all) that are not busy; null if all are busy. It may be
  /// in its destructor, which then waits in remove().
  template <typename Rank>
  [[nodiscard]] const Session* first_by(const Rank& rank, const std::string& peer) const TPUSLICE_REQUIRES(mutex_);
  void remove_locked(const Session* session) TPUSLICE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  ConditionVariable removed_;
  std::unordered_map<const Session*, Entry> sessions_ TPUSLICE_GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::size_t> by_peer_ TPUSLICE_GUARDED_BY(mutex_);  ///< Number of its sessions.
  std::chrono::steady_clock::time_point next_search_ TPUSLICE_GUARDED_BY(mutex_);     ///< For a slow reader.
};

/// Bytes of the request bodies in memory. Thread-safe.
class BodyBudget {
 public:
  /// One peer may use at most a quarter; a larger body counts as a quarter.
  explicit BodyBudget(std::size_t bytes) : bytes_(bytes), of_peer_(bytes / 4) {}

  /// False if there is no room now.
  [[nodiscard]] bool reserve(const std::string& peer, std::size_t bytes) TPUSLICE_EXCLUDES(mutex_);
  void release(const std::string& peer, std::size_t bytes) TPUSLICE_EXCLUDES(mutex_);

 private:
  const std::size_t bytes_;
  const std::size_t of_peer_;
  Mutex mutex_;
  std::size_t used_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, std::size_t> by_peer_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::http
