// The children of a workload: whether the live object has what the desired one says, and what to do if not.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "api/types/views.h"

namespace tpuslice::plan {

struct ChildDecision {
  enum class Kind : std::uint8_t {
    kNone,      ///< The live object is up to date.
    kCreate,    ///< There is none.
    kPatch,     ///< It drifted: apply `patch`.
    kWait,      ///< It is being deleted, or the garbage collector will delete it: create it again then.
    kConflict,  ///< It is not owned by the workload, or cannot be made what it should be, so it cannot be used.
  };
  Kind kind = Kind::kNone;
  Json patch = {};  ///< kPatch: a merge patch.
  /// kConflict: "service default/train belongs to JobSet other"; the remedy is the caller's.
  std::string conflict = {};
};

/// "is being created": what becomes of a child with this decision; empty if nothing does. `patched`: for kPatch.
[[nodiscard]] std::string_view progress(ChildDecision::Kind kind, std::string_view patched = "is being updated");

enum class Ownership : std::uint8_t {
  kOwned,         ///< By the workload that is the controller of the desired object.
  kEarlierOwner,  ///< By an earlier workload of the same kind and name: the garbage collector deletes it.
  kOther,
};
[[nodiscard]] Ownership ownership(const ControllerRef& owner, const std::optional<ControllerRef>& live);
/// Owner relation of the live object to the controller of `desired`.
[[nodiscard]] Ownership ownership(const Json& desired, const std::optional<ControllerRef>& live);

/// "role default/train belongs to JobSet other", of the live object with the kind and name of `desired`.
[[nodiscard]] std::string describe_owner(const Json& desired, const std::optional<ControllerRef>& live);

/// Left behind by an earlier owner that was deleted with --cascade=orphan: it has the labels of `desired`, no owner,
/// and is not being deleted.
[[nodiscard]] bool is_orphan(const Json& desired, const ObjectView& live);

/// Gives an orphan the owner of `desired`. Its content is restored once it has one.
[[nodiscard]] ChildDecision adopt(const Json& desired);

/// A child of any kind. `restore` is called for one that is owned, with the live object: a merge patch of what has
/// drifted, null for nothing. An object of another owner is a conflict. `live`: the object of the same name, of any
/// owner; null without.
[[nodiscard]] ChildDecision decide_by_owner(const Json& desired, const ObjectView* live,
                                            const std::function<Json(const Json& live)>& restore);

/// The same for children without rules of their own. Labels, annotations and all members beside the metadata are
/// restored. `exact`: the API server adds no defaults to the members beside the metadata, so what others add to them is
/// drift, too.
[[nodiscard]] ChildDecision decide_child(const Json& desired, const ObjectView* live, bool exact = false);

}  // namespace tpuslice::plan
