// AnyStore: a store of any view, as the write ledger and the controller see it.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/object.h"
#include "api/types/resource_type.h"

namespace tpuslice::runtime {

/// A resourceVersion as a number; 0 for anything else. Kubernetes lets clients compare them (KEP-5504).
[[nodiscard]] std::uint64_t revision_of(std::string_view resource_version);

/// Names of namespaces, each once; none: all namespaces.
using Namespaces = std::vector<std::string>;

/// A store of several namespaces has a part for each, which a watch of its own keeps current; every other store is one
/// part.
///
/// Thread-safe.
class AnyStore {
 public:
  /// The version of an object that the store holds.
  struct Entry {
    std::string uid;
    std::uint64_t revision = 0;
    bool terminating = false;
  };

  explicit AnyStore(ResourceType type) : type_(type) {}
  virtual ~AnyStore() = default;
  AnyStore(const AnyStore&) = delete;
  AnyStore& operator=(const AnyStore&) = delete;

  [[nodiscard]] const ResourceType& type() const { return type_; }
  [[nodiscard]] virtual std::optional<Entry> entry(const ObjectKey& key) const = 0;
  /// The newest revision that the part with `key` reflects, bookmarks included. A store that has no such part will
  /// never show the object: the greatest number.
  [[nodiscard]] virtual std::uint64_t revision(const ObjectKey& key) const = 0;
  /// Whether all parts are synced. One is not until its first list is complete, and while the type is no longer served:
  /// then it has the last objects.
  [[nodiscard]] virtual bool synced() const = 0;
  /// Whether any part is.
  [[nodiscard]] virtual bool partly_synced() const = 0;
  /// Whether the part with `key` is, or there is none.
  [[nodiscard]] virtual bool synced(const ObjectKey& key) const = 0;
  /// The server does not serve the type: its CRD is not installed.
  [[nodiscard]] bool absent() const { return absent_; }
  /// Written by the watch machine, or by a test.
  void set_absent(bool absent) { absent_ = absent; }

 private:
  const ResourceType type_;
  std::atomic<bool> absent_ = false;
};

}  // namespace tpuslice::runtime
