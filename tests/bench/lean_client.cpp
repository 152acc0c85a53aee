#include "tests/bench/lean_client.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "tests/bench/lean_connection.h"

namespace tpuslice::bench {

Result<std::unique_ptr<LeanClient>> LeanClient::connect(const client::ClientConfig& config, int connections) {
  ASSIGN_OR_RETURN(const http::BaseUrl server, http::parse_base_url(config.server));
  std::unique_ptr<LeanClient> client(new LeanClient());
  try {
    for (int i = 0; i < connections; ++i) {
      client->connections_.push_back(std::make_unique<LeanConnection>(config, server));
      RETURN_IF_ERROR(client->connections_.back()->get("/version"));
    }
  } catch (const std::exception& problem) {
    return Error::unavailable("{}: {}", config.server, problem.what());
  }
  return client;
}

LeanClient::~LeanClient() = default;

Status LeanClient::post(const std::string& path, const std::vector<std::string>& bodies) {
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
        try {
          for (std::size_t i = next++; i < bodies.size() && !failed; i = next++) {
            if (const Status posted = link->post(path, bodies[i]); !posted) fail(posted.error());
          }
        } catch (const std::exception& problem) {
          fail(Error::unavailable("{}", problem.what()));
        }
      });
    }
  }
  if (error) return *error;
  return {};
}

}  // namespace tpuslice::bench
