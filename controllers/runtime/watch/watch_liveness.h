// Whether an open watch still receives. A server that hangs behind a load balancer acknowledges every byte, so neither
// TCP keepalive nor TCP_USER_TIMEOUT notices; its watches are silent, as those of objects that do not change are.
#pragma once

#include <atomic>

#include "api/base/clock.h"

namespace tpuslice::runtime {

struct LivenessOptions {
  /// A stream of a server that sends bookmarks is dead after this long without a byte. kube-apiserver sends one about
  /// every minute (bookmarkFrequency of its cacher).
  Duration max_silence = std::chrono::minutes(3);
  /// The same for all other streams, with bookmarks or not, once one was found dead: they may be of the same server.
  Duration suspect_silence = std::chrono::seconds(90);
};

/// Shared by the watches of one API server. Thread-safe.
class DeadStreams {
 public:
  void found(Instant now) { last_ = now; }
  [[nodiscard]] bool found_since(Instant time) const { return last_.load() > time; }

 private:
  std::atomic<Instant> last_ = Instant::min();
};

/// The liveness of the stream of one watch. last_byte() is thread-safe, the rest is called by one thread.
class StreamLiveness {
 public:
  /// `others` outlives it; null: none.
  StreamLiveness(LivenessOptions options, DeadStreams* others, Instant now)
      : options_(options), others_(others), last_byte_(now) {}

  void opened(Instant now) {
    stream_had_bookmark_ = false;
    last_byte_ = now;
  }
  void received(Instant now) { last_byte_ = now; }
  /// Not for the bookmark that ends the initial events of a WatchList: every server sends it.
  void bookmark() { expects_bookmarks_ = stream_had_bookmark_ = true; }

  /// The open stream is dead if nothing is received until then.
  [[nodiscard]] Instant dead_at() const {
    const Instant last = last_byte_;
    if (others_ != nullptr && others_->found_since(last)) return last + options_.suspect_silence;
    return expects_bookmarks_ ? last + options_.max_silence : kNever;
  }
  /// Called when the stream is given up at dead_at().
  void found_dead(Instant now) {
    const bool first = others_ != nullptr && !others_->found_since(last_byte_);
    // A server that no longer sends bookmarks must not be taken for dead again and again.
    expects_bookmarks_ = stream_had_bookmark_;
    if (first) others_->found(now);
  }

  /// When the server last sent anything for this watch.
  [[nodiscard]] Instant last_byte() const { return last_byte_; }

 private:
  const LivenessOptions options_;
  DeadStreams* const others_;
  bool expects_bookmarks_ = false;  ///< This stream or one before it had bookmarks.
  bool stream_had_bookmark_ = false;
  std::atomic<Instant> last_byte_;
};

}  // namespace tpuslice::runtime
