// Requests of plans for events about an object.
#include "controllers/runtime/event_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/clock.h"
#include "controllers/runtime/workload_client.h"
#include "tests/support/fake_api.h"

namespace tpuslice::runtime {
namespace {

using namespace std::chrono_literals;
using plan::WorkloadRequest;
using ::testing::HasSubstr;

class EventQueryTest : public ::testing::Test {
 protected:
  void settle() {
    while (client_.step(clock_.now(), {})) {
    }
  }
  [[nodiscard]] const plan::WorkloadAnswer* answer(const WorkloadRequest& request) {
    answers_ = client_.answers(owner_);
    return answers_.to(request);
  }

  FakeClock clock_;
  Metrics metrics_;
  testing::FakeApi api_;
  WorkloadClient client_{{}, api_, clock_, metrics_};
  const WorkloadOwner owner_{"jobs", {"default", "train"}};
  plan::WorkloadAnswers answers_;
};

/// A request for the events about an object.
WorkloadRequest last_event() {
  WorkloadRequest out;
  out.name = "refused-pods";
  out.events = plan::EventQuery{"uid-of-job", "FailedCreate"};
  out.interval = 1min;
  return out;
}

constexpr ResourceType kCoreEvents{"", "v1", "Event", "events"};

Json event_of(const char* name, const char* message, Json times) {
  times["apiVersion"] = "v1";
  times["kind"] = "Event";
  times["metadata"]["name"] = name;
  times["metadata"]["namespace"] = "default";
  times["message"] = message;
  return times;
}

TEST_F(EventQueryTest, KeepsTheNewestEvent) {
  client_.set(owner_, {last_event()});
  settle();
  ASSERT_NE(answer(last_event()), nullptr);
  EXPECT_EQ(answer(last_event())->content, Json::object()) << "there is none";
  EXPECT_TRUE(answer(last_event())->ok());
  api_.put(kCoreEvents, Object(event_of("a", "old", {{"lastTimestamp", "2026-01-01T00:00:00Z"}})));
  api_.put(kCoreEvents, Object(event_of("b", "newest",
                                        {{"eventTime", "2026-01-01T00:00:01.000000Z"},
                                         {"series", {{"lastObservedTime", "2026-01-01T00:00:03.000000Z"}}}})));
  api_.put(kCoreEvents, Object(event_of("c", "between", {{"eventTime", "2026-01-01T00:00:02.000000Z"}})));
  clock_.advance(1min);
  settle();
  EXPECT_EQ(answer(last_event())->content, Json({{"message", "newest"}, {"time", "2026-01-01T00:00:03Z"}}));
}

TEST_F(EventQueryTest, ListsEventsOfOneObjectInItsNamespace) {
  client::ListOptions asked;
  struct Recorder final : testing::FakeApi {
    explicit Recorder(client::ListOptions& options) : asked(options) {}
    Result<client::ListPage> list(const ResourceType&, const client::ListOptions& options, std::stop_token) override {
      asked = options;
      return client::ListPage{
          {R"({"message": ")" + std::string(5000, 'x') + R"(", "eventTime": "2026-01-01T00:00:00Z"})", "not JSON",
           R"({"message": "without a time"})"}};
    }
    client::ListOptions& asked;
  } api(asked);
  WorkloadClient client({}, api, clock_, metrics_);
  client.set(owner_, {last_event()});
  while (client.step(clock_.now(), {})) {
  }
  EXPECT_EQ(asked.namespace_name, "default");
  EXPECT_EQ(asked.field_selector, "involvedObject.uid=uid-of-job,reason=FailedCreate");
  EXPECT_GT(asked.limit, 0);
  EXPECT_GT(asked.max_bytes, 0U);
  const plan::WorkloadAnswers answers = client.answers(owner_);
  EXPECT_LT(string_at(answers.to(last_event())->content, {"message"}).size(), 1100U);
}

TEST_F(EventQueryTest, WithoutThePermissionForEventsThereIsNoAnswer) {
  api_.fault = [](const auto& call) -> std::optional<Error> {
    if (call.verb == "list") return Error::of(ErrorCode::kForbidden, "events is forbidden");
    return std::nullopt;
  };
  client_.set(owner_, {last_event()});
  settle();
  ASSERT_NE(answer(last_event()), nullptr);
  EXPECT_FALSE(answer(last_event())->ok());
  EXPECT_THAT(answer(last_event())->error, HasSubstr("forbidden"));
}

TEST_F(EventQueryTest, SendsWithTheFirstSenderThatThereIs) {
  WorkloadClient client({}, api_, clock_, metrics_);
  int sent = 0;
  client.send_with([&](const std::string&, const http::Request&, Duration, const std::stop_token&) {
    ++sent;
    return Result<http::Response>(http::Response{200, {}, ""});
  });
  client.send_with({});
  WorkloadRequest status;
  status.name = "status";
  status.address = "10.0.0.7:8265";
  client.set(owner_, {status});
  while (client.step(clock_.now(), {})) {
  }
  EXPECT_EQ(sent, 1);
}

}  // namespace
}  // namespace tpuslice::runtime
