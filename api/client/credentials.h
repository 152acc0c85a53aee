// Credentials: tokens that are read again and plugins that are run again; and the Transport that uses them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/client/config.h"
#include "api/client/rotated.h"
#include "api/http/client/network_transport.h"

namespace tpuslice::client {

/// The token in a file. Errors: Unauthorized if the file was never readable, or is empty. `clock` outlives it.
[[nodiscard]] std::shared_ptr<Rotated<std::string>> token_file(const std::string& path, const Clock& clock);

/// What a plugin answered.
struct ExecCredential {
  std::optional<std::string> token;
  std::optional<http::Identity> identity;
  std::optional<Timestamp> expires;
};

/// Parses a plugin's output. Errors: InvalidArgument, never quoting the output (it holds secrets).
[[nodiscard]] Result<ExecCredential> parse_exec_credential(std::string_view output, std::string_view api_version);
/// The value of KUBERNETES_EXEC_INFO.
[[nodiscard]] std::string exec_info(const ClientConfig& config);

/// Runs the plugin without a shell; its stderr is part of the error.
///
/// Errors: Unauthorized, with the install hint when the program is missing; Timeout, and the program is killed.
[[nodiscard]] Result<ExecCredential> run_exec_plugin(const ClientConfig& config, Duration deadline);

/// The answer of a plugin, until it expires or is refused. Thread-safe; one run at a time, others wait for it.
class ExecCredentials {
 public:
  ExecCredentials(ClientConfig config, const Clock& clock, Duration deadline = std::chrono::seconds(60))
      : config_(std::move(config)), clock_(clock), deadline_(deadline) {}

  /// Runs the plugin if there is no answer yet, it expires within 10 s, or `refresh`.
  [[nodiscard]] Result<ExecCredential> credential(bool refresh) TPUSLICE_EXCLUDES(mutex_);

 private:
  const ClientConfig config_;
  const Clock& clock_;
  const Duration deadline_;
  Mutex mutex_;
  ConditionVariable done_;
  bool running_ TPUSLICE_GUARDED_BY(mutex_) = false;
  std::uint64_t runs_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  std::optional<ExecCredential> current_ TPUSLICE_GUARDED_BY(mutex_);
};

/// The Transport options for `config`. `clock` outlives it.
[[nodiscard]] Result<http::TransportOptions> transport_options(const ClientConfig& config, const Clock& clock);

/// The real Transport to the cluster of `config`. `clock` outlives it. Errors: as http::make_network_transport.
[[nodiscard]] Result<std::unique_ptr<http::Transport>> make_transport(const ClientConfig& config, const Clock& clock);

}  // namespace tpuslice::client
