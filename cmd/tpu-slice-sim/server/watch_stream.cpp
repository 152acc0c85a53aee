#include "cmd/tpu-slice-sim/server/watch_stream.h"

#include <algorithm>

#include "cmd/tpu-slice-sim/resources/api_errors.h"
#include "cmd/tpu-slice-sim/resources/conversion.h"

namespace tpuslice::sim {
namespace {

constexpr std::size_t kBatch = 500;

Instant end_of(const Registry& registry, const WatchOptions& options) {
  const auto seconds = options.list.timeout_seconds.value_or(0);
  return registry.clock().now() + (seconds > 0 ? Duration(std::chrono::seconds(seconds)) : options.default_timeout);
}

}  // namespace

WatchStream::WatchStream(const Registry& registry, ResourcePtr resource, Selection selection, WatchOptions options)
    : registry_(registry),
      resource_(std::move(resource)),
      selection_(std::move(selection)),
      options_(std::move(options)),
      headers_({{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}}),
      ends_(end_of(registry, options_)),
      bookmark_due_(registry.clock().now() + options_.bookmark_every) {
  start();
}

/// Without a resourceVersion, with "0", or with sendInitialEvents, a watch starts with the existing objects.
void WatchStream::start() {
  const ListOptions& list = options_.list;
  const bool initial = list.initial_events ? *list.initial_events : list.revision() == 0;
  if (!initial) {
    after_ = list.revision() == 0 ? registry_.storage().revision() : list.revision();
    return;
  }
  while (true) {
    after_ = registry_.storage().revision();
    const auto objects = registry_.storage().list_at(storage_id(*resource_), selection_.namespace_name(), after_);
    if (!objects) continue;  // Compacted meanwhile: read again at the current revision.
    for (const JsonPtr& stored : *objects) {
      const JsonPtr object = to_served(*resource_, stored);
      if (selection_.matches(key_of(*object), *object)) {
        append(pending_, "ADDED", *object);
      }
    }
    break;
  }
  if (list.initial_events && list.bookmarks) append_bookmark(pending_, true);
}

void WatchStream::append(std::string& out, std::string_view type, const Json& object) {
  const Presenter presenter{*resource_, options_.form, options_.row_object, registry_.clock().wall()};
  out += "{\"type\":\"";
  out += type;
  out += "\",\"object\":";
  out += options_.form == Form::kObject ? object.dump() : presenter.one(object, !headers_sent_).dump();
  out += "}\n";
  headers_sent_ = true;
}

void WatchStream::append_bookmark(std::string& out, bool initial_events_end) {
  const Presenter presenter{*resource_, options_.form, options_.row_object, registry_.clock().wall()};
  out += "{\"type\":\"BOOKMARK\",\"object\":" + presenter.bookmark(after_, initial_events_end).dump() + "}\n";
  bookmark_due_ = registry_.clock().now() + options_.bookmark_every;
}

void WatchStream::append_error(std::string& out, const Error& error) {
  out += "{\"type\":\"ERROR\",\"object\":" + status_json(error).dump() + "}\n";
  failed_ = true;
}

/// An object that starts to match is ADDED; one that no longer matches is DELETED, in its last matching state.
void WatchStream::append_change(std::string& out, const Change& change) {
  const JsonPtr now = to_served(*resource_, change.object);
  const JsonPtr before = to_served(*resource_, change.previous);
  const bool was = before && selection_.matches(change.key, *before);
  const bool is = change.type != ChangeType::kDeleted && selection_.matches(change.key, *now);
  if (is) {
    append(out, was ? "MODIFIED" : "ADDED", *now);
  } else if (was && change.type == ChangeType::kDeleted) {
    append(out, "DELETED", *now);
  } else if (was) {
    Json last = *before;
    last["metadata"]["resourceVersion"] = std::to_string(change.revision);
    append(out, "DELETED", last);
  }
}

std::string WatchStream::drain() {
  std::string out = std::exchange(pending_, {});
  if (failed_) return out;
  const Revision newest = registry_.storage().revision();
  const auto changes = registry_.storage().changes(storage_id(*resource_), after_, kBatch);
  if (!changes) {
    append_error(out, changes.error());
    return out;
  }
  for (const Change& change : *changes) append_change(out, change);
  if (!changes->empty()) after_ = std::max(after_, changes->back().revision);
  if (changes->size() < kBatch) after_ = std::max(after_, newest);
  const Instant now = registry_.clock().now();
  if (options_.list.bookmarks && (now >= bookmark_due_ || now >= ends_)) append_bookmark(out, false);
  if (now >= ends_) ended_ = true;
  return out;
}

Result<std::string> WatchStream::read(Duration wait, std::stop_token stop) {
  const Instant began = registry_.clock().now();
  Instant until = began + wait;
  while (true) {
    if (stop.stop_requested()) return Error(ErrorCode::kCancelled, "watch was stopped");
    if (ended_ || (failed_ && pending_.empty())) return http::end_of_stream();
    std::string out = drain();
    if (!out.empty()) return out;
    if (ended_) return http::end_of_stream();
    if (wait <= Duration::zero()) return std::string();
    const Instant now = registry_.clock().now();
    if (now >= until) return std::string();
    const Instant due = options_.list.bookmarks ? std::min({until, ends_, bookmark_due_}) : std::min(until, ends_);
    registry_.storage().wait_past(after_, std::max(due - now, Duration(std::chrono::milliseconds(1))), stop);
    if (registry_.clock().now() == now) until = now;  // With a fake clock, wait once.
  }
}

}  // namespace tpuslice::sim
