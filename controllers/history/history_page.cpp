#include "controllers/history/history_page.h"

#include <utility>

#include <fmt/format.h>

#include "api/types/view_reader.h"

namespace tpuslice::history {

Result<HistoryPage> HistoryPage::decode(std::string_view json, const KeptKeys* /*keep*/) {
  HistoryPage page;
  view::Metadata metadata;
  RETURN_IF_ERROR(view::decode("ConfigMap", json, [&](std::string_view member, view::Value value) {
    if (member == "metadata") metadata = view::read_metadata(value);
    if (member != "data") return;
    view::each_member(value, [&](std::string_view name, view::Value text) {
      if (name == "records") page.records = view::text_of(text);
    });
  }));
  RETURN_IF_ERROR(view::take_metadata("ConfigMap", std::move(metadata), page));
  return page;
}

ObjectKey page_key(const std::string& namespace_name, std::size_t page) {
  return {namespace_name, fmt::format("tpu-slice-history-{}", page)};
}

plan::Action create_page(const ObjectKey& key, std::string records) {
  return plan::Action::create(kConfigMaps, key, [key, records = std::move(records)]() -> Result<Json> {
    return Json{{"apiVersion", "v1"},
                {"kind", "ConfigMap"},
                {"metadata",
                 {{"name", key.name},
                  {"namespace", key.namespace_name},
                  {"labels", {{"app.kubernetes.io/managed-by", "tpu-slice-operator"}}}}},
                {"data", {{"records", records}}}};
  });
}

plan::Action write_page(const HistoryPage& page, std::string records) {
  return plan::Action::patch(kConfigMaps, page.key, {{"data", {{"records", std::move(records)}}}},
                             {page.uid, page.resource_version});
}

}  // namespace tpuslice::history
