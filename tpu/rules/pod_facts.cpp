#include "tpu/rules/pod_facts.h"

#include <utility>

namespace tpuslice::rules {

Result<PodFacts> read_pod_facts(const Json& pod, const WorkloadKind* kind) {
  PodFacts facts;
  facts.kind = kind;
  if (kind != nullptr) {
    ASSIGN_OR_RETURN(facts.identity, kind->identify(pod));
  }
  if (facts.identity) {
    facts.tpu_containers = facts.identity->containers;
    facts.asks_for_tpus = !facts.tpu_containers.empty();
    return facts;
  }
  const Json* spec = find_path(pod, {"spec"});
  if (spec == nullptr) return facts;
  Result<std::vector<tpu::TpuContainer>> containers = tpu::tpu_containers(*spec);
  if (!containers && kind == nullptr) return containers.error();
  facts.asks_for_tpus = !containers || !containers->empty();
  if (containers) facts.tpu_containers = *std::move(containers);
  return facts;
}

}  // namespace tpuslice::rules
