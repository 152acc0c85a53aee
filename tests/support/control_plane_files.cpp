#include "tests/support/control_plane_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "api/base/base64.h"
#include "api/base/file.h"
#include "api/http/tls/tls_credentials.h"
#include "api/types/json.h"
#include "api/types/yaml.h"

namespace tpuslice::testing {
namespace {

namespace fs = std::filesystem;

http::Validity ten_years() {
  const Timestamp now = RealClock().wall();
  return {now - std::chrono::hours(1), now + std::chrono::hours(24 * 3650)};
}

Status write_identity(const std::string& directory, const std::string& name, const http::Identity& identity) {
  RETURN_IF_ERROR(write_private_file(directory + "/" + name + ".crt", identity.certificate_chain));
  return write_private_file(directory + "/" + name + ".key", identity.private_key);
}

Status append_stages(const fs::path& file, std::ostringstream& out) {
  constexpr std::string_view kInclude = "#include ";
  ASSIGN_OR_RETURN(const std::string text, read_file(file));
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string::npos || !line.substr(indent).starts_with(kInclude)) {
      out << line << "\n";
      continue;
    }
    ASSIGN_OR_RETURN(const std::string included, read_file(file.parent_path() / line.substr(indent + kInclude.size())));
    std::istringstream lines(included);
    for (std::string each; std::getline(lines, each);) out << std::string(indent, ' ') << each << "\n";
  }
  return {};
}

}  // namespace

Result<std::string> make_temporary_directory(const std::string& prefix) {
  std::string path = (fs::temp_directory_path() / (prefix + ".XXXXXX")).string();
  if (mkdtemp(path.data()) == nullptr) return Error::invalid_argument("{}: cannot be created", path);
  return path;
}

std::string last_lines(const std::string& path, int count) {
  std::ifstream in(path);
  std::deque<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
    if (lines.size() > static_cast<std::size_t>(count)) lines.pop_front();
  }
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

Result<ClusterCertificates> ClusterCertificates::create(const std::string& directory, const std::string& address) {
  const http::Validity validity = ten_years();
  ASSIGN_OR_RETURN(http::Identity authority, http::make_certificate_authority("test-control-plane", validity));
  ASSIGN_OR_RETURN(
      const http::Identity server,
      http::issue_certificate(authority,
                              {.common_name = "kube-apiserver",
                               .dns_names = {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
                                             "kubernetes.default.svc.cluster.local"},
                               .ip_addresses = {"127.0.0.1", address, std::string(kServiceAddress)}},
                              validity));
  // Only the key pair matters; the API server reads the public key from the certificate.
  ASSIGN_OR_RETURN(const http::Identity tokens,
                   http::issue_certificate(authority, {.common_name = "service-accounts"}, validity));
  RETURN_IF_ERROR(write_identity(directory, "ca", authority));
  RETURN_IF_ERROR(write_identity(directory, "apiserver", server));
  RETURN_IF_ERROR(write_identity(directory, "sa", tokens));
  return ClusterCertificates(std::move(authority));
}

Result<http::Identity> ClusterCertificates::client(const std::string& user,
                                                   const std::vector<std::string>& groups) const {
  return http::issue_certificate(
      authority_, {.common_name = user, .organizations = groups, .server = false, .client = true}, ten_years());
}

std::string kubeconfig_text(const std::string& server, const std::string& authority, const http::Identity& identity,
                            const std::string& token, const std::string& namespace_name) {
  Json user = Json::object();
  if (token.empty()) {
    user["client-certificate-data"] = encode_base64(identity.certificate_chain);
    user["client-key-data"] = encode_base64(identity.private_key);
  } else {
    user["token"] = token;
  }
  const Json cluster = {{"server", server}, {"certificate-authority-data", encode_base64(authority)}};
  const Json context = {{"cluster", "local"}, {"user", "user"}, {"namespace", namespace_name}};
  return to_yaml({{"apiVersion", "v1"},
                  {"kind", "Config"},
                  {"current-context", "local"},
                  {"clusters", Json::array({Json{{"name", "local"}, {"cluster", cluster}}})},
                  {"users", Json::array({Json{{"name", "user"}, {"user", user}}})},
                  {"contexts", Json::array({Json{{"name", "local"}, {"context", context}}})}});
}

Result<std::string> assemble_stages(const std::string& directory) {
  std::error_code problem;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory, problem)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  if (files.empty()) return Error::invalid_argument("{}: no stages found", directory);
  std::sort(files.begin(), files.end());
  std::ostringstream out;
  for (const fs::path& file : files) {
    out << "---\n";
    RETURN_IF_ERROR(append_stages(file, out));
  }
  return out.str();
}

}  // namespace tpuslice::testing
