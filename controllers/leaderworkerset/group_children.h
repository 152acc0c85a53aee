// The children of a group: its worker set, and its service where each group has its own.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controllers/leaderworkerset/changes.h"
#include "controllers/leaderworkerset/groups.h"
#include "controllers/leaderworkerset/observed.h"
#include "controllers/leaderworkerset/revisions.h"

namespace tpuslice::leaderworkerset {

/// What the revisions of a set ask of its groups, each read once.
class GroupTemplates {
 public:
  GroupTemplates(const std::vector<Revision>& revisions, const Object& set) : revisions_(revisions), set_(set) {}
  /// Null where there is no such revision. Valid as long as this is.
  [[nodiscard]] const GroupTemplate* find(const std::string& key);

 private:
  struct Entry {
    Json groups;
    GroupTemplate group;  ///< Borrows from `groups`.
  };
  const std::vector<Revision>& revisions_;
  const Object& set_;
  std::map<std::string, std::unique_ptr<const Entry>, std::less<>> read_;
};

/// What `group`, whose leader stays, lacks. All of it is made from the group's own revision, as it was when the leader
/// was created.
void plan_group(const LeaderWorkerSetSpec& spec, const LeaderWorkerSetObserved& seen, GroupTemplates& templates,
                const Group& group, Changes& changes);

/// Creates or restores `wanted`, a service; one that is somebody else's is a problem.
void plan_service(const Json& wanted, const LeaderWorkerSetObserved& seen, std::vector<runtime::Action>& stage,
                  Changes& changes);

}  // namespace tpuslice::leaderworkerset
