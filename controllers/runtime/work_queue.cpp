#include "controllers/runtime/work_queue.h"

#include <algorithm>
#include <utility>

#include "api/base/backoff.h"

namespace tpuslice::runtime {
namespace {

/// Longest single wait, so that a distant Instant does not overflow it.
constexpr Duration kMaxWait = std::chrono::minutes(1);

/// Full buckets are forgotten beyond this number.
constexpr std::size_t kMaxBuckets = 256;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

WorkQueue::WorkQueue(WorkQueueOptions options, const Clock& clock, Metrics& metrics)
    : options_(std::move(options)),
      clock_(clock),
      registry_(metrics),
      metrics_(queue_metrics(metrics, options_.name)),
      pace_(options_.pace, options_.pace_by_plan) {
  registry_.update_at_scrape(this, [this] { update_metrics(); });
}

WorkQueue::~WorkQueue() { registry_.stop_updates(this); }

void WorkQueue::update_metrics() {
  const MutexLock lock(mutex_);
  const Instant now = clock_.now();
  Duration unfinished = Duration::zero();
  Duration longest = Duration::zero();
  for (const auto& [running, since] : processing_) {
    unfinished += now - since;
    longest = std::max(longest, now - since);
  }
  metrics_.unfinished_work.set(seconds(unfinished));
  metrics_.longest_running.set(seconds(longest));
}

void WorkQueue::add(const ObjectKey& key) {
  const MutexLock lock(mutex_);
  const Instant now = clock_.now();
  const Instant due = pace_.next(key, now);
  const bool news = due > now ? schedule_.add(key, due) : add_locked(key, now);
  if (news) sleeper_locked().notify_one();
}

void WorkQueue::add_after(const ObjectKey& key, Duration wait) {
  if (wait <= Duration::zero()) return add(key);
  const MutexLock lock(mutex_);
  if (schedule_.add(key, clock_.now() + wait)) sleeper_locked().notify_one();
}

void WorkQueue::add_rate_limited(const ObjectKey& key, Duration at_least) {
  const MutexLock lock(mutex_);
  const Instant now = clock_.now();
  Retry& retry = retries_[key];
  if (retry.count == 0 || now >= retry.due) {
    const Duration wait = exponential_backoff(++retry.count, options_.first_retry, options_.max_retry);
    retry.due = now + std::max(wait, take_token_locked(key.namespace_name, now));
  }
  retry.due = std::max(retry.due, now + at_least);
  metrics_.retries.increment();
  if (schedule_.add(key, retry.due)) sleeper_locked().notify_one();
}

void WorkQueue::forget(const ObjectKey& key) {
  const MutexLock lock(mutex_);
  retries_.erase(key);
}

std::optional<ObjectKey> WorkQueue::pop(Instant now) {
  const MutexLock lock(mutex_);
  promote_locked(now);
  return pop_locked(now);
}

std::optional<ObjectKey> WorkQueue::wait_pop(const std::stop_token& stop) {
  const MutexLock lock(mutex_);
  while (!stop.stop_requested()) {
    const Instant now = clock_.now();
    promote_locked(now);
    if (std::optional<ObjectKey> key = pop_locked(now)) {
      // This worker becomes busy, so wake another one to wait for due keys.
      if (!ready_.empty() || (!has_watcher_ && !schedule_.empty())) sleeper_locked().notify_one();
      return key;
    }
    if (has_watcher_) {
      idle_.wait(mutex_, stop, [this]() TPUSLICE_REQUIRES(mutex_) { return !has_watcher_; });
      continue;
    }
    has_watcher_ = true;
    const Instant until = std::min(schedule_.first_due(), now + kMaxWait);
    const auto changed = [&]() TPUSLICE_REQUIRES(mutex_) { return !ready_.empty() || schedule_.first_due() < until; };
    changed_.wait_for(mutex_, stop, until - now, changed);
    has_watcher_ = false;
  }
  return std::nullopt;
}

void WorkQueue::planned(const ObjectKey& key, Duration took) {
  const MutexLock lock(mutex_);
  const std::optional<Instant> until = pace_.planned(key, took, clock_.now());
  if (!until) return;
  // What was scheduled before the plan, and changes that came during it, wait, too.
  schedule_.postpone(key, *until);
  if (dirty_.erase(key) > 0) schedule_.add(key, *until);
}

void WorkQueue::done(const ObjectKey& key) {
  const MutexLock lock(mutex_);
  const auto running = processing_.find(key);
  if (running == processing_.end()) return;
  metrics_.work_duration.observe(seconds(clock_.now() - running->second));
  processing_.erase(running);
  if (!dirty_.contains(key)) return;
  ready_.push_back(key);
  metrics_.depth.set(static_cast<double>(ready_.size()));
  sleeper_locked().notify_one();
}

Instant WorkQueue::next_due() const {
  const MutexLock lock(mutex_);
  if (!ready_.empty()) return Instant::min();
  return schedule_.first_due();
}

std::size_t WorkQueue::size() const {
  const MutexLock lock(mutex_);
  return ready_.size();
}

QueuedKey WorkQueue::state_of(const ObjectKey& key) const {
  const MutexLock lock(mutex_);
  const Instant now = clock_.now();
  QueuedKey out;
  if (const auto running = processing_.find(key); running != processing_.end()) {
    out.state = QueuedKey::State::kRunning;
    out.time = now - running->second;
  } else if (const auto queued = dirty_.find(key); queued != dirty_.end()) {
    out.state = QueuedKey::State::kQueued;
    out.time = now - queued->second;
  } else if (const auto due = schedule_.due(key)) {
    out.state = QueuedKey::State::kScheduled;
    out.time = *due - now;
  }
  if (const auto retry = retries_.find(key); retry != retries_.end()) out.retries = retry->second.count;
  return out;
}

std::vector<ObjectKey> WorkQueue::first_keys(std::size_t limit) const {
  std::vector<ObjectKey> out;
  const MutexLock lock(mutex_);
  const auto add = [&](const ObjectKey& key) {
    if (out.size() < limit) out.push_back(key);
    return out.size() < limit;
  };
  for (const auto& [key, since] : processing_) {
    if (!add(key)) return out;
  }
  for (const ObjectKey& key : ready_) {
    if (!add(key)) return out;
  }
  for (const auto& [due, key] : schedule_.by_time()) {
    if (!add(key)) return out;
  }
  return out;
}

bool WorkQueue::add_locked(const ObjectKey& key, Instant now) {
  if (!dirty_.emplace(key, now).second) return false;
  metrics_.adds.increment();
  if (processing_.contains(key)) return false;
  ready_.push_back(key);
  metrics_.depth.set(static_cast<double>(ready_.size()));
  return true;
}

void WorkQueue::promote_locked(Instant now) {
  while (const std::optional<ObjectKey> key = schedule_.pop(now)) add_locked(*key, now);
}

std::optional<ObjectKey> WorkQueue::pop_locked(Instant now) {
  if (ready_.empty()) return std::nullopt;
  ObjectKey key = std::move(ready_.front());
  ready_.pop_front();
  metrics_.depth.set(static_cast<double>(ready_.size()));
  const auto dirty = dirty_.find(key);
  metrics_.queue_duration.observe(seconds(now - std::min(now, dirty->second)));
  dirty_.erase(dirty);
  processing_.emplace(key, now);
  pace_.started(key, now);
  return key;
}

Duration WorkQueue::take_token_locked(const std::string& namespace_name, Instant now) {
  if (!buckets_.contains(namespace_name) && buckets_.size() >= kMaxBuckets) {
    std::erase_if(buckets_, [&](const auto& each) { return each.second.is_full(now); });
  }
  return buckets_.try_emplace(namespace_name, options_.retries_per_second, options_.retry_burst)
      .first->second.take(now);
}

}  // namespace tpuslice::runtime
