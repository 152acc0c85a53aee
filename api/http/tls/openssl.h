// OpenSSL's objects as owners, and PEM in and out. Private to this folder.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"

namespace tpuslice::http {

template <auto Free>
struct OpensslFree {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using X509Ptr = std::unique_ptr<X509, OpensslFree<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;
using BioPtr = std::unique_ptr<BIO, OpensslFree<BIO_free_all>>;
using StorePtr = std::unique_ptr<X509_STORE, OpensslFree<X509_STORE_free>>;

/// The last OpenSSL error of this thread; clears its error queue.
[[nodiscard]] std::string openssl_error();

/// All certificates in `pem`. Errors: InvalidArgument if there is none or one does not parse.
[[nodiscard]] Result<std::vector<X509Ptr>> parse_certificates(std::string_view pem);
/// Errors: InvalidArgument; encrypted keys are refused.
[[nodiscard]] Result<KeyPtr> parse_private_key(std::string_view pem);
[[nodiscard]] std::string to_pem(X509* certificate);
[[nodiscard]] std::string to_pem(EVP_PKEY* key);

}  // namespace tpuslice::http
