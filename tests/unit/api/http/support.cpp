#include "tests/unit/api/http/support.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <filesystem>

#include <gtest/gtest.h>

#include "api/http/tls/openssl.h"

namespace tpuslice::http::testing {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void set_read_timeout(int fd) {
  const timeval bound{20, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound);
}

}  // namespace

void Gate::open() {
  const std::lock_guard lock(mutex_);
  open_ = true;
  changed_.notify_all();
}

bool Gate::wait(Duration bound) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, bound, [this] { return open_; });
}

void Gate::wait(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, kGenerous, [this] { return open_; });
}

Validity valid_now() {
  const Timestamp now = RealClock().wall();
  return {now - std::chrono::hours(1), now + std::chrono::hours(1)};
}

Validity expired() {
  const Timestamp now = RealClock().wall();
  return {now - std::chrono::hours(2), now - std::chrono::hours(1)};
}

const Pki& pki() {
  static const Pki kPki = [] {
    Pki out;
    out.authority = make_certificate_authority("test authority", valid_now()).value();
    out.server = issue_certificate(out.authority,
                                   {.common_name = "server",
                                    .organizations = {},
                                    .dns_names = {"localhost", "kubernetes.default.svc"},
                                    .ip_addresses = {"127.0.0.1"}},
                                   valid_now())
                     .value();
    return out;
  }();
  return kPki;
}

Identity issue(const CertificateRequest& request, const Validity& validity) {
  return issue_certificate(pki().authority, request, validity).value();
}

Identity intermediate_authority() {
  Identity out = make_certificate_authority("intermediate", valid_now()).value();
  const auto own = parse_certificates(out.certificate_chain);
  const auto root = parse_certificates(pki().authority.certificate_chain);
  const auto root_key = parse_private_key(pki().authority.private_key);
  X509* const certificate = own.value().front().get();
  EXPECT_EQ(X509_set_issuer_name(certificate, X509_get_subject_name(root.value().front().get())), 1);
  EXPECT_GT(X509_sign(certificate, root_key.value().get(), EVP_sha256()), 0);
  out.certificate_chain = to_pem(certificate);
  return out;
}

ServerOptions plain_options() { return {}; }

ServerOptions tls_options() {
  ServerOptions options;
  options.tls = pki().server;
  return options;
}

std::unique_ptr<Server> start(ServerOptions options, Handler handler, const Clock& clock) {
  return Server::start(std::move(options), clock, std::move(handler)).value();
}

Reply text_reply(int status, std::string body) {
  return {{status, {{"Content-Type", "text/plain"}}, std::move(body)}, nullptr};
}

Reply ok(const Request& /*request*/, const Peer& /*peer*/) { return text_reply(200, "fine"); }

std::unique_ptr<Server> start_counting(std::atomic<int>& requests, int status) {
  return start(tls_options(), [&requests, status](const Request&, const Peer&) {
    ++requests;
    return text_reply(status, "");
  });
}

std::unique_ptr<Server> start_gated(Gate& entered, Gate& release) {
  return start(tls_options(), [&](const Request&, const Peer&) {
    entered.open();
    release.wait();
    return text_reply(200, "");
  });
}

TransportOptions transport_options(const Server& server) {
  TransportOptions options;
  options.server = fmt::format("https://127.0.0.1:{}", server.port());
  options.ca = pki().authority.certificate_chain;
  return options;
}

std::unique_ptr<Transport> connect(TransportOptions options) {
  return make_transport_under_test(std::move(options)).value();
}

Request get(std::string target) {
  Request request;
  request.target = std::move(target);
  return request;
}

std::string gzip(std::string_view text) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  EXPECT_EQ(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string in(text);
  std::string out(deflateBound(&stream, in.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

int open_descriptors() {
  int count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

RawClient::RawClient(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  set_read_timeout(fd_);
  const sockaddr_in address = loopback(port);
  EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}

RawClient::~RawClient() {
  if (fd_ >= 0) ::close(fd_);
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

std::string RawClient::read_until(std::string_view needle) {
  std::array<char, 4096> buffer{};
  while (needle.empty() || seen_.find(needle) == std::string::npos) {
    const ssize_t size = ::recv(fd_, buffer.data(), buffer.size(), 0);
    if (size <= 0) break;
    seen_.append(buffer.data(), static_cast<std::size_t>(size));
  }
  const auto found = needle.empty() ? std::string::npos : seen_.find(needle);
  const std::size_t end = found == std::string::npos ? seen_.size() : found + needle.size();
  std::string out = seen_.substr(0, end);
  seen_.erase(0, end);
  return out;
}

void RawClient::reset() {
  const linger at_once{1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(fd_);
  fd_ = -1;
}

RawServer::RawServer(Script script, int receive_buffer)
    : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), script_(std::move(script)) {
  if (receive_buffer > 0) setsockopt(listener_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  sockaddr_in address = loopback(0);
  EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(listen(listener_, 16), 0);
  socklen_t size = sizeof address;
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this](const std::stop_token& stop) {
    for (int connection = 0; !stop.stop_requested(); ++connection) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      set_read_timeout(fd);
      if (!stop.stop_requested()) script_(fd, connection);
      ::close(fd);
    }
  });
}

RawServer::~RawServer() {
  thread_.request_stop();
  shutdown(listener_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
}

void relay(int fd, int port) {
  const int other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  EXPECT_EQ(::connect(other, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  std::array<char, 16384> bytes{};
  const auto forward = [&](int from, int to) {
    const ssize_t size = recv(from, bytes.data(), bytes.size(), 0);
    return size > 0 && send(to, bytes.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL) == size;
  };
  bool open = true;
  while (open) {
    std::array<pollfd, 2> ends = {{{fd, POLLIN, 0}, {other, POLLIN, 0}}};
    open = poll(ends.data(), ends.size(), 20'000) > 0;
    if (open && ends[0].revents != 0) open = forward(fd, other);
    if (open && ends[1].revents != 0) open = forward(other, fd);
  }
  ::close(other);
}

std::string RawServer::read_head(int fd) {
  std::string head;
  char c = 0;
  while (!head.ends_with("\r\n\r\n") && recv(fd, &c, 1, 0) == 1) head += c;
  return head;
}

void RawServer::write(int fd, std::string_view bytes) {
  static_cast<void>(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

Reply stream_reply(std::shared_ptr<tpuslice::testing::Feed> feed) {
  Reply reply;
  reply.response = {200, {{"Content-Type", "application/json"}}, {}};
  reply.stream = std::make_unique<tpuslice::testing::FeedStream>(std::move(feed));
  return reply;
}

}  // namespace tpuslice::http::testing
