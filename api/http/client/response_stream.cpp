#include "api/http/client/response_stream.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "api/http/client/answer_head.h"
#include "api/http/client/gunzip.h"

namespace tpuslice::http {
namespace {

namespace beast = boost::beast;

constexpr Duration kMaxWait = std::chrono::hours(24);
constexpr std::size_t kReadSize = 16U << 10U;  ///< A TLS record.
/// Not boost::none, which Beast takes for a limit of zero if the length is known.
constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();

}  // namespace

/// State of the decompression of a body with "Content-Encoding: gzip".
struct ResponseStream::Packing {
  Gunzip gunzip;
  std::string bytes;  ///< Not unpacked yet.
  bool any = false;   ///< Some bytes have come.
};

/// The body as Beast parses it, and its bytes that were not returned yet.
class ResponseStream::Body {
 public:
  using Parser = beast::http::response_parser<beast::http::buffer_body>;

  explicit Body(beast::flat_buffer& buffer) : buffer_(buffer) {}

  bool read_head(Socket& socket, const Call& call, Response& head, Socket::ErrorCode& problem) {
    const bool answered = http::read_head(socket, buffer_, call.method == "HEAD", kUnbounded, parser_, head, problem);
    if (problem) return answered;
    parser_->eager(true);
    if (is_gzip(head.headers)) packing_.emplace();
    return answered;
  }

  /// Adds to `out`, up to `limit` bytes, what has arrived and been buffered.
  void take(std::size_t limit, std::string& out, Socket::ErrorCode& problem) {
    if (!packing_) return parse(limit, out, problem);
    while (out.size() < limit) {
      std::string_view rest = packing_->bytes;
      const std::size_t before = out.size();
      if (packing_->gunzip.unpack(rest, limit, out)) {
        problem = beast::http::error::bad_value;
        return;
      }
      packing_->bytes.erase(0, packing_->bytes.size() - rest.size());
      if (out.size() > before) continue;
      packing_->bytes.clear();
      parse(kReadSize, packing_->bytes, problem);
      if (problem || packing_->bytes.empty()) return;
      packing_->any = true;
    }
  }

  /// Reads more from the socket.
  void fill(Socket& socket, Socket::ErrorCode& problem) {
    const std::size_t size = std::min(kReadSize, buffer_.max_size() - buffer_.size());
    if (size == 0) {
      problem = beast::http::error::buffer_overflow;
      return;
    }
    buffer_.commit(socket.read_some(buffer_.prepare(size), problem));
    if (problem == boost::asio::error::eof) parser_->put_eof(problem = {});
  }

  /// The server ended the body as it should.
  [[nodiscard]] bool done() const { return parser_->is_done(); }
  /// False if a compressed body ended before its end was decompressed.
  [[nodiscard]] bool unpacked() const { return !packing_ || !packing_->any || packing_->gunzip.done(); }

 private:
  void parse(std::size_t limit, std::string& out, Socket::ErrorCode& problem) {
    std::array<char, kReadSize> piece;  // NOLINT: filled before it is read
    while (buffer_.size() > 0 && out.size() < limit && !done()) {
      auto& body = parser_->get().body();
      const std::size_t piece_size = std::min(piece.size(), limit - out.size());
      body.data = piece.data();
      body.size = piece_size;
      body.more = true;
      buffer_.consume(parser_->put(buffer_.data(), problem));
      out.append(piece.data(), piece_size - body.size);
      if (problem == beast::http::error::need_more) {
        problem = {};
        return;
      }
      if (problem == beast::http::error::need_buffer) problem = {};
      if (problem) return;
    }
  }

  beast::flat_buffer& buffer_;
  std::optional<Parser> parser_;
  std::optional<Packing> packing_;
};

ResponseStream::ResponseStream(std::shared_ptr<const Connector> connector, std::unique_ptr<Connection> connection,
                               std::string what)
    : connector_(std::move(connector)),
      what_(std::move(what)),
      connection_(std::move(connection)),
      body_(std::make_unique<Body>(connection_->buffer())) {}

ResponseStream::~ResponseStream() = default;

std::optional<Failure> ResponseStream::send(const Call& call) {
  Socket& socket = connection_->socket();
  const std::stop_callback on_stop(call.stop, [&socket] { socket.interrupt(); });
  const Socket::ErrorCode unsent = connection_->write(call);
  Socket::ErrorCode problem;
  const bool answered = body_->read_head(socket, call, head_, problem);
  heard_ = clock_.now();
  if (problem) return connection_->failure_of(call, problem, unsent, answered);
  return std::nullopt;
}

Result<std::string> ResponseStream::read(Duration wait, std::stop_token stop) {
  Socket& socket = connection_->socket();
  const std::stop_callback on_stop(stop, [&socket] { socket.interrupt(); });
  const Instant until = clock_.now() + std::min(wait, kMaxWait);
  socket.set_limits(std::min(until, heard_ + connector_->options.idle_timeout), kMaxWait, true);
  std::string out;
  Socket::ErrorCode problem;
  for (bool wait_is_over = false;; wait_is_over = heard_ >= until) {
    body_->take(connector_->options.stream_buffer, out, problem);
    if (stop.stop_requested()) return Error::of(ErrorCode::kCancelled, "{}: cancelled", what_);
    if (!out.empty()) return out;
    if (!problem && body_->done()) {
      if (body_->unpacked()) return end_of_stream();
      return Error::unavailable("{}: the compressed body is damaged", what_);
    }
    // The bytes received may not contain any of the body, such as a chunk header.
    if (!problem && wait_is_over) return out;
    if (!problem) body_->fill(socket, problem);
    if (problem) return without_bytes(problem, stop);
    heard_ = clock_.now();
  }
}

Result<std::string> ResponseStream::without_bytes(const Socket::ErrorCode& problem, const std::stop_token& stop) const {
  if (stop.stop_requested()) return Error::of(ErrorCode::kCancelled, "{}: cancelled", what_);
  const Duration idle_timeout = connector_->options.idle_timeout;
  const bool timed_out = problem == boost::system::errc::timed_out;
  if (timed_out && clock_.now() < heard_ + idle_timeout) return std::string();
  if (timed_out) {
    return Error::of(ErrorCode::kTimeout, "{}: no bytes received for {} s", what_,
                     std::chrono::duration_cast<std::chrono::seconds>(idle_timeout).count());
  }
  const std::string& tls = connection_->socket().tls_problem();
  if (!tls.empty()) return Error::unavailable("{}: TLS: {}", what_, tls);
  return Error::unavailable("{}: connection lost: {}", what_, problem.message());
}

}  // namespace tpuslice::http
