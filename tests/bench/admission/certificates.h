// Certificates of the measured server, in a directory like that of a Secret volume.
#pragma once

#include <string>

#include "api/base/result.h"
#include "api/http/identity.h"

namespace tpuslice::bench {

/// tls.crt and tls.key. Used by one thread.
class CertificateDirectory {
 public:
  /// Errors: InvalidArgument where no directory can be made.
  static Result<CertificateDirectory> make();
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
