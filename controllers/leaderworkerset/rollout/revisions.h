// Revisions: ControllerRevisions that record the group templates of a LeaderWorkerSet.
//
//   const Json data = revision_data(set.json());
//   if (!same_groups(data, current.data)) plan.create(build_revision(spec, data, next_revision_number(revisions)));
//   const Json recorded = groups_of(current.data, set.json());
//   build_worker_set(spec, GroupTemplate::read(recorded), leader, {});
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/leaderworkerset/rules/spec.h"

namespace tpuslice::leaderworkerset {

/// A ControllerRevision of a set.
struct Revision {
  ObjectKey object;
  std::string uid;
  std::string key;          ///< Label kRevisionKey of the revision and of the sets and pods that use it.
  std::int64_t number = 0;  ///< Increases with each revision.
  Json data;
  int size = 1;  ///< Pods of a group, by `data`.

  static Revision read(const Object& revision);
};

/// Data of the revision of `set`: a strategic merge patch that restores spec.leaderWorkerTemplate and
/// spec.networkConfig. In normal form (normal_form.h); byte-equal to upstream's.
[[nodiscard]] Json revision_data(const Json& set);

/// "58d7b9d6c8": FNV-1 hash of the data, encoded as Kubernetes' rand.SafeEncodeString.
[[nodiscard]] std::string revision_hash(const Json& data);

/// The ControllerRevision `<set>-<hash>-<number>`. Its key is its hash, unless it replaces a deleted revision whose
/// `key` is on live objects.
[[nodiscard]] Json build_revision(const LeaderWorkerSetSpec& spec, const Json& data, std::int64_t number,
                                  const std::string& key = {});

/// Whether both describe the same groups, so that no rollout is needed. Defaults, nulls and spellings of quantities
/// make no difference.
[[nodiscard]] bool same_groups(const Json& data, const Json& other);

/// The latest revision with that key; null if there is none, or for an empty key.
[[nodiscard]] const Revision* find_revision(const std::vector<Revision>& revisions, std::string_view key);

/// Highest number + 1.
[[nodiscard]] std::int64_t next_revision_number(const std::vector<Revision>& revisions);

/// JSON for GroupTemplate::read() from revision data. A networkConfig that an old revision lacks is taken from `set`.
[[nodiscard]] Json groups_of(const Json& data, const Json& set);

}  // namespace tpuslice::leaderworkerset
