// FairBudget: bytes that all addresses share, and a queue for each address that waits for them. Private to this folder.
#pragma once

#include <cstddef>
#include <limits>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/http/server/arbitration.h"
#include "api/http/server/session_registry.h"

namespace tpuslice::http {

/// A server has two: of the bodies of requests, and of replies. A claim passes through these states:
///
///   body    waits -> is being read (moves) -> is complete, its handler runs (kept) -> released
///   reply   waits -> its handler runs (kept) -> is being written (moves) -> released
///
/// Of waiting claims, those of one address are granted in order, and addresses take turns; a claim that fits passes
/// those that do not. While a claim waits, bytes that move too slowly are taken back, and their session is closed:
///
/// - after `slow`, those of any address: of the one that has the most first;
/// - after a tenth of it, those of an address that has more than that of the waiting claim would have (arbitration.h).
///
/// Sessions are resumed and aborted without the lock. Thread-safe.
class FairBudget {
 public:
  struct Limits {
    std::size_t bytes = 0;                                           ///< A quarter of it for each address.
    std::size_t handlers = std::numeric_limits<std::size_t>::max();  ///< Reply claims that are kept at a time.
    Duration slow = std::chrono::seconds(1);
  };
  enum class State : std::uint8_t { kNone, kWaits, kKept, kMoves };

 private:
  struct Account;

 public:
  /// A part of a session, used with one budget, and released before its end.
  class Claim {
   public:
    Claim() : node_{this}, position_(node_.begin()) {}
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

   private:
    friend FairBudget;
    std::weak_ptr<Session> session_;
    Account* account_ = nullptr;
    std::size_t bytes_ = 0;
    State state_ = State::kNone;
    State granted_ = State::kNone;  ///< The state after kWaits.
    Instant since_;
    std::list<Claim*> node_;                      ///< Its element is in a list of the account while it waits or moves.
    const std::list<Claim*>::iterator position_;  ///< Position of that element, whichever list has it.
  };

  explicit FairBudget(const Limits& limits) : limits_(limits), share_(limits.bytes / 4) {}

  /// True if granted: the claim is `granted` (kKept, kMoves). Else it waits, and its session is resumed. A claim of
  /// more than an address may have counts as that.
  [[nodiscard]] bool claim(Claim& claim, const std::shared_ptr<Session>& session, const std::string& address,
                           std::size_t bytes, State granted, Instant now) TPUSLICE_EXCLUDES(mutex_);
  /// The body is complete.
  void keep(Claim& claim, Instant now) TPUSLICE_EXCLUDES(mutex_);
  /// The handler has returned, and so many bytes, which need not fit, are written from now on. 0 releases the claim.
  void move(Claim& claim, std::size_t bytes, Instant now) TPUSLICE_EXCLUDES(mutex_);
  /// Releases a claim in any state.
  void release(Claim& claim, Instant now) TPUSLICE_EXCLUDES(mutex_);
  /// Takes back slow bytes for claims that wait. Waiting sessions call it every so often; it does so at most 20 times
  /// a second.
  void take_back(Instant now) TPUSLICE_EXCLUDES(mutex_);

  [[nodiscard]] std::size_t used() const TPUSLICE_EXCLUDES(mutex_);

 private:
  using Claims = std::list<Claim*>;
  using Turns = std::list<Account*>;
  struct Account {
    const std::string* address = nullptr;
    std::size_t bytes = 0;
    std::size_t granted = 0;  ///< Claims.
    Claims waiting;
    Claims moving;  ///< The oldest first.
    Turns node;     ///< Its element is in `turns_` while claims wait.
    Turns::iterator turn;
  };
  /// What is done without the lock.
  struct Effects {
    std::vector<std::shared_ptr<Session>> resumed;
    std::vector<std::shared_ptr<Session>> aborted;
    void carry_out() const;
  };

  [[nodiscard]] bool fits(const Account& account, const Claim& claim) const TPUSLICE_REQUIRES(mutex_);
  void change_locked(Claim& claim, State state, std::size_t bytes, Instant now) TPUSLICE_REQUIRES(mutex_);
  void grant(Claim& claim, Instant now) TPUSLICE_REQUIRES(mutex_);
  void grant_next(Turns::iterator turn, Effects& effects, Instant now) TPUSLICE_REQUIRES(mutex_);
  void grant_waiting(Effects& effects, Instant now) TPUSLICE_REQUIRES(mutex_);
  void take_back_locked(Effects& effects, Instant now) TPUSLICE_REQUIRES(mutex_);
  /// The claim that is taken back for `claim`; null if it fits or there is none now.
  [[nodiscard]] Claim* slow_for(const Claim& claim, Instant now) TPUSLICE_REQUIRES(mutex_);
  void stop_waiting(Claim& claim) TPUSLICE_REQUIRES(mutex_);
  void release_granted(Claim& claim) TPUSLICE_REQUIRES(mutex_);
  void forget_if_unused(Account& account) TPUSLICE_REQUIRES(mutex_);

  const Limits limits_;
  const std::size_t share_;
  mutable Mutex mutex_;
  std::size_t used_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  std::size_t kept_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, Account> accounts_ TPUSLICE_GUARDED_BY(mutex_);  ///< Addresses with claims.
  Turns turns_ TPUSLICE_GUARDED_BY(mutex_);                                        ///< Addresses with waiting claims.
  Instant next_look_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::http
