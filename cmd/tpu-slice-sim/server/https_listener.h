// HttpsListener: an ApiServer on a real socket, for kubectl and for clients over TLS.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "api/http/server/server.h"
#include "api/http/tls/identity.h"
#include "cmd/tpu-slice-sim/server/api_server.h"

namespace tpuslice::sim {

struct HttpsListenerOptions {
  std::string address = "127.0.0.1:0";                    ///< Port 0 picks a free one.
  std::map<std::string, UserInfo, std::less<>> tokens{};  ///< Users by bearer token.
};

/// Has its own certificate authority. A request without a client certificate of that authority (CN is the user, O the
/// groups) or a known token gets 401, except for health and version. Listens until destroyed.
class HttpsListener {
 public:
  /// `server` and `clock`, which also dates the certificates, outlive it. Errors: those of http::Server::start().
  static Result<std::unique_ptr<HttpsListener>> start(ApiServer& server, const Clock& clock,
                                                      HttpsListenerOptions options = {});

  /// "https://127.0.0.1:34567"
  [[nodiscard]] std::string url() const;
  /// PEM.
  [[nodiscard]] const std::string& ca() const { return authority_.certificate_chain; }
  /// A client certificate of system:masters.
  [[nodiscard]] const http::Identity& admin() const { return admin_; }
  /// A client certificate for any user. Errors: InvalidArgument.
  [[nodiscard]] Result<http::Identity> issue(const UserInfo& user) const;
  /// A kubeconfig for this server as the administrator.
  [[nodiscard]] std::string kubeconfig() const { return kubeconfig_with(admin_); }
  /// A kubeconfig for another user. Errors: InvalidArgument.
  [[nodiscard]] Result<std::string> kubeconfig_for(const UserInfo& user) const;
  /// Closes all connections and watches.
  void stop();
  /// After stop(): same address, same certificates. Errors: Unavailable if the port is in use.
  Status start_again();

 private:
  HttpsListener(http::Identity authority, http::Identity admin, const Clock& clock);
  [[nodiscard]] std::string kubeconfig_with(const http::Identity& identity) const;

  const http::Identity authority_;
  const http::Identity admin_;
  const Clock& clock_;
  const Timestamp issued_;
  std::string host_;
  http::ServerOptions serving_;
  http::Handler handler_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace tpuslice::sim
