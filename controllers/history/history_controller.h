// Adds the controller of the history to a Manager.
#pragma once

#include <memory>
#include <string>

#include "controllers/history/history_reconciler.h"
#include "controllers/slice/slice_controller.h"

namespace tpuslice::history {

/// The history: who writes it, and its stores.
struct History {
  std::shared_ptr<Journal> journal;  ///< Null: there is no history.
  PageStores pages = {};
  std::string namespace_name;  ///< Namespace of the ConfigMaps: the operator's.

  /// By sequence number. Empty while it cannot be read.
  [[nodiscard]] std::vector<Record> records() const;
};

/// Adds watches of the ConfigMaps, and listeners of pods that see when slices run again and how long they take to
/// start. Before the first step. Without the permission to read the ConfigMaps nothing is written.
[[nodiscard]] History add_history(runtime::Manager& manager, Metrics& metrics, const slice::SliceStores& stores,
                                  const std::string& namespace_name);

}  // namespace tpuslice::history
