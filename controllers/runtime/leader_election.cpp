#include "controllers/runtime/leader_election.h"

#include <algorithm>
#include <utility>

#include "api/base/clock.h"
#include "api/base/pause.h"

namespace tpuslice::runtime {
namespace {

/// How often ElectionOptions::may_acquire is asked.
constexpr Duration kPermissionPoll = std::chrono::milliseconds(50);

std::int64_t integer_at(const Object& lease, std::string_view member, std::int64_t fallback) {
  const Json* found = find_path(lease.json(), {"spec", member});
  return found != nullptr && found->is_number_integer() ? found->get<std::int64_t>() : fallback;
}

std::string holder_of(const Object& lease) { return string_at(lease.json(), {"spec", "holderIdentity"}); }

std::int64_t whole_seconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

Json spec_of(const std::optional<Object>& lease) {
  const Json* spec = lease ? find_path(lease->json(), {"spec"}) : nullptr;
  return spec == nullptr ? Json(nullptr) : *spec;
}

/// How long the server asks to wait after this answer.
Duration asked_wait(const Status& status) {
  return status ? Duration::zero() : status.error().retry_after().value_or(Duration::zero());
}

}  // namespace

LeaderElector::LeaderElector(ElectionOptions options, client::Reader& reader, client::Writer& writer,
                             const Clock& clock, Random& random, Metrics& metrics, const Logger& log)
    : options_(std::move(options)),
      reader_(reader),
      writer_(writer),
      clock_(clock),
      random_(random),
      log_(log.with({{"lease", options_.namespace_name + "/" + options_.name}, {"identity", options_.identity}})),
      master_status_(metrics.gauge("leader_election_master_status", "1 while this process is the leader.",
                                   {{"name", options_.name}})) {
  TPUSLICE_CHECK_MSG(!options_.identity.empty(), "an elector needs an identity");
  TPUSLICE_CHECK(options_.retry < options_.renew_by && options_.renew_by < options_.lease);
  master_status_.set(0);
}

Instant LeaderElector::step(Instant now, const std::stop_token& stop) {
  State state = State::kWaiting;
  {
    const MutexLock lock(mutex_);
    state = state_;
  }
  if (state == State::kLost || state == State::kReleased) return kNever;
  if (state == State::kLeading && !leading(now)) {
    due_ = lose(now, "not renewed in time");
    return due_;
  }
  if (!may_acquire_ && (!options_.may_acquire || options_.may_acquire())) {
    may_acquire_ = true;
    due_ = now;
  }
  if (now < due_) return due_;
  due_ = state == State::kLeading ? renew(now, stop) : acquire(now, stop);
  return due_;
}

void LeaderElector::run(const std::stop_token& stop, const std::function<void()>& changed) {
  bool was_leading = false;
  while (!stop.stop_requested()) {
    const Instant due = step(clock_.now(), stop);
    const Instant now = clock_.now();
    if (was_leading != leading(now)) changed();
    was_leading = leading(now);
    if (due == kNever) return;
    if (due > now) pause(may_acquire_ ? due - now : std::min(due - now, kPermissionPoll), stop);
  }
}

void LeaderElector::release(const std::stop_token& stop) {
  {
    const MutexLock lock(mutex_);
    const bool holds = state_ == State::kLeading;
    state_ = State::kReleased;
    if (!holds) return;
  }
  master_status_.set(0);
  Result<Object> written = writer_.replace(kLeases, released(), {}, stop);
  if (!written && written.error().code() == ErrorCode::kConflict && observe(stop) && lease_ &&
      holder_of(*lease_) == options_.identity) {
    // A renewal that was cancelled had been stored.
    written = writer_.replace(kLeases, released(), {}, stop);
  }
  if (written) {
    log_.info("lease released");
  } else {
    log_.warn("lease not released; it will expire", {{"error", written.error().message()}});
  }
}

bool LeaderElector::leading(Instant now) const {
  const MutexLock lock(mutex_);
  return state_ == State::kLeading && now - renewed_ < options_.renew_by;
}

Duration LeaderElector::lease_left(Instant now) const {
  if (!leading(now)) return Duration::zero();
  const MutexLock lock(mutex_);
  return renewed_ + options_.lease - now;
}

bool LeaderElector::lost(Instant now) const {
  const MutexLock lock(mutex_);
  return state_ == State::kLost || (state_ == State::kLeading && now - renewed_ >= options_.renew_by);
}

bool LeaderElector::healthy(Instant now) const {
  const MutexLock lock(mutex_);
  const bool was_leader = state_ == State::kLeading || state_ == State::kLost;
  return !was_leader || now - renewed_ <= options_.lease + options_.retry;
}

std::string LeaderElector::holder() const {
  const MutexLock lock(mutex_);
  return holder_;
}

Instant LeaderElector::acquire(Instant now, const std::stop_token& stop) {
  Status status = observe(stop);
  // Before it may acquire the lease, a replica reads it, to know since when it has not changed.
  if (!may_acquire_) return std::max(now, clock_.now()) + std::max(options_.retry, asked_wait(status));
  // The lease counts from before the request, since the server may store it at any time after that.
  const Instant asked = clock_.now();
  if (status && free(asked)) {
    status = take(stop);
    if (status) {
      won(asked);
      return asked + options_.retry;
    }
  }
  if (!status && status.error().code() != ErrorCode::kConflict && status.error().code() != ErrorCode::kAlreadyExists &&
      status.error().code() != ErrorCode::kCancelled) {
    log_.warn("lease not acquired", {{"error", status.error().message()}});
  }
  return std::max(now, asked) + std::max(random_.jitter(options_.retry, options_.jitter), asked_wait(status));
}

Instant LeaderElector::renew(Instant now, const std::stop_token& stop) {
  Status status = take(stop);
  if (!status && (status.error().code() == ErrorCode::kConflict || status.error().code() == ErrorCode::kNotFound)) {
    // The lease was written by another holder or by a user.
    status = observe(stop);
    if (status && lease_ && holder_of(*lease_) != options_.identity) {
      return lose(clock_.now(), "held by another replica");
    }
    if (status) status = take(stop);
  }
  const Instant answered = clock_.now();
  if (!leading(answered)) {
    return lose(answered, "not renewed in time");
  }
  if (!status) {
    log_.warn("lease not renewed", {{"error", status.error().message()}});
    const MutexLock lock(mutex_);
    return std::min(answered + std::max(options_.retry, asked_wait(status)), renewed_ + options_.renew_by);
  }
  const MutexLock lock(mutex_);
  renewed_ = now;
  return now + options_.retry;
}

Status LeaderElector::observe(const std::stop_token& stop) {
  const Result<Object> lease = reader_.get(kLeases, {options_.namespace_name, options_.name}, stop);
  if (!lease && lease.error().code() != ErrorCode::kNotFound) return lease.error();
  note(lease ? std::optional<Object>(*lease) : std::nullopt);
  return {};
}

void LeaderElector::note(std::optional<Object> lease) {
  if (spec_of(lease) != spec_of(lease_)) observed_at_ = clock_.now();
  lease_ = std::move(lease);
  const std::string holder = lease_ ? holder_of(*lease_) : "";
  const MutexLock lock(mutex_);
  holder_ = holder;
}

bool LeaderElector::free(Instant now) const {
  if (!lease_) return true;
  const std::string holder = holder_of(*lease_);
  if (holder.empty() || holder == options_.identity) return true;
  const std::int64_t seconds = integer_at(*lease_, "leaseDurationSeconds", whole_seconds(options_.lease));
  return now - observed_at_ >= std::chrono::seconds(seconds);
}

Status LeaderElector::take(const std::stop_token& stop) {
  Result<Object> written =
      lease_ ? writer_.replace(kLeases, wanted(), {}, stop) : writer_.create(kLeases, wanted(), {}, stop);
  if (!written) return written.error();
  note(*std::move(written));
  return {};
}

Object LeaderElector::wanted() const {
  Json lease = lease_ ? lease_->json()
                      : Json({{"apiVersion", kLeases.api_version()},
                              {"kind", kLeases.kind},
                              {"metadata", {{"name", options_.name}, {"namespace", options_.namespace_name}}},
                              {"spec", {{"leaseTransitions", 0}}}});
  const std::string now = format_rfc3339_micro(clock_.wall());
  Json& spec = lease["spec"];
  if (!spec.is_object()) spec = Json::object();
  if (!lease_ || holder_of(*lease_) != options_.identity) {
    spec["acquireTime"] = now;
    if (lease_) spec["leaseTransitions"] = integer_at(*lease_, "leaseTransitions", 0) + 1;
  }
  spec["holderIdentity"] = options_.identity;
  spec["leaseDurationSeconds"] = whole_seconds(options_.lease);
  spec["renewTime"] = now;
  return Object(std::move(lease));
}

Object LeaderElector::released() const {
  Object out = wanted();
  Json& spec = out.mutable_json()["spec"];
  spec["holderIdentity"] = "";
  spec["leaseDurationSeconds"] = 1;
  return out;
}

void LeaderElector::won(Instant renewed) {
  {
    const MutexLock lock(mutex_);
    state_ = State::kLeading;
    renewed_ = renewed;
  }
  master_status_.set(1);
  log_.info("lease acquired");
  if (on_won_) on_won_(*lease_);
}

Instant LeaderElector::lose(Instant now, std::string_view why) {
  {
    const MutexLock lock(mutex_);
    state_ = options_.stands_by ? State::kWaiting : State::kLost;
  }
  may_acquire_ = false;
  master_status_.set(0);
  log_.error("lease lost", {{"why", why}});
  return options_.stands_by ? now + options_.retry : kNever;
}

}  // namespace tpuslice::runtime
