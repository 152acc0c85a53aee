#include "controllers/history/history_controller.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "controllers/history/recovery.h"
#include "controllers/slice/accelerator_labels.h"
#include "controllers/slice/interruptions.h"
#include "controllers/slice/slice_state.h"
#include "tpu/labels.h"

namespace tpuslice::history {
namespace {

/// Whether the pod has just started: this happens once.
bool has_started(const slice::PodPtr& before, const PodView& after) {
  return before != nullptr && before->phase == PodPhase::kPending && after.phase == PodPhase::kRunning;
}

/// Whether the pod of a placed slice has just failed, not as it is deleted.
bool has_failed(const slice::PodPtr& before, const PodView& after) {
  return before != nullptr && !before->finished() && after.phase == PodPhase::kFailed && !after.terminating() &&
         !after.annotation(tpu::kSliceMembers).empty() && slice::host_index(after).has_value();
}

bool any_pending(const std::vector<slice::PodPtr>& pods) {
  return std::ranges::any_of(pods, [](const slice::PodPtr& pod) { return pod->phase == PodPhase::kPending; });
}

/// Observes the pods of slices for the leader: the metrics of several replicas would count each slice several times.
class PodObserver {
 public:
  PodObserver(const runtime::Manager& manager, Metrics& metrics, const slice::SliceStores& stores,
              std::shared_ptr<Journal> journal)
      : manager_(manager), metrics_(metrics), indexes_(stores.indexes), journal_(std::move(journal)) {}

  void observe(const slice::PodPtr& before, const slice::PodPtr& after) const {
    if (after == nullptr || !slice::in_slice(*after)) return;
    if (has_failed(before, *after)) return record_failed(after);
    if (after->phase == PodPhase::kRunning) observe_running(slice::slice_key(*after), has_started(before, *after));
  }

 private:
  /// The controller of the pods may delete all of them before the slice controller does.
  void record_failed(const slice::PodPtr& pod) const {
    if (!manager_.leading()) return;
    const ObjectKey key = slice::slice_key(*pod);
    const slice::Slice slice = slice::read_slice(key, indexes_.pods_by_slice.lookup(key.to_string()));
    const auto interruption = slice::interruption_of(
        slice, {plan::kTornDown, "PodLost", slice::describe_failed(*pod), pod}, manager_.clock().wall());
    journal_->record(*interruption);
  }

  void observe_running(const ObjectKey& key, bool started) const {
    if (!manager_.leading()) return;
    const std::optional<Record> interrupted = journal_->interrupted(key);
    if (!started && !interrupted) return;
    const std::vector<slice::PodPtr> pods = indexes_.pods_by_slice.lookup(key.to_string());
    if (any_pending(pods)) return;
    if (started) observe_start(slice::read_slice(key, pods));
    if (!interrupted) return;
    if (const auto pool = runs_again_in(*interrupted, pods))
      journal_->recover(*interrupted, {manager_.clock().wall(), *pool});
  }

  void observe_start(const slice::Slice& slice) const {
    const Timestamp placed = slice::placed_at(slice);
    if (placed == Timestamp{} || !all_run(slice)) return;
    const std::chrono::duration<double> took = manager_.clock().wall() - placed;
    const std::string accelerator = slice::accelerator_of(slice.hosts.front()->scheduling->node_selector);
    metrics_
        .histogram("tpuslice_slice_start_seconds", "Time from the placement of a slice until all its hosts run.",
                   runtime::long_duration_buckets(), {{"accelerator", slice::accelerator_label(accelerator)}})
        .observe(std::max(took.count(), 0.0));
  }

  const runtime::Manager& manager_;
  Metrics& metrics_;
  const slice::Indexes indexes_;
  const std::shared_ptr<Journal> journal_;
};

}  // namespace

std::vector<Record> History::records() const {
  std::vector<Record> out;
  if (journal == nullptr) return out;
  const std::optional<Ring> ring = read_ring(pages, namespace_name);
  if (!ring) return out;
  for (const auto& [sequence, record] : ring->records()) out.push_back(record);
  return out;
}

History add_history(runtime::Manager& manager, Metrics& metrics, const slice::SliceStores& stores,
                    const std::string& namespace_name) {
  History history{std::make_shared<Journal>(metrics), {}, namespace_name};
  std::array<runtime::Store<HistoryPage>*, kPages> pages{};
  for (std::size_t page = 0; page < kPages; ++page) {
    pages.at(page) = &manager.optional_store<HistoryPage>(
        kConfigMaps, {.namespaces = {namespace_name},
                      .field_selector = fmt::format("metadata.name={}", page_key(namespace_name, page).name)});
    history.pages.at(page) = pages.at(page);
  }
  const auto observer = std::make_shared<const PodObserver>(manager, metrics, stores, history.journal);
  for (runtime::PodStore* store : stores.pods) {
    store->add_listener(
        [observer](const slice::PodPtr& before, const slice::PodPtr& after) { observer->observe(before, after); });
  }
  runtime::Controller& controller =
      manager.add(std::make_unique<HistoryReconciler>(history.pages, stores.indexes, history.journal, namespace_name),
                  {.workers = 1, .queue = {.pace = kWriteInterval}});
  for (runtime::Store<HistoryPage>* page : pages) {
    controller.watches_optional<HistoryPage>(*page, [](const HistoryPage&) { return std::vector{history_key()}; });
  }
  history.journal->on_change([&controller] { controller.add(history_key()); });
  return history;
}

}  // namespace tpuslice::history
