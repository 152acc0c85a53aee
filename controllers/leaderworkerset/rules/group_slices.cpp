#include "controllers/leaderworkerset/rules/group_slices.h"

#include "controllers/leaderworkerset/rules/lws_group.h"
#include "tpu/rules/tpu_rules.h"

namespace tpuslice::rules {

std::string_view lws_leader_path(const GroupTemplate& group) {
  return group.has_leader_template() ? kLwsLeaderPath : kLwsWorkerPath;
}

TpuGroup::TpuGroup(const GroupTemplate& of)
    : shape(of),
      leader_has_tpus(of.leader != nullptr && asks_for_tpus(*of.leader)),
      workers_have_tpus(of.worker != nullptr && asks_for_tpus(*of.worker)) {}

LwsSlices lws_slices(const TpuGroup& group) {
  const GroupTemplate& shape = group.shape;
  const auto with_tpus = [&](std::int64_t workers) { return group.workers_have_tpus ? workers : 0; };
  const std::int64_t leader = group.leader_has_tpus && shape.includes_leader() ? 1 : 0;
  if (!shape.subgroups) return {with_tpus(shape.workers()) + leader, 0, 1};
  const std::int64_t size = shape.subgroups->size;
  LwsSlices slices;
  slices.count = shape.size / size;
  slices.first =
      with_tpus(leaderworkerset::lws_leader_is_extra(shape.size, shape.subgroups->size) ? size : size - 1) + leader;
  slices.others = slices.count > 1 ? with_tpus(size) : 0;
  return slices;
}

}  // namespace tpuslice::rules
