#include "tests/bench/admission/certificates.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "api/http/tls_credentials.h"

namespace tpuslice::bench {
namespace {

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text;
  if (!file.flush()) return Error::invalid_argument("{}: cannot be written", path);
  return {};
}

}  // namespace

Result<CertificateDirectory> CertificateDirectory::make() {
  std::string path = (std::filesystem::temp_directory_path() / "tpu-slice-admission-bench-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) return Error::invalid_argument("{}: cannot be made", path);
  return CertificateDirectory(std::move(path));
}

CertificateDirectory::~CertificateDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<CertificateDirectory::Next> CertificateDirectory::issue() {
  const Timestamp now = RealClock().wall();
  const http::Validity validity{now - std::chrono::hours(1), now + std::chrono::hours(24)};
  ASSIGN_OR_RETURN(const http::Identity authority, http::make_certificate_authority("admission-bench", validity));
  http::CertificateRequest request;
  request.common_name = "admission-bench";
  request.ip_addresses = {"127.0.0.1"};
  ASSIGN_OR_RETURN(const http::Identity leaf, http::issue_certificate(authority, request, validity));
  return Next{authority.certificate_chain, leaf.certificate_chain, leaf.private_key};
}

Status CertificateDirectory::write(const Next& next) const {
  RETURN_IF_ERROR(write_file(path_ + "/tls.crt", next.chain));
  return write_file(path_ + "/tls.key", next.key);
}

}  // namespace tpuslice::bench
