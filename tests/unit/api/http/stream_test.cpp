// Streams of the network transport: chunks, back-pressure, the end.
#include <atomic>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"
#include "tests/support/eventually.h"
#include "tests/unit/api/http/support.h"

namespace tpuslice::http::testing {
namespace {

using tpuslice::testing::eventually;
using tpuslice::testing::Feed;

std::unique_ptr<Server> serve(const std::shared_ptr<Feed>& feed) {
  return start(tls_options(), [feed](const Request&, const Peer&) { return stream_reply(feed); });
}

/// Reads until it has `size` bytes or an error.
std::string read_bytes(Stream& stream, std::size_t size) {
  std::string out;
  while (out.size() < size) {
    const auto bytes = stream.read(kGenerous, {});
    if (!bytes || bytes->empty()) break;
    out += *bytes;
  }
  return out;
}

TEST(TransportStream, ReadsEventsWhenTheyArrive) {
  const auto feed = std::make_shared<Feed>();
  const auto server = serve(feed);
  const auto transport = connect(transport_options(*server));
  const auto stream = transport->open(get("/watch"), kGenerous, {}).value();
  EXPECT_EQ(stream->status(), 200);
  EXPECT_NE(find_header(stream->headers(), "content-type"), nullptr);
  for (const std::string event : {"one\n", "two\n", "three\n"}) {
    feed->put(event);
    EXPECT_EQ(read_bytes(*stream, event.size()), event);
  }
}

TEST(TransportStream, DistinguishesTheEndFromABrokenConnection) {
  for (const bool whole : {true, false}) {
    const auto feed = std::make_shared<Feed>();
    const auto server = serve(feed);
    const auto transport = connect(transport_options(*server));
    const auto stream = transport->open(get("/watch"), kGenerous, {}).value();
    feed->put("last\n");
    EXPECT_EQ(read_bytes(*stream, 5), "last\n");
    whole ? feed->end() : feed->fail(Error::unavailable("broken"));
    const auto after = stream->read(kGenerous, {});
    ASSERT_THAT(after, IsError(ErrorCode::kUnavailable));
    EXPECT_EQ(is_end_of_stream(after.error()), whole) << after.error().message();
  }
}

TEST(TransportStream, ReturnsNothingWithoutBytes) {
  const auto feed = std::make_shared<Feed>();
  const auto server = serve(feed);
  const auto transport = connect(transport_options(*server));
  const auto stream = transport->open(get("/watch"), kGenerous, {}).value();
  EXPECT_EQ(stream->read(Duration::zero(), {}).value(), "");
  EXPECT_EQ(stream->read(std::chrono::milliseconds(10), {}).value(), "");
}

TEST(TransportStream, StopsWhenStopIsRequested) {
  const auto feed = std::make_shared<Feed>();
  const auto server = serve(feed);
  const auto transport = connect(transport_options(*server));
  const auto stream = transport->open(get("/watch"), kGenerous, {}).value();
  std::stop_source stop;
  std::jthread stopping([&] { stop.request_stop(); });
  const auto bytes = stream->read(std::chrono::hours(1), stop.get_token());
  EXPECT_THAT(bytes, IsError(ErrorCode::kCancelled));
}

TEST(TransportStream, ClosesItsConnectionWhenDestroyed) {
  const auto feed = std::make_shared<Feed>();
  const auto server = serve(feed);
  const auto transport = connect(transport_options(*server));
  { const auto stream = transport->open(get("/watch"), kGenerous, {}).value(); }
  EXPECT_TRUE(eventually([&] { return feed->closed(); }));
}

TEST(TransportStream, ReadsTheBodyOfAnErrorReply) {
  const auto server = start(tls_options(), [](const Request&, const Peer&) { return text_reply(410, "expired"); });
  const auto transport = connect(transport_options(*server));
  const auto stream = transport->open(get("/watch"), kGenerous, {}).value();
  EXPECT_EQ(stream->status(), 410);
  EXPECT_EQ(read_bytes(*stream, 7), "expired");
}

TEST(TransportStream, SendsABody) {
  const auto server =
      start(tls_options(), [](const Request& request, const Peer&) { return text_reply(200, request.body); });
  Request request = get("/watch");
  request.method = "POST";
  request.body = "what to watch";
  const auto transport = connect(transport_options(*server));
  const auto stream = transport->open(request, kGenerous, {}).value();
  EXPECT_EQ(read_bytes(*stream, request.body.size()), request.body);
}

TEST(TransportStream, RefreshesTheTokenAfterUnauthorized) {
  const auto feed = std::make_shared<Feed>();
  const auto server = start(tls_options(), [feed](const Request& request, const Peer&) {
    return *find_header(request.headers, "authorization") == "Bearer new" ? stream_reply(feed) : text_reply(401, "");
  });
  TransportOptions options = transport_options(*server);
  options.bearer = [](bool refresh) -> Result<std::optional<std::string>> {
    return std::optional<std::string>(refresh ? "new" : "old");
  };
  EXPECT_EQ(connect(options)->open(get("/watch"), kGenerous, {}).value()->status(), 200);
}

TEST(TransportStream, TimesOutWithoutHeaders) {
  Gate release;
  const auto server = start(tls_options(), [&](const Request&, const Peer&) {
    release.wait();
    return text_reply(200, "");
  });
  const auto transport = connect(transport_options(*server));
  const auto stream = transport->open(get("/watch"), std::chrono::milliseconds(200), {});
  release.open();
  EXPECT_THAT(stream, IsError(ErrorCode::kTimeout));
}

/// Answers with a chunked body of these chunks, and then waits for `end`.
RawServer::Script in_chunks(const std::string& headers, const std::vector<std::string>& chunks, Gate& end) {
  return [=, &end](int fd, int) {
    RawServer::read_head(fd);
    RawServer::write(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + headers + "\r\n");
    for (const std::string& chunk : chunks) RawServer::write(fd, fmt::format("{:x}\r\n{}\r\n", chunk.size(), chunk));
    end.wait();
  };
}

std::unique_ptr<Transport> connect_plain(const RawServer& server, TransportOptions options = {}) {
  options.server = fmt::format("http://127.0.0.1:{}", server.port());
  return connect(std::move(options));
}

TEST(TransportStream, UnpacksWhatHasArrived) {
  const std::string text = std::string(100'000, 'a') + "\nlast\n";
  const std::string packed = gzip(text);
  for (const std::size_t limit : {std::size_t{1000}, std::size_t{1U << 20U}}) {
    Gate end;
    const RawServer server(in_chunks("Content-Encoding: gzip\r\n", {packed.substr(0, 7), packed.substr(7)}, end));
    TransportOptions options;
    options.stream_buffer = limit;
    const auto stream = connect_plain(server, options)->open(get("/watch"), kGenerous, {}).value();
    const std::string first = stream->read(kGenerous, {}).value();
    EXPECT_LE(first.size(), limit);
    EXPECT_EQ(first + read_bytes(*stream, text.size() - first.size()), text);
    EXPECT_EQ(stream->read(Duration::zero(), {}).value(), "");
    end.open();
  }
}

// Kubernetes 1.37 ends a member at each flush of a list that it streams.
TEST(TransportStream, UnpacksEveryMember) {
  Gate end;
  const std::string two = gzip("b\n") + gzip("c\n");
  const RawServer server(in_chunks("Content-Encoding: gzip\r\n", {gzip("a\n"), two.substr(0, 5), two.substr(5)}, end));
  const auto stream = connect_plain(server)->open(get("/watch"), kGenerous, {}).value();
  EXPECT_EQ(read_bytes(*stream, 6), "a\nb\nc\n");
  end.open();
}

TEST(TransportStream, ReportsAPackedBodyThatIsDamaged) {
  Gate end;
  const RawServer server(in_chunks("Content-Encoding: gzip\r\n", {"this is not gzip"}, end));
  const auto stream = connect_plain(server)->open(get("/watch"), kGenerous, {}).value();
  const auto bytes = stream->read(kGenerous, {});
  end.open();
  EXPECT_THAT(bytes, IsError(ErrorCode::kUnavailable));
}

TEST(TransportStream, ReportsAPackedBodyThatIsCutOff) {
  const std::string packed = gzip("event\n");
  RawServer server([&](int fd, int) {
    RawServer::read_head(fd);
    const std::string part = packed.substr(0, packed.size() - 4);
    RawServer::write(fd, fmt::format("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"
                                     "{:x}\r\n{}\r\n0\r\n\r\n",
                                     part.size(), part));
  });
  const auto stream = connect_plain(server)->open(get("/watch"), kGenerous, {}).value();
  EXPECT_EQ(read_bytes(*stream, 6), "event\n");
  const auto end = stream->read(kGenerous, {});
  ASSERT_THAT(end, IsError(ErrorCode::kUnavailable));
  EXPECT_FALSE(is_end_of_stream(end.error()));
}

TEST(TransportStream, GivesUpASilentConnection) {
  Gate end;
  const RawServer server(in_chunks("", {"event\n"}, end));
  TransportOptions options;
  options.idle_timeout = std::chrono::milliseconds(300);
  const auto stream = connect_plain(server, options)->open(get("/watch"), kGenerous, {}).value();
  EXPECT_EQ(read_bytes(*stream, 6), "event\n");
  EXPECT_EQ(stream->read(std::chrono::milliseconds(1), {}).value(), "");
  const auto bytes = stream->read(kGenerous, {});
  end.open();
  EXPECT_THAT(bytes, IsError(ErrorCode::kTimeout));
}

TEST(TransportStream, ReportsAChunkThatIsNone) {
  RawServer server([](int fd, int) {
    RawServer::read_head(fd);
    RawServer::write(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nnot a size\r\n");
  });
  const auto stream = connect_plain(server)->open(get("/watch"), kGenerous, {}).value();
  EXPECT_EQ(read_bytes(*stream, 2), "ok");
  EXPECT_THAT(stream->read(kGenerous, {}), IsError(ErrorCode::kUnavailable));
}

/// Counts the bytes that were read; ends after `total` bytes.
class EndlessStream final : public Stream {
 public:
  struct Count {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t bytes = 0;
  };
  EndlessStream(std::shared_ptr<Count> count, std::size_t total) : count_(std::move(count)), total_(total) {}
  [[nodiscard]] int status() const override { return 200; }
  [[nodiscard]] const Headers& headers() const override { return headers_; }
  Result<std::string> read(Duration, std::stop_token stop) override {
    const std::lock_guard lock(count_->mutex);
    if (stop.stop_requested()) return Error(ErrorCode::kCancelled, "stopped");
    if (count_->bytes >= total_) return end_of_stream();
    count_->bytes += 65536;
    count_->changed.notify_all();
    return std::string(65536, 'x');
  }

 private:
  const std::shared_ptr<Count> count_;
  const std::size_t total_;
  const Headers headers_;
};

TEST(TransportStream, StopsReadingFromTheServerWhileItsBufferIsFull) {
  const std::size_t kTotal = 64U << 20U;
  const auto count = std::make_shared<EndlessStream::Count>();
  const auto server = start(tls_options(), [count, kTotal](const Request&, const Peer&) {
    Reply reply = text_reply(200, "");
    reply.stream = std::make_unique<EndlessStream>(count, kTotal);
    return reply;
  });
  TransportOptions options = transport_options(*server);
  options.stream_buffer = 256U << 10U;
  const auto transport = connect(options);
  const auto stream = transport->open(get("/watch"), kGenerous, {}).value();
  {
    std::unique_lock lock(count->mutex);
    EXPECT_FALSE(count->changed.wait_for(lock, std::chrono::seconds(1), [&] { return count->bytes >= kTotal / 2; }))
        << "no back-pressure";
  }
  EXPECT_EQ(read_bytes(*stream, kTotal).size(), kTotal);
  EXPECT_TRUE(is_end_of_stream(stream->read(kGenerous, {}).error()));
}

TEST(TransportStream, LeaksNoDescriptors) {
  const auto server = start(tls_options(), [](const Request&, const Peer&) {
    const auto one = std::make_shared<Feed>();
    one->put("event\n");
    return stream_reply(one);
  });
  const auto transport = connect(transport_options(*server));
  const auto once = [&] { return read_bytes(*transport->open(get("/watch"), kGenerous, {}).value(), 6); };
  EXPECT_EQ(once(), "event\n");
  const int before = open_descriptors();
  for (int i = 0; i < 50; ++i) ASSERT_EQ(once(), "event\n");
  int after = open_descriptors();
  for (int i = 0; i < 200 && after > before + 4; ++i) {
    ASSERT_EQ(once(), "event\n");
    after = open_descriptors();
  }
  EXPECT_LE(after, before + 4);
}

}  // namespace
}  // namespace tpuslice::http::testing
