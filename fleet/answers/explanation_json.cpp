#include <utility>

#include "fleet/answers/explain.h"
#include "fleet/fleet_json.h"

namespace tpuslice::fleet {
namespace {

Json write_history(const std::vector<HistoryRecord>& history) {
  Json out = Json::array();
  for (const HistoryRecord& record : history) out.push_back(write_history_record(record));
  return out;
}

Json write_slices(const std::vector<FleetSlice>& slices) {
  Json out = Json::array();
  for (const FleetSlice& slice : slices) out.push_back(write_slice(slice));
  return out;
}

}  // namespace

Json write_explanation(const WorkloadExplanation& explanation) {
  Json ahead = Json::array();
  for (const AheadInQueue& each : explanation.ahead) {
    ahead.push_back({{"position", each.position}, {"workload", each.workload}, {"text", each.text}});
  }
  Json pools = Json::array();
  for (const ExplainedDomain& each : explanation.domains) {
    pools.push_back({{"name", each.name}, {"matches", each.matches}, {"free", each.free}, {"whyNot", each.why_not}});
  }
  Json json = {{"schema", kFleetSchema},
               {"namespace", explanation.workload.namespace_name},
               {"kind", explanation.workload.kind},
               {"name", explanation.workload.name},
               {"answer", to_string(explanation.answer)},
               {"slices", write_slices(explanation.slices)},
               {"ahead", std::move(ahead)},
               {"pools", std::move(pools)},
               {"helps", explanation.helps},
               {"history", write_history(explanation.history)}};
  if (!explanation.earliest.empty()) json["earliest"] = explanation.earliest;
  if (!explanation.autoscaler.empty()) json["autoscaler"] = explanation.autoscaler;
  return json;
}

Json write_explanation(const PoolExplanation& explanation) {
  return {{"schema", kFleetSchema},
          {"answer", to_string(explanation.answer)},
          {"pool", write_pool(explanation.pool)},
          {"problems", explanation.problems},
          {"waiting", write_slices(explanation.waiting)},
          {"starts", explanation.starts},
          {"history", write_history(explanation.history)}};
}

}  // namespace tpuslice::fleet
