// WatchStream: the lines of a watch as the API server sends them, with the time of their arrival.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/client/config.h"
#include "api/http/testing/blocking_connection.h"

namespace tpuslice::bench {

/// A watch and its callbacks, which the thread of the stream calls.
struct WatchRequest {
  std::string path;              ///< "/api/v1/pods"
  std::string resource_version;  ///< Events after this one.
  std::string accept = "application/json";
  std::function<void(std::string_view line, Instant arrived)> on_event;
  std::function<void()> on_end;  ///< No more events: the server is unreachable, or the stream is destroyed.
};

/// Resumes a watch that the API server ends because the client reads too slowly. Has its own thread; thread-safe.
class WatchStream {
 public:
  /// Errors: Unavailable.
  static Result<std::unique_ptr<WatchStream>> start(const client::ClientConfig& config, WatchRequest request);
  ~WatchStream();
  WatchStream(const WatchStream&) = delete;
  WatchStream& operator=(const WatchStream&) = delete;

 private:
  WatchStream(client::ClientConfig config, WatchRequest request);
  Status open() TPUSLICE_EXCLUDES(mutex_);
  void run() TPUSLICE_EXCLUDES(mutex_);
  void read(http::BlockingConnection& connection);

  const RealClock clock_;
  const client::ClientConfig config_;
  const WatchRequest request_;
  std::string resource_version_;  ///< Of the last event; used by the thread only.
  Mutex mutex_;
  std::unique_ptr<http::BlockingConnection> connection_ TPUSLICE_GUARDED_BY(mutex_);
  bool stopping_ TPUSLICE_GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

/// The value of the first string member `name` at any depth of `json`; empty without one. Go writes the members of a
/// struct in the order of their declaration, so metadata.name, namespace and resourceVersion come first.
[[nodiscard]] std::string_view first_string(std::string_view json, std::string_view name);

}  // namespace tpuslice::bench
