#include "controllers/runtime/write_ledger.h"

#include <algorithm>
#include <utility>

namespace tpuslice::runtime {
namespace {

template <typename View>
class ProbeOf final : public StoreProbe {
 public:
  explicit ProbeOf(const Store<View>& store) : store_(store) {}

  [[nodiscard]] const ResourceType& type() const override { return store_.type(); }
  [[nodiscard]] std::uint64_t revision() const override { return store_.revision(); }
  [[nodiscard]] std::optional<Seen> find(const ObjectKey& key) const override {
    const auto view = store_.get(key);
    if (!view) return std::nullopt;
    return Seen{view->uid, revision_of(view->resource_version), view->deletion.has_value()};
  }

 private:
  const Store<View>& store_;
};

bool is_beyond(const StoreProbe& probe, const Write& write) {
  return write.revision != 0 && probe.revision() >= write.revision;
}

bool shows_object(const StoreProbe& probe, const Write& write) {
  const std::optional<StoreProbe::Seen> found = probe.find(write.key);
  if (write.deleted) return !found || found->uid != write.uid || found->terminating;
  return found && found->uid == write.uid && found->revision >= write.revision;
}

}  // namespace

template <typename View>
std::unique_ptr<StoreProbe> probe_of(const Store<View>& store) {
  return std::make_unique<ProbeOf<View>>(store);
}
template std::unique_ptr<StoreProbe> probe_of(const Store<PodView>&);
template std::unique_ptr<StoreProbe> probe_of(const Store<NodeView>&);
template std::unique_ptr<StoreProbe> probe_of(const Store<JobView>&);
template std::unique_ptr<StoreProbe> probe_of(const Store<StatefulSetView>&);
template std::unique_ptr<StoreProbe> probe_of(const Store<ServiceView>&);
template std::unique_ptr<StoreProbe> probe_of(const Store<ObjectView>&);

void WriteLedger::add_probe(std::unique_ptr<StoreProbe> probe) { probes_.push_back(std::move(probe)); }

void WriteLedger::on_expired(std::function<void(const ExpiredWrite&)> callback) { expired_ = std::move(callback); }

void WriteLedger::record(const ObjectKey& owner, std::vector<Write> writes, Instant now) {
  if (writes.empty()) return;
  std::vector<const StoreProbe*> homes;  // Probes are asked without our lock held.
  for (const Write& write : writes) homes.push_back(home_of(write));
  const MutexLock lock(mutex_);
  std::deque<Pending>& pending = pending_[owner];
  for (std::size_t i = 0; i < writes.size(); ++i) {
    pending.push_back({std::move(writes[i]), now + expiry_, homes[i]});
  }
}

bool WriteLedger::satisfied(const ObjectKey& owner, Instant now) {
  // An owner has one worker, so nobody records for it between the two locks; probes are asked without ours held.
  std::deque<Pending> waiting;
  {
    const MutexLock lock(mutex_);
    const auto found = pending_.find(owner);
    if (found == pending_.end()) return true;
    waiting = std::move(found->second);
    pending_.erase(found);
  }
  // In the order they were written, which is about the order they are seen in: this is asked at every event, so it must
  // not look at all that is not there yet.
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

std::size_t WriteLedger::size() const {
  const MutexLock lock(mutex_);
  return pending_.size();
}

std::vector<const StoreProbe*> WriteLedger::probes_of(const ResourceType& type) const {
  std::vector<const StoreProbe*> probes;
  for (const auto& probe : probes_) {
    if (probe->type() == type) probes.push_back(probe.get());
  }
  return probes;
}

const StoreProbe* WriteLedger::home_of(const Write& write) const {
  const std::vector<const StoreProbe*> probes = probes_of(write.type);
  if (probes.size() == 1) return probes.front();
  const auto home = std::ranges::find_if(probes, [&](const StoreProbe* probe) {
    const std::optional<StoreProbe::Seen> found = probe->find(write.key);
    return found && found->uid == write.uid;
  });
  return home == probes.end() ? nullptr : *home;
}

bool WriteLedger::seen(const Pending& pending) const {
  const Write& write = pending.write;
  const auto beyond = [&](const StoreProbe* probe) { return is_beyond(*probe, write); };
  const auto shows = [&](const StoreProbe* probe) { return shows_object(*probe, write); };
  if (pending.home != nullptr) return beyond(pending.home) || shows(pending.home);
  const std::vector<const StoreProbe*> probes = probes_of(write.type);
  if (write.deleted) return std::ranges::all_of(probes, [&](const auto* each) { return beyond(each) || shows(each); });
  return std::ranges::any_of(probes, shows) || std::ranges::all_of(probes, beyond);
}

}  // namespace tpuslice::runtime
