// ResourceAccess: what a user may do with resources of the API server, by SubjectAccessReviews.
#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <unordered_map>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/base/token_bucket.h"
#include "api/client/client.h"
#include "api/types/json.h"

namespace tpuslice {

struct ResourceAccessOptions {
  Duration ttl = std::chrono::minutes(1);  ///< How long a decision is kept.
  std::size_t max_decisions = 1024;
  double per_second = 10;  ///< Reviews of all users together; a decision that would need more is no.
  double burst = 40;
};

/// A list that a user may read or not.
struct ResourceQuery {
  std::string group;
  std::string resource;        ///< "pods"
  std::string namespace_name;  ///< Empty: of all namespaces.
};

/// Thread-safe. Blocks the calling thread while the API server reviews.
class ResourceAccess {
 public:
  /// `reviews` should have a short deadline. All arguments outlive it.
  ResourceAccess(ResourceAccessOptions options, client::Writer& reviews, const Clock& clock);

  /// Whether `user` (RequestAuthorizer::Decision::user) may list it. No, if that cannot be found out.
  [[nodiscard]] bool may_list(const Json& user, const ResourceQuery& query) TPUSLICE_EXCLUDES(mutex_);

  /// Cancels reviews.
  void stop() { stop_.request_stop(); }

 private:
  struct Entry {
    bool allowed = false;
    Instant expires;
  };

  const ResourceAccessOptions options_;
  client::Writer& reviews_;
  const Clock& clock_;
  std::stop_source stop_;
  Mutex mutex_;
  std::unordered_map<std::string, Entry> entries_ TPUSLICE_GUARDED_BY(mutex_);  ///< By hash of user and query.
  TokenBucket rate_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice
