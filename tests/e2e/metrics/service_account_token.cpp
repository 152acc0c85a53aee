#include "tests/e2e/metrics/service_account_token.h"

#include <algorithm>

#include "api/base/base64.h"
#include "api/base/file.h"
#include "api/types/json.h"
#include "tests/support/process.h"

namespace tpuslice::testing {
namespace {

constexpr const char* kIssuer = "https://kubernetes.default.svc.cluster.local";
constexpr std::size_t kIntegerBytes = 32;

std::string base64url(std::string_view bytes) {
  std::string text = encode_base64(std::string(bytes));
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  text.resize(text.find_last_not_of('=') + 1);
  return text;
}

/// The integer at `at` of a DER signature, in 32 bytes; moves `at` behind it.
std::string take_integer(std::string_view der, std::size_t& at) {
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(der.at(at + 1)));
  std::string digits(der.substr(at + 2, length));
  at += 2 + length;
  digits.erase(0, std::min(digits.find_first_not_of('\0'), digits.size()));
  return std::string(kIntegerBytes - digits.size(), '\0') + digits;
}

Result<std::string> sign_es256(const std::string& directory, const std::string& text) {
  const std::string input = directory + "/token.txt";
  const std::string output = directory + "/token.sig";
  RETURN_IF_ERROR(write_private_file(input, text));
  ASSIGN_OR_RETURN(
      const auto openssl,
      Process::start({.program = "/usr/bin/openssl",
                      .args = {"dgst", "-sha256", "-sign", directory + "/sa.key", "-out", output, input}}));
  if (openssl->wait(std::chrono::seconds(30)).value_or(-1) != 0) return Error::internal("openssl: cannot sign");
  ASSIGN_OR_RETURN(const std::string der, read_file(output));
  std::size_t at = 2;  // After the tag and the length of the sequence.
  const std::string r = take_integer(der, at);
  return r + take_integer(der, at);
}

}  // namespace

Result<std::string> sign_token(const std::string& directory, const ObjectKey& account, const std::string& uid,
                               Timestamp expiry) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(expiry.time_since_epoch()).count();
  const Json claims = {
      {"iss", kIssuer},
      {"aud", {kIssuer}},
      {"sub", "system:serviceaccount:" + account.namespace_name + ":" + account.name},
      {"iat", seconds - 3600},
      {"nbf", seconds - 3600},
      {"exp", seconds},
      {"kubernetes.io",
       {{"namespace", account.namespace_name}, {"serviceaccount", {{"name", account.name}, {"uid", uid}}}}}};
  const std::string text = base64url(R"({"alg":"ES256","typ":"JWT"})") + "." + base64url(claims.dump());
  ASSIGN_OR_RETURN(const std::string signature, sign_es256(directory, text));
  return text + "." + base64url(signature);
}

}  // namespace tpuslice::testing
