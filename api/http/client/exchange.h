// Exchange: one stream on its way. cpprestsdk's threads fill it, one caller drains it. Private to this folder.
#pragma once

#include "api/http/client/cpprest.h"
// cpprest.h comes first: it decides how cpprestsdk is compiled.
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "api/base/mutex.h"
#include "api/http/client/failure.h"
#include "api/http/transport.h"

namespace tpuslice::http {

/// Thread-safe. Once the caller has let go of it, what still arrives is dropped.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  /// Once `limit` bytes wait for their reader, no more are read.
  explicit Exchange(std::size_t limit) : limit_(limit) {}

  /// Sends. `what` begins the message of an error.
  void start(web::http::client::http_client& client, web::http::http_request request, std::string what);
  /// Ends the request, whatever it is doing. Never waits.
  void cancel() TPUSLICE_EXCLUDES(mutex_);

  /// Status and headers. Errors: as Transport::open.
  Result<Response> wait_head(Instant until, std::stop_token stop) TPUSLICE_EXCLUDES(mutex_);
  /// As Stream::read.
  Result<std::string> read(Duration wait, std::stop_token stop) TPUSLICE_EXCLUDES(mutex_);
  /// Why it failed, if it did.
  [[nodiscard]] std::optional<Failure> failure() const TPUSLICE_EXCLUDES(mutex_);

  // Called by cpprestsdk.
  pplx::task<std::size_t> put(const std::uint8_t* bytes, std::size_t size) TPUSLICE_EXCLUDES(mutex_);

 private:
  void set_head(const web::http::http_response& response) TPUSLICE_EXCLUDES(mutex_);
  void finish(std::optional<Failure> failure) TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::string take_locked(std::optional<pplx::task_completion_event<std::size_t>>& resume)
      TPUSLICE_REQUIRES(mutex_);

  const std::size_t limit_;
  std::string what_;  // constant after start()
  pplx::cancellation_token_source cancellation_;

  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::optional<Response> head_ TPUSLICE_GUARDED_BY(mutex_);
  std::string body_ TPUSLICE_GUARDED_BY(mutex_);
  bool finished_ TPUSLICE_GUARDED_BY(mutex_) = false;
  bool cancelled_ TPUSLICE_GUARDED_BY(mutex_) = false;
  bool oversized_chunk_ TPUSLICE_GUARDED_BY(mutex_) = false;
  std::optional<Failure> failure_ TPUSLICE_GUARDED_BY(mutex_);
  /// Set while cpprestsdk waits for room; it reads no further until then.
  std::optional<pplx::task_completion_event<std::size_t>> paused_ TPUSLICE_GUARDED_BY(mutex_);
  std::size_t paused_size_ TPUSLICE_GUARDED_BY(mutex_) = 0;
};

}  // namespace tpuslice::http
