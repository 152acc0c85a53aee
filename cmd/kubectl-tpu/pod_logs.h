// Log lines of pods, read as streams and printed line by line, so that no log is kept in memory.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "api/http/transport.h"
#include "api/types/object.h"

namespace tpuslice::plugin {

struct LogOptions {
  std::string container;  ///< Empty: the pod's first container with TPUs, else its first.
  bool follow = false;
  bool previous = false;   ///< Log of the container before its last restart.
  std::int64_t tail = -1;  ///< Lines from the end; negative: all.
  std::int64_t since = 0;  ///< Seconds; 0: all.
  bool timestamps = false;
};

/// The container whose log is read.
[[nodiscard]] std::string container_of(const Object& pod, const LogOptions& options);

/// "/api/v1/namespaces/ml/pods/train-0/log?..."
[[nodiscard]] http::Request log_request(const Object& pod, const LogOptions& options);

/// Longest line that is printed, in bytes; what is longer is cut into several.
inline constexpr std::size_t kMaxLogLine = 64U << 10U;

/// Cuts a stream into lines. A line that does not end within kMaxLogLine is passed on in parts.
class LineSplitter {
 public:
  using Take = std::function<void(std::string_view line)>;
  void add(std::string_view bytes, const Take& take);
  /// Passes on a last line without line end.
  void finish(const Take& take);

 private:
  std::string begun_;
};

/// Passes each line of the pod's log to `take` until it ends. Errors: those of the API server and of the connection.
[[nodiscard]] Status read_log(http::Transport& streams, const Object& pod, const LogOptions& options,
                              const LineSplitter::Take& take, const std::stop_token& stop);

/// The pods in the order in which their logs help: first those of which a container has failed, in the order of their
/// first failures; then the others, as they were.
[[nodiscard]] std::vector<Object> first_failed_first(std::vector<Object> pods);

}  // namespace tpuslice::plugin
