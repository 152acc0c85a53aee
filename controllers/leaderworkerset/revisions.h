// Revisions: what a LeaderWorkerSet's groups were made from, then and now, as ControllerRevisions keep it.
//
//   const Json wanted = revision_data(set.json());
//   if (!same_groups(wanted, current.data)) plan.create(build_revision(spec, wanted, next_number(revisions)));
//   const Json then = groups_of(current.data, set.json());
//   build_worker_set(spec, GroupTemplate::read(then), leader, {});
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/leaderworkerset/spec.h"

namespace tpuslice::leaderworkerset {

/// A ControllerRevision of a set's.
struct Revision {
  ObjectKey object;
  std::string uid;
  std::string key;          ///< By which sets and pods name it: the label kRevisionKey.
  std::int64_t number = 0;  ///< Later ones are higher.
  Json data;

  static Revision read(const Object& revision);
};

/// What a revision of `set` says: a strategic merge patch that puts spec.leaderWorkerTemplate and spec.networkConfig
/// back. In normal form (normal_form.h), to the byte that of upstream's controller.
[[nodiscard]] Json revision_data(const Json& set);

/// "58d7b9d6c8": the name of what a revision says. FNV-1 of its bytes, in letters that make no words.
[[nodiscard]] std::string revision_hash(const Json& data);

/// The ControllerRevision `<set>-<hash>-<number>`. Its key is its hash, but for one that takes the place of a lost one,
/// whose `key` objects bear already.
[[nodiscard]] Json build_revision(const LeaderWorkerSetSpec& spec, const Json& data, std::int64_t number,
                                  const std::string& key = {});

/// Whether groups of both are the same, so that there is nothing to roll out. Whoever wrote them: defaults, nulls and
/// spellings of quantities make no difference.
[[nodiscard]] bool same_groups(const Json& data, const Json& other);

/// The revision of that key; of several, the latest. Null if there is none, or for an empty key.
[[nodiscard]] const Revision* find_revision(const std::vector<Revision>& revisions, std::string_view key);

/// One more than the highest number.
[[nodiscard]] std::int64_t next_number(const std::vector<Revision>& revisions);

/// What GroupTemplate::read() takes, as `data` has it. What it leaves open (a revision older than networkConfig) is as
/// in `set`.
[[nodiscard]] Json groups_of(const Json& data, const Json& set);

}  // namespace tpuslice::leaderworkerset
