#include "controllers/jobset/job_builder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "controllers/jobset/exclusive_placement.h"
#include "controllers/jobset/job_labels.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "tpu/rules/template_mutator.h"

namespace tpuslice::jobset {
namespace {

Json& object_in(Json& json, const char* member) {
  Json& found = json[member];
  if (!found.is_object()) found = Json::object();
  return found;
}

void put_all(const StringMap& from, Json& to) {
  for (const auto& [key, value] : from) to[key] = value;
}

bool mounts(const Json& pod_spec, const std::string& volume) {
  for (const char* list : {"containers", "initContainers"}) {
    for (const Json& container : array_at(pod_spec, {list})) {
      const Json& mounted = array_at(container, {"volumeMounts"});
      if (std::ranges::any_of(mounted, [&](const Json& mount) { return string_at(mount, {"name"}) == volume; })) {
        return true;
      }
    }
  }
  return false;
}

void add_volumes(const std::vector<VolumeClaim>& claims, Json& pod_spec) {
  for (const VolumeClaim& claim : claims) {
    if (!mounts(pod_spec, claim.volume)) continue;
    pod_spec["volumes"].push_back({{"name", claim.volume}, {"persistentVolumeClaim", {{"claimName", claim.name}}}});
  }
}

/// Defaults of upstream's webhook.
void set_defaults(Json& job_spec, Json& pod_spec) {
  if (string_at(job_spec, {"completionMode"}).empty()) job_spec["completionMode"] = "Indexed";
  if (string_at(pod_spec, {"restartPolicy"}).empty()) pod_spec["restartPolicy"] = "OnFailure";
}

}  // namespace

JobBuilder::JobBuilder(const Typed<JobSetSpec>& jobset, JobSetStatus status, Options options)
    : jobset_(jobset), status_(std::move(status)), options_(std::move(options)) {}

Result<Json> JobBuilder::build(std::size_t which, int index, PodTemplate pods) const {
  const JobSetSpec& spec = jobset_.spec();
  const ReplicatedJob& job = spec.jobs.at(which);
  Json out = {{"apiVersion", "batch/v1"}, {"kind", "Job"}};
  Json& metadata = out["metadata"];
  metadata = {{"name", job_name(spec, job, index)},
              {"namespace", spec.key.namespace_name},
              {"ownerReferences", Json::array({spec.owner.to_json()})}};
  const Json job_template = job.job_template == nullptr ? Json::object() : *job.job_template;
  for (const char* map : {"labels", "annotations"}) {
    metadata[map] = string_map_at(job_template, {"metadata", map});
  }
  out["spec"] = job_template.value("spec", Json::object());
  Json& pod = object_in(out["spec"], "template");
  Json& pod_metadata = object_in(pod, "metadata");
  Json& pod_spec = object_in(pod, "spec");

  const StringMap labels = job_labels(spec, job, index, status_);
  const StringMap placement = placement_annotations(spec, job);
  for (Json* each : {&metadata, &pod_metadata}) {
    put_all(labels, object_in(*each, "labels"));
    put_all(labels, object_in(*each, "annotations"));
    put_all(placement, object_in(*each, "annotations"));
  }
  set_defaults(out["spec"], pod_spec);
  if (spec.dns) pod_spec["subdomain"] = spec.subdomain;
  add_volumes(spec.claims, pod_spec);
  add_job_node_selector(string_map_at(metadata, {"annotations"}), spec.key.namespace_name,
                        string_at(metadata, {"name"}), pod_spec);
  out["spec"]["suspend"] = spec.suspended;
  if (pods == PodTemplate::kMutated) {
    const Result<bool> done = rules::mutate_job_template(out, options_.mutation);
    if (!done) return done.error().within(fmt::format("spec.replicatedJobs[{}].template.spec.template", which));
    // With exclusive placement, upstream creates host 0 first; this controller creates all hosts at once.
    if (*done) pod["metadata"]["annotations"].erase(std::string(tpu::kSliceStart));
  }
  add_exclusive_affinity(labels, pod);
  return out;
}

}  // namespace tpuslice::jobset
