// What a control plane keeps on disk before it runs: certificates, keys, kubeconfigs and kwok's stages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"
#include "api/http/identity.h"

namespace tpuslice::testing {

/// Readable by the owner only. Errors: InvalidArgument naming the file.
Status write_private_file(const std::string& path, std::string_view text);
/// Errors: InvalidArgument naming the file.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path);
/// The end of a log, for the message of a failure; empty if there is none.
[[nodiscard]] std::string last_lines(const std::string& path, int count);

/// The first address of the service network, which the certificate of the API server is for, too.
inline constexpr std::string_view kServiceNetwork = "10.96.0.0/16";
inline constexpr std::string_view kServiceAddress = "10.96.0.1";

/// One authority for servers and clients, kept in `directory`:
///   ca.crt ca.key                the authority
///   apiserver.crt apiserver.key  for 127.0.0.1, localhost and the names of the service `kubernetes`
///   sa.crt sa.key                what service account tokens are signed with
class ClusterCertificates {
 public:
  static Result<ClusterCertificates> make(const std::string& directory);

  [[nodiscard]] const std::string& authority() const { return authority_.certificate_chain; }
  /// A certificate of that user for the API server.
  [[nodiscard]] Result<http::Identity> client(const std::string& user, const std::vector<std::string>& groups) const;

 private:
  explicit ClusterCertificates(http::Identity authority) : authority_(std::move(authority)) {}

  http::Identity authority_;
};

/// A kubeconfig with one cluster, user and context. The user has a certificate or, where `token` is not empty, a token.
[[nodiscard]] std::string kubeconfig_text(const std::string& server, const std::string& authority,
                                          const http::Identity& identity, const std::string& token = {});

/// All *.yaml of `directory` as one file of documents, each line that is only "#include <file>" replaced by that file,
/// indented as the line. Errors: InvalidArgument.
[[nodiscard]] Result<std::string> assemble_stages(const std::string& directory);

}  // namespace tpuslice::testing
