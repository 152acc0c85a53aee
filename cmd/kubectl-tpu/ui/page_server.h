// PageServer: serves the fleet page and what it shows to the browser of the user, on loopback.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/http/server/server.h"
#include "api/types/json.h"
#include "api/types/object.h"
#include "cmd/kubectl-tpu/ui/fleet_feed.h"
#include "cmd/kubectl-tpu/ui/page_guard.h"

namespace tpuslice::plugin {

/// Source of what the page shows. All functions are called on the server's threads; errors are shown on the page.
struct PageSource {
  /// A document of the schema tpuslice.dev/fleet.v1. Never called by two threads at a time, at most once a second.
  FleetFeed::Source fleet;
  /// {"records": [...]}; null: there is no history.
  std::function<Result<Json>()> history = nullptr;
  /// {"fleet": {...}, "lines": ["..."]} after changes such as {"drain", "pool/v6e-4x4-a"}; null: the page has no
  /// simulation.
  std::function<Result<Json>(const std::vector<std::pair<std::string, std::string>>& changes)> what_if = nullptr;
  /// Conditions, events and YAML of a workload, {"conditions": [...], "events": [...], "yaml": "..."}; null: there are
  /// no objects. Called by several threads.
  std::function<Result<Json>(const std::string& kind, const ObjectKey& key)> object = nullptr;
  bool live = true;  ///< The fleet changes, and the page follows it.
};

struct PageServerOptions {
  std::uint16_t port = 0;                       ///< 0: a free one.
  std::string command = "kubectl tpu";          ///< How the commands that the page shows begin.
  Duration interval = std::chrono::seconds(1);  ///< Between two readings of the fleet.
};

/// What the server answers; without sockets, so that tests can ask it. Thread-safe.
class PageHandler {
 public:
  /// `clock` outlives it.
  PageHandler(PageSource source, const PageServerOptions& options, PageSecrets secrets, const Clock& clock);

  /// `port`: that of the server.
  [[nodiscard]] http::Reply answer(const http::Request& request, std::uint16_t port) const;

 private:
  [[nodiscard]] http::Reply answer_path(const http::Request& request, std::string_view path, std::uint16_t port) const;
  [[nodiscard]] http::Response begin_session(const http::Request& request) const;
  [[nodiscard]] http::Response data(const http::Request& request, std::string_view path) const;

  const PageSource source_;
  const std::string command_;
  const PageSecrets secrets_;
  const std::shared_ptr<FleetFeed> feed_;
};

/// Serves from start() until it is destroyed.
class PageServer {
 public:
  /// `clock` outlives the server. Errors: Unavailable if the port is in use.
  static Result<std::unique_ptr<PageServer>> start(PageSource source, const PageServerOptions& options,
                                                   const Clock& clock);
  /// The address to open, with the token.
  [[nodiscard]] std::string url() const { return page_url(port_, secrets_); }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  PageServer(PageSource source, const PageServerOptions& options, const PageSecrets& secrets, const Clock& clock)
      : secrets_(secrets), handler_(std::move(source), options, secrets, clock) {}

  const PageSecrets secrets_;
  const PageHandler handler_;
  std::atomic<std::uint16_t> port_{0};    ///< 0 before it listens.
  std::unique_ptr<http::Server> server_;  ///< The last member: its threads use the others.
};

}  // namespace tpuslice::plugin
