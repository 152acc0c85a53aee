// Answers of an API server in protobuf: lists, watch events and errors, to the JSON that the server would send
// otherwise.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "api/base/result.h"
#include "api/client/protobuf.h"
#include "api/client/requests.h"
#include "api/client/watch.h"
#include "api/http/transport.h"

namespace tpuslice::client {

/// What a server may send; one that has no protobuf, for example of custom resources, sends JSON.
inline constexpr std::string_view kAcceptProtobuf = "application/vnd.kubernetes.protobuf,application/json";

/// Whether the Content-Type is protobuf's.
[[nodiscard]] bool is_protobuf(const http::Headers& headers);

/// `item`: the fields to keep of each item. Errors: Internal for bytes that are not a list with a resourceVersion.
[[nodiscard]] Result<ListPage> convert_list(std::string_view body, const protobuf::Message& item);

/// A meta/v1 Status. Errors: Internal for other bytes.
[[nodiscard]] Result<std::string> convert_status(std::string_view body);

/// Decodes one frame of a stream, as decode_watch_event() does. `object`: the fields to keep of the object.
[[nodiscard]] Result<WatchEvent> decode_protobuf_event(std::string_view frame, const protobuf::Message& object);

/// Cuts a stream of bytes into frames: four bytes with the length, most significant first, and the bytes.
class FrameSplitter final : public WatchSplitter {
 public:
  explicit FrameSplitter(std::size_t max_frame) : max_frame_(max_frame) {}

  /// Errors: Internal once a frame is longer than the limit.
  Status feed(std::string_view bytes) override;
  [[nodiscard]] std::optional<std::string> next() override;
  [[nodiscard]] std::size_t pending() const override { return buffer_.size() - last_frame_; }

 private:
  /// Length of the frame that begins there; nothing before it has arrived.
  [[nodiscard]] std::optional<std::size_t> length_at(std::size_t frame) const;

  const std::size_t max_frame_;
  std::string buffer_;
  std::size_t start_ = 0;       ///< Start of the first frame not yet handed out.
  std::size_t last_frame_ = 0;  ///< Start of the frame that has no end yet.
};

}  // namespace tpuslice::client
