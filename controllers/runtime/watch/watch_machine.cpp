#include "controllers/runtime/watch/watch_machine.h"

#include <algorithm>
#include <utility>

#include "api/base/pause.h"
#include "api/client/json_scan.h"

namespace tpuslice::runtime {
namespace {

constexpr int kEventsPerStep = 1000;
/// After this many broken WatchLists in a row, the list is read page by page.
constexpr int kMaxBrokenLists = 3;

/// True if the same request can succeed later.
bool is_transient(ErrorCode code) {
  switch (code) {
    case ErrorCode::kTooManyRequests:
    case ErrorCode::kUnavailable:
    case ErrorCode::kTimeout:
    case ErrorCode::kCancelled:
    case ErrorCode::kUnauthorized:
    case ErrorCode::kForbidden:  // RBAC may be applied after us
    case ErrorCode::kNotFound:   // The CRD may be applied after us
    case ErrorCode::kExpired:
      return true;
    default:
      return false;
  }
}

Logger log_of_watch(const Logger& log, const ResourceType& type, const WatchScope& scope) {
  Logger out = log.with({{"watch", type.resource()}});
  if (!scope.namespaces.empty()) out = out.with({{"namespace", scope.namespace_name()}});
  return scope.label_selector.empty() ? out : out.with({{"labelSelector", scope.label_selector}});
}

}  // namespace

std::vector<WatchScope> WatchScope::watches() const {
  if (namespaces.empty()) return {*this};
  std::vector<WatchScope> out(namespaces.size(), *this);
  for (std::size_t i = 0; i < out.size(); ++i) out[i].namespaces = {namespaces[i]};
  return out;
}

WatchMachine::WatchMachine(ResourceType type, WatchScope scope, std::unique_ptr<WatchSink> sink,
                           WatchMachineOptions options, Dependencies dependencies)
    : type_(type),
      scope_(std::move(scope)),
      sink_(std::move(sink)),
      options_(options),
      reader_(dependencies.reader),
      clock_(dependencies.clock),
      random_(dependencies.random),
      registry_(dependencies.metrics),
      metrics_(watch_metrics(dependencies.metrics,
                             {type.resource(), scope_.label_selector, scope_.namespace_name(), scope_.field_selector})),
      log_(log_of_watch(dependencies.log, type, scope_)),
      barrier_("watch", dependencies.metrics, clock_, log_),
      quarantine_(metrics_.quarantined, log_),
      phase_(options.watch_list ? Phase::kWatchList : Phase::kList),
      backoff_(options.backoff),
      page_(options.page, options.max_page),
      liveness_(options.liveness, dependencies.dead_streams, clock_.now()) {
  registry_.update_at_scrape(this, [this] {
    const Duration age = clock_.now() - liveness_.last_byte();
    metrics_.last_byte_age.set(std::chrono::duration<double>(age).count());
  });
}

WatchMachine::~WatchMachine() { registry_.stop_updates(this); }

std::string WatchMachine::name() const {
  return scope_.namespaces.empty() ? type_.resource() : type_.resource() + " in " + scope_.namespace_name();
}

Duration WatchMachine::broken_for(Instant now) const {
  const Instant since = failing_since_;
  return since == kNever || absent_ ? Duration::zero() : now - since;
}

Instant WatchMachine::step(Instant now, Duration wait, const std::stop_token& stop) {
  const Result<Instant> next = barrier_.run([&] { return work(now, wait, stop); });
  if (next) return *next;
  stream_.reset();
  relist();
  return back_off(next.error(), clock_.now());
}

Instant WatchMachine::work(Instant now, Duration wait, const std::stop_token& stop) {
  quarantine_.report_pending(now);
  if (now < due_) return due_;
  if (stream_) return read(now, wait, stop);
  return phase_ == Phase::kList ? list_page(now, stop) : open(now, stop);
}

void WatchMachine::run(const std::stop_token& stop, const std::function<void()>& changed) {
  // Long enough to idle cheaply; a stop ends the wait at once.
  constexpr Duration kMaxRead = std::chrono::seconds(10);
  while (!stop.stop_requested()) {
    const bool synced = synced_;
    const bool absent = absent_;
    const Instant due = step(clock_.now(), kMaxRead, stop);
    if (synced != synced_ || absent != absent_) changed();
    const Instant now = clock_.now();
    if (!stream_ && due > now) pause(due - now, stop);
  }
}

Instant WatchMachine::open(Instant now, const std::stop_token& stop) {
  const bool initial = phase_ == Phase::kWatchList;
  if (initial) begin_list();
  client::WatchOptions watch;
  watch.namespace_name = scope_.namespace_name();
  watch.label_selector = scope_.label_selector;
  watch.field_selector = scope_.field_selector;
  watch.send_initial_events = initial;
  watch.for_view = sink_->for_view();
  if (!initial) watch.resource_version = resource_version_;
  watch.timeout_seconds = random_.uniform(options_.min_watch_seconds, options_.max_watch_seconds);
  Result<std::unique_ptr<client::WatchStream>> stream = reader_.watch(type_, watch, stop);
  if (!stream) return open_failed(stream.error(), clock_.now());
  metrics_.watches.increment();
  stream_ = *std::move(stream);
  opened_ = last_event_ = clock_.now();
  received_ = 0;
  liveness_.opened(opened_);
  // The server ends the watch after the time it asked for. A watch that is open for longer is half-open.
  deadline_ = opened_ + std::chrono::seconds(watch.timeout_seconds) + options_.overdue;
  any_event_ = false;
  return now;
}

Instant WatchMachine::open_failed(const Error& error, Instant now) {
  if (error.code() == ErrorCode::kCancelled) return now;
  // A WatchList sends no resourceVersion that could expire, so this error means that the server does not support it.
  if (phase_ == Phase::kWatchList && (!is_transient(error.code()) || error.code() == ErrorCode::kExpired)) {
    give_up_watch_list(error.message());
    return now;
  }
  if (error.code() == ErrorCode::kNotFound) {
    not_served(now);
    relist();
  }
  if (error.code() == ErrorCode::kExpired || client::is_resource_version_too_large(error)) {
    relist_after(error);
    if (now - listed_ >= options_.short_watch) return now;
  }
  return back_off(error, now);
}

Instant WatchMachine::refused_relist_due() const {
  if (phase_ != Phase::kWatch || !sink_->fits_again()) return kNever;
  return listed_ + options_.refused_relist;
}

Instant WatchMachine::read(Instant now, Duration wait, const std::stop_token& stop) {
  const Instant relist_due = refused_relist_due();
  if (now >= relist_due) {
    stream_.reset();
    relist();
    return now;
  }
  for (int events = 0; events < kEventsPerStep; ++events) {
    const Duration patience =
        events == 0 ? std::min(wait, std::max(std::min(abandoned_at(), relist_due) - now, Duration::zero()))
                    : Duration::zero();
    Result<std::optional<client::WatchEvent>> event = stream_->next(patience, stop);
    if (!event) return stream_failed(event.error(), clock_.now());
    const Instant read_at = clock_.now();
    const std::uint64_t received_before = std::exchange(received_, stream_->received());
    if (received_ != received_before) liveness_.received(read_at);
    if (!*event) return events > 0 ? now : wait_or_give_up(read_at);
    metrics_.events.increment();
    last_event_ = read_at;
    if (const std::optional<Error> error = handle(**event)) return stream_failed(*error, read_at);
    any_event_ = true;
    if (phase_ != Phase::kWatchList) progressed();  // A list that breaks off is discarded.
  }
  return now;
}

Instant WatchMachine::wait_or_give_up(Instant now) {
  if (now >= deadline_) {
    return stream_failed(Error::unavailable("watch {}: half-open: no event and no end in time", type_.resource()), now);
  }
  if (phase_ == Phase::kWatchList) {
    const Instant given_up = last_event_ + options_.initial_silence;
    if (now < given_up) return std::min(deadline_, given_up);
    stream_.reset();
    give_up_watch_list("no event in time");
    return now;
  }
  if (now >= liveness_.dead_at()) {
    const Duration silence = now - liveness_.last_byte();
    metrics_.silent.increment();
    log_.info("watch silent; opening it again", {{"silent_for", silence}});
    liveness_.found_dead(now);
    return stream_failed(Error::unavailable("watch {}: nothing received", type_.resource()), now);
  }
  if (now - opened_ >= options_.short_watch) progressed();
  return std::min(abandoned_at(), refused_relist_due());
}

Instant WatchMachine::stream_failed(const Error& error, Instant now) {
  stream_.reset();
  if (error.code() == ErrorCode::kCancelled) return now;
  const bool short_lived = !any_event_ && now - opened_ < options_.short_watch;
  if (phase_ == Phase::kWatchList) {
    // A partial list is discarded.
    const bool refused = !http::is_end_of_stream(error) && !is_transient(error.code());
    if (refused || ++broken_lists_ >= kMaxBrokenLists) {
      give_up_watch_list(error.message());
      return now;
    }
    return back_off(error, now);
  }
  if (http::is_end_of_stream(error) || error.code() == ErrorCode::kUnavailable) {
    return short_lived ? back_off(error, now) : now;
  }
  if (error.code() == ErrorCode::kExpired) {
    relist_after(error);
    // If relisting does not help, back off.
    return now - listed_ < options_.short_watch ? back_off(error, now) : now;
  }
  if (error.code() != ErrorCode::kTooManyRequests && error.code() != ErrorCode::kTimeout) relist();
  return back_off(error, now);
}

std::optional<Error> WatchMachine::handle(const client::WatchEvent& event) {
  switch (event.type) {
    case client::WatchEventType::kError:
      return event.error ? *event.error : Error::internal("watch {}: ERROR event without a status", type_.resource());
    case client::WatchEventType::kBookmark:
      if (phase_ == Phase::kWatch && !event.resource_version.empty()) {
        liveness_.bookmark();
        resource_version_ = event.resource_version;
        sink_->advance(revision_of(event.resource_version));
      }
      if (phase_ == Phase::kWatchList && event.initial_events_end) finish_list(event.resource_version);
      return std::nullopt;
    default:
      phase_ == Phase::kWatchList ? handle_initial(event) : handle_change(event);
      return std::nullopt;
  }
}

void WatchMachine::handle_initial(const client::WatchEvent& event) {
  if (event.type == client::WatchEventType::kDeleted) {
    sink_->unstage(event.key);
    release(event.key);
  } else {
    stage(event.object);
  }
}

void WatchMachine::handle_change(const client::WatchEvent& event) {
  const std::uint64_t revision = revision_of(event.resource_version);
  if (event.type == client::WatchEventType::kDeleted) {
    sink_->erase(event.key, revision);
    release(event.key);
  } else if (const Status put = barrier_.run([&] { return sink_->put(event.object); }); !put) {
    quarantine(event.key, event.object, put.error());
    sink_->advance(revision);
  } else {
    release(event.key);
  }
  if (!event.resource_version.empty()) resource_version_ = event.resource_version;
}

void WatchMachine::relist_after(const Error& error) {
  metrics_.expired.increment();
  log_.info("resourceVersion expired; relisting",
            {{"resource_version", resource_version_}, {"error", error.message()}});
  relist();
}

void WatchMachine::relist() {
  continue_token_.clear();
  too_long_.reset();
  const bool streamed = options_.watch_list && clock_.now() >= watch_list_from_;
  phase_ = streamed ? Phase::kWatchList : Phase::kList;
}

void WatchMachine::give_up_watch_list(std::string_view why) {
  broken_lists_ = 0;
  watch_list_from_ = clock_.now() + options_.watch_list_retry;
  log_.info("list not streamed; reading it page by page", {{"error", why}});
  relist();
}

void WatchMachine::not_served(Instant now) {
  liveness_.received(now);
  if (!absent_.exchange(true)) {
    absent_since_ = now;
    sink_->set_absent(true);
  }
  if (!synced_ || now - absent_since_ < options_.max_absence) return;
  synced_ = false;
  sink_->set_unsynced();
  log_.info("type is no longer served; its controllers stop");
}

Instant WatchMachine::back_off(const Error& error, Instant now) {
  if (error.code() == ErrorCode::kCancelled) return now;
  const Duration wait = std::max(backoff_.next(now, random_), error.retry_after().value_or(Duration::zero()));
  due_ = now + wait;
  const bool failing = failing_since_.load() != kNever;
  // Clusters without one of the CRDs are the rule.
  const LogLevel level = failing ? LogLevel::kDebug : absent_ ? LogLevel::kInfo : LogLevel::kWarn;
  if (!failing) failing_since_ = now;
  metrics_.connected.set(0);
  log_.log(level, absent_ ? "CRD is not installed; waiting for it" : "watch interrupted",
           {{"error", error.message()}, {"code", to_string(error.code())}, {"retry_in", wait}});
  return due_;
}

void WatchMachine::quarantine(const ObjectKey& key, std::string_view object, const Error& error) {
  const std::string_view uid = client::json_member(client::json_member(object, "metadata"), "uid");
  quarantine_.add({type_, key, client::json_string(uid).value_or(""), error}, clock_.now());
}

void WatchMachine::release(const ObjectKey& key) {
  if (!quarantine_.empty()) quarantine_.remove(key);
}

void WatchMachine::progressed() {
  if (absent_.exchange(false)) sink_->set_absent(false);
  metrics_.connected.set(1);
  if (failing_since_.exchange(kNever) == kNever) return;
  log_.info("watch resumed");
}

}  // namespace tpuslice::runtime
