#include "cmd/tpu-slice-operator/resource_access.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/hash.h"

namespace tpuslice {

ResourceAccess::ResourceAccess(ResourceAccessOptions options, client::Writer& reviews, const Clock& clock)
    : options_(options), reviews_(reviews), clock_(clock), rate_(options.per_second, options.burst) {}

bool ResourceAccess::may_list(const Json& user, const ResourceQuery& query) {
  const std::string key =
      sha256_hex(fmt::format("{} {} {} {}", user.dump(), query.group, query.resource, query.namespace_name));
  {
    const MutexLock lock(mutex_);
    const Instant now = clock_.now();
    if (const auto found = entries_.find(key); found != entries_.end() && now < found->second.expires) {
      return found->second.allowed;
    }
    if (stop_.stop_requested() || !rate_.try_take(now)) return false;
  }
  Json spec = user;
  spec["resourceAttributes"] = {{"verb", "list"}, {"group", query.group}, {"resource", query.resource}};
  if (!query.namespace_name.empty()) spec["resourceAttributes"]["namespace"] = query.namespace_name;
  const Object review(Json{{"apiVersion", kSubjectAccessReviews.api_version()},
                           {"kind", std::string(kSubjectAccessReviews.kind)},
                           {"spec", std::move(spec)}});
  const auto answer = reviews_.create(kSubjectAccessReviews, review, {}, stop_.get_token());
  if (!answer) return false;
  const bool allowed = bool_at(answer->json(), {"status", "allowed"}) && !bool_at(answer->json(), {"status", "denied"});
  const MutexLock lock(mutex_);
  const Instant now = clock_.now();
  if (entries_.size() >= options_.max_decisions) {
    std::erase_if(entries_, [&](const auto& each) { return each.second.expires <= now; });
  }
  if (entries_.size() >= options_.max_decisions) entries_.clear();
  entries_[key] = {allowed, now + options_.ttl};
  return allowed;
}

}  // namespace tpuslice
