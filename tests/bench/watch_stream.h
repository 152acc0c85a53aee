// WatchStream: the events of a watch as the API server writes them, one line each, and when each arrived.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "api/base/clock.h"
#include "api/base/mutex.h"
#include "api/client/config.h"
#include "api/http/blocking_connection.h"

namespace tpuslice::bench {

/// What to watch, and whom to tell. Both functions are called by the thread of the stream.
struct WatchRequest {
  std::string path;              ///< "/api/v1/pods"
  std::string resource_version;  ///< Events after this one.
  std::function<void(std::string_view line, Instant arrived)> on_event;
  std::function<void()> on_end;  ///< No more events: the server cannot be reached, or this object is destroyed.
};

/// Whole objects as JSON, the encoding the operator asks for as well, so that the API server has it once for both. A
/// watch that the API server gives up, as it does with all that cannot be served fast enough, is taken up where it
/// ended. Has a thread of its own; thread-safe.
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
  std::string resource_version_;  ///< Of the last event; of the thread alone.
  Mutex mutex_;
  std::unique_ptr<http::BlockingConnection> connection_ TPUSLICE_GUARDED_BY(mutex_);
  bool stopping_ TPUSLICE_GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

/// The string of the first member of that name in `json`, wherever it is; empty if there is none. Go writes the members
/// of a struct in the order of their declaration: of an object's name, namespace and resourceVersion it is the first.
[[nodiscard]] std::string_view first_string(std::string_view json, std::string_view name);

}  // namespace tpuslice::bench
