#include "webhook/certificates.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "api/http/tls/tls_credentials.h"
#include "tests/support/error_matchers.h"
#include "tests/support/fake_api.h"

namespace tpuslice::webhook {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tpuslice::testing::FakeApi;

constexpr Duration kDay = std::chrono::hours(24);
const ObjectKey kSecret{"ours", "tpu-slice-webhook-cert"};
const ObjectKey kConfiguration{"", "tpu-slice-operator"};
constexpr ResourceType kMutating{"admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration",
                                 "mutatingwebhookconfigurations", false};
constexpr ResourceType kValidating{"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration",
                                   "validatingwebhookconfigurations", false};

SelfManagedOptions options() {
  SelfManagedOptions result;
  result.namespace_name = "ours";
  return result;
}

CertificateBundle fresh(Timestamp now) { return *renew_certificates(std::nullopt, options(), now); }

TEST(RenewCertificates, TheLeafHasEveryNameOfTheService) {
  const FakeClock clock;
  const CertificateBundle bundle = fresh(clock.wall());
  for (const char* name : {"tpu-slice-webhook.ours.svc", "tpu-slice-webhook.ours", "localhost"}) {
    const Status verified =
        http::verify_certificate(bundle.leaf.certificate_chain, bundle.authorities, clock.wall(), name);
    EXPECT_TRUE(verified.ok()) << name << ": " << (verified.ok() ? "" : verified.error().message());
  }
  EXPECT_THAT(
      http::verify_certificate(bundle.leaf.certificate_chain, bundle.authorities, clock.wall(), "other.ours.svc"),
      IsError(ErrorCode::kInvalidArgument));
}

TEST(RenewCertificates, TheLeafIsForTheMetricsServiceToo) {
  const FakeClock clock;
  const CertificateBundle old = fresh(clock.wall());
  SelfManagedOptions with_metrics = options();
  with_metrics.metrics_service = "tpu-slice-operator-metrics";
  const CertificateBundle bundle = *renew_certificates(old, with_metrics, clock.wall());
  EXPECT_EQ(bundle.authorities, old.authorities);
  for (const char* name : {"tpu-slice-webhook.ours.svc", "tpu-slice-operator-metrics.ours.svc"}) {
    EXPECT_TRUE(http::verify_certificate(bundle.leaf.certificate_chain, bundle.authorities, clock.wall(), name).ok())
        << name;
  }
  EXPECT_EQ(*renew_certificates(bundle, options(), clock.wall()), bundle) << "an older replica keeps it";
}

TEST(RenewCertificates, WhatAReplicaIssuesWhoseClockIsHoursAheadIsValidNow) {
  const FakeClock clock;
  const CertificateBundle bundle = fresh(clock.wall() + std::chrono::hours(23));
  const Status verified =
      http::verify_certificate(bundle.leaf.certificate_chain, bundle.authorities, clock.wall(), "localhost");
  EXPECT_TRUE(verified.ok()) << verified.error().message();
  EXPECT_EQ(*renew_certificates(bundle, options(), clock.wall()), bundle) << "other replicas keep it";
}

TEST(SelfSignedCertificates, AreRenewedBeforeTheyExpire) {
  FakeClock clock;
  const auto source = self_signed_certificates({"metrics.ours.svc"}, clock);
  const http::Identity first = source->step({}).value();
  EXPECT_TRUE(http::check_identity(first).ok());
  clock.advance(std::chrono::hours(24 * 270));
  EXPECT_EQ(source->step({}).value(), first);
  clock.advance(std::chrono::hours(24 * 10));
  const http::Identity second = source->step({}).value();
  EXPECT_NE(second, first);
  EXPECT_GT(*http::certificate_not_after(second.certificate_chain), clock.wall() + std::chrono::hours(24 * 300));
}

TEST(RenewCertificates, KeepsAValidBundle) {
  FakeClock clock;
  const CertificateBundle bundle = fresh(clock.wall());
  clock.advance(200 * kDay);
  EXPECT_EQ(*renew_certificates(bundle, options(), clock.wall()), bundle);
}

TEST(RenewCertificates, RenewsTheLeafBeforeItExpiresWithTheSameAuthority) {
  FakeClock clock;
  const CertificateBundle bundle = fresh(clock.wall());
  clock.advance(276 * kDay);
  const CertificateBundle renewed = *renew_certificates(bundle, options(), clock.wall());
  EXPECT_NE(renewed.leaf, bundle.leaf);
  EXPECT_EQ(renewed.authorities, bundle.authorities);
}

TEST(RenewCertificates, KeepsTheOldAuthorityBesideANewOne) {
  FakeClock clock;
  const CertificateBundle bundle = fresh(clock.wall());
  clock.advance(3300 * kDay);  // Less than a leaf's lifetime is left of ten years.
  const CertificateBundle renewed = *renew_certificates(bundle, options(), clock.wall());
  EXPECT_NE(renewed.authority, bundle.authority);
  EXPECT_EQ(*http::count_certificates(renewed.authorities), 2);
  EXPECT_THAT(renewed.authorities, ::testing::EndsWith(bundle.authorities));
  EXPECT_TRUE(
      http::verify_certificate(renewed.leaf.certificate_chain, renewed.authorities, clock.wall(), "localhost").ok());
}

TEST(RenewCertificates, ReplacesAnInvalidLeafOrOneOfAnotherService) {
  const FakeClock clock;
  CertificateBundle bundle = fresh(clock.wall());
  bundle.leaf.private_key = fresh(clock.wall()).leaf.private_key;
  EXPECT_NE(*renew_certificates(bundle, options(), clock.wall()), bundle);
  bundle = fresh(clock.wall());
  SelfManagedOptions moved = options();
  moved.service = "renamed";
  EXPECT_NE(renew_certificates(bundle, moved, clock.wall())->leaf, bundle.leaf);
  EXPECT_EQ(renew_certificates(bundle, moved, clock.wall())->authorities, bundle.authorities);
}

TEST(CertificateData, RoundTripsThroughASecret) {
  const FakeClock clock;
  const CertificateBundle bundle = fresh(clock.wall());
  EXPECT_EQ(read_certificate_data({{"data", certificate_data(bundle)}}), bundle);
  Json data = certificate_data(bundle);
  data["tls.key"] = "*";
  EXPECT_EQ(read_certificate_data({{"data", data}}).leaf.private_key, "");
  EXPECT_EQ(read_certificate_data({{"data", data}}).authority, bundle.authority);
  EXPECT_EQ(read_certificate_data(Json::object()), CertificateBundle());
}

class SelfManaged : public ::testing::Test {
 protected:
  SelfManaged() {
    for (const ResourceType& type : {kMutating, kValidating}) {
      api_.put(type, Object(Json::parse(R"({"metadata": {"name": "tpu-slice-operator"},
        "webhooks": [{"name": "a", "clientConfig": {"service": {"name": "s"}}},
                     {"name": "b", "clientConfig": {"service": {"name": "s"}, "caBundle": "b2xk"}}]})")));
    }
  }

  std::unique_ptr<CertificateSource> replica() { return self_managed_certificates(options(), api_, api_, clock_); }
  std::string bundle_of(const ResourceType& type, int webhook) {
    const Json configuration = api_.find(type, kConfiguration)->json();
    const std::string index = std::to_string(webhook);
    return decode_base64(string_at(configuration, {"webhooks", index, "clientConfig", "caBundle"})).value_or("");
  }

  FakeClock clock_;
  FakeApi api_;
};

TEST_F(SelfManaged, CreatesTheSecretAndSetsTheCaBundles) {
  const auto source = replica();
  const auto identity = source->step({});
  ASSERT_TRUE(identity.ok()) << identity.error().message();
  for (const ResourceType& type : {kMutating, kValidating}) {
    for (const int webhook : {0, 1}) {
      const std::string authorities = bundle_of(type, webhook);
      EXPECT_TRUE(http::verify_certificate(identity->certificate_chain, authorities, clock_.wall(),
                                           "tpu-slice-webhook.ours.svc")
                      .ok());
    }
  }
  EXPECT_EQ(api_.find(kSecrets, kSecret)->json()["type"], "kubernetes.io/tls");
}

TEST_F(SelfManaged, WritesNothingWhenNothingChanged) {
  const auto source = replica();
  const auto first = source->step({});
  ASSERT_TRUE(first.ok());
  api_.clear_calls();
  EXPECT_EQ(*source->step({}), *first);
  EXPECT_EQ(*replica()->step({}), *first) << "another replica serves the same certificate";
  EXPECT_THAT(api_.writes(), IsEmpty());
}

TEST_F(SelfManaged, RenewsTheSecretWhenItIsDue) {
  const auto source = replica();
  const auto first = source->step({});
  ASSERT_TRUE(first.ok());
  api_.clear_calls();
  clock_.advance(300 * kDay);
  const auto second = source->step({});
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(*second, *first) << "the API servers may not trust the new one yet";
  const auto third = source->step({});
  ASSERT_TRUE(third.ok());
  EXPECT_NE(*third, *first);
  EXPECT_THAT(api_.writes(), ElementsAre("patch ours/tpu-slice-webhook-cert"));
}

TEST_F(SelfManaged, DoesNotServeACertificateThatWasNotStored) {
  api_.fault = [](const FakeApi::Call& call) {
    return call.verb == "create" ? std::optional<Error>(Error::conflict("exists")) : std::nullopt;
  };
  const auto source = replica();
  const auto lost = source->step({});
  EXPECT_THAT(lost, IsError(ErrorCode::kConflict));
  EXPECT_EQ(bundle_of(kMutating, 0), "") << "the CA bundles are set after the Secret";
  api_.fault = nullptr;
  EXPECT_TRUE(source->step({}).ok());
}

TEST_F(SelfManaged, RecreatesADeletedSecretWithTheSameCertificate) {
  const auto source = replica();
  const auto first = source->step({});
  ASSERT_TRUE(first.ok());
  const Json data = api_.find(kSecrets, kSecret)->json()["data"];
  ASSERT_TRUE(api_.remove(kSecrets, kSecret, {}, {}).ok());
  EXPECT_EQ(*source->step({}), *first);
  EXPECT_EQ(api_.find(kSecrets, kSecret)->json()["data"], data);
}

TEST_F(SelfManaged, RestoresTheServedAuthorityOfABrokenSecret) {
  const auto source = replica();
  const auto first = source->step({});
  ASSERT_TRUE(first.ok());
  const Json data = api_.find(kSecrets, kSecret)->json()["data"];
  Object broken = *api_.find(kSecrets, kSecret);
  broken.mutable_json()["data"] = {{"ca.crt", "eA=="}, {"tls.crt", "eA=="}};
  api_.put(kSecrets, broken);
  EXPECT_EQ(*source->step({}), *first);
  EXPECT_EQ(api_.find(kSecrets, kSecret)->json()["data"], data);
}

TEST_F(SelfManaged, ANewReplicaTrustsTheAuthorityWhoseKeyIsLost) {
  const auto first = replica()->step({});
  ASSERT_TRUE(first.ok());
  Object broken = *api_.find(kSecrets, kSecret);
  broken.mutable_json()["data"].erase("ca.key");
  api_.put(kSecrets, broken);
  EXPECT_EQ(*replica()->step({}), *first);
  EXPECT_EQ(*http::count_certificates(bundle_of(kMutating, 0)), 2);
}

TEST_F(SelfManaged, TwoReplicasThatRenewAtTheSameTimeEndWithOneTrust) {
  const auto one = replica();
  const auto other = replica();
  for (const ObjectKey& point : {kConfiguration, kSecret}) {
    for (const char* verb : {"get", "patch"}) {
      ASSERT_TRUE(one->step({}).ok());
      ASSERT_TRUE(other->step({}).ok());
      clock_.advance(3300 * kDay);
      bool overtaken = false;
      api_.fault = [&](const FakeApi::Call& call) -> std::optional<Error> {
        if (call.verb == verb && call.key == point && !std::exchange(overtaken, true)) {
          EXPECT_TRUE(other->step({}).ok());
        }
        return std::nullopt;
      };
      auto identity = one->step({});
      api_.fault = nullptr;
      EXPECT_TRUE(overtaken) << verb << " " << point.to_string();
      if (!identity) identity = one->step({});
      ASSERT_TRUE(identity.ok()) << identity.error().message();
      ASSERT_TRUE(other->step({}).ok());
      identity = one->step({});
      EXPECT_EQ(*identity, *other->step({}));
      const auto trusted =
          http::verify_certificate(identity->certificate_chain, bundle_of(kMutating, 0), clock_.wall(), "localhost");
      EXPECT_TRUE(trusted.ok()) << verb << " " << point.to_string();
    }
  }
}

TEST_F(SelfManaged, RestoresARemovedCaBundle) {
  const auto source = replica();
  ASSERT_TRUE(source->step({}).ok());
  Object configuration = *api_.find(kMutating, kConfiguration);
  configuration.mutable_json()["webhooks"][0]["clientConfig"].erase("caBundle");
  api_.put(kMutating, configuration);
  ASSERT_TRUE(source->step({}).ok());
  EXPECT_EQ(bundle_of(kMutating, 0), bundle_of(kMutating, 1));
}

TEST_F(SelfManaged, WorksWithoutWebhookConfigurations) {
  for (const ResourceType& type : {kMutating, kValidating}) ASSERT_TRUE(api_.remove(type, kConfiguration, {}, {}).ok());
  EXPECT_TRUE(replica()->step({}).ok());
}

class Directory {
 public:
  Directory() : path_(std::filesystem::path(::testing::TempDir()) / ("certificates-" + std::to_string(++count_))) {
    std::filesystem::create_directories(path_);
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  void write(const http::Identity& identity) const {
    std::ofstream(path_ / "tls.crt") << identity.certificate_chain;
    std::ofstream(path_ / "tls.key") << identity.private_key;
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  static inline int count_ = 0;
  std::filesystem::path path_;
};

TEST(CertificatesFromFiles, AreReadAtEachStep) {
  const FakeClock clock;
  const Directory directory;
  const auto source = certificates_from_files(directory.path());
  EXPECT_THAT(source->step({}).error().message(), HasSubstr("tls.crt: no such file"));
  for (int round = 0; round < 2; ++round) {
    const http::Identity identity = fresh(clock.wall()).leaf;
    directory.write(identity);
    EXPECT_EQ(*source->step({}), identity);
  }
}

TEST(CertificatesFromFiles, RefuseAKeyOfAnotherCertificate) {
  const FakeClock clock;
  const Directory directory;
  directory.write({fresh(clock.wall()).leaf.certificate_chain, fresh(clock.wall()).leaf.private_key});
  const auto identity = certificates_from_files(directory.path())->step({});
  EXPECT_THAT(identity, IsError(ErrorCode::kInvalidArgument));
}

}  // namespace
}  // namespace tpuslice::webhook
