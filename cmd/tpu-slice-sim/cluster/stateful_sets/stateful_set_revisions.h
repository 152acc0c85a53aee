// StatefulSetRevisions: the ControllerRevisions of a StatefulSet.
#pragma once

#include <string>
#include <vector>

#include "cmd/tpu-slice-sim/storage/storage.h"

namespace tpuslice::sim {

/// The patch that restores the template of the set.
[[nodiscard]] Json revision_data(const Json& set);
/// The template in `revision`.
[[nodiscard]] const Json& template_in(const Json& revision);
[[nodiscard]] bool same_data(const Json& revision, const Json& data);

/// "6d4cf56db6": kube-controller-manager's hash of the data and the collision count.
[[nodiscard]] std::string revision_hash(const Json& data, std::int64_t collisions);
/// "<set>-<hash>"
[[nodiscard]] std::string revision_name(const Json& set, const std::string& hash);
/// A new revision of the current template.
[[nodiscard]] Json make_revision(const Json& set, std::int64_t number, std::int64_t collisions);

/// Oldest first.
void sort_revisions(std::vector<JsonPtr>& revisions);

}  // namespace tpuslice::sim
