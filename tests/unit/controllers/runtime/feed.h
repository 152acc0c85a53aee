// Feed: the server's end of a watch stream in a test.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "api/base/mutex.h"
#include "api/client/watch.h"
#include "api/http/transport.h"

namespace tpuslice::runtime {

/// Thread-safe.
class Feed {
 public:
  void line(const std::string& text) { push(text + "\n"); }
  void line(const Json& event) { push(event.dump() + "\n"); }
  void end() { push(http::end_of_stream()); }
  void fail(Error error) { push(std::move(error)); }
  [[nodiscard]] bool closed() const {
    const MutexLock lock(mutex_);
    return closed_;
  }

  Result<std::string> read(Duration wait, const std::stop_token& stop) {
    const MutexLock lock(mutex_);
    changed_.wait_for(mutex_, stop, wait, [this] { return !chunks_.empty(); });
    if (stop.stop_requested()) return Error::of(ErrorCode::kCancelled, "stopped");
    if (chunks_.empty()) return std::string();
    Result<std::string> next = std::move(chunks_.front());
    chunks_.pop_front();
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
  explicit FeedStream(std::shared_ptr<Feed> feed) : feed_(std::move(feed)) {}
  ~FeedStream() override { feed_->close(); }
  FeedStream(const FeedStream&) = delete;
  FeedStream& operator=(const FeedStream&) = delete;
  [[nodiscard]] int status() const override { return 200; }
  [[nodiscard]] const http::Headers& headers() const override { return headers_; }
  [[nodiscard]] Result<std::string> read(Duration wait, std::stop_token stop) override {
    return feed_->read(wait, stop);
  }

 private:
  const std::shared_ptr<Feed> feed_;
  const http::Headers headers_;
};

}  // namespace tpuslice::runtime
