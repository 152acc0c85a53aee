#include "cmd/tpu-slice-sim/server/https_listener.h"

#include <optional>

#include <fmt/format.h>

#include "api/base/base64.h"
#include "api/http/tls/tls_credentials.h"
#include "api/types/yaml.h"
#include "cmd/tpu-slice-sim/resources/api_errors.h"
#include "cmd/tpu-slice-sim/server/api_call.h"

namespace tpuslice::sim {
namespace {

constexpr Duration kLifetime = std::chrono::hours(24 * 365);
constexpr Duration kClockSkew = std::chrono::hours(1);

http::Validity validity_at(Timestamp now) { return {now - kClockSkew, now + kLifetime}; }

using Tokens = std::map<std::string, UserInfo, std::less<>>;

std::optional<UserInfo> authenticate(const http::Request& request, const http::Peer& peer, const Tokens& tokens) {
  if (!peer.common_name.empty()) {
    UserInfo user{peer.common_name, peer.organizations};
    user.groups.emplace_back("system:authenticated");
    return user;
  }
  const std::string* header = http::find_header(request.headers, "Authorization");
  constexpr std::string_view kBearer = "Bearer ";
  if (header == nullptr || !header->starts_with(kBearer)) return std::nullopt;
  const auto found = tokens.find(std::string_view(*header).substr(kBearer.size()));
  return found == tokens.end() ? std::nullopt : std::optional<UserInfo>(found->second);
}

bool is_public(std::string_view target) {
  const std::string_view path = http::split_target(target).path;
  return path == "/healthz" || path == "/readyz" || path == "/livez" || path == "/version";
}

http::Reply unauthorized() {
  const Error error = Error(ErrorCode::kUnauthorized, "Unauthorized").with_reason("Unauthorized");
  return json_reply(http_status(error), status_json(error).dump());
}

/// The host part of "127.0.0.1:0" or "[::1]:0".
std::string host_of(const std::string& address) { return address.substr(0, address.rfind(':')); }

http::CertificateRequest server_names(const std::string& host) {
  http::CertificateRequest request;
  request.common_name = "kube-apiserver";
  request.dns_names = {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"};
  request.ip_addresses = {"127.0.0.1", "10.96.0.1"};
  if (http::is_ipv4(host) && host != "127.0.0.1" && host != "0.0.0.0") request.ip_addresses.push_back(host);
  return request;
}

Result<http::Identity> issue_client(const http::Identity& authority, const UserInfo& user, Timestamp now) {
  http::CertificateRequest request;
  request.common_name = user.name;
  request.organizations = user.groups;
  request.server = false;
  request.client = true;
  return http::issue_certificate(authority, request, validity_at(now));
}

}  // namespace

HttpsListener::HttpsListener(http::Identity authority, http::Identity admin, const Clock& clock)
    : authority_(std::move(authority)), admin_(std::move(admin)), clock_(clock), issued_(clock.wall()) {}

Result<std::unique_ptr<HttpsListener>> HttpsListener::start(ApiServer& server, const Clock& clock,
                                                            HttpsListenerOptions options) {
  const Timestamp now = clock.wall();
  ASSIGN_OR_RETURN(http::Identity authority, http::make_certificate_authority("kubernetes", validity_at(now)));
  ASSIGN_OR_RETURN(http::Identity admin, issue_client(authority, {"kubernetes-admin", {"system:masters"}}, now));
  std::unique_ptr<HttpsListener> listener(new HttpsListener(std::move(authority), std::move(admin), clock));
  listener->host_ = host_of(options.address);

  http::ServerOptions& serving = listener->serving_;
  serving.address = options.address;
  ASSIGN_OR_RETURN(serving.tls,
                   http::issue_certificate(listener->authority_, server_names(listener->host_), validity_at(now)));
  serving.client_ca = listener->ca();
  serving.threads = 4;
  listener->handler_ = [&server, tokens = std::move(options.tokens)](const http::Request& request,
                                                                     const http::Peer& peer) {
    const auto user = authenticate(request, peer, tokens);
    if (!user && !is_public(request.target)) return unauthorized();
    return server.handle(request, user.value_or(UserInfo{"system:anonymous", {"system:unauthenticated"}}));
  };
  ASSIGN_OR_RETURN(listener->server_, http::Server::start(serving, clock, listener->handler_));
  return listener;
}

std::string HttpsListener::url() const { return fmt::format("https://{}:{}", host_, server_->port()); }

Result<http::Identity> HttpsListener::issue(const UserInfo& user) const {
  return issue_client(authority_, user, issued_);
}

Result<std::string> HttpsListener::kubeconfig_for(const UserInfo& user) const {
  ASSIGN_OR_RETURN(const http::Identity identity, issue(user));
  return kubeconfig_with(identity);
}

std::string HttpsListener::kubeconfig_with(const http::Identity& identity) const {
  const std::string name = "tpu-slice-sim";
  const Json cluster = {{"server", url()}, {"certificate-authority-data", encode_base64(ca())}};
  const Json user = {{"client-certificate-data", encode_base64(identity.certificate_chain)},
                     {"client-key-data", encode_base64(identity.private_key)}};
  const Json config = {{"apiVersion", "v1"},
                       {"kind", "Config"},
                       {"current-context", name},
                       {"clusters", Json::array({{{"name", name}, {"cluster", cluster}}})},
                       {"users", Json::array({{{"name", name}, {"user", user}}})},
                       {"contexts", Json::array({{{"name", name}, {"context", {{"cluster", name}, {"user", name}}}}})}};
  return to_yaml(config);
}

void HttpsListener::stop() { server_->stop(); }

Status HttpsListener::start_again() {
  serving_.address = fmt::format("{}:{}", host_, server_->port());
  ASSIGN_OR_RETURN(server_, http::Server::start(serving_, clock_, handler_));
  return {};
}

}  // namespace tpuslice::sim
