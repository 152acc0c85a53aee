// Resolver: the addresses of host names, with deadlines that the system's resolver lacks. Private to api/http.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/base/result.h"

namespace tpuslice::http {

/// The host and port to connect to.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};
/// Addresses in the order in which to try them.
using Addresses = std::vector<Address>;

/// Thread-safe. A lookup runs on a detached thread (docs/adr/0013), which all callers that want the same host and port
/// wait for, each within its deadline.
class Resolver {
 public:
  /// The function may block, and is called by several threads.
  using LookUp = std::function<Result<Addresses>(const std::string& host, std::uint16_t port)>;

  /// At most `max_lookups` run at a time; further callers wait until one has ended.
  Resolver(LookUp look_up, std::size_t max_lookups);

  /// Errors: those of the lookup; Unavailable if no thread can be started; Timeout; Cancelled.
  [[nodiscard]] Result<Addresses> resolve(const std::string& host, std::uint16_t port, Instant until,
                                          const std::stop_token& stop) const;

 private:
  using Target = std::pair<std::string, std::uint16_t>;
  struct Lookup {
    std::optional<Result<Addresses>> found;  ///< Guarded by State::mutex.
  };
  /// Shared with the threads, which may outlive the Resolver.
  struct State {
    State(LookUp with, std::size_t at_most) : look_up(std::move(with)), max_lookups(at_most) {}

    const LookUp look_up;
    const std::size_t max_lookups;
    Mutex mutex;
    ConditionVariable changed;
    std::map<Target, std::shared_ptr<Lookup>> running TPUSLICE_GUARDED_BY(mutex);
  };

  /// The lookup of `target`, which is started unless it runs. Null: too many others run.
  [[nodiscard]] std::shared_ptr<Lookup> find_or_start(const Target& target) const TPUSLICE_REQUIRES(state_->mutex);

  const std::shared_ptr<State> state_;
};

/// Asks the system's resolver. All callers in the process share the lookups. Errors: Unavailable; Timeout; Cancelled.
[[nodiscard]] Result<Addresses> resolve(const std::string& host, std::uint16_t port, Instant until,
                                        const std::stop_token& stop);

}  // namespace tpuslice::http
