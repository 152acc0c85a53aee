// SessionRegistry: the open connections of a server and their limits. Private to this folder.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/http/server/arbitration.h"

namespace tpuslice::http {

/// What a connection does, and since when. Thread-safe.
class Activity {
 public:
  enum class Phase : std::uint8_t {
    kIdle,     ///< Handshake, or between two requests.
    kReading,  ///< A request, or waits until it can be handled.
    kWriting,  ///< The reply.
    kBusy,     ///< Its handler runs, or it has an open stream.
  };

  void enter(Phase phase, Instant now) {
    since_ = now.time_since_epoch().count();
    phase_ = phase;
  }
  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] Instant since() const { return Instant(Duration(since_)); }

 private:
  std::atomic<Phase> phase_ = Phase::kIdle;
  std::atomic<Duration::rep> since_ = 0;
};

class Session {
 public:
  virtual ~Session() = default;
  [[nodiscard]] const Activity& activity() const { return activity_; }
  virtual void start() = 0;
  /// Called when its claim on a FairBudget was granted.
  virtual void resume() = 0;
  /// Ends once what is being answered is answered; at once if nothing is. Streams are ended.
  virtual void drain() = 0;
  /// Ends now.
  virtual void abort() = 0;

 protected:
  Activity activity_;
};

/// The open sessions. When there are too many, arbitration.h decides which address gives one up: the one that is idle
/// for the longest time or, if none is idle, reading or writing for the longest time. Sessions whose handler runs are
/// never closed. The last session of an address is closed only if no other address has two, for an address that has
/// none or is trusted: the one that was used the longest time ago. Thread-safe.
class SessionRegistry {
 public:
  struct Limits {
    std::size_t total = 0;
    std::size_t per_peer = 0;
  };

  /// Closes another session if a limit is reached. False if there is none to be closed.
  [[nodiscard]] bool add(const std::shared_ptr<Session>& session, const std::string& address, const Limits& limits,
                         Instant now) TPUSLICE_EXCLUDES(mutex_);
  /// The address of the session is protected for an hour, and known when it connects again.
  void trust(const Session* session, Instant now) TPUSLICE_EXCLUDES(mutex_);
  /// The destructor of a session calls this first.
  void remove(const Session* session) TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::vector<std::shared_ptr<Session>> all() const TPUSLICE_EXCLUDES(mutex_);
  /// Returns when all sessions have ended, or after `wait`.
  void wait_empty(Duration wait) TPUSLICE_EXCLUDES(mutex_);

 private:
  struct Address;
  struct Entry {
    const Session* session;  ///< May be in its destructor, which then waits in remove().
    std::weak_ptr<Session> owner;
    Address* address;
  };
  using Entries = std::list<Entry>;
  struct Address {
    const std::string* name = nullptr;
    Entries entries;  ///< Those that were found busy are last.
    Instant trusted_until = Instant::min();
  };
  using Addresses = std::unordered_map<std::string, Address>;

  /// The session that is closed for another one of `asker`.
  [[nodiscard]] std::optional<Entries::iterator> session_to_close(Address& asker, const Limits& limits, Instant now)
      TPUSLICE_REQUIRES(mutex_);
  /// The address that gives a session, other than `asker` and those in `without`; null if there is none.
  [[nodiscard]] Address* giver(const Address& asker, bool protects, const std::vector<Address*>& without, Instant now)
      TPUSLICE_REQUIRES(mutex_);
  [[nodiscard]] static std::optional<Entries::iterator> longest_unused(Address& address);
  void remove_locked(Entries::iterator entry) TPUSLICE_REQUIRES(mutex_);
  /// Removes an address without sessions. The trusted ones are kept as long as they are among those trusted last.
  void forget_if_unused(Address& address) TPUSLICE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  ConditionVariable removed_;
  Addresses addresses_ TPUSLICE_GUARDED_BY(mutex_);  ///< Those with sessions, and trusted ones without.
  std::unordered_map<const Session*, Entries::iterator> sessions_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::http
