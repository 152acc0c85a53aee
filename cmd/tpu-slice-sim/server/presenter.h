// Presenter: objects and lists in the requested form.
#pragma once

#include <string>
#include <vector>

#include "api/base/clock.h"
#include "cmd/tpu-slice-sim/resources/resources.h"
#include "cmd/tpu-slice-sim/server/media_type.h"
#include "cmd/tpu-slice-sim/storage/storage.h"

namespace tpuslice::sim {

/// What the rows of a Table have besides cells.
enum class RowObject : std::uint8_t { kNone, kMetadata, kObject };

struct Presenter {
  const Resource& resource;
  Form form = Form::kObject;
  RowObject row_object = RowObject::kMetadata;
  Timestamp now;

  /// `object` in its served form. A Table has column definitions only if `headers`.
  [[nodiscard]] Json one(const Json& object, bool headers = true) const;
  /// `metadata` is the list's.
  [[nodiscard]] std::string list(const std::vector<JsonPtr>& objects, const Json& metadata) const;
  /// A bookmark: only a revision, in the same form.
  [[nodiscard]] Json bookmark(Revision revision, bool initial_events_end) const;
};

}  // namespace tpuslice::sim
