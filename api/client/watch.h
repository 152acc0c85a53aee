// A watch: bytes of a stream in, events out. Objects are handed over as their bytes; who reads them decides how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "api/base/result.h"
#include "api/client/protobuf.h"
#include "api/http/transport.h"
#include "api/types/object.h"

namespace tpuslice::client {

enum class WatchEventType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };

struct WatchEvent {
  WatchEventType type = WatchEventType::kError;
  std::string object;               ///< The object as JSON, not decoded yet: decoding may fail.
  std::string resource_version;     ///< metadata.resourceVersion; empty if the object has none.
  ObjectKey key;                    ///< metadata.namespace and name, as far as there are any.
  bool initial_events_end = false;  ///< A bookmark that ends the initial events of a WatchList.
  std::optional<Error> error;       ///< The error of a kError event: Expired means list again.
};

/// An event of the type "ADDED", "MODIFIED", ... with this object, a Status if it is "ERROR". Errors: Internal for an
/// unknown type.
[[nodiscard]] Result<WatchEvent> make_watch_event(std::string_view type, std::string object);

/// Reads the envelope of one line. Errors: Internal if it is not a watch event; the object is not checked.
[[nodiscard]] Result<WatchEvent> decode_watch_event(std::string_view line);

/// Cuts a stream of bytes into the texts of events.
class WatchSplitter {
 public:
  virtual ~WatchSplitter() = default;
  /// Errors: Internal for an event that is too long; the splitter cannot be used after that.
  virtual Status feed(std::string_view bytes) = 0;
  /// The next whole event, if there is one.
  [[nodiscard]] virtual std::optional<std::string> next() = 0;
  /// Bytes of an event that has no end yet.
  [[nodiscard]] virtual std::size_t pending() const = 0;
};

/// Events in JSON are lines.
class LineSplitter final : public WatchSplitter {
 public:
  explicit LineSplitter(std::size_t max_line = 16U << 20U) : max_line_(max_line) {}

  /// Errors: Internal once a line is longer than the limit.
  Status feed(std::string_view bytes) override;
  /// Blank lines are skipped.
  [[nodiscard]] std::optional<std::string> next() override;
  [[nodiscard]] std::size_t pending() const override { return buffer_.size() - last_line_; }

 private:
  const std::size_t max_line_;
  std::string buffer_;
  std::size_t start_ = 0;      ///< Start of the first line not yet handed out.
  std::size_t scanned_ = 0;    ///< No newline in [start_, scanned_).
  std::size_t last_line_ = 0;  ///< Start of the line that has no end yet.
};

/// An open watch. One reader.
class WatchStream {
 public:
  /// `fields`: those of the objects that are kept if the stream is protobuf.
  explicit WatchStream(std::unique_ptr<http::Stream> stream, const protobuf::Message* fields = nullptr,
                       std::size_t max_event = 16U << 20U);

  /// The next event. Nothing if none was received within `wait` (0 polls), or only a part of one.
  ///
  /// Errors: http::end_of_stream() when the server ended the watch as it should; Unavailable when the connection broke;
  /// Cancelled; Internal for a line that is not an event. After an error the watch is over.
  [[nodiscard]] Result<std::optional<WatchEvent>> next(Duration wait, std::stop_token stop);
  /// Bytes received so far, those of incomplete events included.
  [[nodiscard]] std::uint64_t received() const { return received_; }

 private:
  std::unique_ptr<http::Stream> stream_;
  std::uint64_t received_ = 0;
  const protobuf::Message* fields_;  ///< Null: the stream is JSON.
  std::unique_ptr<WatchSplitter> splitter_;
};

}  // namespace tpuslice::client
