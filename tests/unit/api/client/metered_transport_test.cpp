// Names, labels and buckets are those of k8s.io/component-base/metrics/prometheus/restclient.
#include "api/client/metered_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::client {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Answers every request after 20 s, or not at all.
class SlowServer final : public http::Transport {
 public:
  explicit SlowServer(FakeClock& clock) : clock_(clock) {}

  [[nodiscard]] Result<http::Response> call(const http::Request&, Duration, std::stop_token) override {
    clock_.advance(20s);
    if (!answers) return Error::unavailable("no answer");
    return http::Response{201, {}, "{}"};
  }
  [[nodiscard]] Result<std::unique_ptr<http::Stream>> open(const http::Request&, Duration, std::stop_token) override {
    return Error::unavailable("no answer");
  }

  bool answers = true;

 private:
  FakeClock& clock_;
};

TEST(MeteredTransport, CountsAndTimesRequestsAsClientGo) {
  FakeClock clock;
  Metrics metrics;
  SlowServer server(clock);
  MeteredTransport transport(server, metrics, clock, "10.0.0.1:443");
  http::Request request;
  request.method = "POST";
  ASSERT_TRUE(transport.call(request, 1min, {}).ok());
  server.answers = false;
  EXPECT_THAT(transport.call(request, 1min, {}), IsError(ErrorCode::kUnavailable));
  const std::string text = metrics.scrape();
  EXPECT_THAT(text, HasSubstr("# TYPE rest_client_requests_total counter\n"));
  EXPECT_THAT(text, HasSubstr("rest_client_requests_total{code=\"201\",host=\"10.0.0.1:443\",method=\"POST\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("rest_client_requests_total{code=\"<error>\",host=\"10.0.0.1:443\",method=\"POST\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE rest_client_request_duration_seconds histogram\n"));
  const std::string bucket = "rest_client_request_duration_seconds_bucket{host=\"10.0.0.1:443\",verb=\"POST\",le=";
  EXPECT_THAT(text, HasSubstr(bucket + "\"15\"} 0\n" + bucket + "\"30\"} 2\n" + bucket + "\"60\"} 2\n" + bucket +
                              "\"+Inf\"} 2\n"));
}

}  // namespace
}  // namespace tpuslice::client
