#include "api/http/client/exchange.h"

#include <cerrno>

#include "api/http/client/body_sink.h"

namespace tpuslice::http {
namespace {

/// cpprestsdk reads the size of a chunk as a signed number. No real server sends a gigabyte in one chunk.
constexpr std::size_t kMaxChunk = 1U << 30U;

/// What an exception of cpprestsdk means. Its codes are errno values, some of them remapped.
Failure failure_of(const std::exception_ptr& exception, const std::string& what) {
  try {
    std::rethrow_exception(exception);
  } catch (const web::http::http_exception& problem) {
    const int code = problem.error_code().value();
    const std::string_view text = problem.what();
    const bool unsent = text.find("Failed to write request") != std::string_view::npos ||
                        text.find("Failed to connect") != std::string_view::npos ||
                        text.find("resolving") != std::string_view::npos;
    const bool lost = code == EPIPE || code == ECONNABORTED || code == ECONNRESET || code == EPERM;
    if (code == ETIMEDOUT)
      return {Error::of(ErrorCode::kTimeout, "{}: nothing was heard: {}", what, text), unsent, false};
    if (code == EHOSTUNREACH) return {Error::unavailable("{}: no connection: {}", what, text), true, false};
    return {Error::unavailable("{}: {} (code {})", what, text, code), unsent, lost};
  } catch (const pplx::task_canceled&) {
    return {Error::of(ErrorCode::kCancelled, "{}: cancelled", what)};
  } catch (const std::exception& problem) {
    return {Error::unavailable("{}: {}", what, problem.what())};
  } catch (...) {
    return {Error::unavailable("{}: failed for an unknown reason", what)};
  }
}

}  // namespace

void Exchange::start(web::http::client::http_client& client, web::http::http_request request, std::string what) {
  what_ = std::move(what);
  const std::shared_ptr<Exchange> self = shared_from_this();
  try {
    const concurrency::streams::streambuf<std::uint8_t> sink(std::make_shared<BodySink>(self));
    request.set_response_stream(concurrency::streams::ostream(sink));
    client.request(std::move(request), cancellation_.get_token())
        .then([self](const pplx::task<web::http::http_response>& task) {
          const web::http::http_response response = task.get();
          self->set_head(response);
          return response.content_ready();
        })
        .then([self](const pplx::task<web::http::http_response>& task) {
          try {
            static_cast<void>(task.get());
            self->finish(std::nullopt);
          } catch (...) {
            self->finish(failure_of(std::current_exception(), self->what_));
          }
        });
  } catch (...) {
    finish(failure_of(std::current_exception(), what_));
  }
}

void Exchange::cancel() {
  std::optional<pplx::task_completion_event<std::size_t>> resume;
  std::size_t size = 0;
  {
    const MutexLock lock(mutex_);
    cancelled_ = true;
    body_.clear();
    resume.swap(paused_);
    size = paused_size_;
    if (finished_ && !resume) return;
  }
  if (resume) resume->set(size);
  cancellation_.cancel();
}

pplx::task<std::size_t> Exchange::put(const std::uint8_t* bytes, std::size_t size) {
  try {
    const MutexLock lock(mutex_);
    if (cancelled_) return pplx::task_from_exception<std::size_t>(std::runtime_error("cancelled"));
    if (size > kMaxChunk) {
      oversized_chunk_ = true;
      return pplx::task_from_exception<std::size_t>(std::runtime_error("the chunk is too long"));
    }
    body_.append(reinterpret_cast<const char*>(bytes), size);  // NOLINT: bytes are bytes
    changed_.notify_all();
    if (body_.size() < limit_) return pplx::task_from_result(size);
    paused_.emplace();
    paused_size_ = size;
    return pplx::create_task(*paused_);
  } catch (...) {
    return pplx::task_from_exception<std::size_t>(std::current_exception());
  }
}

void Exchange::set_head(const web::http::http_response& response) {
  Response head;
  head.status = response.status_code();
  for (const auto& [name, value] : response.headers()) head.headers.emplace_back(name, value);
  const MutexLock lock(mutex_);
  head_ = std::move(head);
  changed_.notify_all();
}

void Exchange::finish(std::optional<Failure> failure) {
  const MutexLock lock(mutex_);
  finished_ = true;
  failure_ = std::move(failure);
  if (oversized_chunk_)
    failure_ = Failure{Error::invalid_argument("{}: a chunk of more than {} bytes", what_, kMaxChunk)};
  if (failure_ && head_) failure_->lost = false;
  changed_.notify_all();
}

Result<Response> Exchange::wait_head(Instant until, std::stop_token stop) {
  {
    const MutexLock lock(mutex_);
    changed_.wait_until(mutex_, stop, until, [this]() TPUSLICE_REQUIRES(mutex_) { return head_ || finished_; });
    if (head_) return *head_;
    if (finished_ && failure_) return failure_->error;
  }
  cancel();
  if (stop.stop_requested()) return Error::of(ErrorCode::kCancelled, "{}: cancelled", what_);
  return Error::of(ErrorCode::kTimeout, "{}: no answer in time", what_);
}

std::string Exchange::take_locked(std::optional<pplx::task_completion_event<std::size_t>>& resume) {
  std::string out;
  out.swap(body_);
  resume.swap(paused_);
  return out;
}

Result<std::string> Exchange::read(Duration wait, std::stop_token stop) {
  std::optional<pplx::task_completion_event<std::size_t>> resume;
  std::size_t size = 0;
  std::string out;
  {
    const MutexLock lock(mutex_);
    const auto readable = [this]() TPUSLICE_REQUIRES(mutex_) { return !body_.empty() || finished_; };
    if (wait > Duration::zero()) changed_.wait_for(mutex_, stop, wait, readable);
    if (stop.stop_requested()) return Error::of(ErrorCode::kCancelled, "{}: cancelled", what_);
    if (body_.empty() && finished_) return failure_ ? failure_->error : end_of_stream();
    size = paused_size_;
    out = take_locked(resume);
  }
  // Outside of the lock: what waits for room may come back at once, with more.
  if (resume) resume->set(size);
  return out;
}

std::optional<Failure> Exchange::failure() const {
  const MutexLock lock(mutex_);
  return failure_;
}

}  // namespace tpuslice::http
