// Owners: owner references, and an index of objects by owner.
#pragma once

#include <map>
#include <set>
#include <string>

#include "api/types/json.h"
#include "cmd/tpu-slice-sim/storage/storage.h"

namespace tpuslice::sim {

/// The owner reference with `controller: true`; nullptr if there is none.
[[nodiscard]] const Json* controller_of(const Json& object);
/// The uid of the controller owner, or empty.
[[nodiscard]] std::string controller_uid(const Json& object);
/// Whether an owner has this uid, as controller or not.
[[nodiscard]] bool owned_by(const Json& object, const std::string& uid);

/// An owner reference with controller and blockOwnerDeletion.
[[nodiscard]] Json controller_reference(const Json& owner);
void add_owner(Json& object, Json reference);
/// Removes the owner references to `uid`.
void remove_owner(Json& object, const std::string& uid);

/// The objects of one resource, by the uid of their controller owner; those without one by their namespace.
class Dependents {
 public:
  void observe(const Change& change);
  void clear();
  [[nodiscard]] const std::set<ObjectKey>& of(const std::string& uid) const { return in(by_controller_, uid); }
  [[nodiscard]] const std::set<ObjectKey>& orphans(const std::string& space) const { return in(orphans_, space); }

 private:
  using Index = std::map<std::string, std::set<ObjectKey>, std::less<>>;
  [[nodiscard]] static const std::set<ObjectKey>& in(const Index& index, const std::string& name);

  Index by_controller_;
  Index orphans_;
};

}  // namespace tpuslice::sim
