// MemberChanges: records which members of a document are changed, so that the JSON patch needs no copy and no
// comparison of the whole document.
//
//   MemberChanges changes;
//   tpu::add_tpu_toleration(changes.member(pod["spec"], "/spec", "tolerations"));
//   const Json patch = changes.patch();
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::rules {

/// Not thread-safe. Borrows the members until patch(): they must keep their address in the document.
class MemberChanges {
 public:
  /// The member `key` of `parent`, an object at the JSON pointer `path`; null if it was absent. The caller may change
  /// it. No recorded member may be inside another.
  Json& member(Json& parent, std::string_view path, std::string_view key);

  /// Erases the member `key` of `parent`, if there is one; references to it that member() returned are invalid then.
  void erase(Json& parent, std::string_view path, std::string_view key);

  /// RFC 6902: the changes since member() was called, and what was erased.
  [[nodiscard]] Json patch() const;

 private:
  struct Change {
    std::string path;
    std::optional<Json> before;  ///< Nothing if the member was absent.
    Json* now;                   ///< Null if the member was erased.
  };
  std::vector<Change> changes_;
};

}  // namespace tpuslice::rules
