#include "api/http/tls/openssl.h"

#include <openssl/err.h>

#include <array>

namespace tpuslice::http {
namespace {

BioPtr reader(std::string_view text) { return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

std::string contents(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

/// Never prompts: an encrypted key is an error, not a question on the terminal.
int no_password(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*user*/) { return -1; }

}  // namespace

std::string openssl_error() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return "unknown error";
  const char* reason = ERR_reason_error_string(code);
  if (reason != nullptr) return reason;
  std::array<char, 256> text{};
  ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

Result<std::vector<X509Ptr>> parse_certificates(std::string_view pem) {
  const BioPtr bio = reader(pem);
  std::vector<X509Ptr> out;
  ERR_clear_error();
  while (X509* next = PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr)) out.emplace_back(next);
  const unsigned long last = ERR_peek_last_error();
  const bool at_end = ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
  if (!at_end) return Error::invalid_argument("certificate {} of the PEM: {}", out.size() + 1, openssl_error());
  ERR_clear_error();
  if (out.empty()) return Error::invalid_argument("no certificate in {} bytes of PEM", pem.size());
  return out;
}

Result<KeyPtr> parse_private_key(std::string_view pem) {
  const BioPtr bio = reader(pem);
  ERR_clear_error();
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
  if (!key) return Error::invalid_argument("private key: {} (expected unencrypted PEM)", openssl_error());
  return key;
}

std::string to_pem(X509* certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate);
  return contents(bio.get());
}

std::string to_pem(EVP_PKEY* key) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return contents(bio.get());
}

}  // namespace tpuslice::http
