// Certificates of the webhook change while the real API server calls it.
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "api/base/pause.h"
#include "tests/e2e/admission_fixture.h"

namespace tpuslice::testing {
namespace {

using tpu::testing::env_value;
using tpu::testing::RayPod;

using AdmissionCertificates = Admission;

/// Dry-run creations of TPU pods at a fixed rate from several threads, until destruction.
class Load {
 public:
  static constexpr int kThreads = 8;
  static constexpr int kPerSecond = 200;

  Load(client::Client& client, const Json& pod) {
    for (int thread = 0; thread < kThreads; ++thread) {
      threads_.emplace_back([this, &client, pod](const std::stop_token& stop) { run(client, pod, stop); });
    }
  }
  void stop() { threads_.clear(); }
  [[nodiscard]] int admitted() const { return admitted_; }
  [[nodiscard]] int failed() const { return failed_; }

 private:
  void run(client::Client& client, const Json& pod, const std::stop_token& stop) {
    const RealClock clock;
    constexpr Duration kGap = std::chrono::microseconds(1'000'000) * kThreads / kPerSecond;
    Instant next = clock.now();
    while (!stop.stop_requested()) {
      const auto created = client.create(kPods, Object(pod), {.dry_run = true});
      const bool right = created.ok() && env_value(created->json(), "TPU_WORKER_ID") == "0";
      ++(right ? admitted_ : failed_);
      next += kGap;
      const Instant now = clock.now();
      if (next > now) tpuslice::pause(next - now, stop);
    }
  }

  std::atomic<int> admitted_ = 0;
  std::atomic<int> failed_ = 0;
  std::vector<std::jthread> threads_;
};

// failurePolicy is Fail, so an admission that the API server could not ask for is a failed creation.
TEST_F(AdmissionCertificates, AreRenewedUnderLoadWithoutFailedAdmissions) {
  const ObjectKey key{"tpu-slice-system", "tpu-slice-webhook-cert"};
  const auto break_member = [&](const char* member) {
    const auto broken = plane_->client().patch(kSecrets, key, client::PatchType::kMerge,
                                               {{"data", {{member, encode_base64("broken")}}}});
    ASSERT_TRUE(broken.ok()) << broken.error().message();
  };
  const auto served = [&] { return plane_->client().get(kSecrets, key)->json()["data"]; };
  Load load(plane_->client(), runnable(RayPod{}.json()));
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
                   << static_cast<int>(load.admitted() / seconds) << " per second), 10 renewals";
}

}  // namespace
}  // namespace tpuslice::testing
