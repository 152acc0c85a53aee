// WatchStream: the events of one watch, read from the history of Storage. It has no thread; the reader drives it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/http/transport.h"
#include "cmd/tpu-slice-sim/registry/registry.h"
#include "cmd/tpu-slice-sim/server/presenter.h"
#include "cmd/tpu-slice-sim/server/selection.h"

namespace tpuslice::sim {

struct WatchOptions {
  ListOptions list;
  Form form = Form::kObject;
  RowObject row_object = RowObject::kMetadata;
  Duration bookmark_every = std::chrono::seconds(60);
  Duration default_timeout = std::chrono::minutes(30);
};

/// Closes after its timeout, with a bookmark if these are allowed, or after an ERROR event.
/// If the history was compacted past the client, it gets an ERROR event with code 410.
class WatchStream final : public http::Stream {
 public:
  WatchStream(const Registry& registry, ResourcePtr resource, Selection selection, WatchOptions options);

  [[nodiscard]] int status() const override { return 200; }
  [[nodiscard]] const http::Headers& headers() const override { return headers_; }
  [[nodiscard]] Result<std::string> read(Duration wait, std::stop_token stop) override;

 private:
  void start();
  std::string drain();
  void append(std::string& out, std::string_view type, const Json& object);
  void append_change(std::string& out, const Change& change);
  void append_bookmark(std::string& out, bool initial_events_end);
  void append_error(std::string& out, const Error& error);

  const Registry& registry_;
  const ResourcePtr resource_;
  const Selection selection_;
  const WatchOptions options_;
  const http::Headers headers_;
  const Instant ends_;
  Instant bookmark_due_;
  Revision after_ = 0;         ///< Everything up to here has been sent or does not match.
  std::string pending_;        ///< Encoded, not yet read.
  bool headers_sent_ = false;  ///< The headers of a Table are sent.
  bool failed_ = false;
  bool ended_ = false;
};

}  // namespace tpuslice::sim
