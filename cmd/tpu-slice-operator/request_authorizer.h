// RequestAuthorizer: who may read /metrics. Authenticates a bearer token by a TokenReview and authorizes its user by a
// SubjectAccessReview of the request's path, as controller-runtime's filters.WithAuthenticationAndAuthorization does.
//
// Clients without permission must not cost the API server much: decisions are cached, and reviews are limited in number
// and rate. Tokens that were allowed before, and new tokens from the same addresses, have limits of their own, so that
// a flood of unknown tokens does not keep out the Prometheus that scrapes already, nor when its token is renewed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>

#include "api/base/clock.h"
#include "api/base/log.h"
#include "api/base/mutex.h"
#include "api/base/token_bucket.h"
#include "api/client/client.h"
#include "api/http/server/server.h"
#include "api/types/json.h"

namespace tpuslice {

struct RequestAuthorizerOptions {
  Duration allowed_ttl = std::chrono::minutes(1);  ///< Upstream caches a TokenReview for as long.
  Duration denied_ttl = std::chrono::seconds(10);  ///< A permission that was just granted counts after this time.
  Duration remembered = std::chrono::hours(1);     ///< How long a token and host stay known after their last use.
  std::size_t max_decisions = 256;                 ///< Cached.
  std::size_t max_in_flight = 2;                   ///< Requests that are being reviewed.
  std::size_t max_unknown_in_flight = 1;           ///< Maximum of requests from unknown tokens and hosts among these.
  double known_per_second = 2;  ///< Reviews of tokens that were allowed before; as many of other tokens of their hosts.
  std::size_t max_known_hosts = 64;  ///< IP addresses from which a token was allowed.
  double unknown_per_second = 5;     ///< Reviews of other tokens.
  double unknown_burst = 20;
  double peer_per_second = 0.5;  ///< Reviews of tokens that one IP address sends and that were never allowed.
  double peer_burst = 5;
  std::size_t max_peers = 256;  ///< IP addresses with a limit of their own; requests of further ones are refused.
};

/// Thread-safe. Blocks the calling thread while the API server reviews.
class RequestAuthorizer {
 public:
  /// `reviews` should have a short deadline. All arguments outlive the authorizer.
  RequestAuthorizer(RequestAuthorizerOptions options, client::Writer& reviews, const Clock& clock, Logger log);

  struct Decision {
    int status = 503;     ///< 200, 401 without a valid token, 403 without permission, 503 if it could not be decided.
    std::string message;  ///< Text of every status but 200.
    Json user = {};       ///< With 200: username, uid, groups and extra, as in the spec of a SubjectAccessReview.
  };
  [[nodiscard]] Decision authorize(const http::Request& request, const http::Peer& peer);

  /// Cancels reviews; from now on tokens that are not cached get 503.
  void stop() { stop_.request_stop(); }

 private:
  struct Entry {
    Decision decision;
    Instant expires;
  };

  /// A review that is under way.
  class Reservation;
  enum class Client : std::uint8_t { kUnknown, kKnownHost, kKnownToken };

  /// Reserves a review. Refused if that exceeds a limit.
  [[nodiscard]] bool admit(Client client, const std::string& peer_host, Instant now) TPUSLICE_REQUIRES(mutex_);
  void release(Client client) TPUSLICE_EXCLUDES(mutex_);
  void remember_host(const std::string& host, Instant now) TPUSLICE_REQUIRES(mutex_);
  [[nodiscard]] bool admit_peer(const std::string& peer_host, Instant now) TPUSLICE_REQUIRES(mutex_);
  void remember(const std::string& key, const Decision& decision, Instant now) TPUSLICE_REQUIRES(mutex_);
  /// Removes expired decisions, and one more if there are too many; those that allowed are removed last.
  void drop_decisions(Instant now) TPUSLICE_REQUIRES(mutex_);
  [[nodiscard]] Instant forget_at(const Entry& entry) const;

  [[nodiscard]] Decision review(const std::string& token, std::string_view verb, std::string_view path);
  /// 503, with a log line, but not one for every request.
  [[nodiscard]] Decision failed(const Error& error) TPUSLICE_EXCLUDES(mutex_);

  const RequestAuthorizerOptions options_;
  client::Writer& reviews_;
  const Clock& clock_;
  const Logger log_;
  std::stop_source stop_;

  Mutex mutex_;
  std::unordered_map<std::string, Entry> entries_ TPUSLICE_GUARDED_BY(mutex_);  ///< By hash: tokens are not kept.
  std::size_t in_flight_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  std::size_t unknown_in_flight_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, Instant> known_hosts_ TPUSLICE_GUARDED_BY(mutex_);  ///< When last allowed.
  TokenBucket known_ TPUSLICE_GUARDED_BY(mutex_);
  TokenBucket known_host_ TPUSLICE_GUARDED_BY(mutex_);
  TokenBucket unknown_ TPUSLICE_GUARDED_BY(mutex_);
  std::unordered_map<std::string, TokenBucket> peers_ TPUSLICE_GUARDED_BY(mutex_);
  TokenBucket log_limit_ TPUSLICE_GUARDED_BY(mutex_);
};

/// What a SubjectAccessReview repeats of a TokenReview's user.
[[nodiscard]] Json user_spec(const Json& user);

/// The token of the header Authorization; empty without one.
[[nodiscard]] std::string bearer_token(const http::Headers& headers);

}  // namespace tpuslice
