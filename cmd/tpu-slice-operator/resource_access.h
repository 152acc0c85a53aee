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
  std::size_t max_in_flight = 4;  ///< The metrics server has as many threads for them (kPageThreads).
  double per_second = 10;         ///< Reviews of all users together.
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

  /// Whether `user` (RequestAuthorizer::Decision::user) may list it.
  ///
  /// Errors: Unavailable if that cannot be found out: too many reviews, stop(), or an error of the API server.
  [[nodiscard]] Result<bool> may_list(const Json& user, const ResourceQuery& query) TPUSLICE_EXCLUDES(mutex_);

  /// Cancels reviews.
  void stop() { stop_.request_stop(); }

 private:
  struct Entry {
    bool allowed = false;
    Instant expires;
  };
  /// A review that is under way.
  class Reservation;

  /// The answer of the API server.
  [[nodiscard]] Result<bool> review(const Json& user, const ResourceQuery& query);
  void remember(const std::string& key, bool allowed) TPUSLICE_EXCLUDES(mutex_);

  const ResourceAccessOptions options_;
  client::Writer& reviews_;
  const Clock& clock_;
  std::stop_source stop_;
  Mutex mutex_;
  std::unordered_map<std::string, Entry> entries_ TPUSLICE_GUARDED_BY(mutex_);  ///< By hash of user and query.
  TokenBucket rate_ TPUSLICE_GUARDED_BY(mutex_);
  std::size_t in_flight_ TPUSLICE_GUARDED_BY(mutex_) = 0;
};

}  // namespace tpuslice
