// Directory with the certificate of the measured server, like a Secret volume.
#pragma once

#include <string>

#include "api/base/result.h"
#include "api/http/tls/identity.h"

namespace tpuslice::bench {

/// tls.crt and tls.key. Used by one thread.
class CertificateDirectory {
 public:
  /// Errors: InvalidArgument if no directory can be created.
  static Result<CertificateDirectory> create();
  ~CertificateDirectory();
  CertificateDirectory(CertificateDirectory&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  CertificateDirectory& operator=(CertificateDirectory&&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Errors: InvalidArgument.
  [[nodiscard]] Status write(const http::Identity& leaf) const;

 private:
  explicit CertificateDirectory(std::string path) : path_(std::move(path)) {}

  std::string path_;  ///< Empty: moved from.
};

}  // namespace tpuslice::bench
