// Certificates of the webhook change while the real API server calls it.
#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "tests/e2e/admission_fixture.h"
#include "tests/e2e/admission_load.h"
#include "webhook/certificates.h"

namespace tpuslice::testing {
namespace {

using tpu::testing::RayPod;

using AdmissionCertificates = Admission;

// failurePolicy is Fail, so an admission that the API server could not ask for is a failed creation.
TEST_F(AdmissionCertificates, AreRenewedUnderLoadWithoutFailedAdmissions) {
  const ObjectKey key{"tpu-slice-system", "tpu-slice-webhook-cert"};
  const auto break_member = [&](const char* member) {
    const auto broken = plane_->client().patch(kSecrets, key, client::PatchType::kMerge,
                                               {{"data", {{member, encode_base64("broken")}}}});
    ASSERT_TRUE(broken.ok()) << broken.error().message();
  };
  const auto served = [&] { return plane_->client().get(kSecrets, key)->json()["data"]; };
  // As an administrator who replaces the Secret. The old authority stays trusted.
  const auto replace_authority = [&] {
    webhook::CertificateBundle bundle = webhook::read_certificate_data(plane_->client().get(kSecrets, key)->json());
    bundle.authority = {};
    bundle.leaf = {};
    webhook::SelfManagedOptions options;
    options.namespace_name = key.namespace_name;
    const auto renewed = webhook::renew_certificates(bundle, options, RealClock().wall());
    ASSERT_TRUE(renewed.ok()) << renewed.error().message();
    const Json data = {{"data", webhook::certificate_data(*renewed)}};
    const auto written = plane_->client().patch(kSecrets, key, client::PatchType::kMerge, data);
    ASSERT_TRUE(written.ok()) << written.error().message();
  };
  AdmissionLoad load(plane_->client(), runnable(RayPod{}.json()));
  const RealClock clock;
  const Instant begin = clock.now();
  const auto reach = [&](int count) {
    ASSERT_TRUE(eventually([&] { return load.admitted() + load.failed() >= count; }));
  };
  reach(200);
  Json data = served();
  for (int round = 0; round < 5; ++round) {
    break_member("tls.key");
    server_->step({});
    EXPECT_NE(served()["tls.crt"], data["tls.crt"]) << "a new leaf";
    reach(load.admitted() + load.failed() + 200);
    break_member("ca.key");
    server_->step({});
    EXPECT_EQ(served()["ca.key"], data["ca.key"]) << "restored";
    replace_authority();
    for (int step = 0; step < 3; ++step) server_->step({});
    EXPECT_NE(served()["ca.crt"], data["ca.crt"]) << "a new authority beside the old one";
    data = served();
    reach(load.admitted() + load.failed() + 200);
  }
  const Status removed = plane_->client().remove(kSecrets, key);
  ASSERT_TRUE(removed.ok()) << removed.error().message();
  server_->step({});
  reach(load.admitted() + load.failed() + 200);
  const double seconds = std::chrono::duration<double>(clock.now() - begin).count();
  load.stop();
  EXPECT_EQ(load.failed(), 0);
  GTEST_LOG_(INFO) << load.admitted() << " admitted and " << load.failed() << " failed in " << seconds << " s ("
                   << static_cast<int>(load.admitted() / seconds) << " per second), 10 changes";
}

}  // namespace
}  // namespace tpuslice::testing
