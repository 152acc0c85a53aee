// Feed: what the server side of a stream sends, written by a test. FeedStream: the stream that a client reads.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "api/base/mutex.h"
#include "api/http/transport.h"
#include "api/types/json.h"

namespace tpuslice::testing {

/// Each read of the stream returns one chunk. Thread-safe.
class Feed {
 public:
  void put(std::string bytes) { push(std::move(bytes)); }
  void line(const std::string& text) { push(text + "\n"); }
  void line(const Json& event) { push(event.dump() + "\n"); }
  void end() { push(http::end_of_stream()); }
  void fail(Error error) { push(std::move(error)); }
  /// True once the stream was destroyed.
  [[nodiscard]] bool closed() const {
    const MutexLock lock(mutex_);
    return closed_;
  }

  /// The end and an error stay: every later read returns them as well.
  Result<std::string> read(Duration wait, const std::stop_token& stop) {
    const MutexLock lock(mutex_);
    changed_.wait_for(mutex_, stop, wait, [this]() TPUSLICE_REQUIRES(mutex_) { return !chunks_.empty(); });
    if (stop.stop_requested()) return Error::of(ErrorCode::kCancelled, "stopped");
    if (chunks_.empty()) return std::string();
    Result<std::string> next = chunks_.front();
    if (next.ok()) chunks_.pop_front();
    return next;
  }
  void close() {
    const MutexLock lock(mutex_);
    closed_ = true;
  }

 private:
  void push(Result<std::string> chunk) {
    {
      const MutexLock lock(mutex_);
      chunks_.push_back(std::move(chunk));
    }
    changed_.notify_all();
  }

  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Result<std::string>> chunks_ TPUSLICE_GUARDED_BY(mutex_);
  bool closed_ TPUSLICE_GUARDED_BY(mutex_) = false;
};

class FeedStream final : public http::Stream {
 public:
  explicit FeedStream(std::shared_ptr<Feed> feed, int status = 200, http::Headers headers = {})
      : feed_(std::move(feed)), status_(status), headers_(std::move(headers)) {}
  ~FeedStream() override { feed_->close(); }
  FeedStream(const FeedStream&) = delete;
  FeedStream& operator=(const FeedStream&) = delete;
  [[nodiscard]] int status() const override { return status_; }
  [[nodiscard]] const http::Headers& headers() const override { return headers_; }
  [[nodiscard]] Result<std::string> read(Duration wait, std::stop_token stop) override {
    return feed_->read(wait, stop);
  }

 private:
  const std::shared_ptr<Feed> feed_;
  const int status_;
  const http::Headers headers_;
};

}  // namespace tpuslice::testing
