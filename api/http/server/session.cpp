#include "api/http/server/session.h"

#include <boost/beast/core.hpp>

#include <optional>
#include <stop_token>

#include "api/http/server/guarded_calls.h"
#include "api/http/server/message_claims.h"
#include "api/http/server/messages.h"
#include "api/http/server/pending_write.h"
#include "api/http/server/server_socket.h"
#include "api/http/tls/tls_context.h"

namespace tpuslice::http {
namespace {

namespace beast = boost::beast;
using ErrorCodeOfIo = boost::system::error_code;

/// A client may stop reading once it has its reply, and then never answers the TLS close_notify.
constexpr Duration kShutdownTimeout = std::chrono::milliseconds(500);
constexpr Duration kStreamPoll = std::chrono::seconds(5);
constexpr std::size_t kReadAhead = 8192;
/// A client that has sent what only clients of this server send is trusted again after this time.
constexpr Duration kTrustAgain = std::chrono::minutes(1);

/// Everything happens on the strand of the connection, except run_stream(), which has a thread of its own and only
/// posts.
class BeastSession final : public Session, public std::enable_shared_from_this<BeastSession> {
 public:
  BeastSession(asio::ip::tcp::socket socket, std::string host, std::uint16_t port,
               std::shared_ptr<asio::ssl::context> tls, std::shared_ptr<ServerCore> core)
      : core_(std::move(core)),
        stream_(std::move(socket), std::move(tls)),
        buffer_(core_->options.header_limit + kReadAhead),
        host_(std::move(host)),
        claims_(core_->bodies, core_->replies, core_->options.small_message),
        turn_(stream_.get_executor()),
        deadline_(stream_.get_executor()) {
    const bool is_v6 = host_.find(':') != host_.npos;
    peer_.address = is_v6 ? fmt::format("[{}]:{}", host_, port) : fmt::format("{}:{}", host_, port);
    activity_.enter(Activity::Phase::kIdle, now());
  }
  ~BeastSession() override {
    core_->sessions.remove(this);
    claims_.release(now());
  }

  void start() override {
    asio::dispatch(stream_.get_executor(), [self = shared_from_this()] { self->on_start(); });
  }

  void resume() override {
    asio::post(stream_.get_executor(), [self = shared_from_this()] {
      self->turn_.cancel();
      if (const auto next = std::exchange(self->next_, nullptr)) (self.get()->*next)();
    });
  }

  void drain() override {
    draining_ = true;
    asio::post(stream_.get_executor(), [self = shared_from_this()] {
      if (self->idle_) self->close();
      self->stop_.request_stop();
    });
  }

  void abort() override {
    draining_ = true;
    stop_.request_stop();
    asio::post(stream_.get_executor(), [self = shared_from_this()] {
      ErrorCodeOfIo ignored;  // Drops what the client has not read, which the kernel would keep for it.
      self->stream_.tcp().set_option(asio::socket_base::linger(true, 0), ignored);
      self->close();
    });
  }

 private:
  [[nodiscard]] Instant now() const { return core_->clock.now(); }

  void close() {
    closed_ = true;
    idle_ = false;
    claims_.release(now());
    next_ = nullptr;
    turn_.cancel();
    deadline_.cancel();
    stream_.close();
    chunk_write_.end(false);
  }

  /// Closes the connection after `wait`, unless another call comes first.
  void expires_after(Duration wait) {
    deadline_.expires_after(wait);
    deadline_.async_wait([weak = weak_from_this(), set = ++deadlines_set_](ErrorCodeOfIo cancelled) {
      const auto self = cancelled ? nullptr : weak.lock();
      // The time-out of before may have been on its way already.
      if (self && self->deadlines_set_ == set) self->close();
    });
  }
  void expires_never() {
    ++deadlines_set_;
    deadline_.expires_at(asio::steady_timer::time_point::max());
  }

  template <void (BeastSession::*Next)(ErrorCodeOfIo)>
  auto then() {
    return [self = shared_from_this()](ErrorCodeOfIo problem, std::size_t = 0) { (self.get()->*Next)(problem); };
  }

  void on_start() {
    ErrorCodeOfIo ignored;
    stream_.tcp().set_option(asio::ip::tcp::no_delay(true), ignored);
    if (!stream_.has_tls()) return await_request();
    expires_after(core_->options.handshake_timeout);
    stream_.async_handshake(then<&BeastSession::on_handshake>());
  }

  void on_handshake(ErrorCodeOfIo problem) {
    if (problem) return close();
    PeerSubject subject = peer_subject(stream_.ssl());
    peer_.has_certificate = subject.verified;
    peer_.common_name = std::move(subject.common_name);
    peer_.organizations = std::move(subject.organizations);
    if (peer_.has_certificate) core_->sessions.trust(this, now());
    await_request();
  }

  /// An idle connection waits longer than one that has begun to send a request, and has no buffer.
  void await_request() {
    if (closed_) return;
    if (draining_) return shut_down();
    if (buffer_.size() > 0) return read_header();
    idle_ = true;
    activity_.enter(Activity::Phase::kIdle, now());
    expires_after(core_->options.idle_timeout);
    parser_.reset();
    buffer_.shrink_to_fit();
    stream_.async_wait_readable(then<&BeastSession::on_readable>());
  }

  void on_readable(ErrorCodeOfIo problem) {
    idle_ = false;
    if (problem) return close();
    buffer_.reserve(kReadAhead);
    read_header();
  }

  void read_header() {
    activity_.enter(Activity::Phase::kReading, now());
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(core_->options.header_limit));
    parser_->body_limit(core_->options.body_limit);
    expires_after(core_->options.read_timeout);
    beast::http::async_read_header(stream_, buffer_, *parser_, then<&BeastSession::on_header>());
  }

  void on_header(ErrorCodeOfIo problem) {
    if (problem) return refuse(problem);
    const std::size_t body = parser_->content_length().value_or(parser_->chunked() ? core_->options.body_limit : 0);
    claims_.read(shared_from_this(), host_, body, now()) ? start_body() : wait_for(&BeastSession::start_body);
  }

  /// Waits until a claim is granted. Nothing is read from the client meanwhile.
  void wait_for(void (BeastSession::*next)()) {
    next_ = next;
    expires_never();
    wait_until_ = now() + core_->options.wait_timeout;
    keep_waiting();
  }

  void keep_waiting() {
    turn_.expires_after(core_->options.slow_transfer / 10);
    turn_.async_wait([self = shared_from_this()](ErrorCodeOfIo cancelled) {
      if (cancelled || self->next_ == nullptr) return;
      const Instant time = self->now();
      if (time >= self->wait_until_) return self->give_up();
      self->core_->bodies.take_back(time);
      self->core_->replies.take_back(time);
      self->keep_waiting();
    });
  }

  void give_up() {
    next_ = nullptr;
    claims_.release(now());
    parser_.reset();
    write(busy_reply(503, "too many requests wait"), false, false);
  }

  void start_body() {
    activity_.enter(Activity::Phase::kReading, now());
    if (beast::iequals(parser_->get()[beast::http::field::expect], "100-continue")) {
      expires_after(core_->options.read_timeout);
      head_.emplace(BeastHead(beast::http::status::continue_, 11));
      head_writer_.emplace(*head_);
      beast::http::async_write(stream_, *head_writer_, then<&BeastSession::on_continue>());
      return;
    }
    read_body();
  }

  void on_continue(ErrorCodeOfIo problem) {
    if (problem) return close();
    read_body();
  }

  void read_body() {
    expires_after(core_->options.read_timeout);
    beast::http::async_read(stream_, buffer_, *parser_, then<&BeastSession::on_request>());
  }

  void on_request(ErrorCodeOfIo problem) {
    if (problem) return refuse(problem);
    expires_never();
    const Instant begin = now();
    activity_.enter(Activity::Phase::kReading, begin);
    claims_.handle(shared_from_this(), host_, begin) ? handle() : wait_for(&BeastSession::handle);
  }

  /// Handles the request, at most ServerOptions::threads at a time.
  void handle() {
    activity_.enter(Activity::Phase::kBusy, now());
    const bool keep_alive = parser_->get().keep_alive();
    const bool head_only = parser_->get().method() == beast::http::verb::head;
    Reply reply = call_handler(core_->handler, to_request(parser_->release()), peer_);
    const Instant end = now();
    claims_.write(reply.stream ? 0 : reply.response.body.size(), end);
    if (reply.trusts_client && end >= trust_again_) {
      trust_again_ = end + kTrustAgain;
      core_->sessions.trust(this, end);
    }
    if (reply.stream) return start_stream(std::move(reply));
    write(std::move(reply.response), keep_alive && !draining_ && core_->keep_alive, head_only);
  }

  void refuse(ErrorCodeOfIo problem) {
    const int status = status_of_read_error(problem);
    if (status == 0) return problem == beast::http::error::end_of_stream ? shut_down() : close();
    write(plain_reply(status, "the request cannot be read"), false, false);
  }

  void write(Response&& response, bool keep_alive, bool head_only) {
    activity_.enter(Activity::Phase::kWriting, now());
    keep_alive_ = keep_alive;
    response_.emplace(to_message(std::move(response), keep_alive, head_only));
    response_writer_.emplace(*response_);
    expires_after(core_->options.write_timeout);
    if (head_only) {
      beast::http::async_write_header(stream_, *response_writer_, then<&BeastSession::on_written>());
    } else {
      beast::http::async_write(stream_, *response_writer_, then<&BeastSession::on_written>());
    }
  }

  void on_written(ErrorCodeOfIo problem) {
    response_writer_.reset();
    response_.reset();
    claims_.written(now());
    if (problem) return close();
    if (keep_alive_) return await_request();
    shut_down();
  }

  void shut_down() {
    if (closed_) return;
    if (!stream_.has_tls()) return close();
    expires_after(kShutdownTimeout);
    stream_.async_shutdown(then<&BeastSession::on_shut_down>());
  }

  void on_shut_down(ErrorCodeOfIo /*problem*/) { close(); }

  // Streams.

  void start_stream(Reply&& reply) {
    if (draining_) stop_.request_stop();
    // std::function wants copies, hence the shared source.
    auto source = std::make_shared<std::unique_ptr<http::Stream>>(std::move(reply.stream));
    head_.emplace(to_stream_head(reply.response));
    head_writer_.emplace(*head_);
    if (!core_->streams.submit([self = shared_from_this(), source] { self->run_stream(std::move(*source)); })) {
      return write(busy_reply(429, "too many streams"), false, false);
    }
    expires_never();
    watch_client();
  }

  /// A closed connection is only noticed by reading; data that arrives meanwhile is discarded.
  void watch_client() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(kReadAhead),
                            [self = shared_from_this()](ErrorCodeOfIo problem, std::size_t) {
                              if (!problem) return self->watch_client();
                              self->stop_.request_stop();
                              self->close();
                            });
  }

  /// Runs on a thread of the StreamPool.
  void run_stream(std::unique_ptr<http::Stream> source) {
    const std::stop_token stop = stop_.get_token();
    bool going = send(
        [this] { beast::http::async_write_header(stream_, *head_writer_, then<&BeastSession::on_stream_written>()); });
    bool whole = false;
    while (going) {
      Result<std::string> bytes = read_stream(*source, kStreamPoll, stop);
      if (!bytes) {
        // A server that stops ends its streams as it should: clients resume elsewhere.
        whole = is_end_of_stream(bytes.error()) || (draining_ && bytes.error().code() == ErrorCode::kCancelled);
        break;
      }
      if (bytes->empty()) continue;
      chunk_ = *std::move(bytes);
      going = send([this] {
        asio::async_write(stream_, beast::http::make_chunk(asio::buffer(chunk_)),
                          then<&BeastSession::on_stream_written>());
      });
    }
    source.reset();
    if (whole) {
      send([this] {
        asio::async_write(stream_, beast::http::make_chunk_last(), then<&BeastSession::on_stream_written>());
      });
    }
    asio::post(stream_.get_executor(), [self = shared_from_this()] { self->close(); });
  }

  /// Starts a write on the strand and waits for it; false once the connection is closed.
  template <typename Start>
  bool send(Start start) {
    if (!chunk_write_.begin()) return false;
    asio::post(stream_.get_executor(), [self = shared_from_this(), start] {
      if (self->closed_) return self->chunk_write_.end(false);
      self->expires_after(self->core_->options.write_timeout);
      start();
    });
    return chunk_write_.wait();
  }

  void on_stream_written(ErrorCodeOfIo problem) {
    if (problem) return close();
    expires_never();
    chunk_write_.end(true);
  }

  const std::shared_ptr<ServerCore> core_;
  ServerSocket stream_;
  beast::flat_buffer buffer_;
  Peer peer_;
  const std::string host_;  ///< Address of the peer.
  MessageClaims claims_;
  asio::steady_timer turn_;          ///< While a claim waits.
  asio::steady_timer deadline_;      ///< Deadline of what is read or written.
  std::uint64_t deadlines_set_ = 0;  ///< How often it was changed.
  Instant wait_until_;
  void (BeastSession::*next_)() = nullptr;  ///< What follows when it is granted.
  Instant trust_again_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
  std::optional<BeastResponse> response_;
  std::optional<beast::http::response_serializer<beast::http::string_body>> response_writer_;
  std::optional<BeastHead> head_;
  std::optional<beast::http::response_serializer<beast::http::empty_body>> head_writer_;
  bool keep_alive_ = false;
  bool idle_ = false;
  bool closed_ = false;
  std::atomic<bool> draining_{false};

  std::stop_source stop_;  ///< Ends the stream, if there is one.
  std::string chunk_;      ///< Being written; the stream's thread changes it between writes only.
  PendingWrite chunk_write_;
};

}  // namespace

std::shared_ptr<Session> make_session(asio::ip::tcp::socket socket, std::string host, std::uint16_t port,
                                      std::shared_ptr<asio::ssl::context> tls, std::shared_ptr<ServerCore> core) {
  return std::make_shared<BeastSession>(std::move(socket), std::move(host), port, std::move(tls), std::move(core));
}

}  // namespace tpuslice::http
