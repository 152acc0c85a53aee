// ListOptions: the query parameters of list, watch and deletecollection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/http/url.h"
#include "api/types/selector.h"
#include "cmd/tpu-slice-sim/storage/storage.h"

namespace tpuslice::sim {

struct ListOptions {
  LabelSelector labels = LabelSelector::everything();
  FieldSelector fields = FieldSelector::everything();
  std::int64_t limit = 0;
  std::string continue_token;
  std::string resource_version;
  std::string version_match;  ///< "", Exact or NotOlderThan.
  bool watch = false;
  bool bookmarks = false;
  std::optional<bool> initial_events;
  std::optional<std::int64_t> timeout_seconds;

  /// resource_version as a number; 0 for "" and "0".
  [[nodiscard]] Revision revision() const;
};

/// Errors: BadRequest if malformed, Invalid for combinations that the API forbids.
[[nodiscard]] Result<ListOptions> parse_list_options(const http::QueryParams& query);

/// The start of the next page.
struct ContinueToken {
  std::int64_t revision = 0;  ///< -1: the current one, for an inconsistent continuation after compaction.
  ObjectKey after;

  [[nodiscard]] std::string encode() const;
  /// Errors: BadRequest.
  static Result<ContinueToken> decode(const std::string& text);
};

/// Whether the text is a resourceVersion: a number, or empty.
[[nodiscard]] bool is_version(const std::string& text);
/// The error of a request for one object, or a watch.
[[nodiscard]] Error invalid_version(std::string_view version);

}  // namespace tpuslice::sim
