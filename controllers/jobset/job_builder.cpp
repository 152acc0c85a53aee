#include "controllers/jobset/job_builder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/hash.h"
#include "controllers/jobset/exclusive_placement.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "controllers/jobset/rules/scheduling.h"
#include "controllers/jobset/template_mutator.h"
#include "tpu/rules/tpu_rules.h"

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

void set(StringMap& labels, std::string_view key, std::string value) {
  labels.insert_or_assign(std::string(key), std::move(value));
}

/// Both annotations come from the same object.
void copy_placement(const StringMap& from, StringMap& to) {
  const auto topology = from.find(kJobSetTopologyKey);
  if (topology == from.end()) return;
  set(to, kJobSetTopologyKey, topology->second);
  const auto strategy = from.find(kJobSetNodeSelector);
  if (strategy != from.end()) set(to, kJobSetNodeSelector, strategy->second);
}

}  // namespace

JobBuilder::JobBuilder(const Typed<JobSetSpec>& jobset, JobSetStatus status, Options options, Priorities priorities)
    : jobset_(jobset),
      status_(std::move(status)),
      options_(std::move(options)),
      priorities_(std::move(priorities)),
      gangs_(gang_annotations(jobset_.spec())) {}

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
  // A finished Job that is deleted would be created again. warn_jobset() says so.
  out["spec"].erase("ttlSecondsAfterFinished");
  Json& pod_metadata = object_in(pod, "metadata");
  Json& pod_spec = object_in(pod, "spec");

  const StringMap labels = job_labels(spec, job, index, status_);
  const StringMap placement = placement_annotations(spec, job);
  for (Json* each : {&metadata, &pod_metadata}) {
    put_all(labels, object_in(*each, "labels"));
    put_all(labels, object_in(*each, "annotations"));
    put_all(placement, object_in(*each, "annotations"));
    if (const auto& attempt = status_.execution_attempts) {
      (*each)["annotations"][std::string(kExecutionAttempt)] = std::to_string(*attempt);
    }
  }
  // Upstream's webhook leaves out pods with the strategy of labelled nodes.
  if (const auto priority = priorities_.of(pod); priority && !placement.contains(kJobSetNodeSelector)) {
    pod_metadata["labels"][std::string(kPriority)] = priority_label(*priority);
  }
  set_defaults(out["spec"], pod_spec);
  if (spec.dns) pod_spec["subdomain"] = spec.subdomain;
  add_volumes(spec.claims, pod_spec);
  add_job_node_selector(string_map_at(metadata, {"annotations"}), spec.key.namespace_name,
                        string_at(metadata, {"name"}), pod_spec);
  out["spec"]["suspend"] = spec.suspended;
  // With exclusive placement, upstream creates host 0 first; this controller creates all hosts at once.
  if (placement.contains(kJobSetTopologyKey) && rules::asks_for_tpus(pod)) {
    object_in(pod_metadata, "annotations")[std::string(tpu::kSliceStart)] = tpu::kTogether;
  }
  put_all(gangs_.at(which), object_in(pod_metadata, "annotations"));
  if (pods == PodTemplate::kMutated) {
    const Result<bool> done = mutate_job_template(out, options_.mutation);
    if (!done) return done.error().within(fmt::format("spec.replicatedJobs[{}].template.spec.template", which));
  }
  add_exclusive_affinity(labels, pod);
  return out;
}

StringMap job_labels(const JobSetSpec& spec, const ReplicatedJob& job, int index, const JobSetStatus& status) {
  StringMap labels;
  set(labels, kJobSetName, spec.key.name);
  set(labels, kJobSetUid, spec.uid);
  set(labels, kReplicatedJobName, job.name);
  set(labels, kRestartAttempt, std::to_string(status.restarts));
  // Like upstream, only if single Jobs can be restarted.
  if (spec.failure && spec.failure->restarts_single_jobs()) {
    set(labels, kJobRestartAttempt, std::to_string(status.restarts_of(job.name, index)));
  }
  set(labels, kReplicatedJobReplicas, std::to_string(job.replicas));
  set(labels, kGlobalReplicas, std::to_string(spec.total_replicas()));
  set(labels, kJobIndex, std::to_string(index));
  set(labels, kJobKey, sha1_hex(spec.key.namespace_name + "/" + job_name(spec, job, index)));
  set(labels, kJobGlobalIndex, std::to_string(spec.jobs_before(job) + index));
  set(labels, kGroupName, job.group);
  set(labels, kGroupReplicas, std::to_string(spec.group_replicas(job.group)));
  set(labels, kJobGroupIndex, std::to_string(spec.jobs_before(job, job.group) + index));
  if (!spec.coordinator.empty()) set(labels, kCoordinator, spec.coordinator);
  return labels;
}

StringMap placement_annotations(const JobSetSpec& spec, const ReplicatedJob& job) {
  StringMap annotations;
  copy_placement(spec.annotations, annotations);
  if (job.job_template != nullptr) {
    copy_placement(string_map_at(*job.job_template, {"metadata", "annotations"}), annotations);
  }
  return annotations;
}

}  // namespace tpuslice::jobset
