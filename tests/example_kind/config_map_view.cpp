#include "tests/example_kind/config_map_view.h"

#include <utility>

#include "api/types/view_reader.h"

namespace tpuslice::example {

Result<ConfigMapView> ConfigMapView::decode(std::string_view json, const KeptKeys* keep) {
  ConfigMapView config_map;
  view::Metadata metadata;
  RETURN_IF_ERROR(view::decode("config map", json, [&](std::string_view member, view::Value value) {
    if (member == "metadata") metadata = view::read_metadata(value, keep);
    if (member == "data") {
      view::each_member(value, [&](std::string_view name, view::Value text) {
        if (name == "flag") config_map.flag = view::text_of(text);
      });
    }
  }));
  RETURN_IF_ERROR(view::take_metadata("config map", std::move(metadata), config_map));
  return config_map;
}

Result<ConfigMapView> ConfigMapView::from_json(const Json& json) { return decode(json.dump()); }

}  // namespace tpuslice::example
