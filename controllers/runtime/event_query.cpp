#include "controllers/runtime/event_query.h"

#include <optional>

#include <fmt/format.h>

#include "api/types/utf8.h"

namespace tpuslice::runtime {
namespace {

/// The group events.k8s.io selects the same events by fields of other names.
constexpr ResourceType kCoreEvents{"", "v1", "Event", "events"};

constexpr std::int64_t kMaxEvents = 100;
constexpr std::size_t kMaxBytes = 1U << 20U;
constexpr std::size_t kMaxMessage = 1024;

/// When the event was last seen; recorders set different members.
std::optional<Timestamp> time_of(const Json& event) {
  std::optional<Timestamp> latest;
  const auto add = [&](const std::string& text) {
    const auto time = parse_rfc3339(text);
    if (time && (!latest || *latest < *time)) latest = time;
  };
  add(string_at(event, {"series", "lastObservedTime"}));
  add(string_at(event, {"lastTimestamp"}));
  add(string_at(event, {"eventTime"}));
  if (!latest) add(string_at(event, {"metadata", "creationTimestamp"}));
  return latest;
}

}  // namespace

Result<Json> newest_event(client::Reader& reader, const std::string& namespace_name, const plan::EventQuery& query,
                          const std::stop_token& stop) {
  client::ListOptions options;
  options.namespace_name = namespace_name;
  options.field_selector = fmt::format("involvedObject.uid={},reason={}", query.uid, query.reason);
  options.limit = kMaxEvents;
  options.max_bytes = kMaxBytes;
  ASSIGN_OR_RETURN(const client::ListPage page, reader.list(kCoreEvents, options, stop));
  std::optional<Timestamp> newest;
  Json out = Json::object();
  for (const std::string& item : page.items) {
    const Result<Json> event = parse_json(item);
    const auto time = event ? time_of(*event) : std::nullopt;
    if (!time || (newest && *newest >= *time)) continue;
    newest = time;
    out = {{"message", clip(string_at(*event, {"message"}), kMaxMessage)}, {"time", format_rfc3339(*time)}};
  }
  return out;
}

}  // namespace tpuslice::runtime
