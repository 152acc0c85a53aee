#include "tpu/identity.h"

#include "tpu/identity_parts.h"
#include "tpu/labels.h"

namespace tpuslice::tpu {

void SliceIdentity::append_address(std::string& text, int host) const {
  host_names.append_to(text, host);
  text += '.';
  text += subdomain;
}

Result<std::optional<SliceIdentity>> identify_worker(const Json& pod) {
  const Json* spec = find_path(pod, {"spec"});
  if (spec == nullptr) return MaybeIdentity();
  const auto has_label = [&](std::string_view label) { return !string_at(pod, {"metadata", "labels", label}).empty(); };
  const bool lws = has_label(kLwsName);
  ASSIGN_OR_RETURN(std::vector<TpuContainer> containers, tpu_containers(*spec));
  if (lws) {
    ASSIGN_OR_RETURN(std::vector<TpuContainer> init, tpu_containers(*spec, "initContainers"));
    if (containers.empty() && init.empty()) return MaybeIdentity();
    return identify_lws_worker(pod, std::move(containers), std::move(init));
  }
  if (containers.empty()) return MaybeIdentity();
  if (has_label(kRayCluster)) return identify_ray_worker(pod, std::move(containers));
  if (has_label(kJobName)) return identify_job_worker(pod, std::move(containers));
  return identify_stateful_set_worker(pod, std::move(containers));
}

}  // namespace tpuslice::tpu
