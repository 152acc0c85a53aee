#include "controllers/placement/metadata_view.h"

#include <utility>

#include "api/types/view_reader.h"

namespace tpuslice::placement {

Result<MetadataView> MetadataView::decode(std::string_view json, const KeptKeys* /*keep*/) {
  MetadataView object;
  view::Metadata metadata;
  RETURN_IF_ERROR(view::decode("object", json, [&](std::string_view member, view::Value value) {
    if (member == "metadata") metadata = view::read_metadata(value);
  }));
  RETURN_IF_ERROR(view::take_metadata("object", std::move(metadata), object));
  return object;
}

}  // namespace tpuslice::placement
