// Where a watch writes what it reads.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "api/client/client.h"
#include "api/client/json_scan.h"
#include "controllers/runtime/namespace_budget.h"
#include "controllers/runtime/store.h"

namespace tpuslice::runtime {

/// Receives the objects that a watch reads: a list in a staging area, swapped in at its end; then single changes.
class WatchSink {
 public:
  virtual ~WatchSink() = default;
  /// What it reads of an object, if the object may come as protobuf; null: JSON.
  [[nodiscard]] virtual const protobuf::Message* fields() const = 0;
  virtual void begin() = 0;  ///< Empties the staging area.
  /// Errors: InvalidArgument for an object that cannot be decoded, or that its namespace has no room for. Then the
  /// version that the store has stays, if there is one.
  virtual Status stage(std::string_view object) = 0;
  /// As stage() of an object that is not read whole, from a PartialObjectMetadata.
  virtual Status stage_metadata(std::string_view partial_object_metadata) = 0;
  virtual void unstage(const ObjectKey& key) = 0;
  virtual void stage_known(const ObjectKey& key) = 0;  ///< Stages the version of `key` that the store has, if any.
  virtual void commit(std::uint64_t revision) = 0;     ///< The staging area replaces the store.
  /// Errors: as stage().
  virtual Status put(std::string_view object) = 0;
  virtual void erase(const ObjectKey& key, std::uint64_t revision) = 0;
  virtual void advance(std::uint64_t revision) = 0;
  /// A relist would find room for an object that was refused since begin().
  [[nodiscard]] virtual bool has_room_again() const = 0;
};

/// Budget of a namespace in one store: enough for a few thousand usual workloads.
inline constexpr std::size_t kBytesPerNamespace = 16U << 20U;
/// Texts of a usual pod, Job, StatefulSet or service.
inline constexpr std::size_t kUsualTextBytes = 16U << 10U;

/// Bytes of those texts of a view whose length users choose.
template <typename View>
[[nodiscard]] std::size_t text_bytes(const View& view) {
  std::size_t bytes = 0;
  [[maybe_unused]] const auto add = [&bytes](const StringMap& texts) {
    for (const auto& [name, text] : texts) bytes += name.size() + text.size();
  };
  if constexpr (requires { view.labels; }) add(view.labels);
  if constexpr (requires { view.annotations; }) add(view.annotations);
  if constexpr (requires { view.selector; }) add(view.selector);
  if constexpr (requires { view.pod_template; }) bytes += view.pod_template.size();
  return bytes;
}

/// Borrows store and annotations. `annotations`: those that views keep.
template <typename View>
class StoreSink final : public WatchSink {
 public:
  StoreSink(Store<View>& store, const AnnotationPrefixes& annotations,
            std::size_t bytes_per_namespace = kBytesPerNamespace)
      : store_(store), annotations_(annotations), budget_(bytes_per_namespace) {}

  [[nodiscard]] const protobuf::Message* fields() const override {
    if constexpr (requires { View::kFields; }) return &View::kFields;
    return nullptr;
  }
  void begin() override {
    staged_.clear();
    budget_.forget_refused();
    count_stored();  // Stored objects count until commit().
  }
  Status stage(std::string_view object) override {
    Status staged = stage_whole(object);
    if (!staged) (void)stage_metadata(object);
    return staged;
  }
  Status stage_metadata(std::string_view partial_object_metadata) override {
    const std::string_view metadata = client::json_member(partial_object_metadata, "metadata");
    stage_known({client::json_string(client::json_member(metadata, "namespace")).value_or(""),
                 client::json_string(client::json_member(metadata, "name")).value_or("")});
    return {};
  }
  void unstage(const ObjectKey& key) override {
    if (const auto staged = staged_.find(key); staged != staged_.end()) staged_.erase(staged);
  }
  void stage_known(const ObjectKey& key) override {
    // A version that is staged already is newer, and stays.
    if (Ptr known = store_.get(key)) staged_.insert(std::move(known));
  }
  void commit(std::uint64_t revision) override {
    store_.swap_in(std::exchange(staged_, {}), revision);
    count_stored();
  }
  Status put(std::string_view object) override {
    ASSIGN_OR_RETURN(View view, View::decode(object, &annotations_));
    RETURN_IF_ERROR(reserve(store_.get(view.key).get(), view));
    store_.put(std::move(view));
    return {};
  }
  void erase(const ObjectKey& key, std::uint64_t revision) override {
    if (const auto known = store_.get(key)) budget_.remove(key.namespace_name, bytes_of(*known));
    store_.erase(key, revision);
  }
  void advance(std::uint64_t revision) override { store_.advance(revision); }
  [[nodiscard]] bool has_room_again() const override { return budget_.has_room_again(); }

 private:
  using Ptr = typename Store<View>::Ptr;

  Status stage_whole(std::string_view object) {
    ASSIGN_OR_RETURN(View view, View::decode(object, &annotations_));
    const auto staged = staged_.find(view.key);
    const Ptr known = staged == staged_.end() ? store_.get(view.key) : *staged;
    RETURN_IF_ERROR(reserve(known.get(), view));
    // Most objects have not changed: a relist takes no memory for these.
    const bool same = known != nullptr && known->uid == view.uid && known->resource_version == view.resource_version;
    replace_staged(same ? known : std::make_shared<const View>(std::move(view)));
    return {};
  }
  void replace_staged(Ptr view) {
    unstage(view->key);
    staged_.insert(std::move(view));
  }
  /// The view is a whole object.
  [[nodiscard]] static constexpr bool is_whole() {
    return requires(const View& view) { view.text.size(); };
  }
  /// Bytes that count: the JSON of a whole object; of another view the texts in excess of kUsualTextBytes.
  [[nodiscard]] static std::size_t bytes_of(const View& view) {
    if constexpr (is_whole()) {
      return view.text.size();
    } else {
      const std::size_t bytes = text_bytes(view);
      return bytes > kUsualTextBytes ? bytes - kUsualTextBytes : 0;
    }
  }

  [[nodiscard]] Status reserve(const View* known, const View& view) {
    const std::string& name = view.key.namespace_name;
    if (budget_.try_replace(name, known == nullptr ? 0 : bytes_of(*known), bytes_of(view))) return {};
    return Error::invalid_argument(
        "it has {} bytes{}, and of the {} of namespace {} the operator reads at most {} bytes together; delete some, "
        "or use another namespace",
        bytes_of(view), is_whole() ? "" : fmt::format(" beyond the usual {}", kUsualTextBytes),
        store_.type().resource(), name, budget_.bytes());
  }

  void count_stored() {
    budget_.clear();
    for (const auto& view : store_.list()) budget_.add(view->key.namespace_name, bytes_of(*view));
  }

  Store<View>& store_;
  const AnnotationPrefixes& annotations_;
  NamespaceBudget budget_;
  typename Store<View>::Objects staged_;
};

}  // namespace tpuslice::runtime
