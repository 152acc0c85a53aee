// StatefulSetRevisions: the ControllerRevisions in which a StatefulSet keeps the templates it has had.
#pragma once

#include <string>
#include <vector>

#include "api/sim/storage.h"

namespace tpuslice::sim {

/// The patch that brings the template of the set back.
[[nodiscard]] Json revision_data(const Json& set);
/// The template that `revision` keeps.
[[nodiscard]] const Json& template_in(const Json& revision);
[[nodiscard]] bool same_data(const Json& revision, const Json& data);

/// "6d4cf56db6": of the data and the number of collisions, as kube-controller-manager has it.
[[nodiscard]] std::string revision_hash(const Json& data, std::int64_t collisions);
/// "<set>-<hash>"
[[nodiscard]] std::string revision_name(const Json& set, const std::string& hash);
/// A new one, with the template of the set as it is.
[[nodiscard]] Json make_revision(const Json& set, std::int64_t number, std::int64_t collisions);

/// The oldest first.
void sort_revisions(std::vector<JsonPtr>& revisions);

}  // namespace tpuslice::sim
