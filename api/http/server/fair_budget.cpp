#include "api/http/server/fair_budget.h"

#include <algorithm>

namespace tpuslice::http {

void FairBudget::Effects::carry_out() const {
  for (const auto& session : aborted) session->abort();
  for (const auto& session : resumed) session->resume();
}

bool FairBudget::fits(const Account& account, const Claim& claim) const {
  if (claim.granted_ == State::kKept && kept_ >= limits_.handlers) return false;
  return used_ + claim.bytes_ <= limits_.bytes && account.bytes + claim.bytes_ <= share_;
}

void FairBudget::grant(Claim& claim, Instant now) {
  Account& account = *claim.account_;
  ++account.granted;
  account.bytes += claim.bytes_;
  used_ += claim.bytes_;
  claim.state_ = claim.granted_;
  claim.since_ = now;
  if (claim.state_ == State::kKept) ++kept_;
  if (claim.state_ == State::kMoves) account.moving.splice(account.moving.end(), claim.node_);
}

bool FairBudget::claim(Claim& claim, const std::shared_ptr<Session>& session, const std::string& address,
                       std::size_t bytes, State granted, Instant now) {
  Effects effects;
  {
    const MutexLock lock(mutex_);
    const auto [found, is_new] = accounts_.try_emplace(address);
    Account& account = found->second;
    if (is_new) {
      account.address = &found->first;
      account.node.push_back(&account);
      account.turn = account.node.begin();
    }
    claim.session_ = session;
    claim.account_ = &account;
    claim.bytes_ = std::min(bytes, share_);
    claim.granted_ = granted;
    if (account.waiting.empty() && fits(account, claim)) {
      grant(claim, now);
      return true;
    }
    claim.state_ = State::kWaits;
    if (account.waiting.empty()) turns_.splice(turns_.end(), account.node);
    account.waiting.splice(account.waiting.end(), claim.node_);
    take_back_locked(effects, now);
  }
  effects.carry_out();
  return false;
}

void FairBudget::keep(Claim& claim, Instant now) {
  const MutexLock lock(mutex_);
  if (claim.state_ == State::kMoves) change_locked(claim, State::kKept, claim.bytes_, now);  // Else it was taken back.
}

void FairBudget::move(Claim& claim, std::size_t bytes, Instant now) {
  Effects effects;
  {
    const MutexLock lock(mutex_);
    if (claim.state_ != State::kKept) return;
    bytes == 0 ? release_granted(claim) : change_locked(claim, State::kMoves, std::min(bytes, share_), now);
    grant_waiting(effects, now);
  }
  effects.carry_out();
}

void FairBudget::change_locked(Claim& claim, State state, std::size_t bytes, Instant now) {
  Account& account = *claim.account_;
  if (claim.state_ == State::kKept) --kept_;
  if (claim.state_ == State::kMoves) claim.node_.splice(claim.node_.end(), account.moving, claim.position_);
  account.bytes -= claim.bytes_;
  used_ -= claim.bytes_;
  --account.granted;
  claim.bytes_ = bytes;
  claim.granted_ = state;
  grant(claim, now);
}

void FairBudget::release(Claim& claim, Instant now) {
  Effects effects;
  {
    const MutexLock lock(mutex_);
    if (claim.state_ == State::kNone) return;
    if (claim.state_ == State::kWaits) {
      Account& account = *claim.account_;
      stop_waiting(claim);
      forget_if_unused(account);
    } else {
      release_granted(claim);
    }
    grant_waiting(effects, now);
  }
  effects.carry_out();
}

void FairBudget::take_back(Instant now) {
  Effects effects;
  {
    const MutexLock lock(mutex_);
    take_back_locked(effects, now);
  }
  effects.carry_out();
}

std::size_t FairBudget::used() const {
  const MutexLock lock(mutex_);
  return used_;
}

void FairBudget::stop_waiting(Claim& claim) {
  Account& account = *claim.account_;
  claim.node_.splice(claim.node_.end(), account.waiting, claim.position_);
  claim.state_ = State::kNone;
  if (account.waiting.empty()) account.node.splice(account.node.end(), turns_, account.turn);
}

void FairBudget::release_granted(Claim& claim) {
  Account& account = *claim.account_;
  if (claim.state_ == State::kKept) --kept_;
  if (claim.state_ == State::kMoves) claim.node_.splice(claim.node_.end(), account.moving, claim.position_);
  claim.state_ = State::kNone;
  account.bytes -= claim.bytes_;
  used_ -= claim.bytes_;
  --account.granted;
  forget_if_unused(account);
}

void FairBudget::forget_if_unused(Account& account) {
  if (account.granted == 0 && account.waiting.empty()) accounts_.erase(accounts_.find(*account.address));
}

void FairBudget::grant_next(Turns::iterator turn, Effects& effects, Instant now) {
  Account& account = **turn;
  Claim& claim = *account.waiting.front();
  stop_waiting(claim);
  grant(claim, now);
  if (auto session = claim.session_.lock()) effects.resumed.push_back(std::move(session));
  if (!account.waiting.empty()) turns_.splice(turns_.end(), turns_, turn);
}

void FairBudget::grant_waiting(Effects& effects, Instant now) {
  for (auto next = turns_.begin(); next != turns_.end() && used_ < limits_.bytes;) {
    const auto turn = next++;
    if (!fits(**turn, *(*turn)->waiting.front())) continue;
    const bool is_last = next == turns_.end();
    const bool has_more = (*turn)->waiting.size() > 1;
    grant_next(turn, effects, now);
    if (is_last && has_more) next = turn;
  }
}

void FairBudget::take_back_locked(Effects& effects, Instant now) {
  if (turns_.empty() || now < next_look_) return;
  next_look_ = now + limits_.slow / 20;
  for (auto turn = turns_.begin(); turn != turns_.end();) {
    const Account& account = **turn;
    const Claim& claim = *account.waiting.front();
    while (Claim* const slow = slow_for(claim, now)) {
      if (auto session = slow->session_.lock()) effects.aborted.push_back(std::move(session));
      release_granted(*slow);
    }
    if (!fits(account, claim)) {
      ++turn;
      continue;
    }
    grant_next(turn, effects, now);  // It gets what was taken back for it, even if others were there before.
    turn = turns_.begin();
  }
  grant_waiting(effects, now);
}

FairBudget::Claim* FairBudget::slow_for(const Claim& claim, Instant now) {
  if (claim.granted_ == State::kKept && kept_ >= limits_.handlers) return nullptr;
  const auto age = [&](const Account& account) {
    return account.moving.empty() ? Duration::zero() : now - account.moving.front()->since_;
  };
  const Account& own = *claim.account_;
  const Holding asker{own.bytes + claim.bytes_, false, now};
  if (asker.amount > share_) return age(own) > limits_.slow ? own.moving.front() : nullptr;
  if (used_ + claim.bytes_ <= limits_.bytes) return nullptr;
  const Account* first = nullptr;
  Holding most;
  for (const auto& [ignored, account] : accounts_) {
    if (account.moving.empty()) continue;
    const Holding holding{account.bytes, false, account.moving.front()->since_};
    if (age(account) <= (gives_to(holding, asker) ? limits_.slow / 10 : limits_.slow)) continue;
    if (first != nullptr && !gives_before(holding, most)) continue;
    first = &account;
    most = holding;
  }
  return first == nullptr ? nullptr : first->moving.front();
}

}  // namespace tpuslice::http
