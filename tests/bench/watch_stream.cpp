#include "tests/bench/watch_stream.h"

#include <utility>

#include "tests/bench/lean_client.h"

namespace tpuslice::bench {

Result<std::unique_ptr<WatchStream>> WatchStream::start(const client::ClientConfig& config, WatchRequest request) {
  std::unique_ptr<WatchStream> stream(new WatchStream(config, std::move(request)));
  RETURN_IF_ERROR(stream->open());
  stream->thread_ = std::jthread([stream = stream.get()] { stream->run(); });
  return stream;
}

WatchStream::WatchStream(client::ClientConfig config, WatchRequest request)
    : config_(std::move(config)), request_(std::move(request)), resource_version_(request_.resource_version) {}

WatchStream::~WatchStream() {
  const MutexLock lock(mutex_);
  stopping_ = true;
  if (connection_) connection_->shut_down();
}

Status WatchStream::open() {
  ASSIGN_OR_RETURN(const http::BlockingOptions options, connection_options(config_));
  ASSIGN_OR_RETURN(auto connection, http::BlockingConnection::connect(options));
  RETURN_IF_ERROR(connection->open(request_.path + "?watch=1&timeoutSeconds=86400&resourceVersion=" + resource_version_,
                                   request_.accept));
  const MutexLock lock(mutex_);
  connection_ = std::move(connection);
  return {};
}

void WatchStream::run() {
  while (true) {
    http::BlockingConnection* connection = nullptr;
    {
      const MutexLock lock(mutex_);
      if (stopping_) break;
      connection = connection_.get();
    }
    read(*connection);
    if (!open()) break;
  }
  request_.on_end();
}

void WatchStream::read(http::BlockingConnection& connection) {
  std::string buffer;
  bool more = true;
  while (more) {
    std::size_t from = buffer.size();
    more = connection.read(buffer);
    const Instant now = clock_.now();
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = buffer.find('\n', from)) != std::string::npos; begin = from = end + 1) {
      const std::string_view line = std::string_view(buffer).substr(begin, end - begin);
      resource_version_ = std::string(first_string(line, "resourceVersion"));
      request_.on_event(line, now);
    }
    buffer.erase(0, begin);
  }
}

std::string_view first_string(std::string_view json, std::string_view name) {
  const std::string quoted = "\"" + std::string(name) + "\":\"";
  const std::size_t at = json.find(quoted);
  if (at == std::string_view::npos) return {};
  json.remove_prefix(at + quoted.size());
  return json.substr(0, json.find('"'));
}

}  // namespace tpuslice::bench
