#include "cmd/kubectl-tpu/pod_logs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace tpuslice::plugin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Object pod(const std::string& name, const std::string& failed_at = "") {
  Json json = {
      {"metadata", {{"name", name}, {"namespace", "ml"}}},
      {"spec",
       {{"containers", Json::array({{{"name", "proxy"}},
                                    {{"name", "main"}, {"resources", {{"limits", {{"google.com/tpu", "4"}}}}}}})}}}};
  if (!failed_at.empty()) {
    json["status"]["containerStatuses"] =
        Json::array({{{"name", "main"}, {"state", {{"terminated", {{"exitCode", 1}, {"finishedAt", failed_at}}}}}}});
  }
  return Object(json);
}

std::vector<std::string> lines_of(const std::vector<std::string>& parts) {
  std::vector<std::string> lines;
  LineSplitter splitter;
  const auto take = [&lines](std::string_view line) { lines.emplace_back(line); };
  for (const std::string& part : parts) splitter.add(part, take);
  splitter.finish(take);
  return lines;
}

TEST(LineSplitter, LinesMayArriveInParts) {
  EXPECT_THAT(lines_of({"one\ntw", "o\n\nthr", "ee"}), ElementsAre("one", "two", "", "three"));
}

TEST(LineSplitter, ALineWithoutEndIsCut) {
  const std::vector<std::string> lines = lines_of({std::string(kMaxLogLine + 10, 'x'), "\nlast\n"});
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].size(), kMaxLogLine);
  EXPECT_EQ(lines[1], "xxxxxxxxxx");
  EXPECT_EQ(lines[2], "last");
}

TEST(PodLogs, TheContainerWithTpusIsChosen) {
  EXPECT_EQ(log_request(pod("train-0"), {.follow = true, .tail = 5}).target,
            "/api/v1/namespaces/ml/pods/train-0/log?container=main&follow=true&tailLines=5");
  EXPECT_EQ(log_request(pod("train-0"), {.container = "proxy"}).target,
            "/api/v1/namespaces/ml/pods/train-0/log?container=proxy");
}

TEST(PodLogs, ThePodThatFailedFirstIsFirst) {
  const std::vector<Object> pods = first_failed_first(
      {pod("ok-0"), pod("later", "2026-01-01T00:00:09Z"), pod("ok-1"), pod("first", "2026-01-01T00:00:01Z")});
  std::vector<std::string> names;
  for (const Object& each : pods) names.push_back(each.name());
  EXPECT_THAT(names, ElementsAre("first", "later", "ok-0", "ok-1"));
}

/// A transport whose streams have this status and these parts.
class StreamOf final : public http::Transport {
 public:
  StreamOf(int status, std::vector<std::string> parts) : status_(status), parts_(std::move(parts)) {}
  Result<http::Response> call(const http::Request&, Duration, std::stop_token) override {
    return Error::unsupported("only streams");
  }
  Result<std::unique_ptr<http::Stream>> open(const http::Request&, Duration, std::stop_token) override {
    return std::unique_ptr<http::Stream>(new Parts(status_, parts_));
  }

 private:
  class Parts final : public http::Stream {
   public:
    Parts(int status, std::vector<std::string> parts) : status_(status), parts_(std::move(parts)) {}
    [[nodiscard]] int status() const override { return status_; }
    [[nodiscard]] const http::Headers& headers() const override { return headers_; }
    [[nodiscard]] Result<std::string> read(Duration, std::stop_token) override {
      if (next_ == parts_.size()) return http::end_of_stream();
      return parts_[next_++];
    }

   private:
    const int status_;
    const std::vector<std::string> parts_;
    const http::Headers headers_;
    std::size_t next_ = 0;
  };

  const int status_;
  const std::vector<std::string> parts_;
};

TEST(PodLogs, AreReadToTheirEnd) {
  StreamOf transport(200, {"a\nb", "c\n"});
  std::vector<std::string> lines;
  EXPECT_TRUE(
      read_log(transport, pod("train-0"), {}, [&](std::string_view line) { lines.emplace_back(line); }, {}).ok());
  EXPECT_THAT(lines, ElementsAre("a", "bc"));
}

TEST(PodLogs, AnAnswerOtherThanALogIsAnError) {
  StreamOf transport(403, {R"({"kind":"Status","reason":"Forbidden","message":"no","code":403})"});
  EXPECT_THAT(read_log(transport, pod("train-0"), {}, [](std::string_view) {}, {}),
              IsError(ErrorCode::kForbidden, HasSubstr("ml/train-0")));
}

}  // namespace
}  // namespace tpuslice::plugin
