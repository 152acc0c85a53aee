#include "api/http/tls/tls_credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"
#include "tests/unit/api/http/support.h"

namespace tpuslice::http {
namespace {

using testing::issue;
using testing::pki;

TEST(TlsCredentials, LeafIsSignedByItsAuthority) {
  const Timestamp now = RealClock().wall();
  EXPECT_TRUE(
      verify_certificate(pki().server.certificate_chain, pki().authority.certificate_chain, now, "localhost").ok());
  const Identity other = make_certificate_authority("another", testing::valid_now()).value();
  EXPECT_THAT(verify_certificate(pki().server.certificate_chain, other.certificate_chain, now),
              IsError(ErrorCode::kInvalidArgument));
}

TEST(TlsCredentials, NameMustBeAnAlternativeName) {
  const Timestamp now = RealClock().wall();
  const Identity leaf =
      issue({.common_name = "by.common.name", .organizations = {}, .dns_names = {"a.b"}, .ip_addresses = {}});
  EXPECT_TRUE(verify_certificate(leaf.certificate_chain, pki().authority.certificate_chain, now, "a.b").ok());
  EXPECT_THAT(verify_certificate(leaf.certificate_chain, pki().authority.certificate_chain, now, "by.common.name"),
              IsError(ErrorCode::kInvalidArgument));
}

TEST(TlsCredentials, ReadsTheExpiryOfACertificate) {
  const Timestamp end = parse_rfc3339("2031-02-03T04:05:06Z").value();
  const Identity leaf = issue({.common_name = "a", .organizations = {}, .dns_names = {"a"}, .ip_addresses = {}},
                              {parse_rfc3339("2026-01-01T00:00:00Z").value(), end});
  EXPECT_EQ(certificate_not_after(leaf.certificate_chain).value(), end);
  EXPECT_TRUE(
      verify_certificate(leaf.certificate_chain, pki().authority.certificate_chain, RealClock().wall(), "a").ok());
  EXPECT_THAT(
      verify_certificate(leaf.certificate_chain, pki().authority.certificate_chain, end + std::chrono::seconds(1)),
      IsError(ErrorCode::kInvalidArgument));
}

TEST(TlsCredentials, KeyMustBelongToItsCertificate) {
  const Identity other = issue({.common_name = "b", .organizations = {}, .dns_names = {"b"}, .ip_addresses = {}});
  EXPECT_TRUE(check_identity(pki().server).ok());
  EXPECT_THAT(check_identity({pki().server.certificate_chain, other.private_key}),
              IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(check_identity({"", other.private_key}), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(check_identity({other.certificate_chain, "nonsense"}), IsError(ErrorCode::kInvalidArgument));
}

TEST(TlsCredentials, RefusesNamesThatAddAnotherName) {
  for (const char* name : {"a,DNS:b", "a b", "", "a\nDNS:b", "IP:1.2.3.4"}) {
    const auto issued = issue_certificate(
        pki().authority, {.common_name = "a", .organizations = {}, .dns_names = {name}, .ip_addresses = {}},
        testing::valid_now());
    EXPECT_THAT(issued, IsError(ErrorCode::kInvalidArgument)) << name;
  }
}

TEST(TlsCredentials, RefusesAValidityThatEndsBeforeItStarts) {
  EXPECT_THAT(make_certificate_authority("a", {testing::valid_now().not_after, testing::valid_now().not_before}),
              IsError(ErrorCode::kInvalidArgument));
}

TEST(TlsCredentials, CountsTheCertificatesOfABundle) {
  const std::string& one = pki().authority.certificate_chain;
  EXPECT_EQ(count_certificates(one + one).value(), 2);
  EXPECT_THAT(count_certificates(""), IsError(ErrorCode::kInvalidArgument));
  EXPECT_THAT(count_certificates(one.substr(0, one.size() / 2)), IsError(ErrorCode::kInvalidArgument));
}

}  // namespace
}  // namespace tpuslice::http
