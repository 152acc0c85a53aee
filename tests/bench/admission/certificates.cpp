#include "tests/bench/admission/certificates.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tpuslice::bench {
namespace {

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::trunc);
  file << text;
  if (!file.flush()) return Error::invalid_argument("{}: cannot be written", path);
  return {};
}

}  // namespace

Result<CertificateDirectory> CertificateDirectory::create() {
  std::string path = (std::filesystem::temp_directory_path() / "tpu-slice-admission-bench-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) return Error::invalid_argument("{}: cannot be created", path);
  return CertificateDirectory(std::move(path));
}

CertificateDirectory::~CertificateDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Status CertificateDirectory::write(const http::Identity& leaf) const {
  RETURN_IF_ERROR(write_file(path_ + "/tls.crt", leaf.certificate_chain));
  return write_file(path_ + "/tls.key", leaf.private_key);
}

}  // namespace tpuslice::bench
