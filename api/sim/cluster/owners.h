// Owners: the owner references by which controllers know their own, and what belongs to whom.
#pragma once

#include <map>
#include <set>
#include <string>

#include "api/sim/storage.h"
#include "api/types/json.h"

namespace tpuslice::sim {

/// The reference to the controller of an object; nullptr without one.
[[nodiscard]] const Json* controller_of(const Json& object);
/// The uid in it; empty without one.
[[nodiscard]] std::string controller_uid(const Json& object);
/// Whether an owner has this uid, as controller or not.
[[nodiscard]] bool owned_by(const Json& object, const std::string& uid);

/// A reference to `owner` as the controller, which its deletion in the foreground waits for.
[[nodiscard]] Json controller_reference(const Json& owner);
void add_owner(Json& object, Json reference);
/// Takes away the references to `uid`.
void remove_owner(Json& object, const std::string& uid);

/// The objects of one resource by the uid of their controller, and those without one by their namespace.
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
