#include "cmd/tpu-slice-operator/resource_access.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/hash.h"

namespace tpuslice {

ResourceAccess::ResourceAccess(ResourceAccessOptions options, client::Writer& reviews, const Clock& clock)
    : options_(options), reviews_(reviews), clock_(clock), rate_(options.per_second, options.burst) {}

class ResourceAccess::Reservation {
 public:
  explicit Reservation(ResourceAccess& owner) : owner_(owner) {}
  ~Reservation() {
    const MutexLock lock(owner_.mutex_);
    --owner_.in_flight_;
  }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

 private:
  ResourceAccess& owner_;
};

Result<bool> ResourceAccess::may_list(const Json& user, const ResourceQuery& query) {
  const std::string key =
      sha256_hex(fmt::format("{} {} {} {}", user.dump(), query.group, query.resource, query.namespace_name));
  {
    const MutexLock lock(mutex_);
    const Instant now = clock_.now();
    if (const auto found = entries_.find(key); found != entries_.end() && now < found->second.expires) {
      return found->second.allowed;
    }
    if (stop_.stop_requested()) return Error::unavailable("the operator stops");
    if (in_flight_ >= options_.max_in_flight || !rate_.try_take(now)) {
      return Error::unavailable("too many requests are being authorized; try again later");
    }
    ++in_flight_;
  }
  const Reservation reservation(*this);
  ASSIGN_OR_RETURN(const bool allowed, review(user, query));
  remember(key, allowed);
  return allowed;
}

Result<bool> ResourceAccess::review(const Json& user, const ResourceQuery& query) {
  Json spec = user;
  spec["resourceAttributes"] = {{"verb", "list"}, {"group", query.group}, {"resource", query.resource}};
  if (!query.namespace_name.empty()) spec["resourceAttributes"]["namespace"] = query.namespace_name;
  const Object review(Json{{"apiVersion", kSubjectAccessReviews.api_version()},
                           {"kind", std::string(kSubjectAccessReviews.kind)},
                           {"spec", std::move(spec)}});
  const auto answer = reviews_.create(kSubjectAccessReviews, review, {}, stop_.get_token());
  if (!answer) {
    return Error::unavailable("the API server did not review whether {} may be listed: {}", query.resource,
                              answer.error().message());
  }
  return bool_at(answer->json(), {"status", "allowed"}) && !bool_at(answer->json(), {"status", "denied"});
}

void ResourceAccess::remember(const std::string& key, bool allowed) {
  const MutexLock lock(mutex_);
  const Instant now = clock_.now();
  if (entries_.size() >= options_.max_decisions) {
    std::erase_if(entries_, [&](const auto& each) { return each.second.expires <= now; });
  }
  if (entries_.size() >= options_.max_decisions) entries_.clear();
  entries_[key] = {allowed, now + options_.ttl};
}

}  // namespace tpuslice
