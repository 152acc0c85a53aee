// view_size(): an estimate of the heap that a view takes while a store keeps it, for the memory budget.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "api/types/views.h"

namespace tpuslice::runtime {

/// Adds up allocations of glibc's malloc. A text that is shared (ADR 25) counts for the part of each sharer, within
/// limits: sharers may be deleted while the view stays.
class HeapSize {
 public:
  void add(const std::string& text);
  void add(const SharedString& text);
  void add(const StringMap& map);
  void add(const std::optional<ControllerRef>& controller);
  void add_shared(std::size_t bytes, std::size_t sharers);
  void add_bytes(std::size_t bytes) { bytes_ += bytes; }
  [[nodiscard]] std::size_t total() const;
  /// The bytes as if nothing were shared.
  [[nodiscard]] std::size_t unshared() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
  std::size_t discount_ = 0;  ///< What others pay.
};

/// The place of a view in a store: the block that it is allocated in, its entry, and entries in two or three indexes.
[[nodiscard]] std::size_t place_size(std::size_t size_of_view);

void add_members(const PodView& pod, HeapSize& size);
void add_members(const NodeView& node, HeapSize& size);
void add_members(const JobView& job, HeapSize& size);
void add_members(const StatefulSetView& set, HeapSize& size);
void add_members(const ServiceView& service, HeapSize& size);

/// Size of any other view: that of the members that most have.
template <typename View>
void add_members(const View& view, HeapSize& size) {
  if constexpr (requires { view.labels; }) size.add(view.labels);
  if constexpr (requires { view.annotations; }) size.add(view.annotations);
  if constexpr (requires { view.selector; }) size.add(view.selector);
  if constexpr (requires { view.text; }) size.add(view.text);
}

/// Size of a view. With a footprint it depends on the sharers of its texts, so it is asked once, when the view was
/// decoded. Of others it stays the same.
template <typename View>
[[nodiscard]] std::size_t view_size(const View& view) {
  HeapSize size;
  size.add_bytes(place_size(sizeof(View)));
  size.add(view.key.namespace_name);
  size.add(view.key.name);
  size.add(view.uid);
  size.add(view.resource_version);
  size.add(view.controller);
  add_members(view, size);
  if constexpr (requires { view.footprint; }) return size.total();
  return size.unshared();
}

}  // namespace tpuslice::runtime
