// The reconciler that writes the history, with one key.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "controllers/history/history_page.h"
#include "controllers/history/journal.h"
#include "controllers/plan/reconciler.h"
#include "controllers/runtime/watch/store.h"
#include "controllers/slice/indexes.h"

namespace tpuslice::history {

// Key of the reconciler; not a resource of the API server.
inline constexpr ResourceType kHistories{"tpuslice.dev", "v1", "History", "histories", false};
[[nodiscard]] inline ObjectKey history_key() { return {"", "interruptions"}; }

/// Between two writes.
inline constexpr Duration kWriteInterval = std::chrono::seconds(10);

/// One store for each page, which may not exist.
using PageStores = std::array<const runtime::Store<HistoryPage>*, kPages>;

/// What the stores hold of the history. Empty while a store is not synced.
[[nodiscard]] std::optional<Ring> read_ring(const PageStores& pages, const std::string& namespace_name);

/// Plans at most one write: of the page that was changed first. What a new leader reads is what the last one has
/// written, so that no interruption is written twice, and a crash loses what was not written.
///
/// Thread-safe. The stores outlive it.
class HistoryReconciler final : public plan::Reconciler {
 public:
  HistoryReconciler(PageStores pages, slice::Indexes indexes, std::shared_ptr<Journal> journal,
                    std::string namespace_name)
      : pages_(pages),
        indexes_(std::move(indexes)),
        journal_(std::move(journal)),
        namespace_name_(std::move(namespace_name)) {}

  [[nodiscard]] std::string name() const override { return "slice-history"; }
  [[nodiscard]] ResourceType resource() const override { return kHistories; }
  [[nodiscard]] Result<plan::Plan> plan(const plan::ReconcileInput& input) const override;

 private:
  /// Slices that were interrupted while another replica led, and run again already.
  void find_recoveries(const Ring& ring, Timestamp now) const;
  [[nodiscard]] plan::Action write(const Ring& ring, std::size_t page) const;

  const PageStores pages_;
  const slice::Indexes indexes_;
  const std::shared_ptr<Journal> journal_;
  const std::string namespace_name_;
};

}  // namespace tpuslice::history
