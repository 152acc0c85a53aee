#include "controllers/runtime/write_ledger.h"

#include <algorithm>
#include <utility>

namespace tpuslice::runtime {
namespace {

bool is_past(const AnyStore& store, const Write& write) {
  return write.revision != 0 && store.revision(write.key) >= write.revision;
}

bool shows(const AnyStore& store, const Write& write) {
  const std::optional<AnyStore::Entry> found = store.entry(write.key);
  if (write.deleted) return !found || found->uid != write.uid || found->terminating;
  return found && found->uid == write.uid && found->revision >= write.revision;
}

}  // namespace

void WriteLedger::on_expired(std::function<void(const ExpiredWrite&)> callback) { expired_ = std::move(callback); }

void WriteLedger::record(const ObjectKey& owner, std::vector<Write> writes, Instant now) {
  if (writes.empty()) return;
  std::vector<const AnyStore*> homes;  // Stores are read before our lock is taken.
  homes.reserve(writes.size());
  for (const Write& write : writes) homes.push_back(home_of(write));
  const MutexLock lock(mutex_);
  std::deque<Pending>& pending = pending_[owner];
  for (std::size_t i = 0; i < writes.size(); ++i) {
    pending.push_back({std::move(writes[i]), now + expiry_, homes[i]});
  }
}

bool WriteLedger::satisfied(const ObjectKey& owner, Instant now) {
  // Only one worker processes an owner, so no write of it is recorded between the two locks. Stores have their own
  // lock.
  std::deque<Pending> waiting;
  {
    const MutexLock lock(mutex_);
    const auto found = pending_.find(owner);
    if (found == pending_.end()) return true;
    waiting = std::move(found->second);
    pending_.erase(found);
  }
  // Writes appear in about the order they were made. This runs at every event, so it stops at the first unseen write.
  while (!waiting.empty()) {
    const Pending& oldest = waiting.front();
    if (!seen(oldest)) {
      if (now < oldest.expires) break;
      if (expired_) expired_({owner, oldest.write});
    }
    waiting.pop_front();
  }
  if (waiting.empty()) return true;
  const MutexLock lock(mutex_);
  pending_[owner] = std::move(waiting);
  return false;
}

std::size_t WriteLedger::unseen(const ObjectKey& owner) const {
  const MutexLock lock(mutex_);
  const auto found = pending_.find(owner);
  return found == pending_.end() ? 0 : found->second.size();
}

std::size_t WriteLedger::size() const {
  const MutexLock lock(mutex_);
  return pending_.size();
}

std::vector<const AnyStore*> WriteLedger::stores_of(const ResourceType& type) const {
  std::vector<const AnyStore*> stores;
  for (const AnyStore* store : stores_) {
    if (store->type() == type) stores.push_back(store);
  }
  return stores;
}

const AnyStore* WriteLedger::home_of(const Write& write) const {
  const std::vector<const AnyStore*> stores = stores_of(write.type);
  if (stores.size() == 1) return stores.front();
  const auto home = std::ranges::find_if(stores, [&](const AnyStore* store) {
    const std::optional<AnyStore::Entry> found = store->entry(write.key);
    return found && found->uid == write.uid;
  });
  return home == stores.end() ? nullptr : *home;
}

bool WriteLedger::seen(const Pending& pending) const {
  const Write& write = pending.write;
  const auto past = [&](const AnyStore* store) { return is_past(*store, write); };
  const auto shown = [&](const AnyStore* store) { return shows(*store, write); };
  if (pending.home != nullptr) return past(pending.home) || shown(pending.home);
  const std::vector<const AnyStore*> stores = stores_of(write.type);
  if (write.deleted) return std::ranges::all_of(stores, [&](const auto* each) { return past(each) || shown(each); });
  return std::ranges::any_of(stores, shown) || std::ranges::all_of(stores, past);
}

}  // namespace tpuslice::runtime
