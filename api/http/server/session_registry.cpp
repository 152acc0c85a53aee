#include "api/http/server/session_registry.h"

#include <algorithm>
#include <utility>

namespace tpuslice::http {
namespace {

constexpr Duration kTrust = std::chrono::hours(1);
/// Trusted addresses without a session that are known.
constexpr std::size_t kRemembered = 256;
/// Sessions of one address that are compared.
constexpr std::size_t kCompared = 32;

}  // namespace

std::optional<SessionRegistry::Entries::iterator> SessionRegistry::longest_unused(Address& address) {
  using Phase = Activity::Phase;
  Entries& entries = address.entries;
  std::optional<Entries::iterator> first;
  auto next = entries.begin();
  std::size_t compared = 0;
  for (std::size_t left = entries.size(); left > 0 && (compared < kCompared || !first); --left) {
    const auto each = next++;
    const Activity& activity = each->session->activity();
    if (activity.phase() == Phase::kBusy) {  // The next search begins with others.
      entries.splice(entries.end(), entries, each);
      continue;
    }
    ++compared;
    const auto rank = [](const Activity& of) { return std::pair(of.phase() != Phase::kIdle, of.since()); };
    if (!first || rank(activity) < rank((*first)->session->activity())) first = each;
  }
  return first;
}

SessionRegistry::Address* SessionRegistry::giver(const Address& asker, bool protects,
                                                 const std::vector<Address*>& without, Instant now) {
  Address* first = nullptr;
  Holding most;
  for (auto& [ignored, address] : addresses_) {
    if (address.entries.empty() || &address == &asker || std::ranges::count(without, &address) > 0) continue;
    const Holding holding{address.entries.size(), protects && address.trusted_until > now,
                          address.entries.front().session->activity().since()};
    if (first != nullptr && !gives_before(holding, most)) continue;
    first = &address;
    most = holding;
  }
  return first;
}

std::optional<SessionRegistry::Entries::iterator> SessionRegistry::session_to_close(Address& asker,
                                                                                    const Limits& limits, Instant now) {
  if (asker.entries.size() >= limits.per_peer) return longest_unused(asker);
  std::size_t trusted = asker.trusted_until > now ? 1 : 0;
  for (const auto& [ignored, address] : addresses_) {
    if (address.trusted_until > now) trusted += address.entries.size();
  }
  const bool protects = trusted <= limits.total / 2;
  const Holding own{asker.entries.size() + 1, protects && asker.trusted_until > now, now};
  std::vector<Address*> without;  // Their handlers run.
  while (Address* const from = giver(asker, protects, without, now)) {
    const Holding theirs{from->entries.size(), protects && from->trusted_until > now, now};
    const bool gives_last = own.amount == 1 && theirs.amount == 1 && (own.is_protected || !theirs.is_protected);
    if (!gives_to(theirs, own) && !gives_last) break;
    if (const auto found = longest_unused(*from)) return found;
    without.push_back(from);
  }
  return longest_unused(asker);
}

bool SessionRegistry::add(const std::shared_ptr<Session>& session, const std::string& address, const Limits& limits,
                          Instant now) {
  std::shared_ptr<Session> closed;  // Destroyed without the lock.
  {
    const MutexLock lock(mutex_);
    const auto known = addresses_.try_emplace(address).first;
    Address& asker = known->second;
    asker.name = &known->first;
    Entries added;
    added.push_back({session.get(), session, &asker});
    std::optional<Entries::iterator> found;
    if (sessions_.size() >= limits.total || asker.entries.size() >= limits.per_peer) {
      found = session_to_close(asker, limits, now);
      if (!found) {
        forget_if_unused(asker);
        return false;
      }
    }
    sessions_.emplace(session.get(), added.begin());  // From here on nothing throws.
    asker.entries.splice(asker.entries.end(), added);
    if (found) {
      closed = (*found)->owner.lock();
      remove_locked(*found);
    }
  }
  if (closed) closed->abort();
  return true;
}

void SessionRegistry::trust(const Session* session, Instant now) {
  const MutexLock lock(mutex_);
  const auto found = sessions_.find(session);
  if (found != sessions_.end()) found->second->address->trusted_until = now + kTrust;
}

void SessionRegistry::remove_locked(Entries::iterator entry) {
  Address& address = *entry->address;
  sessions_.erase(entry->session);
  address.entries.erase(entry);
  forget_if_unused(address);
}

void SessionRegistry::forget_if_unused(Address& address) {
  if (!address.entries.empty()) return;
  if (address.trusted_until == Instant::min()) {
    addresses_.erase(addresses_.find(*address.name));
    return;
  }
  while (addresses_.size() > sessions_.size() + kRemembered) {
    auto first = addresses_.end();
    for (auto each = addresses_.begin(); each != addresses_.end(); ++each) {
      if (!each->second.entries.empty()) continue;
      if (first == addresses_.end() || each->second.trusted_until < first->second.trusted_until) first = each;
    }
    if (first == addresses_.end()) return;
    addresses_.erase(first);
  }
}

void SessionRegistry::remove(const Session* session) {
  const MutexLock lock(mutex_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  remove_locked(found->second);
  removed_.notify_all();
}

std::vector<std::shared_ptr<Session>> SessionRegistry::all() const {
  std::vector<std::shared_ptr<Session>> out;
  const MutexLock lock(mutex_);
  for (const auto& [ignored, entry] : sessions_) {
    if (auto session = entry->owner.lock()) out.push_back(std::move(session));
  }
  return out;
}

void SessionRegistry::wait_empty(Duration wait) {
  const MutexLock lock(mutex_);
  removed_.wait_for(mutex_, wait, [this]() TPUSLICE_REQUIRES(mutex_) { return sessions_.empty(); });
}

}  // namespace tpuslice::http
