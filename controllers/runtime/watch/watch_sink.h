// WatchSink: what a watch writes the objects to that it reads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/base/exception_barrier.h"
#include "api/client/client.h"
#include "controllers/runtime/metrics.h"
#include "controllers/runtime/watch/refused_objects.h"
#include "controllers/runtime/watch/store.h"
#include "controllers/runtime/watch/view_size.h"

namespace tpuslice::runtime {

/// Receives the objects that a watch reads: a list in a staging area, swapped in at its end; then single changes.
///
/// A minimal view is kept of an object that cannot be decoded, or does not fit into the memory budget, if the view has
/// one and key and uid can be read; otherwise what the store has. The error then says why.
class WatchSink {
 public:
  virtual ~WatchSink() = default;
  /// Whether an object may lack the fields that its view does not read, as with client::ListOptions::for_view.
  [[nodiscard]] virtual bool for_view() const = 0;
  virtual void begin() = 0;  ///< Empties the staging area.
  /// Errors: InvalidArgument for an object that is not kept whole; the reason is kOverMemoryBudget if it does not fit.
  virtual Status stage(std::string_view object) = 0;
  /// Stages a minimal view, of the PartialObjectMetadata of an object that cannot be read whole. Errors:
  /// InvalidArgument if it is not kept.
  virtual Status stage_metadata(std::string_view partial_object_metadata) = 0;
  virtual void unstage(const ObjectKey& key) = 0;
  virtual void commit(std::uint64_t revision) = 0;  ///< The staging area replaces the store.
  virtual void set_unsynced() = 0;                  ///< The store is not current before the next commit().
  virtual void set_absent(bool absent) = 0;         ///< Whether the server does not serve the type.
  /// Errors: as stage().
  virtual Status put(std::string_view object) = 0;
  virtual void erase(const ObjectKey& key, std::uint64_t revision) = 0;
  virtual void advance(std::uint64_t revision) = 0;
  /// True if an object that was refused since begin() would fit after a relist.
  [[nodiscard]] virtual bool fits_again() const = 0;
};

/// Best effort, for objects that cannot be decoded.
[[nodiscard]] ObjectKey key_in(std::string_view object);

/// Borrows all arguments but `part`, the part of the store that it writes: the namespace of a store of several. `keep`:
/// what views keep. Without a budget, everything fits. While a list is read, an object counts as the larger of its
/// versions in the staging area and in the store: the other one is garbage when the list is complete.
template <typename View>
class StoreSink final : public WatchSink {
 public:
  StoreSink(Store<View>& store, const KeptKeys& keep, MemoryBudget* budget = nullptr,
            std::optional<StoreMetrics> metrics = std::nullopt, std::string part = {})
      : store_(store),
        part_(std::move(part)),
        keep_(keep),
        budget_(budget == nullptr ? unlimited_ : *budget),
        refused_(budget_),
        metrics_(std::move(metrics)) {}

  [[nodiscard]] bool for_view() const override {
    return requires { requires View::kReadsFixedFields; };
  }
  void begin() override {
    for (const Ptr& view : staged_) charge(view->key, counted_bytes(view->key), stored_bytes(view->key));
    staged_.clear();
    refused_.forget();
    update_metrics();
  }
  Status stage(std::string_view object) override {
    Result<View> view = decode(object);
    if (!view) return stage_minimal(object, view.error());
    const Ptr known = known_version(view->key);
    // Most objects have not changed: a relist takes no memory for these.
    if (known != nullptr && is_same_version(*known, *view)) {
      replace_staged(known);
      return {};
    }
    const std::size_t size = set_footprint(*view);
    if (!try_charge_staged(view->key, size, purpose_of(known.get()))) {
      Error over_budget = over_budget_error(*view, size);
      return stage_minimal(object, std::move(over_budget), size);
    }
    replace_staged(std::make_shared<const View>(*std::move(view)));
    return {};
  }
  Status stage_metadata(std::string_view partial_object_metadata) override {
    if constexpr (kHasMinimal) {
      ASSIGN_OR_RETURN(View view, decode_minimal(partial_object_metadata));
      const Ptr known = store_.get(view.key);
      if constexpr (requires { view.node_name; }) {
        if (known != nullptr && known->uid == view.uid) {
          view.node_name = known->node_name;
          view.phase = known->phase;
          if (!known->scheduling->resources.empty()) view.scheduling.edit().resources = known->scheduling->resources;
        }
      }
      return stage_view(std::move(view), std::nullopt);
    } else {
      const ObjectKey key = key_in(partial_object_metadata);
      stage_known(key);
      if (staged_.contains(key)) return {};
      return Error::invalid_argument("{} {} cannot be kept", store_.type().resource(), key.to_string());
    }
  }
  void unstage(const ObjectKey& key) override {
    const auto staged = staged_.find(key);
    if (staged == staged_.end()) return;
    charge(key, counted_bytes(key), stored_bytes(key));
    staged_.erase(staged);
  }
  void commit(std::uint64_t revision) override {
    for (const Ptr& view : store_.list()) {
      if (!part_.empty() && view->key.namespace_name != part_) continue;
      const auto staged = staged_.find(view->key);
      charge(view->key, counted_bytes(view->key), staged == staged_.end() ? 0 : bytes_of(staged->get()));
    }
    minimal_ = static_cast<std::size_t>(
        std::count_if(staged_.begin(), staged_.end(), [](const Ptr& view) { return is_minimal(*view); }));
    store_.swap_in(std::exchange(staged_, {}), revision, part_);
    update_metrics();
  }
  void set_unsynced() override { store_.set_unsynced(part_); }
  void set_absent(bool absent) override { store_.set_absent(absent); }
  Status put(std::string_view object) override {
    Result<View> view = decode(object);
    if (!view) return put_minimal(object, view.error());
    const Ptr known = store_.get(view->key);
    const std::size_t size = set_footprint(*view);
    if (!try_charge(view->key, bytes_of(known.get()), size, purpose_of(known.get()))) {
      Error over_budget = over_budget_error(*view, size);
      return put_minimal(object, std::move(over_budget), size);
    }
    put_view(known.get(), *std::move(view));
    return {};
  }
  void erase(const ObjectKey& key, std::uint64_t revision) override {
    if (const Ptr known = store_.get(key)) {
      release(*known);
      if (is_minimal(*known)) --minimal_;
    }
    store_.erase(key, revision);
    update_metrics();
  }
  void advance(std::uint64_t revision) override { store_.advance(revision, part_); }
  [[nodiscard]] bool fits_again() const override { return refused_.fits_again(); }

 private:
  using Ptr = typename Store<View>::Ptr;
  using Purpose = MemoryBudget::Purpose;

  static constexpr bool kHasMinimal = requires(View view) { view.minimal; };
  /// Decoding of a longer object may need a document tree, of many times its bytes.
  static constexpr std::size_t kLongDocument = 64U << 10U;

  [[nodiscard]] Result<View> decode(std::string_view object) {
    const auto decode_once = [&] { return View::decode(object, &keep_); };
    return shielded([&] { return object.size() < kLongDocument ? decode_once() : budget_.decode_alone(decode_once); });
  }
  [[nodiscard]] Result<View> decode_minimal(std::string_view object) const {
    return shielded([&] { return View::decode_minimal(object, &keep_); });
  }
  /// One object must not stop the watch: an exception is counted, and is then as any other error of decoding.
  template <typename Decode>
  [[nodiscard]] Result<View> shielded(Decode decode) const {
    Result<View> view = run_behind(store_.barrier(), decode);
    if (view || view.error().code() != ErrorCode::kDefect) return view;
    return Error::invalid_argument("decoding threw: {}", view.error().message());
  }
  [[nodiscard]] static bool is_minimal(const View& view) {
    if constexpr (kHasMinimal) return view.minimal;
    return false;
  }
  [[nodiscard]] static Purpose purpose_of(const View* known) {
    return known == nullptr || is_minimal(*known) ? Purpose::kNewObject : Purpose::kKnownObject;
  }
  /// A minimal view that is kept whatever it takes: its pod uses an extended resource of a node, one that views keep.
  /// There are no more of these than the nodes run.
  [[nodiscard]] static bool uses_node(const View& view) {
    if constexpr (requires { view.node_name; }) {
      return !view.scheduling->resources.empty() && !view.node_name.empty() && !view.finished();
    }
    return false;
  }
  static std::size_t set_footprint(View& view) {
    const std::size_t bytes = view_size(view);
    if constexpr (requires { view.footprint; }) view.footprint.bytes = static_cast<std::uint32_t>(bytes);
    return bytes;
  }
  [[nodiscard]] static std::size_t bytes_of(const View* view) {
    if (view == nullptr) return 0;
    if constexpr (requires { view->footprint; }) {
      return view->footprint.bytes;
    } else {
      return view_size(*view);
    }
  }

  [[nodiscard]] Ptr known_version(const ObjectKey& key) const {
    const auto staged = staged_.find(key);
    return staged == staged_.end() ? store_.get(key) : *staged;
  }
  [[nodiscard]] std::size_t stored_bytes(const ObjectKey& key) const { return bytes_of(store_.get(key).get()); }
  /// What `key` counts while a list is read.
  [[nodiscard]] std::size_t counted_bytes(const ObjectKey& key) const {
    const auto staged = staged_.find(key);
    return std::max(stored_bytes(key), staged == staged_.end() ? 0 : bytes_of(staged->get()));
  }
  /// Stages the version of `key` that the store has, if any.
  void stage_known(const ObjectKey& key) {
    // A version that is staged already is newer, and stays.
    if (Ptr known = store_.get(key)) staged_.insert(std::move(known));
  }
  /// Replaces the staged view of the object; the bytes of `view` are charged already.
  void replace_staged(Ptr view) {
    if (const auto staged = staged_.find(view->key); staged != staged_.end()) staged_.erase(staged);
    staged_.insert(std::move(view));
    update_metrics();
  }

  Status stage_minimal(std::string_view object, Error why, std::optional<std::size_t> refused = std::nullopt) {
    if constexpr (kHasMinimal) {
      if (Result<View> view = decode_minimal(object)) {
        if (Status staged = stage_view(*std::move(view), refused); !staged) return staged;
        return why;
      }
    }
    const ObjectKey key = key_in(object);
    if (refused) refused_.add(key.namespace_name, *refused);
    stage_known(key);
    return why;
  }
  Status stage_view(View view, std::optional<std::size_t> refused) {
    const ObjectKey key = view.key;
    if (refused) refused_.add(key.namespace_name, *refused);
    const Ptr known = known_version(key);
    if (known != nullptr && is_same_version(*known, view)) {
      replace_staged(known);
      return {};
    }
    const std::size_t size = set_footprint(view);
    // A known object takes less than before when the list is complete.
    const bool kept = known != nullptr || uses_node(view);
    if (kept) {
      charge(key, counted_bytes(key), std::max(stored_bytes(key), size));
    } else if (!try_charge_staged(key, size, Purpose::kMinimalView)) {
      return not_kept_error(view, size);
    }
    replace_staged(std::make_shared<const View>(std::move(view)));
    return {};
  }
  Status put_minimal(std::string_view object, Error why, std::optional<std::size_t> refused = std::nullopt) {
    if constexpr (kHasMinimal) {
      Result<View> view = decode_minimal(object);
      if (!view) return why;
      const Ptr known = store_.get(view->key);
      const std::size_t size = set_footprint(*view);
      if (refused) refused_.add(view->key.namespace_name, *refused);
      if (uses_node(*view)) {
        charge(view->key, bytes_of(known.get()), size);
      } else if (!try_charge(view->key, bytes_of(known.get()), size, Purpose::kMinimalView)) {
        return not_kept_error(*view, size);
      }
      put_view(known.get(), *std::move(view));
    } else if (refused) {
      refused_.add(key_in(object).namespace_name, *refused);
    }
    return why;
  }
  void put_view(const View* known, View view) {
    if (known != nullptr && is_minimal(*known)) --minimal_;
    if (is_minimal(view)) ++minimal_;
    store_.put(std::move(view));
    update_metrics();
  }

  [[nodiscard]] bool try_charge(const ObjectKey& key, std::size_t before, std::size_t after, Purpose purpose) {
    if (!budget_.try_replace(key.namespace_name, before, after, purpose)) return false;
    bytes_ = bytes_ - before + after;
    return true;
  }
  /// For a version of `size` bytes that is to be staged. What the stored version takes stays charged until the list is
  /// complete, so that nothing else takes it if the list breaks off.
  [[nodiscard]] bool try_charge_staged(const ObjectKey& key, std::size_t size, Purpose purpose) {
    return try_charge(key, counted_bytes(key), std::max(stored_bytes(key), size), purpose);
  }
  void charge(const ObjectKey& key, std::size_t before, std::size_t after) {
    if (before == after) return;
    budget_.replace(key.namespace_name, before, after);
    bytes_ = bytes_ - before + after;
  }
  void release(const View& view) { charge(view.key, bytes_of(&view), 0); }
  void update_metrics() const {
    if (!metrics_) return;
    metrics_->bytes.set(static_cast<double>(bytes_));
    metrics_->minimal.set(static_cast<double>(minimal_));
  }
  [[nodiscard]] Error over_budget_error(const View& view, std::size_t size) const {
    return refused_.error(store_.type(), view.key, size,
                          kHasMinimal ? "only its name and owner are kept" : "it is not read");
  }
  [[nodiscard]] Error not_kept_error(const View& view, std::size_t size) const {
    return refused_.error(store_.type(), view.key, size, "nothing of it is kept");
  }

  Store<View>& store_;
  const std::string part_;
  const KeptKeys& keep_;
  MemoryBudget unlimited_{std::size_t{1} << 60U};
  MemoryBudget& budget_;
  RefusedObjects refused_;
  const std::optional<StoreMetrics> metrics_;
  typename Store<View>::Objects staged_;
  std::size_t bytes_ = 0;    ///< Bytes that are charged.
  std::size_t minimal_ = 0;  ///< Number of minimal views in the store.
};

}  // namespace tpuslice::runtime
