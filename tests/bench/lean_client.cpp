#include "tests/bench/lean_client.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace tpuslice::bench {

Result<http::BlockingOptions> connection_options(const client::ClientConfig& config) {
  ASSIGN_OR_RETURN(http::BaseUrl server, http::parse_base_url(config.server));
  return http::BlockingOptions{
      std::move(server), config.ca, {config.client_certificate, config.client_key}, config.token};
}

Result<std::unique_ptr<LeanClient>> LeanClient::connect(const client::ClientConfig& config, int connections) {
  ASSIGN_OR_RETURN(const http::BlockingOptions options, connection_options(config));
  std::unique_ptr<LeanClient> client(new LeanClient());
  for (int i = 0; i < connections; ++i) {
    ASSIGN_OR_RETURN(auto connection, http::BlockingConnection::connect(options));
    RETURN_IF_ERROR(connection->get("/version"));
    client->connections_.push_back(std::move(connection));
  }
  return client;
}

Status LeanClient::post(const std::string& path, const std::vector<std::string>& bodies) {
  return for_each(bodies.size(),
                  [&](http::BlockingConnection& link, std::size_t i) { return link.post(path, bodies[i]); });
}

Status LeanClient::remove(const std::vector<std::string>& paths) {
  return for_each(paths.size(), [&](http::BlockingConnection& link, std::size_t i) { return link.remove(paths[i]); });
}

Status LeanClient::for_each(std::size_t count,
                            const std::function<Status(http::BlockingConnection&, std::size_t)>& send) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  std::optional<Error> error;
  const auto fail = [&](Error problem) {
    const std::lock_guard lock(mutex);
    if (!failed.exchange(true)) error = std::move(problem);
  };
  {
    std::vector<std::jthread> threads;
    for (const auto& connection : connections_) {
      threads.emplace_back([&, link = connection.get()] {
        for (std::size_t i = next++; i < count && !failed; i = next++) {
          if (const Status sent = send(*link, i); !sent) fail(sent.error());
        }
      });
    }
  }
  if (error) return *error;
  return {};
}

}  // namespace tpuslice::bench
