#include "controllers/runtime/event_recorder.h"

#include <algorithm>
#include <utility>

#include "api/base/clock.h"
#include "api/base/hash.h"
#include "api/types/utf8.h"

namespace tpuslice::runtime {
namespace {

constexpr std::size_t kMaxNote = 1024;  ///< Bytes. The API server refuses more.
constexpr std::size_t kMaxReason = 128;
constexpr std::size_t kMaxName = 253;

std::string_view type_name(plan::EventType type) { return type == plan::EventType::kNormal ? "Normal" : "Warning"; }

Json to_json(const plan::ObjectReference& object) {
  Json out = {{"apiVersion", object.api_version}, {"kind", object.kind}, {"name", object.key.name}};
  if (!object.key.namespace_name.empty()) out["namespace"] = object.key.namespace_name;
  if (!object.uid.empty()) out["uid"] = object.uid;
  if (!object.resource_version.empty()) out["resourceVersion"] = object.resource_version;
  return out;
}

/// Events with equal identity are one series.
std::string identity(const plan::ObjectReference& regarding, const plan::EventIntent& event) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", regarding.uid, regarding.kind, regarding.key.to_string(),
                     type_name(event.type), event.reason, event.action, truncate_utf8(event.message, kMaxNote));
}

std::string event_name(const plan::ObjectReference& regarding, const std::string& identity, Timestamp time) {
  const std::string suffix = fmt::format(".{:016x}", fnv1a(format_rfc3339_micro(time), fnv1a(identity)));
  std::string prefix(truncate_utf8(regarding.key.name, kMaxName - suffix.size()));
  while (!prefix.empty() && (prefix.back() == '.' || prefix.back() == '-')) prefix.pop_back();
  return prefix + suffix;
}

}  // namespace

EventRecorder::EventRecorder(EventRecorderOptions options, client::Writer& writer, const Clock& clock, Metrics& metrics,
                             Logger log)
    : options_(std::move(options)),
      writer_(writer),
      clock_(clock),
      log_(std::move(log)),
      dropped_(metrics.counter("tpuslice_events_dropped_total", "Events dropped because too many waited to be sent.")),
      filtered_(metrics.counter("tpuslice_events_filtered_total", "Events dropped because their object had too many.")),
      failed_(metrics.counter("tpuslice_events_failed_total", "Events rejected by the API server.")) {}

void EventRecorder::record(const plan::ObjectReference& regarding, const plan::EventIntent& event) {
  bool full = false;
  {
    const MutexLock lock(mutex_);
    queue_.push_back({regarding, event, clock_.wall()});
    full = queue_.size() > options_.queue;
    if (full) queue_.pop_front();
  }
  if (full) dropped_.increment();
  recorded_.notify_one();
}

Instant EventRecorder::step(Instant now, const std::stop_token& stop) {
  std::deque<Recorded> taken;
  {
    const MutexLock lock(mutex_);
    taken.swap(queue_);
  }
  for (const Recorded& recorded : taken) take_in(recorded, now);
  if (now >= upkeep_due_) upkeep_due_ = upkeep(now);
  std::erase_if(throttled_until_, [&](const auto& throttled) { return now >= throttled.second; });
  if (now >= blocked_until_) send_due(now, stop);
  if (unsent_.empty()) return upkeep_due_;
  if (now < blocked_until_) return std::min(upkeep_due_, blocked_until_);
  const bool any_due = std::ranges::any_of(
      unsent_, [&](const std::string& key) { return !throttled_until_.contains(known_.at(key).key.namespace_name); });
  if (any_due) return now;
  return std::min(upkeep_due_, std::ranges::min_element(throttled_until_, {}, [](const auto& throttled) {
                                 return throttled.second;
                               })->second);
}

void EventRecorder::send_due(Instant now, const std::stop_token& stop) {
  std::size_t sent = 0;
  for (auto next = unsent_.begin(); next != unsent_.end() && sent < options_.sends_per_step;) {
    const auto entry = known_.find(*next);
    Known& known = entry->second;
    if (throttled_until_.contains(known.key.namespace_name)) {
      ++next;
      continue;
    }
    if (const std::optional<Error> error = send(known, stop)) {
      back_off(known.key.namespace_name, *error);
      // The next request is about another namespace, if there is one.
      std::string key = std::move(*next);
      unsent_.erase(next);
      unsent_.push_back(std::move(key));
      return;
    }
    ++sent;
    known.dirty = false;
    known.sent_count = known.count;
    known.written = now;
    upkeep_due_ = std::min(upkeep_due_, known.last_event_at + options_.finish);
    if (!known.created) known_.erase(entry);
    next = unsent_.erase(next);
  }
}

void EventRecorder::back_off(const std::string& namespace_name, const Error& error) {
  const Instant now = clock_.now();  // The request may have taken longer than `retry`.
  const Instant until = now + std::max(options_.retry, error.retry_after().value_or(Duration::zero()));
  if (error.code() == ErrorCode::kTooManyRequests && !error.retry_after()) {
    // The limit may be that of the namespace: the admission plugin EventRateLimit does not say when to retry, an
    // overloaded API server does.
    throttled_until_[namespace_name] = until;
    blocked_until_ = now + options_.throttled_interval;
  } else {
    // Other requests would most likely fail as well.
    blocked_until_ = until;
  }
}

void EventRecorder::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const Instant due = step(clock_.now(), stop);
    const Duration wait = std::min<Duration>(std::max(due - clock_.now(), Duration::zero()), std::chrono::minutes(1));
    const bool blocked = clock_.now() < blocked_until_;
    const MutexLock lock(mutex_);
    recorded_.wait_for(mutex_, stop, wait, [&]() TPUSLICE_REQUIRES(mutex_) { return !blocked && !queue_.empty(); });
  }
}

void EventRecorder::take_in(const Recorded& recorded, Instant now) {
  const std::string same = identity(recorded.regarding, recorded.event);
  upkeep_due_ = std::min(upkeep_due_, now + options_.finish);
  if (const auto found = known_.find(same); found != known_.end()) {
    Known& known = found->second;
    ++known.count;
    known.last_seen = recorded.time;
    known.last_event_at = now;
    // The second event of a series is sent at once, the following ones with the next refresh.
    if (known.count == 2 && !known.dirty) {
      known.dirty = true;
      unsent_.push_back(same);
    }
    return;
  }
  if (!allowed(recorded, now)) {
    filtered_.increment();
    return;
  }
  if (unsent_.size() >= options_.queue) {
    const std::string oldest = unsent_.front();
    unsent_.pop_front();
    known_.erase(oldest);
    dropped_.increment();
  }
  const std::string name = event_name(recorded.regarding, same, recorded.time);
  Known known;
  known.body = body_of(recorded, name);
  known.key = Object(known.body).key();
  known.last_seen = recorded.time;
  known.last_event_at = now;
  known.written = now;
  if (known_.size() >= options_.max_series) forget_oldest_series();
  known_.emplace(same, std::move(known));
  unsent_.push_back(same);
}

bool EventRecorder::allowed(const Recorded& recorded, Instant now) {
  const plan::ObjectReference& about = recorded.regarding;
  const std::string key = fmt::format("{}/{}/{}", about.uid, about.key.to_string(), recorded.event.reason);
  if (buckets_.size() >= options_.max_series && !buckets_.contains(key)) forget_oldest_bucket(now);
  return buckets_.try_emplace(key, options_.refill, options_.burst).first->second.try_take(now);
}

Json EventRecorder::body_of(const Recorded& recorded, const std::string& name) const {
  // Events are namespaced; those about cluster-scoped objects live in "default".
  const std::string& about = recorded.regarding.key.namespace_name;
  Json body = {{"apiVersion", kEvents.api_version()},
               {"kind", kEvents.kind},
               {"metadata", {{"name", name}, {"namespace", about.empty() ? "default" : about}}},
               {"eventTime", format_rfc3339_micro(recorded.time)},
               {"reportingController", options_.controller},
               {"reportingInstance", truncate_utf8(options_.instance, kMaxReason)},
               {"action", truncate_utf8(recorded.event.action.empty() ? recorded.event.reason : recorded.event.action,
                                        kMaxReason)},
               {"reason", truncate_utf8(recorded.event.reason, kMaxReason)},
               {"regarding", to_json(recorded.regarding)},
               {"note", truncate_utf8(recorded.event.message, kMaxNote)},
               {"type", type_name(recorded.event.type)}};
  if (recorded.event.related) body["related"] = to_json(*recorded.event.related);
  return body;
}

std::optional<Error> EventRecorder::write(Known& known, const std::stop_token& stop) {
  if (known.created) {
    std::optional<Error> error = write_series(known, stop);
    // Events expire on the server, after an hour by default.
    if (!error || error->code() != ErrorCode::kNotFound) return error;
    known.created = false;
  }
  const Result<Object> created = writer_.create(kEvents, Object(known.body), {}, stop);
  if (!created && created.error().code() != ErrorCode::kAlreadyExists) return created.error();
  known.created = true;
  // If it exists, the reply to an earlier attempt was lost; the derived name identifies the Event.
  return created || known.count == 1 ? std::nullopt : write_series(known, stop);
}

std::optional<Error> EventRecorder::write_series(const Known& known, const std::stop_token& stop) {
  const Json patch = {{"series", known.body["series"]}};
  const Result<Object> patched = writer_.patch(kEvents, known.key, client::PatchType::kMerge, patch, {}, stop);
  return patched ? std::nullopt : std::optional<Error>(patched.error());
}

std::optional<Error> EventRecorder::send(Known& known, const std::stop_token& stop) {
  if (known.count > 1) {
    known.body["series"] = {{"count", known.count}, {"lastObservedTime", format_rfc3339_micro(known.last_seen)}};
  }
  std::optional<Error> error = write(known, stop);
  if (!error) {
    known.tries = 0;
    return std::nullopt;
  }
  const bool may_pass = error->code() == ErrorCode::kUnavailable || error->code() == ErrorCode::kTimeout ||
                        error->code() == ErrorCode::kTooManyRequests || error->code() == ErrorCode::kCancelled ||
                        error->code() == ErrorCode::kUnauthorized;
  if (may_pass && ++known.tries < options_.tries) return error;
  failed_.increment();
  log_.warn("event not sent",
            {{"namespace", known.key.namespace_name}, {"name", known.key.name}, {"error", error->message()}});
  known.tries = 0;
  return std::nullopt;
}

Instant EventRecorder::upkeep(Instant now) {
  Instant due = kNever;
  for (auto entry = known_.begin(); entry != known_.end();) {
    Known& known = entry->second;
    if (known.dirty) {
      ++entry;
      continue;
    }
    const bool ended = now - known.last_event_at >= options_.finish;
    const bool unsent = known.count > known.sent_count;
    if (unsent && (ended || now - known.written >= options_.refresh)) {
      known.dirty = true;
      unsent_.push_back(entry->first);
    } else if (ended) {
      entry = known_.erase(entry);
      continue;
    } else {
      due = std::min(due, known.last_event_at + options_.finish);
      if (unsent) due = std::min(due, known.written + options_.refresh);
    }
    ++entry;
  }
  std::erase_if(buckets_, [&](const auto& bucket) { return bucket.second.is_full(now); });
  return due;
}

void EventRecorder::forget_oldest_series() {
  auto oldest = known_.end();
  for (auto entry = known_.begin(); entry != known_.end(); ++entry) {
    if (entry->second.dirty) continue;  // In unsent_, which has a limit of its own.
    if (oldest == known_.end() || entry->second.last_event_at < oldest->second.last_event_at) oldest = entry;
  }
  if (oldest != known_.end()) known_.erase(oldest);
}

void EventRecorder::forget_oldest_bucket(Instant now) {
  std::erase_if(buckets_, [&](const auto& bucket) { return bucket.second.is_full(now); });
  if (buckets_.size() < options_.max_series) return;
  buckets_.erase(std::ranges::min_element(buckets_, {}, [](const auto& bucket) { return bucket.second.last_used(); }));
}

}  // namespace tpuslice::runtime
