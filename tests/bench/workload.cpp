#include "tests/bench/workload.h"

#include <map>

#include <fmt/format.h>

#include "api/base/file.h"
#include "api/types/yaml.h"
#include "controllers/jobset/jobset_plan.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "controllers/leaderworkerset/leaderworkerset_plan.h"
#include "controllers/leaderworkerset/rollout/revisions.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/spec.h"
#include "controllers/leaderworkerset/sets/worker_set.h"
#include "controllers/raycluster/raycluster_plan.h"
#include "controllers/raycluster/raycluster_reconciler.h"
#include "tests/support/control_plane_files.h"
#include "tpu/labels.h"

namespace tpuslice::bench {
namespace {

constexpr int kMaxRestarts = 1000;

std::string sample_of(Kind kind) {
  switch (kind) {
    case Kind::kRayCluster:
      return "deploy/samples/raycluster-maxtext-v6e-4x4.yaml";
    case Kind::kJobSet:
      return "deploy/samples/jobset-saxml-v5e-4x8.yaml";
    case Kind::kLeaderWorkerSet:
      return "deploy/samples/leaderworkerset-jetstream-pathways-v6e-4x4.yaml";
  }
  return {};
}

/// Without the service account of the sample, which does not exist in the namespaces of the benchmark.
void set_topology(const std::string& topology, Json& pod_spec) {
  pod_spec.erase("serviceAccountName");
  pod_spec["nodeSelector"] = {{"cloud.google.com/gke-tpu-accelerator", "tpu-v5p-slice"},
                              {"cloud.google.com/gke-tpu-topology", topology}};
}

void shape_raycluster(const Shape& shape, const std::string& topology, Json& cluster) {
  cluster.at("/spec/headGroupSpec/template/spec"_json_pointer).erase("serviceAccountName");
  Json& group = cluster.at("/spec/workerGroupSpecs/0"_json_pointer);
  group["replicas"] = shape.slices;
  group["minReplicas"] = shape.slices;
  group["maxReplicas"] = shape.slices;
  group["numOfHosts"] = shape.hosts;
  set_topology(topology, group.at("/template/spec"_json_pointer));
}

void shape_jobset(const Shape& shape, const std::string& topology, Json& set) {
  if (!shape.restart_at.empty()) {
    set["metadata"]["annotations"][std::string(jobset::kRestartAt)] = shape.restart_at;
  }
  set.at("/spec/failurePolicy"_json_pointer)["maxRestarts"] = kMaxRestarts;
  Json& job = set.at("/spec/replicatedJobs/0"_json_pointer);
  job["replicas"] = shape.slices;
  Json& spec = job.at("/template/spec"_json_pointer);
  spec["parallelism"] = shape.hosts;
  spec["completions"] = shape.hosts;
  set_topology(topology, spec.at("/template/spec"_json_pointer));
}

/// Leaders use the template of the workers and are hosts.
void shape_leaderworkerset(const Shape& shape, const std::string& topology, Json& set) {
  set.at("/spec"_json_pointer)["replicas"] = shape.slices;
  Json& group = set.at("/spec/leaderWorkerTemplate"_json_pointer);
  group.erase("leaderTemplate");
  group["size"] = shape.hosts;
  set_topology(topology, group.at("/workerTemplate/spec"_json_pointer));
}

void set_shape(const Shape& shape, const std::string& topology, Json& object) {
  switch (shape.kind) {
    case Kind::kRayCluster:
      return shape_raycluster(shape, topology, object);
    case Kind::kJobSet:
      return shape_jobset(shape, topology, object);
    case Kind::kLeaderWorkerSet:
      return shape_leaderworkerset(shape, topology, object);
  }
}

/// The bodies of the creates of `plan`.
Result<std::vector<Json>> created_by(const plan::Plan& plan, const ResourceType& type) {
  std::vector<Json> out;
  for (const plan::Stage& stage : plan.stages) {
    for (const plan::Action& action : stage.actions) {
      if (action.type != type || action.kind != plan::ActionKind::kCreate) continue;
      ASSIGN_OR_RETURN(Json body, action.body.make());
      out.push_back(std::move(body));
    }
  }
  return out;
}

}  // namespace

std::string_view name_of(Kind kind) { return type_of(kind).kind; }

const ResourceType& type_of(Kind kind) {
  switch (kind) {
    case Kind::kRayCluster:
      return raycluster::kRayClusters;
    case Kind::kJobSet:
      return jobset::kJobSets;
    case Kind::kLeaderWorkerSet:
      break;
  }
  return leaderworkerset::kLeaderWorkerSets;
}

std::string Shape::name() const {
  return fmt::format("{} x ({} slice{} x {} hosts)", objects, slices, slices == 1 ? "" : "s", hosts);
}

Result<std::string> topology_of(int hosts) {
  static const std::map<int, std::string> kTopologies = {{1, "2x2x1"},  {2, "2x2x2"},  {4, "2x2x4"},   {8, "2x4x4"},
                                                         {16, "4x4x4"}, {64, "4x8x8"}, {256, "8x8x16"}};
  const auto found = kTopologies.find(hosts);
  if (found == kTopologies.end()) return Error::invalid_argument("no topology for a v5p slice of {} hosts", hosts);
  return found->second;
}

Result<Json> read_sample(Kind kind) {
  const std::string path = sample_of(kind);
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  ASSIGN_OR_RETURN(const std::vector<YamlDocument> documents, parse_yaml_documents(text));
  for (const YamlDocument& document : documents) {
    if (string_at(document.value, {"kind"}) == name_of(kind)) return document.value;
  }
  return Error::invalid_argument("{}: has no {}", path, name_of(kind));
}

Result<Json> make_object(const Json& sample, const Shape& shape, int index, const std::string& namespace_name) {
  ASSIGN_OR_RETURN(const std::string topology, topology_of(shape.hosts));
  Json object = sample;
  try {
    object["metadata"]["name"] = fmt::format("maxtext-{}", index);
    object["metadata"]["namespace"] = namespace_name;
    set_shape(shape, topology, object);
  } catch (const Json::exception& problem) {
    return Error::invalid_argument("{}: {}", sample_of(shape.kind), problem.what());
  }
  return object;
}

Result<BareCluster> children_of(const Object& cluster) {
  raycluster::RayClusterObserved seen;
  seen.cluster = cluster;
  const plan::Plan plan = raycluster::plan_raycluster(seen, {});
  ASSIGN_OR_RETURN(const std::vector<Json> services, created_by(plan, kServices));
  ASSIGN_OR_RETURN(const std::vector<Json> pods, created_by(plan, kPods));
  BareCluster out;
  for (const Json& service : services) out.services.push_back(service.dump());
  for (const Json& pod : pods) {
    out.pods.push_back(
        {string_at(pod, {"metadata", "name"}), string_at(pod, {"metadata", "labels", tpu::kSlice}), pod.dump()});
  }
  return out;
}

Status add_jobs_of(const Object& owner, bool gangs, BareJobs& out) {
  jobset::JobSetObserved seen;
  seen.jobset = owner;
  jobset::Options options;
  options.mutation.gate = gangs;
  const plan::Plan plan = jobset::plan_jobset(seen, options);
  ASSIGN_OR_RETURN(const std::vector<Json> services, created_by(plan, kServices));
  ASSIGN_OR_RETURN(const std::vector<Json> jobs, created_by(plan, kJobs));
  for (const Json& service : services) out.services.push_back(service.dump());
  for (const Json& job : jobs) {
    out.jobs.push_back(job.dump());
    out.names.push_back(string_at(job, {"metadata", "name"}));
  }
  return {};
}

Status add_sets_of(const Object& owner, BareSets& out) {
  namespace lws = leaderworkerset;
  lws::LeaderWorkerSetObserved seen;
  seen.set = owner;
  const plan::Plan plan = lws::plan_leaderworkerset(seen);
  ASSIGN_OR_RETURN(const std::vector<Json> services, created_by(plan, kServices));
  ASSIGN_OR_RETURN(const std::vector<Json> leaders, created_by(plan, kStatefulSets));
  for (const Json& service : services) out.services.push_back(service.dump());
  for (const Json& set : leaders) out.sets.push_back(set.dump());
  const auto spec = lws::LeaderWorkerSetSpec::read(owner);
  for (int group = 0; group < spec.replicas; ++group) {
    PodView pod;
    pod.key = {spec.key.namespace_name, lws::group_name(spec, group)};
    pod.labels = {{std::string(lws::kRevisionKey), lws::revision_hash(lws::revision_data(owner.json()))}};
    Json set = lws::build_worker_set(spec, spec.group, lws::Leader::read(spec, pod, group, spec.group));
    set["metadata"]["ownerReferences"] = Json::array({spec.owner.to_json()});
    out.sets.push_back(set.dump());
  }
  return {};
}

}  // namespace tpuslice::bench
