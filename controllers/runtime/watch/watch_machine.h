// WatchMachine: keeps one store current by list and watch, as a client-go reflector does.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/backoff.h"
#include "api/base/exception_barrier.h"
#include "api/base/log.h"
#include "api/base/random.h"
#include "api/client/client.h"
#include "api/client/page_size.h"
#include "controllers/runtime/metrics.h"
#include "controllers/runtime/watch/quarantine.h"
#include "controllers/runtime/watch/watch_liveness.h"
#include "controllers/runtime/watch/watch_sink.h"

namespace tpuslice::runtime {

/// The objects of a type that are watched.
struct WatchScope {
  Namespaces namespaces = {};
  std::string label_selector = {};
  std::string field_selector = {};

  /// The scopes of the watches that this needs: one for each namespace, or one for all.
  [[nodiscard]] std::vector<WatchScope> watches() const;
  /// The namespace of one of those; empty: all.
  [[nodiscard]] std::string namespace_name() const { return namespaces.empty() ? std::string() : namespaces.front(); }

  friend bool operator==(const WatchScope&, const WatchScope&) = default;
};

struct WatchMachineOptions {
  bool watch_list = true;                             ///< Stream the first list; a server that refuses gets LIST.
  Duration watch_list_retry = std::chrono::hours(1);  ///< Lists after this long are streamed again.
  /// Objects per page of a list; see client::PageSize.
  std::int64_t page = 500;
  std::int64_t max_page = 10'000;
  std::size_t max_page_bytes = 8U << 20U;       ///< Limit of a page of several objects: many watches list at a time.
  std::int64_t min_watch_seconds = 300;         ///< Minimum of the random timeout of a watch.
  std::int64_t max_watch_seconds = 600;         ///< Maximum; random, so that not all watches end at once.
  Duration overdue = std::chrono::seconds(30);  ///< A watch that exceeds its timeout by this is opened again.
  /// A WatchList without an event for this long is replaced by LIST.
  Duration initial_silence = std::chrono::seconds(60);
  Duration short_watch = std::chrono::seconds(1);     ///< A watch that ends sooner without an event counts as failed.
  LivenessOptions liveness;                           ///< When an open stream that is silent is abandoned.
  Duration refused_relist = std::chrono::minutes(1);  ///< Relists to find refused objects are at least this far apart.
  /// If its type has not been served for this long, the store counts as not synced, and controllers that need it stop.
  /// It keeps its objects: whether they were deleted with the CRD, or the CRD only serves other versions, is not known.
  Duration max_absence = std::chrono::minutes(1);
  BackoffOptions backoff;
};

/// One thread steps it; synced(), absent() and broken_for() are thread-safe.
///
/// The first list has no resourceVersion, so it returns the newest state. An ended watch is resumed at its last
/// resourceVersion; only an expired resourceVersion leads to a relist. An exception costs the object or the stream that
/// it came from.
class WatchMachine {
 public:
  struct Dependencies {
    client::Reader& reader;
    const Clock& clock;
    Random& random;
    Metrics& metrics;
    Logger log;
    DeadStreams* dead_streams = nullptr;  ///< Shared with other watches of the API server, if there are any.
  };
  /// `scope` is one of WatchScope::watches().
  WatchMachine(ResourceType type, WatchScope scope, std::unique_ptr<WatchSink> sink, WatchMachineOptions options,
               Dependencies dependencies);
  ~WatchMachine();
  WatchMachine(const WatchMachine&) = delete;
  WatchMachine& operator=(const WatchMachine&) = delete;

  /// Reads one page of a list, opens a watch, or handles the events that have arrived; waits up to `wait` for the first
  /// event. Returns when it must be called next: not later than `now` if there may be more work.
  Instant step(Instant now, Duration wait, const std::stop_token& stop);
  /// Steps until `stop`. `changed` is called after each step that changed synced() or absent().
  void run(const std::stop_token& stop, const std::function<void()>& changed);

  [[nodiscard]] const ResourceType& type() const { return type_; }
  /// "pods", or "pods in team-a".
  [[nodiscard]] std::string name() const;
  [[nodiscard]] bool synced() const { return synced_; }
  /// The server does not serve the type: its CRD is not installed.
  [[nodiscard]] bool absent() const { return absent_; }
  /// For how long neither a list nor a watch has succeeded; zero if the last one did, or if absent().
  [[nodiscard]] Duration broken_for(Instant now) const;
  /// Called on the stepping thread.
  void on_quarantine(Quarantine::Report report) { quarantine_.on_report(std::move(report)); }

 private:
  enum class Phase { kList, kWatchList, kWatch };

  Instant work(Instant now, Duration wait, const std::stop_token& stop);
  // The list, in watch_machine_list.cpp.
  Instant list_page(Instant now, const std::stop_token& stop);
  [[nodiscard]] client::ListOptions page_options() const;
  void begin_list();
  void stage(std::string_view object);
  /// Stages the object alone on a page that is too long, of which only the metadata was read.
  void stage_metadata(std::string_view metadata);
  void finish_list(const std::string& resource_version);
  Instant list_failed(const Error& error, Instant now);
  Instant open(Instant now, const std::stop_token& stop);
  Instant open_failed(const Error& error, Instant now);
  Instant read(Instant now, Duration wait, const std::stop_token& stop);
  /// After nothing was received.
  Instant wait_or_give_up(Instant now);
  /// When the open stream is abandoned unless something arrives before.
  [[nodiscard]] Instant abandoned_at() const { return std::min(deadline_, liveness_.dead_at()); }
  Instant stream_failed(const Error& error, Instant now);
  /// The error that ends the stream, if any.
  std::optional<Error> handle(const client::WatchEvent& event);
  void handle_initial(const client::WatchEvent& event);
  void handle_change(const client::WatchEvent& event);
  /// When to relist because refused objects would fit; kNever if none would.
  [[nodiscard]] Instant refused_relist_due() const;
  /// Relists, because the server cannot continue from resource_version_.
  void relist_after(const Error& error);
  void relist();
  /// Lists page by page for a while.
  void give_up_watch_list(std::string_view why);
  /// The server does not serve the type.
  void not_served(Instant now);
  Instant back_off(const Error& error, Instant now);
  void quarantine(const ObjectKey& key, std::string_view object, const Error& error);
  /// A version was read whole, or the object is gone.
  void release(const ObjectKey& key);
  void progressed();

  const ResourceType type_;
  const WatchScope scope_;
  const std::unique_ptr<WatchSink> sink_;
  const WatchMachineOptions options_;
  client::Reader& reader_;
  const Clock& clock_;
  Random& random_;
  Metrics& registry_;
  const WatchMetrics metrics_;
  const Logger log_;
  const ExceptionBarrier barrier_;
  Quarantine quarantine_;

  Phase phase_;
  Backoff backoff_;
  Instant due_ = Instant::min();
  client::PageSize page_;
  std::optional<Error> too_long_;             ///< Error of a page of one object: only its metadata is read next.
  Instant watch_list_from_ = Instant::min();  ///< Until then lists are not streamed.
  int broken_lists_ = 0;                      ///< WatchLists in a row that broke off.
  std::string continue_token_;
  std::string resource_version_;  ///< The version where the next watch starts.
  std::unique_ptr<client::WatchStream> stream_;
  Instant opened_;
  Instant listed_;              ///< When the last list was complete.
  Instant last_event_;          ///< Time of the last event of the open stream.
  std::uint64_t received_ = 0;  ///< Bytes of the open stream.
  StreamLiveness liveness_;
  Instant deadline_;                             ///< When the open stream is abandoned.
  bool any_event_ = false;                       ///< The open stream had an event.
  std::atomic<Instant> failing_since_ = kNever;  ///< A failure was logged; the recovery is not yet.
  std::atomic<bool> synced_ = false;
  std::atomic<bool> absent_ = false;
  Instant absent_since_;  ///< If absent_.
};

}  // namespace tpuslice::runtime
