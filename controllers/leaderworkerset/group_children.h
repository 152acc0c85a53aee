// Children of a group: its worker set, and its service if each group has one.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controllers/leaderworkerset/decisions.h"
#include "controllers/leaderworkerset/groups.h"
#include "controllers/leaderworkerset/observed.h"
#include "controllers/leaderworkerset/revisions.h"

namespace tpuslice::leaderworkerset {

/// Group templates of revisions, each parsed once.
class GroupTemplates {
 public:
  GroupTemplates(const std::vector<Revision>& revisions, const Object& set) : revisions_(revisions), set_(set) {}
  /// Null if the revision does not exist. Valid while this object lives.
  [[nodiscard]] const GroupTemplate* find(const std::string& key);

 private:
  struct Entry {
    Json groups;
    GroupTemplate group;  ///< Borrows from `groups`.
  };
  const std::vector<Revision>& revisions_;
  const Object& set_;
  std::map<std::string, std::unique_ptr<const Entry>, std::less<>> entries_;
};

/// Creates or repairs the children of `group`, which has a leader, from the revision of that leader.
[[nodiscard]] std::vector<ChildDecision> decide_group_children(const LeaderWorkerSetSpec& spec,
                                                               const LeaderWorkerSetObserved& seen,
                                                               GroupTemplates& templates, const Group& group);

/// Creates or repairs the service `desired`.
[[nodiscard]] ChildDecision decide_service(const Json& desired, const LeaderWorkerSetObserved& seen);

}  // namespace tpuslice::leaderworkerset
