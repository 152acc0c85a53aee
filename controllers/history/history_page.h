// HistoryPage: a ConfigMap of the operator's namespace with a page of the history, as a store keeps it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/types/views.h"
#include "controllers/plan/plan.h"

namespace tpuslice::history {

struct HistoryPage {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  std::optional<Timestamp> deletion;
  std::optional<ControllerRef> controller;
  std::string records;  ///< data.records: lines of JSON.

  static Result<HistoryPage> decode(std::string_view json, const KeptKeys* keep = nullptr);
  friend bool operator==(const HistoryPage&, const HistoryPage&) = default;
};

/// "tpu-slice-history-0"
[[nodiscard]] ObjectKey page_key(const std::string& namespace_name, std::size_t page);

[[nodiscard]] plan::Action create_page(const ObjectKey& key, std::string records);
/// Fails if the ConfigMap has changed: another leader may have written it.
[[nodiscard]] plan::Action write_page(const HistoryPage& page, std::string records);

}  // namespace tpuslice::history
