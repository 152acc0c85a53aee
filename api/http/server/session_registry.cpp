#include "api/http/server/session_registry.h"

#include <algorithm>
#include <utility>

namespace tpuslice::http {
namespace {

constexpr auto kSearchInterval = std::chrono::milliseconds(50);

}  // namespace

template <typename Rank>
const Session* SessionRegistry::first_by(const Rank& rank, const std::string& peer) const {
  const Session* first = nullptr;
  for (const auto& [session, entry] : sessions_) {
    if (!peer.empty() && entry.peer != peer) continue;
    if (session->activity().phase() == Activity::Phase::kBusy) continue;
    if (first == nullptr || rank(session->activity()) < rank(first->activity())) first = session;
  }
  return first;
}

bool SessionRegistry::add(const std::shared_ptr<Session>& session, const std::string& peer, const Limits& limits) {
  std::shared_ptr<Session> ended;  // Destroyed without the lock.
  {
    const MutexLock lock(mutex_);
    const auto known = by_peer_.find(peer);
    const bool peer_is_full = known != by_peer_.end() && known->second >= limits.per_peer;
    if (peer_is_full || sessions_.size() >= limits.total) {
      const auto idle_first = [](const Activity& activity) {
        return std::pair(activity.phase() == Activity::Phase::kReading, activity.since());
      };
      const Session* const first = first_by(idle_first, peer_is_full ? peer : std::string());
      if (first == nullptr) return false;
      ended = sessions_.at(first).session.lock();
      remove_locked(first);
    }
    ++by_peer_[peer];
    sessions_.emplace(session.get(), Entry{session, peer});
  }
  if (ended) ended->abort();
  return true;
}

void SessionRegistry::end_slow_reader(Duration time) {
  const auto now = std::chrono::steady_clock::now();
  std::shared_ptr<Session> slowest;  // Destroyed without the lock.
  {
    const MutexLock lock(mutex_);
    if (now < next_search_) return;
    next_search_ = now + kSearchInterval;
    const auto reading_first = [](const Activity& activity) {
      return std::pair(activity.phase() != Activity::Phase::kReading, activity.since());
    };
    const Session* const first = first_by(reading_first, {});
    if (first == nullptr || first->activity().phase() != Activity::Phase::kReading) return;
    if (now - first->activity().since() <= time) return;
    slowest = sessions_.at(first).session.lock();
  }
  if (slowest) slowest->abort();
}

void SessionRegistry::remove_locked(const Session* session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  if (const auto count = by_peer_.find(found->second.peer); --count->second == 0) by_peer_.erase(count);
  sessions_.erase(found);
}

void SessionRegistry::remove(const Session* session) {
  const MutexLock lock(mutex_);
  remove_locked(session);
  removed_.notify_all();
}

bool BodyBudget::reserve(const std::string& peer, std::size_t bytes) {
  bytes = std::min(bytes, of_peer_);
  if (bytes == 0) return true;
  const MutexLock lock(mutex_);
  const auto known = by_peer_.find(peer);
  const std::size_t used_by_peer = known == by_peer_.end() ? 0 : known->second;
  if (used_ + bytes > bytes_ || used_by_peer + bytes > of_peer_) return false;
  used_ += bytes;
  by_peer_[peer] += bytes;
  return true;
}

void BodyBudget::release(const std::string& peer, std::size_t bytes) {
  bytes = std::min(bytes, of_peer_);
  if (bytes == 0) return;
  const MutexLock lock(mutex_);
  used_ -= bytes;
  if (const auto known = by_peer_.find(peer); (known->second -= bytes) == 0) by_peer_.erase(known);
}

std::vector<std::shared_ptr<Session>> SessionRegistry::all() const {
  std::vector<std::shared_ptr<Session>> out;
  const MutexLock lock(mutex_);
  for (const auto& [ignored, each] : sessions_) {
    if (auto session = each.session.lock()) out.push_back(std::move(session));
  }
  return out;
}

void SessionRegistry::wait_empty(Duration wait) {
  const MutexLock lock(mutex_);
  removed_.wait_for(mutex_, wait, [this]() TPUSLICE_REQUIRES(mutex_) { return sessions_.empty(); });
}

}  // namespace tpuslice::http
