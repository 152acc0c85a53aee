// Children of a group: its worker set, and its service if each group has one.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/leaderworkerset/decisions.h"
#include "controllers/leaderworkerset/groups.h"
#include "controllers/leaderworkerset/observed.h"
#include "controllers/leaderworkerset/revisions.h"

namespace tpuslice::leaderworkerset {

/// The template of a revision.
struct RevisionTemplate {
  GroupTemplate group;
  bool workers_are_slices = false;  ///< See placement.h.
};

/// What worker sets are built from. Shared, since they are built when they are sent.
class GroupTemplates {
 public:
  GroupTemplates(const std::vector<Revision>& revisions, const Typed<LeaderWorkerSetSpec>& set)
      : revisions_(revisions), set_(set) {}
  /// The template of a revision, parsed once; null if the revision does not exist.
  [[nodiscard]] std::shared_ptr<const RevisionTemplate> find(const std::string& key);
  /// The spec, with the object that it borrows from.
  [[nodiscard]] std::shared_ptr<const LeaderWorkerSetSpec> spec();

 private:
  const std::vector<Revision>& revisions_;
  const Typed<LeaderWorkerSetSpec>& set_;
  std::map<std::string, std::shared_ptr<const RevisionTemplate>, std::less<>> templates_;
  std::shared_ptr<const LeaderWorkerSetSpec> spec_;  ///< Null until used.
};

/// Borrows from the list.
class ServicesByName {
 public:
  explicit ServicesByName(const std::vector<ServicePtr>& services);
  /// Null without one.
  [[nodiscard]] const ServiceView* find(std::string_view name) const;

 private:
  std::map<std::string_view, const ServiceView*> by_name_;
};

/// Creates or repairs the children of `group`, which has a leader, from the revision of that leader.
[[nodiscard]] std::vector<WriteOrProblem> decide_group_children(const LeaderWorkerSetSpec& spec,
                                                                const LeaderWorkerSetObserved& seen,
                                                                const ServicesByName& services,
                                                                GroupTemplates& templates, const Group& group);

/// Creates or repairs the service `desired`.
[[nodiscard]] WriteOrProblem decide_service(const Json& desired, const ServicesByName& services);

}  // namespace tpuslice::leaderworkerset
