#include "cmd/tpu-slice-operator/request_authorizer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/hash.h"
#include "api/base/strings.h"
#include "api/types/json.h"

namespace tpuslice {
namespace {

constexpr double kLogLinesPerSecond = 0.1;
constexpr double kLogBurst = 3;

RequestAuthorizer::Decision unauthorized() {
  return {401, "a valid bearer token is required in the header Authorization"};
}

RequestAuthorizer::Decision too_many() { return {503, "too many requests are being authorized; try again later"}; }

Object review_object(const ResourceType& type, Json spec) {
  return Object(Json{{"apiVersion", type.api_version()}, {"kind", std::string(type.kind)}, {"spec", std::move(spec)}});
}

}  // namespace

Json user_spec(const Json& user) {
  Json spec = {{"user", string_at(user, {"username"})}};
  for (const char* field : {"uid", "groups", "extra"}) {
    if (const Json* value = find_path(user, {field}); value != nullptr && !value->is_null()) spec[field] = *value;
  }
  return spec;
}

std::string bearer_token(const http::Headers& headers) {
  constexpr std::string_view kScheme = "bearer ";
  const std::string* header = http::find_header(headers, "Authorization");
  if (header == nullptr || header->size() < kScheme.size()) return "";
  if (to_lower(header->substr(0, kScheme.size())) != kScheme) return "";
  std::string token = trimmed(header->substr(kScheme.size()));
  return token.find(' ') == std::string::npos ? token : "";
}

class RequestAuthorizer::Reservation {
 public:
  Reservation(RequestAuthorizer& owner, Client client) : owner_(owner), client_(client) {}
  ~Reservation() { owner_.release(client_); }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

 private:
  RequestAuthorizer& owner_;
  const Client client_;
};

RequestAuthorizer::RequestAuthorizer(RequestAuthorizerOptions options, client::Writer& reviews, const Clock& clock,
                                     Logger log)
    : options_(options),
      reviews_(reviews),
      clock_(clock),
      log_(std::move(log)),
      known_(options_.known_per_second, 2 * options_.known_per_second),
      known_host_(options_.known_per_second, 2 * options_.known_per_second),
      unknown_(options_.unknown_per_second, options_.unknown_burst),
      log_limit_(kLogLinesPerSecond, kLogBurst) {}

RequestAuthorizer::Decision RequestAuthorizer::authorize(const http::Request& request, const http::Peer& peer) {
  const std::string token = bearer_token(request.headers);
  if (token.empty()) return unauthorized();
  const std::string verb = to_lower(request.method);
  const std::string path = request.target.substr(0, request.target.find('?'));
  const std::string key = sha256_hex(fmt::format("{} {} {}", verb, path, token));
  const std::string host = peer.address.substr(0, peer.address.rfind(':'));
  Client client = Client::kUnknown;
  {
    const MutexLock lock(mutex_);
    const Instant now = clock_.now();
    const auto seen = known_hosts_.find(host);
    if (seen != known_hosts_.end() && now < seen->second + options_.remembered) client = Client::kKnownHost;
    if (const auto entry = entries_.find(key); entry != entries_.end()) {
      if (now < entry->second.expires) return entry->second.decision;
      if (entry->second.decision.status == 200) client = Client::kKnownToken;
    }
    if (!admit(client, host, now)) return too_many();
  }
  const Reservation reservation(*this, client);
  Decision decision = review(token, verb, path);
  if (decision.status == 503) return decision;
  const MutexLock lock(mutex_);
  remember(key, decision, clock_.now());
  if (decision.status == 200) remember_host(host, clock_.now());
  return decision;
}

bool RequestAuthorizer::admit(Client client, const std::string& peer_host, Instant now) {
  if (stop_.stop_requested() || in_flight_ >= options_.max_in_flight) return false;
  if (client == Client::kUnknown) {
    if (unknown_in_flight_ >= options_.max_unknown_in_flight) return false;
    if (!admit_peer(peer_host, now) || !unknown_.try_take(now)) return false;
    ++unknown_in_flight_;
  } else if (!(client == Client::kKnownToken ? known_ : known_host_).try_take(now)) {
    return false;
  }
  ++in_flight_;
  return true;
}

void RequestAuthorizer::release(Client client) {
  const MutexLock lock(mutex_);
  --in_flight_;
  if (client == Client::kUnknown) --unknown_in_flight_;
}

void RequestAuthorizer::remember_host(const std::string& host, Instant now) {
  known_hosts_[host] = now;
  if (known_hosts_.size() <= options_.max_known_hosts) return;
  known_hosts_.erase(std::ranges::min_element(known_hosts_, {}, [](const auto& each) { return each.second; }));
}

bool RequestAuthorizer::admit_peer(const std::string& peer_host, Instant now) {
  if (peers_.size() >= options_.max_peers && !peers_.contains(peer_host)) {
    std::erase_if(peers_, [&](const auto& each) { return each.second.is_full(now); });
    if (peers_.size() >= options_.max_peers) return false;
  }
  return peers_.try_emplace(peer_host, options_.peer_per_second, options_.peer_burst).first->second.try_take(now);
}

void RequestAuthorizer::remember(const std::string& key, const Decision& decision, Instant now) {
  drop_decisions(now);
  entries_[key] = {decision, now + (decision.status == 200 ? options_.allowed_ttl : options_.denied_ttl)};
}

Instant RequestAuthorizer::forget_at(const Entry& entry) const {
  return entry.decision.status == 200 ? entry.expires + options_.remembered : entry.expires;
}

void RequestAuthorizer::drop_decisions(Instant now) {
  std::erase_if(entries_, [&](const auto& each) { return forget_at(each.second) <= now; });
  if (entries_.size() < options_.max_decisions) return;
  const auto oldest = std::ranges::min_element(entries_, {}, [&](const auto& each) {
    return std::pair(each.second.decision.status == 200, each.second.expires);
  });
  entries_.erase(oldest);
}

RequestAuthorizer::Decision RequestAuthorizer::review(const std::string& token, std::string_view verb,
                                                      std::string_view path) {
  const auto authentication =
      reviews_.create(kTokenReviews, review_object(kTokenReviews, {{"token", token}}), {}, stop_.get_token());
  if (!authentication) return failed(authentication.error());
  if (!bool_at(authentication->json(), {"status", "authenticated"})) return unauthorized();
  const Json* user = find_path(authentication->json(), {"status", "user"});
  Json spec = user_spec(user == nullptr ? Json::object() : *user);
  const Json who = spec;
  spec["nonResourceAttributes"] = {{"verb", std::string(verb)}, {"path", std::string(path)}};
  const auto access =
      reviews_.create(kSubjectAccessReviews, review_object(kSubjectAccessReviews, spec), {}, stop_.get_token());
  if (!access) return failed(access.error());
  const Json& answer = access->json();
  if (bool_at(answer, {"status", "allowed"}) && !bool_at(answer, {"status", "denied"})) return {200, "", who};
  std::string_view role = path == "/metrics" ? "tpu-slice-metrics-reader" : "tpu-slice-debug-reader";
  if (path.starts_with("/fleet/")) role = "tpu-slice-fleet";
  if (verb == "put") role = "tpu-slice-debug-writer";
  return {403, fmt::format("user \"{}\" cannot {} path \"{}\"; the ClusterRole {} allows it", string_at(spec, {"user"}),
                           verb, path, role)};
}

RequestAuthorizer::Decision RequestAuthorizer::failed(const Error& error) {
  bool logs = false;
  {
    const MutexLock lock(mutex_);
    logs = !stop_.stop_requested() && log_limit_.try_take(clock_.now());
  }
  if (logs) log_.warn("request not authorized", {{"error", error.message()}});
  return {503, "the API server did not review the request; the operator's log has the error"};
}

}  // namespace tpuslice
