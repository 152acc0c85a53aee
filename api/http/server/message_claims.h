// MessageClaims: what one session has of the budgets of bodies and replies. Private to this folder.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "api/http/server/fair_budget.h"

namespace tpuslice::http {

/// Used by one session; released before its end. Small messages are in no budget.
class MessageClaims {
 public:
  MessageClaims(FairBudget& bodies, FairBudget& replies, std::size_t small)
      : bodies_(bodies), replies_(replies), small_(small) {}

  /// False: the session is resumed when it may read a body of that size.
  [[nodiscard]] bool read(const std::shared_ptr<Session>& session, const std::string& host, std::size_t body,
                          Instant now) {
    counts_body_ = body > small_;
    return !counts_body_ || bodies_.claim(body_, session, host, body, FairBudget::State::kMoves, now);
  }
  /// The body was read. False: the session is resumed when its handler may run.
  [[nodiscard]] bool handle(const std::shared_ptr<Session>& session, const std::string& host, Instant now) {
    if (counts_body_) bodies_.keep(body_, now);
    return replies_.claim(reply_, session, host, 1, FairBudget::State::kKept, now);
  }
  /// The handler has returned, and the body is gone.
  void write(std::size_t reply, Instant now) {
    if (std::exchange(counts_body_, false)) bodies_.release(body_, now);
    counts_reply_ = reply > small_;
    replies_.move(reply_, counts_reply_ ? reply : 0, now);
  }
  void written(Instant now) {
    if (std::exchange(counts_reply_, false)) replies_.release(reply_, now);
  }
  /// Releases all that it has or waits for.
  void release(Instant now) {
    counts_body_ = counts_reply_ = false;
    bodies_.release(body_, now);
    replies_.release(reply_, now);
  }

 private:
  FairBudget& bodies_;
  FairBudget& replies_;
  const std::size_t small_;
  FairBudget::Claim body_;
  FairBudget::Claim reply_;
  bool counts_body_ = false;
  bool counts_reply_ = false;
};

}  // namespace tpuslice::http
