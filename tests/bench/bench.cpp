#include "tests/bench/bench.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "controllers/slice/slice_options.h"
#include "tests/bench/lean_client.h"
#include "tests/bench/machine.h"
#include "tests/bench/server_metrics.h"
#include "tpu/labels.h"

namespace tpuslice::bench {
namespace {

constexpr ResourceType kStatefulSets{"apps", "v1", "StatefulSet", "statefulsets"};
constexpr ResourceType kServiceAccounts{"", "v1", "ServiceAccount", "serviceaccounts"};
/// After this time the slice was not rebuilt as a whole.
constexpr Duration kHealLimit = std::chrono::seconds(20);

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

Result<std::unique_ptr<Bench>> Bench::start(BenchOptions options) {
  std::unique_ptr<Bench> bench(new Bench(std::move(options)));
  for (const Kind kind : kKinds) {
    ASSIGN_OR_RETURN(bench->samples_[kind], read_sample(kind));
  }
  testing::ControlPlaneOptions plane;
  plane.keep_dir = bench->options_.keep_dir;
  plane.scheduler = false;
  plane.kwok = false;
  plane.priority_and_fairness = false;
  plane.client_qps = 2000;
  plane.gogc = 100;
  plane.controller_flags = {"--use-service-account-credentials=true"};
  plane.crds = {"deploy/crds/ray.io_rayclusters.yaml", "deploy/crds/jobset.x-k8s.io_jobsets.yaml",
                "deploy/crds/leaderworkerset.x-k8s.io_leaderworkersets.yaml"};
  ASSIGN_OR_RETURN(bench->plane_, testing::ControlPlane::start(std::move(plane)));
  ASSIGN_OR_RETURN(bench->account_, testing::install_operator(*bench->plane_));
  ASSIGN_OR_RETURN(const client::ListPage pods, bench->plane_->client().list(kPods));
  ASSIGN_OR_RETURN(bench->watch_, PodWatch::start(bench->plane_->config(), pods.resource_version));
  return bench;
}

Result<Creation> Bench::create(const Shape& shape, bool floor_first, const Meanwhile& meanwhile) {
  Creation out;
  if (floor_first) RETURN_IF_ERROR(run_floor(shape, meanwhile, out));
  RETURN_IF_ERROR(run_operator(shape, meanwhile, out));
  if (!floor_first) RETURN_IF_ERROR(run_floor(shape, meanwhile, out));
  return out;
}

Status Bench::run_operator(const Shape& shape, const Meanwhile& meanwhile, Creation& out) {
  ASSIGN_OR_RETURN(const std::string where, new_namespace("bench"));
  RETURN_IF_ERROR(start_operator(shape.kind));
  if (shape.kind != Kind::kRayCluster) {
    RETURN_IF_ERROR(wait_for_webhook(where, [this] { return admitted_pods().value_or(0) > 0; }));
  }
  RETURN_IF_ERROR(settle());
  ASSIGN_OR_RETURN(const double admitted_before, admitted_pods());
  out.resident_before = resident_mebibytes(operator_->pid());
  const double cpu = cpu_seconds(operator_->pid());
  const Usage before = usage();
  const Instant started = clock_.now();
  ASSIGN_OR_RETURN(const std::vector<Object> objects, apply(shape, where));
  ASSIGN_OR_RETURN(const Instant ended, watch_->wait_added(where, shape.pods(), options_.limit));
  out.rate = static_cast<double>(shape.pods()) / seconds(ended - started);
  RETURN_IF_ERROR(settle());
  const double thousands = static_cast<double>(shape.pods()) / 1000;
  const Usage after = usage();
  const double passed = seconds(clock_.now() - started);
  out.operator_cpu = (cpu_seconds(operator_->pid()) - cpu) / thousands;
  out.apiserver_cpu = (after.apiserver - before.apiserver) / thousands;
  out.controllers_cpu = (after.controllers - before.controllers) / thousands;
  out.resident_after = resident_mebibytes(operator_->pid());
  // The values are read one after the other, so their difference may be negative.
  const double others = after.machine - before.machine - (after.ours - before.ours);
  out.others = std::max(0.0, others / passed / machine_cores());
  if (watch_->added(where) != shape.pods()) {
    return Error::internal("{} pods were created, {} are in {}", watch_->added(where), shape.pods(), shape.name());
  }
  ASSIGN_OR_RETURN(const double admitted_after, admitted_pods());
  const double expected = shape.kind == Kind::kLeaderWorkerSet ? static_cast<double>(shape.pods()) : 0;
  if (admitted_after - admitted_before > expected + static_cast<double>(meanwhile.heal))
    return Error::internal("{} pods were mutated by the webhook", admitted_after - admitted_before);
  for (int slice = 0; slice < meanwhile.heal; ++slice) {
    ASSIGN_OR_RETURN(const std::optional<double> took, heal(where, slice));
    if (took) {
      meanwhile.healing->seconds.push_back(*took);
    } else if (shape.kind == Kind::kLeaderWorkerSet) {
      ++meanwhile.healing->single;
    } else {
      return Error::internal("{}: only the failed pod of slice {} was replaced", where, slice);
    }
    RETURN_IF_ERROR(settle());
  }
  if (meanwhile.rest > Duration::zero()) {
    ASSIGN_OR_RETURN(const Rest rested, rest(meanwhile.rest));
    meanwhile.resting->push_back(rested);
  }
  RETURN_IF_ERROR(stop_operator());
  return remove(shape.kind, objects, where);
}

Status Bench::run_floor(const Shape& shape, const Meanwhile& meanwhile, Creation& out) {
  ASSIGN_OR_RETURN(const std::string where, new_namespace("floor"));
  // Owners, so that the objects equal those of the operator, which does not run.
  ASSIGN_OR_RETURN(const std::vector<Object> owners, apply(shape, where));
  ASSIGN_OR_RETURN(const auto lean, connect());
  switch (shape.kind) {
    case Kind::kRayCluster:
      RETURN_IF_ERROR(post_bare_pods(*lean, owners, where, meanwhile, out));
      break;
    case Kind::kJobSet:
      RETURN_IF_ERROR(post_bare_jobs(*lean, owners, where, out));
      break;
    case Kind::kLeaderWorkerSet:
      RETURN_IF_ERROR(post_bare_sets(*lean, owners, where, out));
  }
  if (watch_->added(where) < shape.pods()) {
    return Error::internal("{} pods exist, expected those of {}", watch_->added(where), shape.name());
  }
  return remove(shape.kind, owners, where);
}

Status Bench::post_bare_pods(LeanClient& client, const std::vector<Object>& clusters, const std::string& namespace_name,
                             const Meanwhile& meanwhile, Creation& out) {
  std::vector<std::string> services;
  std::vector<std::string> pods;
  std::map<std::string, std::vector<BarePod>> slices;
  for (const Object& cluster : clusters) {
    ASSIGN_OR_RETURN(const BareCluster own, children_of(cluster));
    services.insert(services.end(), own.services.begin(), own.services.end());
    for (const BarePod& pod : own.pods) {
      pods.push_back(pod.text);
      if (!pod.slice.empty()) slices[pod.slice].push_back(pod);
    }
  }
  ASSIGN_OR_RETURN(const PostResult posted, post(namespace_name, pods.size(), [&]() -> Status {
                     RETURN_IF_ERROR(client.post(kServices.path(namespace_name), services));
                     return client.post(kPods.path(namespace_name), pods);
                   }));
  out.floor = posted.rate;
  out.floor_apiserver_cpu = posted.apiserver_cpu;
  out.floor_controllers_cpu = posted.controllers_cpu;
  for (int slice = 0; slice < meanwhile.heal; ++slice) {
    const auto chosen = std::next(slices.begin(), slice % static_cast<int>(slices.size()));
    ASSIGN_OR_RETURN(const double took, heal_floor(client, namespace_name, chosen->second));
    meanwhile.healing->floor.push_back(took);
    RETURN_IF_ERROR(settle());
  }
  return {};
}

Status Bench::post_bare_jobs(LeanClient& client, const std::vector<Object>& jobsets, const std::string& namespace_name,
                             Creation& out) {
  BareJobs bare;
  std::size_t pods = 0;
  for (const Object& jobset : jobsets) RETURN_IF_ERROR(add_jobs_of(jobset, options_.gangs, bare));
  for (const std::string& text : bare.jobs) {
    ASSIGN_OR_RETURN(const Json job, parse_json(text));
    pods += static_cast<std::size_t>(int_at(job, {"spec", "parallelism"}));
  }
  ASSIGN_OR_RETURN(const PostResult posted, post(namespace_name, pods, [&]() -> Status {
                     RETURN_IF_ERROR(client.post(kServices.path(namespace_name), bare.services));
                     return client.post(kJobs.path(namespace_name), bare.jobs);
                   }));
  out.floor = posted.rate;
  out.floor_apiserver_cpu = posted.apiserver_cpu;
  out.floor_controllers_cpu = posted.controllers_cpu;
  return {};
}

Status Bench::post_bare_sets(LeanClient& client, const std::vector<Object>& owners, const std::string& namespace_name,
                             Creation& out) {
  BareSets bare;
  std::size_t pods = 0;
  for (const Object& owner : owners) RETURN_IF_ERROR(add_sets_of(owner, bare));
  for (const std::string& text : bare.sets) {
    ASSIGN_OR_RETURN(const Json set, parse_json(text));
    pods += static_cast<std::size_t>(int_at(set, {"spec", "replicas"}));
  }
  RETURN_IF_ERROR(start_operator(Kind::kLeaderWorkerSet, false));
  RETURN_IF_ERROR(wait_for_webhook(namespace_name, [this] { return admitted_pods().value_or(0) > 0; }));
  ASSIGN_OR_RETURN(const PostResult posted, post(namespace_name, pods, [&]() -> Status {
                     RETURN_IF_ERROR(client.post(kServices.path(namespace_name), bare.services));
                     return client.post(kStatefulSets.path(namespace_name), bare.sets);
                   }));
  out.floor = posted.rate;
  out.floor_apiserver_cpu = posted.apiserver_cpu;
  out.floor_controllers_cpu = posted.controllers_cpu;
  return stop_operator();
}

Result<PostResult> Bench::post(const std::string& namespace_name, std::size_t pods,
                               const std::function<Status()>& send) {
  RETURN_IF_ERROR(settle());
  const Usage before = usage();
  const Instant started = clock_.now();
  RETURN_IF_ERROR(send());
  ASSIGN_OR_RETURN(const Instant ended, watch_->wait_added(namespace_name, pods, options_.limit));
  const double thousands = static_cast<double>(pods) / 1000;
  PostResult out;
  out.rate = 1000 * thousands / seconds(ended - started);
  RETURN_IF_ERROR(settle());
  const Usage after = usage();
  out.apiserver_cpu = (after.apiserver - before.apiserver) / thousands;
  out.controllers_cpu = (after.controllers - before.controllers) / thousands;
  return out;
}

Result<std::unique_ptr<LeanClient>> Bench::connect() const {
  ASSIGN_OR_RETURN(const client::ClientConfig config, client::load_kubeconfig(account_));
  return LeanClient::connect(config, kInFlight);
}

Result<std::string> Bench::new_namespace(const char* prefix) {
  // All names have the same length, since pods contain them.
  const std::string name = fmt::format("{}-{:04}", prefix, ++namespaces_);
  ASSIGN_OR_RETURN(
      const Object created,
      plane_->client().create(kNamespaces,
                              Object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}})));
  const Instant until = clock_.now() + options_.limit;
  while (!plane_->client().get(kServiceAccounts, {created.name(), "default"}).ok()) {
    if (clock_.now() > until) return Error::of(ErrorCode::kTimeout, "{}: no default service account", name);
    pause_for(std::chrono::milliseconds(20));
  }
  return name;
}

Result<std::vector<Object>> Bench::apply(const Shape& shape, const std::string& namespace_name) {
  std::vector<Object> objects;
  for (int index = 0; index < shape.objects; ++index) {
    ASSIGN_OR_RETURN(Json object, make_object(samples_.at(shape.kind), shape, index, namespace_name));
    ASSIGN_OR_RETURN(Object created, plane_->client().create(type_of(shape.kind), Object(std::move(object))));
    objects.push_back(std::move(created));
  }
  return objects;
}

Status Bench::remove(Kind kind, const std::vector<Object>& objects, const std::string& namespace_name) {
  for (const Object& object : objects) RETURN_IF_ERROR(plane_->client().remove(type_of(kind), object.key()));
  RETURN_IF_ERROR(watch_->wait_deleted(namespace_name, watch_->added(namespace_name), options_.limit));
  return settle();
}

/// Returns std::nullopt if only the pod itself was replaced: kube-controller-manager replaces a failed pod of a
/// StatefulSet, and if it is faster than the operator, the operator does not observe the failure.
Result<std::optional<double>> Bench::heal(const std::string& namespace_name, int slice) {
  ASSIGN_OR_RETURN(
      const client::ListPage page,
      plane_->client().list(
          kPods, {.namespace_name = namespace_name, .label_selector = std::string(tpu::kSlice), .limit = 0}));
  std::map<std::string, std::vector<std::string>> slices;
  for (const std::string& item : page.items) {
    ASSIGN_OR_RETURN(const Json pod, parse_json(item));
    slices[string_at(pod, {"metadata", "labels", tpu::kSlice})].push_back(string_at(pod, {"metadata", "name"}));
  }
  if (slices.empty()) return Error::internal("{}: has no slices", namespace_name);
  const auto chosen = std::next(slices.begin(), slice % static_cast<int>(slices.size()));
  const std::vector<std::string>& pods = chosen->second;
  const std::size_t present = watch_->added(namespace_name);
  const Instant started = clock_.now();
  RETURN_IF_ERROR(fail_pod({namespace_name, pods[pods.size() / 2]}));
  const auto ended = watch_->wait_added(namespace_name, present + pods.size(), kHealLimit);
  if (ended) return std::optional(seconds(*ended - started));
  if (watch_->added(namespace_name) == present + 1) return std::optional<double>();
  return ended.error();
}

Status Bench::fail_pod(const ObjectKey& pod) {
  return patch_status(pod, {{"phase", "Failed"}, {"reason", "Evicted"}, {"message", "by the benchmark"}});
}

Status Bench::patch_status(const ObjectKey& pod, const Json& status) {
  const Json patch = {{"status", status}};
  const auto patched = plane_->client().patch(kPods, pod, client::PatchType::kMerge, patch, {.subresource = "status"});
  if (!patched) return patched.error();
  return {};
}

Result<double> Bench::heal_floor(LeanClient& client, const std::string& namespace_name,
                                 const std::vector<BarePod>& slice) {
  std::vector<std::string> paths;
  std::vector<std::string> bodies;
  for (const BarePod& pod : slice) {
    paths.push_back(kPods.path(namespace_name, pod.name));
    bodies.push_back(pod.text);
  }
  const std::size_t present = watch_->added(namespace_name);
  const std::size_t deleted = watch_->deleted(namespace_name);
  const Instant started = clock_.now();
  RETURN_IF_ERROR(fail_pod({namespace_name, slice[slice.size() / 2].name}));
  RETURN_IF_ERROR(client.remove(paths));
  RETURN_IF_ERROR(watch_->wait_deleted(namespace_name, deleted + slice.size(), options_.limit));
  RETURN_IF_ERROR(client.post(kPods.path(namespace_name), bodies));
  ASSIGN_OR_RETURN(const Instant ended, watch_->wait_added(namespace_name, present + slice.size(), options_.limit));
  return seconds(ended - started);
}

Result<Rest> Bench::rest(Duration time) {
  // The waiting reasons of new slices are written after a delay.
  pause_for(slice::Options{}.waiting_reason_delay + std::chrono::seconds(2));
  ASSIGN_OR_RETURN(const double writes, operator_writes(plane_->client()));
  const double cpu = cpu_seconds(operator_->pid());
  pause_for(time);
  ASSIGN_OR_RETURN(const double writes_after, operator_writes(plane_->client()));
  return Rest{writes_after - writes, (cpu_seconds(operator_->pid()) - cpu) / seconds(time) * 100};
}

Status Bench::settle() {
  return wait_for_rest([this] { return usage().ours; }, options_.limit);
}

Bench::Usage Bench::usage() const {
  Usage out;
  for (const char* program : {"etcd", "kube-apiserver", "kube-controller-manager"}) {
    const testing::Process* process = plane_->process(program);
    if (process == nullptr) continue;
    const double used = cpu_seconds(process->pid());
    if (program == std::string_view("kube-apiserver")) out.apiserver = used;
    if (program == std::string_view("kube-controller-manager")) out.controllers = used;
    out.ours += used;
  }
  if (operator_) out.ours += cpu_seconds(operator_->pid());
  out.ours += cpu_seconds(getpid());
  out.machine = machine_cpu_seconds();
  return out;
}

}  // namespace tpuslice::bench
