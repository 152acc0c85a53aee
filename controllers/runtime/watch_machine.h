// WatchMachine: keeps one store current by list and watch, as a client-go reflector does.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/base/log.h"
#include "api/base/random.h"
#include "api/client/client.h"
#include "controllers/runtime/backoff.h"
#include "controllers/runtime/metrics.h"
#include "controllers/runtime/watch_sink.h"

namespace tpuslice::runtime {

/// The objects of a type that are watched.
struct WatchScope {
  std::string namespace_name = {};  ///< Empty: all.
  std::string label_selector = {};
  std::string field_selector = {};

  friend bool operator==(const WatchScope&, const WatchScope&) = default;
};

/// An object that cannot be decoded, or is refused because its namespace has too many. The store keeps the last version
/// that it has; other objects are not affected.
struct QuarantinedObject {
  ResourceType type;
  ObjectKey key;  ///< As far as it can be read; so is the uid.
  std::string uid;
  Error error;
};

struct WatchMachineOptions {
  bool watch_list = true;  ///< Stream the first list; a server that refuses gets LIST.
  /// Objects per page of a list. Halved when a page is too long for the transport, larger when the list takes so long
  /// that its continue token expires.
  std::int64_t page = 500;
  std::int64_t max_page = 10'000;
  std::int64_t min_watch_seconds = 300;       ///< Minimum of the random timeout of a watch.
  std::int64_t max_watch_seconds = 600;       ///< Maximum; random, so that not all watches end at once.
  Duration slack = std::chrono::seconds(30);  ///< A watch that exceeds its timeout by this is half-open.
  Duration initial_silence =
      std::chrono::seconds(60);                    ///< A WatchList without an event for this long is replaced by LIST.
  Duration short_watch = std::chrono::seconds(1);  ///< A watch that ends sooner without an event counts as failed.
  Duration room_relist = std::chrono::minutes(1);  ///< Relists to find refused objects are at least this far apart.
  BackoffOptions backoff;
};

/// One thread steps it; synced(), absent() and broken_for() are thread-safe.
///
/// The first list has no resourceVersion, so it returns the newest state. An ended watch is resumed at its last
/// resourceVersion; only an expired resourceVersion leads to a relist.
class WatchMachine {
 public:
  struct Dependencies {
    client::Reader& reader;
    const Clock& clock;
    Random& random;
    Metrics& metrics;
    Logger log;
  };
  WatchMachine(ResourceType type, WatchScope scope, std::unique_ptr<WatchSink> sink, WatchMachineOptions options,
               Dependencies dependencies);

  /// Reads one page of a list, opens a watch, or handles the events that have arrived; waits up to `wait` for the first
  /// event. Returns when it must be called next: not later than `now` if there may be more work.
  Instant step(Instant now, Duration wait, const std::stop_token& stop);
  /// Steps until `stop`. `changed` is called after each step that changed synced() or absent().
  void run(const std::stop_token& stop, const std::function<void()>& changed);

  [[nodiscard]] const ResourceType& type() const { return type_; }
  [[nodiscard]] bool synced() const { return synced_; }
  /// The server does not serve the type: its CRD is not installed.
  [[nodiscard]] bool absent() const { return absent_; }
  /// For how long neither a list nor a watch has succeeded; zero if the last one did, or if absent().
  [[nodiscard]] Duration broken_for(Instant now) const;
  /// Called on the stepping thread.
  void on_quarantine(std::function<void(const QuarantinedObject&)> callback) { quarantined_ = std::move(callback); }

 private:
  enum class Phase { kList, kWatchList, kWatch };

  Instant list_page(Instant now, const std::stop_token& stop);
  Instant list_failed(const Error& error, Instant now);
  Instant open(Instant now, const std::stop_token& stop);
  Instant open_failed(const Error& error, Instant now);
  Instant read(Instant now, Duration wait, const std::stop_token& stop);
  Instant stream_failed(const Error& error, Instant now);
  /// The error that ends the stream, if any.
  std::optional<Error> handle(const client::WatchEvent& event);
  void handle_initial(const client::WatchEvent& event);
  void handle_change(const client::WatchEvent& event);
  /// When to relist because the sink has room for refused objects; kNever if it has none.
  [[nodiscard]] Instant room_relist_due() const;
  void finish_list(const std::string& resource_version);
  /// Relists, because the server cannot continue from resource_version_.
  void relist_after(const Error& error);
  void relist();
  Instant back_off(const Error& error, Instant now);
  void quarantine(const ObjectKey& key, std::string_view object, const Error& error);
  void progressed();

  const ResourceType type_;
  const WatchScope scope_;
  const std::unique_ptr<WatchSink> sink_;
  const WatchMachineOptions options_;
  client::Reader& reader_;
  const Clock& clock_;
  Random& random_;
  const WatchMetrics metrics_;
  const Logger log_;
  std::function<void(const QuarantinedObject&)> quarantined_;

  Phase phase_;
  Backoff backoff_;
  Instant due_ = Instant::min();
  std::int64_t page_;      ///< Current objects per page.
  std::int64_t max_page_;  ///< Lowered when a page was too long.
  bool watch_list_refused_ = false;
  int broken_lists_ = 0;  ///< WatchLists in a row that broke off.
  std::string continue_token_;
  std::string resource_version_;  ///< Where the next watch starts.
  std::unique_ptr<client::WatchStream> stream_;
  Instant opened_;
  Instant listed_;                               ///< When the last list was complete.
  Instant last_event_;                           ///< Time of the last event of the open stream.
  Instant deadline_;                             ///< When the open stream is abandoned.
  bool any_event_ = false;                       ///< The open stream had an event.
  std::atomic<Instant> failing_since_ = kNever;  ///< A failure was logged; the recovery is not yet.
  std::atomic<bool> synced_ = false;
  std::atomic<bool> absent_ = false;
};

}  // namespace tpuslice::runtime
