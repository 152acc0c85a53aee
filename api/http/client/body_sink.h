// BodySink: the write-only stream buffer cpprestsdk pushes a response body into. Private to this folder.
#pragma once

#include "api/http/client/exchange.h"

namespace tpuslice::http {

/// Nothing may throw out of it: cpprestsdk would end the process.
class BodySink final : public concurrency::streams::details::streambuf_state_manager<std::uint8_t> {
  using Base = concurrency::streams::details::streambuf_state_manager<std::uint8_t>;

 public:
  explicit BodySink(std::shared_ptr<Exchange> exchange) : Base(std::ios_base::out), exchange_(std::move(exchange)) {}

  [[nodiscard]] bool can_seek() const override { return false; }
  [[nodiscard]] bool has_size() const override { return false; }
  [[nodiscard]] utility::size64_t size() const override { return 0; }
  std::size_t buffer_size(std::ios_base::openmode = std::ios_base::in) const override { return 0; }
  void set_buffer_size(std::size_t, std::ios_base::openmode = std::ios_base::in) override {}
  [[nodiscard]] std::size_t in_avail() const override { return 0; }
  [[nodiscard]] pos_type getpos(std::ios_base::openmode) const override { return static_cast<pos_type>(traits::eof()); }
  pos_type seekpos(pos_type, std::ios_base::openmode) override { return static_cast<pos_type>(traits::eof()); }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return static_cast<pos_type>(traits::eof());
  }
  /// After a failed write cpprestsdk waits for this on the thread that did the write. The base class would complete it
  /// in a continuation on another of these threads: with as many failed writes as threads, none would be left to do so.
  pplx::task<void> close(std::ios_base::openmode mode) override {
    if ((mode & std::ios_base::out) != 0) m_stream_can_write = false;
    return pplx::task_from_result();
  }
  using Base::close;
  bool acquire(std::uint8_t*&, std::size_t&) override { return false; }
  void release(std::uint8_t*, std::size_t) override {}

 protected:
  pplx::task<std::size_t> _putn(const std::uint8_t* bytes, std::size_t size) override {
    return exchange_->put(bytes, size);
  }
  pplx::task<int_type> _putc(std::uint8_t byte) override {
    return exchange_->put(&byte, 1).then([byte](std::size_t) -> int_type { return byte; });
  }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  std::uint8_t* _alloc(std::size_t) override { return nullptr; }
  void _commit(std::size_t) override {}

  // Write-only; the base class does not read.
  pplx::task<int_type> _bumpc() override { return pplx::task_from_result<int_type>(traits::eof()); }
  int_type _sbumpc() override { return traits::eof(); }
  pplx::task<int_type> _getc() override { return pplx::task_from_result<int_type>(traits::eof()); }
  int_type _sgetc() override { return traits::eof(); }
  pplx::task<int_type> _nextc() override { return pplx::task_from_result<int_type>(traits::eof()); }
  pplx::task<int_type> _ungetc() override { return pplx::task_from_result<int_type>(traits::eof()); }
  pplx::task<std::size_t> _getn(std::uint8_t*, std::size_t) override { return pplx::task_from_result<std::size_t>(0); }
  std::size_t _scopy(std::uint8_t*, std::size_t) override { return 0; }

 private:
  const std::shared_ptr<Exchange> exchange_;
};

}  // namespace tpuslice::http
