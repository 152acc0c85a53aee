// MemberChanges: what is changed of a document, member by member, so that the patch is found without a copy of the rest
// and without comparing it.
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

namespace tpuslice::webhook {

/// Used by one thread. Borrows the members until patch(): they stay where they are in the document.
class MemberChanges {
 public:
  /// The member `key` of `parent`, which is an object at the JSON pointer `path`; null where it was absent. It may be
  /// changed from now on. No such member lies within another.
  Json& member(Json& parent, std::string_view path, std::string_view key);

  /// RFC 6902: from what the members were to what they are.
  [[nodiscard]] Json patch() const;

 private:
  struct Change {
    std::string path;
    std::optional<Json> before;  ///< Nothing: the member was absent.
    Json* now;
  };
  std::vector<Change> changes_;
};

}  // namespace tpuslice::webhook
