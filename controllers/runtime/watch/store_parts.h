// StoreParts: how current the parts of a store are, which are kept by different watches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "api/types/object.h"
#include "controllers/runtime/watch/any_store.h"

namespace tpuslice::runtime {

/// Not thread-safe. Parts have the name of their namespace; the only part of a store has none.
class StoreParts {
 public:
  /// One for each of several namespaces; otherwise one with all objects.
  explicit StoreParts(const Namespaces& namespaces) {
    if (namespaces.size() > 1) {
      for (const std::string& each : namespaces) parts_[each];
    } else {
      parts_[""];
    }
  }

  /// After a list. It counts even when it is older than what was seen: the API server may have been restored from a
  /// backup.
  void listed(std::string_view name, std::uint64_t revision) { part(name) = {revision, true}; }
  void set_unsynced(std::string_view name) { part(name).synced = false; }
  void advance(std::string_view name, std::uint64_t revision) {
    part(name).revision = std::max(part(name).revision, revision);
  }
  /// The same for the part with `key`, if there is one.
  void advance(const ObjectKey& key, std::uint64_t revision) {
    if (const auto found = find(key); found != parts_.end()) {
      found->second.revision = std::max(found->second.revision, revision);
    }
  }

  [[nodiscard]] std::uint64_t revision(const ObjectKey& key) const {
    const auto found = find(key);
    return found == parts_.end() ? std::numeric_limits<std::uint64_t>::max() : found->second.revision;
  }
  [[nodiscard]] bool synced(const ObjectKey& key) const {
    const auto found = find(key);
    return found == parts_.end() || found->second.synced;
  }
  [[nodiscard]] bool all_synced() const { return std::ranges::all_of(parts_, is_synced); }
  [[nodiscard]] bool any_synced() const { return std::ranges::any_of(parts_, is_synced); }

 private:
  struct Part {
    std::uint64_t revision = 0;
    bool synced = false;
  };
  using Parts = std::map<std::string, Part, std::less<>>;

  static bool is_synced(const Parts::value_type& part) { return part.second.synced; }
  /// The part that a watch writes.
  Part& part(std::string_view name) { return parts_.find(name)->second; }
  template <typename Self>
  static auto find_in(Self& parts, const ObjectKey& key) {
    return parts.size() == 1 ? parts.begin() : parts.find(key.namespace_name);
  }
  [[nodiscard]] Parts::iterator find(const ObjectKey& key) { return find_in(parts_, key); }
  [[nodiscard]] Parts::const_iterator find(const ObjectKey& key) const { return find_in(parts_, key); }

  Parts parts_;
};

}  // namespace tpuslice::runtime
