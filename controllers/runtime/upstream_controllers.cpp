#include "controllers/runtime/upstream_controllers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/clock.h"
#include "api/base/pause.h"
#include "api/types/validation_names.h"

namespace tpuslice::runtime {
namespace {

/// How soon run() sees a changed Lease, and how soon the Leases that are read at the start, for which controllers wait.
constexpr Duration kLookInterval = std::chrono::seconds(1);
constexpr Duration kFirstLookInterval = std::chrono::milliseconds(20);
/// If the Leases cannot be read, or their holders may not be checked, for this long after the start, controllers run:
/// an operator that lacks the permission still works.
constexpr Duration kReadTimeout = std::chrono::seconds(30);
/// A Lease that does not count is looked at again after this time, so that its writers cause few requests.
constexpr Duration kJudgeAgain = std::chrono::minutes(1);
/// Wait after a request that failed, and between two reads of one Lease.
constexpr Duration kRetry = std::chrono::seconds(10);

constexpr std::string_view kReadLeases = "get leases.coordination.k8s.io";
constexpr std::string_view kReadPods = "get pods";
constexpr std::string_view kReviewAccess = "create subjectaccessreviews.authorization.k8s.io";

/// `permission` if the error says that it is missing.
std::string_view permission_missing(std::string_view permission, const Error& error) {
  return error.code() == ErrorCode::kForbidden ? permission : std::string_view();
}

/// Upstream's identities are "<name of the pod>_<random>".
std::string pod_of(const std::string& holder) { return holder.substr(0, holder.rfind('_')); }

Object access_review(const std::string& namespace_name, const std::string& account, const ResourceType& kind) {
  return Object(Json{{"apiVersion", kSubjectAccessReviews.api_version()},
                     {"kind", std::string(kSubjectAccessReviews.kind)},
                     {"spec",
                      {{"user", fmt::format("system:serviceaccount:{}:{}", namespace_name, account)},
                       {"groups", Json::array({"system:serviceaccounts", "system:serviceaccounts:" + namespace_name,
                                               "system:authenticated"})},
                       {"resourceAttributes",
                        {{"verb", "update"},
                         {"group", std::string(kind.group)},
                         {"resource", std::string(kind.plural)},
                         {"subresource", "status"}}}}}});
}

}  // namespace

UpstreamControllers::UpstreamControllers(client::Reader& reader, client::Writer& writer, const Clock& clock,
                                         Metrics& metrics, Logger log)
    : reader_(reader), writer_(writer), clock_(clock), metrics_(metrics), log_(std::move(log)) {}

void UpstreamControllers::add(UpstreamController upstream, const ObjectStore& leases) {
  {
    const MutexLock lock(mutex_);
    for (const std::string& controller : upstream.controllers) states_[controller] = State::kUnknown;
  }
  watched_.push_back({std::move(upstream), &leases});
}

bool UpstreamControllers::may_run(std::string_view controller) const {
  const MutexLock lock(mutex_);
  const auto found = states_.find(controller);
  return found == states_.end() || found->second == State::kAbsent;
}

bool UpstreamControllers::left(std::string_view controller) const {
  const MutexLock lock(mutex_);
  const auto found = states_.find(controller);
  return found != states_.end() && found->second == State::kRunning;
}

void UpstreamControllers::run(const std::stop_token& stop, const std::function<void()>& changed) {
  while (!stop.stop_requested()) {
    const Instant due = step(clock_.now(), stop);
    if (std::exchange(changed_, false)) changed();
    const bool reads = std::ranges::any_of(
        watched_, [](const Watched& each) { return each.state == State::kUnknown && !each.leases->synced(); });
    pause(std::min(due - clock_.now(), reads ? kFirstLookInterval : kLookInterval), stop);
  }
}

Instant UpstreamControllers::step(Instant now, const std::stop_token& stop) {
  if (!begun_) begun_ = now;
  Instant due = kNever;
  for (Watched& each : watched_) due = std::min(due, look(each, now, stop));
  return due;
}

Instant UpstreamControllers::look(Watched& watched, Instant now, const std::stop_token& stop) {
  if (!watched.leases->synced()) {
    if (watched.state != State::kUnknown) return kNever;
    const Instant last = *begun_ + kReadTimeout;
    if (now < last) return last;
    log_.warn("leases not read; controllers run without knowing whether an upstream controller serves their kind",
              {{"lease", watched.upstream.lease}, {"upstream", watched.upstream.name}});
    enter(watched, State::kAbsent, nullptr);
    return kNever;
  }
  Instant due = kNever;
  refresh(watched, now, due, stop);
  const ObjectKey* running = nullptr;
  bool known = true;
  bool permitted = false;  // Some Lease is unknown for another reason than a missing permission.
  std::string_view permission;
  const auto is_unknown = [&](const SeenLease& lease) {
    known = false;
    permitted = permitted || lease.missing_permission.empty();
    permission = lease.missing_permission;
  };
  for (auto& [key, lease] : watched.seen) {
    if (lease.resource_version.empty()) is_unknown(lease);  // Not read yet.
    if (lease.holder.empty() || abandoned(key, lease, now, due, stop)) continue;
    due = std::min(due, std::max(lease.renewed + kAbandonedAfter, now + kRetry));
    judge(watched, key, lease, now, stop);
    if (lease.counts != true) due = std::min(due, lease.judge_due);
    if (lease.counts == true && running == nullptr) running = &key;
    if (!lease.counts) is_unknown(lease);
  }
  if (stop.stop_requested()) return now + kRetry;  // What was asked may have been cancelled.
  if (running != nullptr) {
    enter(watched, State::kRunning, running);
  } else if (known) {
    enter(watched, State::kAbsent, nullptr);
  } else if (watched.state == State::kUnknown && !permitted) {
    due = std::min(due, give_up(watched, now, permission));
  }
  return due;
}

Instant UpstreamControllers::give_up(Watched& watched, Instant now, std::string_view permission) {
  const Instant last = *begun_ + kReadTimeout;
  if (now < last) return last;
  log_.warn(
      "holder of a lease may not be checked; controllers run without knowing whether an upstream controller serves "
      "their kind",
      {{"lease", watched.upstream.lease}, {"upstream", watched.upstream.name}, {"missing_permission", permission}});
  enter(watched, State::kAbsent, nullptr);
  return kNever;
}

void UpstreamControllers::refresh(Watched& watched, Instant now, Instant& due, const std::stop_token& stop) const {
  const std::vector<ObjectStore::Ptr> leases = watched.leases->list();
  std::erase_if(watched.seen, [&](const auto& each) {
    return std::ranges::none_of(leases, [&](const auto& view) { return view->key == each.first; });
  });
  for (const ObjectStore::Ptr& view : leases) {
    if (view->key.name != watched.upstream.lease) continue;
    SeenLease& lease = watched.seen[view->key];
    if (lease.resource_version == view->resource_version) continue;
    if (!view->minimal) {
      observe(lease, view->object(), now);
    } else if (!read(view->key, lease, now, stop)) {
      due = std::min(due, lease.read_due);
      continue;
    }
    lease.resource_version = view->resource_version;
  }
}

bool UpstreamControllers::read(const ObjectKey& key, SeenLease& lease, Instant now, const std::stop_token& stop) const {
  if (now < lease.read_due) return false;
  lease.read_due = now + kRetry;
  const Result<Object> current = reader_.get(kLeases, key, stop);
  if (current) observe(lease, *current, now);
  lease.missing_permission = current ? std::string_view() : permission_missing(kReadLeases, current.error());
  return current || current.error().code() == ErrorCode::kNotFound;
}

void UpstreamControllers::observe(SeenLease& lease, const Object& object, Instant now) const {
  const Json* found = find_path(object.json(), {"spec"});
  Json spec = found == nullptr ? Json::object() : *found;
  if (spec == lease.spec) return;
  const bool first = lease.spec.is_null();
  lease.spec = std::move(spec);
  lease.holder = string_at(lease.spec, {"holderIdentity"});
  lease.abandoned = false;
  lease.renewed = now;
  if (!first) return;
  // A Lease that is no longer renewed was last renewed before this process looked. Clocks may differ by minutes.
  const auto stated = parse_rfc3339(string_at(lease.spec, {"renewTime"}));
  const Duration age = stated ? clock_.wall() - *stated : kAbandonedAfter;
  lease.renewed = now - std::clamp<Duration>(age, Duration::zero(), kAbandonedAfter);
}

bool UpstreamControllers::abandoned(const ObjectKey& key, SeenLease& lease, Instant now, Instant& due,
                                    const std::stop_token& stop) {
  if (now < lease.renewed + kAbandonedAfter) return false;
  if (lease.counts != true || lease.abandoned) return true;
  if (!read(key, lease, now, stop)) {
    due = std::min(due, lease.read_due);
    return false;
  }
  lease.abandoned = now >= lease.renewed + kAbandonedAfter;
  return lease.abandoned;
}

void UpstreamControllers::judge(const Watched& watched, const ObjectKey& key, SeenLease& lease, Instant now,
                                const std::stop_token& stop) {
  const bool same = lease.judged_holder == lease.holder;
  if (lease.counts == true ? same : now < lease.judge_due) return;
  const Result<bool> counts = is_controller(watched.upstream.kind, key.namespace_name, lease, stop);
  if (!counts) {
    lease.judge_due = now + kRetry;
    if (stop.stop_requested()) return;
    log_.warn("holder of a lease not checked",
              {{"lease", key.to_string()}, {"upstream", watched.upstream.name}, {"error", counts.error().message()}});
    return;
  }
  if (!*counts && (lease.counts != false || !same)) {
    log_.info("lease ignored: its holder is no pod whose service account may update the status of the kind",
              {{"lease", key.to_string()},
               {"upstream", watched.upstream.name},
               {"kind", watched.upstream.kind.resource()},
               {"holder", lease.holder}});
  }
  lease.counts = *counts;
  lease.judged_holder = lease.holder;
  lease.judge_due = now + kJudgeAgain;
}

Result<bool> UpstreamControllers::is_controller(const ResourceType& kind, const std::string& namespace_name,
                                                SeenLease& lease, const std::stop_token& stop) {
  lease.missing_permission = {};
  const std::string name = pod_of(lease.holder);
  if (!check_dns1123_subdomain(name).empty()) return false;  // It is the text of a user.
  const Result<Object> pod = reader_.get(kPods, {namespace_name, name}, stop);
  if (!pod && pod.error().code() == ErrorCode::kNotFound) return false;
  if (!pod) {
    lease.missing_permission = permission_missing(kReadPods, pod.error());
    return pod.error();
  }
  const std::string account = string_at(pod->json(), {"spec", "serviceAccountName"}, "default");
  const Result<Object> review =
      writer_.create(kSubjectAccessReviews, access_review(namespace_name, account, kind), {}, stop);
  if (!review) {
    lease.missing_permission = permission_missing(kReviewAccess, review.error());
    return review.error();
  }
  return bool_at(review->json(), {"status", "allowed"}) && !bool_at(review->json(), {"status", "denied"});
}

void UpstreamControllers::enter(Watched& watched, State state, const ObjectKey* lease) {
  if (watched.state == state) return;
  const State before = std::exchange(watched.state, state);
  const UpstreamController& upstream = watched.upstream;
  const std::string controllers = fmt::format("{}", fmt::join(upstream.controllers, ", "));
  {
    const MutexLock lock(mutex_);
    for (const std::string& each : upstream.controllers) states_[each] = state;
  }
  for (const std::string& each : upstream.controllers) {
    metrics_
        .gauge("tpuslice_controller_conflict", "1 while the controller leaves its kind to an upstream controller.",
               {{"controller", each}})
        .set(state == State::kRunning ? 1 : 0);
  }
  if (lease != nullptr) {
    const std::string& first = upstream.controllers.front();
    log_.warn("kind left to its upstream controller",
              {{"controllers", controllers},
               {"upstream", upstream.name},
               {"lease", lease->to_string()},
               {"holder", watched.seen.at(*lease).holder},
               {"remedy", fmt::format("two controllers must not serve one kind: to leave it to {0}, set "
                                      "--controllers=*,-{1}; to serve it here, remove {0} and delete the Lease {2}, or "
                                      "set --take-over={1}",
                                      upstream.name, first, lease->to_string())}});
  } else if (before == State::kRunning) {
    log_.warn(
        "kind taken over from its upstream controller",
        {{"controllers", controllers},
         {"upstream", upstream.name},
         {"why",
          fmt::format("its Lease {} was released, deleted, not renewed for {} minutes, or has another holder",
                      upstream.lease, std::chrono::duration_cast<std::chrono::minutes>(kAbandonedAfter).count())}});
  }
  changed_ = true;
  if (listener_) listener_();
}

}  // namespace tpuslice::runtime
