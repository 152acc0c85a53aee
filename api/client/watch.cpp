#include "api/client/watch.h"

#include <array>
#include <utility>

#include "api/client/json_scan.h"
#include "api/client/protobuf_answer.h"
#include "api/client/requests.h"

namespace tpuslice::client {
namespace {

constexpr std::array<std::pair<std::string_view, WatchEventType>, 5> kTypes = {{
    {"ADDED", WatchEventType::kAdded},
    {"MODIFIED", WatchEventType::kModified},
    {"DELETED", WatchEventType::kDeleted},
    {"BOOKMARK", WatchEventType::kBookmark},
    {"ERROR", WatchEventType::kError},
}};

constexpr int kStatusOfUnreadable = 500;

std::optional<WatchEventType> parse_type(std::string_view name) {
  for (const auto& [text, type] : kTypes) {
    if (text == name) return type;
  }
  return std::nullopt;
}

/// Stops once all is found: later members, such as managedFields, can be longer than all before them.
void read_metadata(WatchEvent& event) {
  JsonScanner metadata = json_members_of(event.object, "metadata");
  const bool bookmark = event.type == WatchEventType::kBookmark;
  while (const std::optional<JsonMember> member = metadata.next()) {
    if (member->name == "name") event.key.name = json_string(member->value).value_or("");
    if (member->name == "namespace") event.key.namespace_name = json_string(member->value).value_or("");
    if (member->name == "resourceVersion") event.resource_version = json_string(member->value).value_or("");
    if (member->name == "annotations" && bookmark) {
      event.initial_events_end = json_string(json_member(member->value, "k8s.io/initial-events-end")) == "true";
    }
    if (!event.key.name.empty() && !event.key.namespace_name.empty() && !event.resource_version.empty()) return;
  }
}

Error read_error(std::string_view object) {
  const Result<Json> status = parse_json(object);
  if (!status)
    return Error::internal("watch: the server sent an ERROR event that cannot be decoded: {}",
                           status.error().message());
  return error_from_status(*status, kStatusOfUnreadable, "watch");
}

}  // namespace

Result<WatchEvent> make_watch_event(std::string_view type, std::string object) {
  const std::optional<WatchEventType> known = parse_type(type);
  if (!known) return Error::internal("watch: event of unknown type {}", type.substr(0, 40));
  WatchEvent event;
  event.type = *known;
  event.object = std::move(object);
  if (event.type == WatchEventType::kError) {
    event.error = read_error(event.object);
  } else {
    read_metadata(event);
  }
  return event;
}

Result<WatchEvent> decode_watch_event(std::string_view line) {
  std::string_view type;
  std::string_view object;
  std::string_view kind;
  JsonScanner envelope(line);
  while (const std::optional<JsonMember> member = envelope.next()) {
    if (member->name == "type") type = member->value;
    if (member->name == "object") object = member->value;
    if (member->name == "kind") kind = member->value;
  }
  // Some proxies and servers answer 200 and put a bare Status where events belong.
  if (envelope.complete() && kind == "\"Status\"" && object.empty()) {
    WatchEvent event;
    event.object = line;
    event.error = read_error(line);
    return event;
  }
  if (!envelope.complete() || object.empty()) {
    return Error::internal("watch: {} bytes are not an event: not a complete JSON object with type and object",
                           line.size());
  }
  return make_watch_event(json_string(type).value_or(std::string(type)), std::string(object));
}

Status LineSplitter::feed(std::string_view bytes) {
  if (start_ > 0 && start_ == buffer_.size()) {
    buffer_.clear();
    start_ = scanned_ = last_line_ = 0;
  } else if (start_ > buffer_.size() / 2) {
    buffer_.erase(0, start_);
    scanned_ -= start_;
    last_line_ -= start_;
    start_ = 0;
  }
  std::size_t newline = buffer_.size();
  buffer_.append(bytes);
  do {
    newline = buffer_.find('\n', newline);
    const std::size_t end = std::min(newline, buffer_.size());
    if (end - last_line_ > max_line_) return Error::internal("watch: an event is longer than {} bytes", max_line_);
    if (newline != std::string::npos) last_line_ = ++newline;
  } while (newline != std::string::npos);
  return {};
}

std::optional<std::string> LineSplitter::next() {
  while (true) {
    const auto newline = buffer_.find('\n', std::max(scanned_, start_));
    if (newline == std::string::npos) {
      scanned_ = buffer_.size();
      return std::nullopt;
    }
    std::string_view line = std::string_view(buffer_).substr(start_, newline - start_);
    start_ = scanned_ = newline + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) return std::string(line);
  }
}

WatchStream::WatchStream(std::unique_ptr<http::Stream> stream, const protobuf::Message* fields, std::size_t max_event)
    : stream_(std::move(stream)), fields_(is_protobuf(stream_->headers()) ? fields : nullptr) {
  if (fields_ != nullptr) {
    splitter_ = std::make_unique<FrameSplitter>(max_event);
  } else {
    splitter_ = std::make_unique<LineSplitter>(max_event);
  }
}

Result<std::optional<WatchEvent>> WatchStream::next(Duration wait, std::stop_token stop) {
  std::optional<std::string> text = splitter_->next();
  if (!text) {
    ASSIGN_OR_RETURN(const std::string bytes, stream_->read(wait, std::move(stop)));
    received_ += bytes.size();
    RETURN_IF_ERROR(splitter_->feed(bytes));
    text = splitter_->next();
  }
  if (!text) return std::optional<WatchEvent>();
  ASSIGN_OR_RETURN(WatchEvent event,
                   fields_ != nullptr ? decode_protobuf_event(*text, *fields_) : decode_watch_event(*text));
  return std::optional<WatchEvent>(std::move(event));
}

}  // namespace tpuslice::client
