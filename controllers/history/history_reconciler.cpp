#include "controllers/history/history_reconciler.h"

#include <utility>

#include <fmt/format.h>

#include "controllers/history/recovery.h"

namespace tpuslice::history {

std::optional<Ring> read_ring(const PageStores& pages, const std::string& namespace_name) {
  std::array<std::string, kPages> texts;
  for (std::size_t page = 0; page < kPages; ++page) {
    if (!pages.at(page)->synced()) return std::nullopt;
    const auto found = pages.at(page)->get(page_key(namespace_name, page));
    if (found != nullptr) texts.at(page) = found->records;
  }
  return Ring(texts);
}

Result<plan::Plan> HistoryReconciler::plan(const plan::ReconcileInput& input) const {
  plan::Plan plan;
  std::optional<Ring> ring = read_ring(pages_, namespace_name_);
  if (!ring) {
    // No event says that a store without objects is synced.
    plan.requeue_after = kWriteInterval;
    return plan;
  }
  journal_->merge_into(*ring, input.now);
  find_recoveries(*ring, input.now);
  if (ring->changed().empty()) return plan;
  const std::size_t page = ring->changed().front();
  plan::Action action = write(*ring, page);
  plan.reason = fmt::format("interruptions of slices are recorded in ConfigMap {}", action.key.to_string());
  plan.stages.push_back({{std::move(action)}});
  plan.requeue_after = kWriteInterval;
  return plan;
}

void HistoryReconciler::find_recoveries(const Ring& ring, Timestamp now) const {
  for (const auto& [sequence, record] : ring.records()) {
    if (record.recovery || now >= record.time + kRecoveryWindow) continue;
    const std::optional<Record> waits = journal_->interrupted(record.key());
    if (!waits || !waits->is_same(record)) continue;
    const auto pool = runs_again_in(record, indexes_.pods_by_slice.lookup(record.key().to_string()));
    if (pool) journal_->recover(record, {now, *pool});
  }
}

plan::Action HistoryReconciler::write(const Ring& ring, std::size_t page) const {
  const ObjectKey key = page_key(namespace_name_, page);
  const auto found = pages_.at(page)->get(key);
  return found == nullptr ? create_page(key, ring.text(page)) : write_page(*found, ring.text(page));
}

}  // namespace tpuslice::history
