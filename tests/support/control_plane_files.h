// Files of a control plane: certificates, keys, kubeconfigs and kwok's stages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"
#include "api/http/tls/identity.h"

namespace tpuslice::testing {

/// Creates a temporary directory "<prefix>.XXXXXX"; the caller removes it.
[[nodiscard]] Result<std::string> make_temporary_directory(const std::string& prefix);

/// The last `count` lines of a file, for error messages; empty if the file does not exist.
[[nodiscard]] std::string last_lines(const std::string& path, int count);

/// The first address of the service network; the certificate of the API server includes it.
inline constexpr std::string_view kServiceNetwork = "10.96.0.0/16";
inline constexpr std::string_view kServiceAddress = "10.96.0.1";

/// One authority for servers and clients, kept in `directory`:
///   ca.crt ca.key                the authority
///   apiserver.crt apiserver.key  for 127.0.0.1, `address`, localhost and the names of the service `kubernetes`
///   sa.crt sa.key                signs the tokens of service accounts
class ClusterCertificates {
 public:
  static Result<ClusterCertificates> create(const std::string& directory, const std::string& address = "127.0.0.1");

  [[nodiscard]] const std::string& authority() const { return authority_.certificate_chain; }
  /// A client certificate of `user`.
  [[nodiscard]] Result<http::Identity> client(const std::string& user, const std::vector<std::string>& groups) const;

 private:
  explicit ClusterCertificates(http::Identity authority) : authority_(std::move(authority)) {}

  http::Identity authority_;
};

/// A kubeconfig with one cluster, user and context. The user has a token, if `token` is not empty, or a certificate.
[[nodiscard]] std::string kubeconfig_text(const std::string& server, const std::string& authority,
                                          const http::Identity& identity, const std::string& token = {},
                                          const std::string& namespace_name = "default");

/// All *.yaml of `directory` as one YAML stream. A line "#include <file>" is replaced by that file with the indentation
/// of the line. Errors: InvalidArgument.
[[nodiscard]] Result<std::string> assemble_stages(const std::string& directory);

}  // namespace tpuslice::testing
