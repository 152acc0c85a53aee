#include "cmd/kubectl-tpu/workload_pods.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/strings.h"
#include "cmd/tpu-slice-operator/kinds.h"
#include "controllers/slice/slice.h"
#include "tpu/labels.h"
#include "tpu/placement.h"
#include "tpu/pod_request.h"
#include "tpu/workload_ref.h"

namespace tpuslice::plugin {
namespace {

/// The largest slice of the catalog has 2,304 hosts; a workload has a few of such.
constexpr std::size_t kMaxPods = 20'000;
constexpr std::size_t kMaxChildren = 2'000;
constexpr std::array<std::string_view, 1> kLeftOut = {"managedFields"};

Result<PodView> view_of(const Object& pod) { return PodView::decode(pod.json().dump()); }

/// The label of the pods of `kind` whose value is the workload's name; empty if they have none.
std::string_view pod_label_of(std::string_view kind) {
  if (kind == kJobs.kind) return tpu::kJobName;
  for (const rules::WorkloadKind* each : admission_kinds()) {
    if (each->kind == kind) return each->pod_label;
  }
  return {};
}

bool is_controlled_by(const Object& object, std::string_view kind, std::string_view name) {
  const auto controller = object.controller();
  return controller && controller->kind == kind && controller->name == name;
}

void add_cluster(std::string name, std::vector<PodOwner>& owners) {
  if (!name.empty()) owners.push_back({"RayCluster", std::move(name)});
}

Result<std::vector<PodOwner>> clusters_of_cron_job(client::Client& api, const Workload& workload,
                                                   const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const ResourceType type, workload_type_of("rayjob"));
  ASSIGN_OR_RETURN(const std::vector<Object> jobs,
                   list_all(api, type, {.namespace_name = workload.object.namespace_name()}, kMaxChildren, stop));
  std::vector<PodOwner> owners;
  for (const Object& job : jobs) {
    if (!is_controlled_by(job, workload.type.kind, workload.object.name())) continue;
    add_cluster(string_at(job.json(), {"status", "rayClusterName"}), owners);
  }
  return owners;
}

Result<std::vector<PodOwner>> sets_of(client::Client& api, const Workload& workload, const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const ResourceType type, workload_type_of("leaderworkerset"));
  ASSIGN_OR_RETURN(const std::vector<Object> sets,
                   list_all(api, type, {.namespace_name = workload.object.namespace_name()}, kMaxChildren, stop));
  std::vector<PodOwner> owners;
  for (const Object& set : sets) {
    if (is_controlled_by(set, workload.type.kind, workload.object.name())) {
      owners.push_back({std::string(type.kind), set.name()});
    }
  }
  return owners;
}

Result<std::vector<Object>> pods_of_owner(client::Client& api, const std::string& namespace_name, const PodOwner& owner,
                                          const std::stop_token& stop) {
  client::ListOptions options{.namespace_name = namespace_name};
  options.label_selector = kInSlice;
  const std::string_view label = pod_label_of(owner.kind);
  if (!label.empty()) options.label_selector += fmt::format(",{}={}", label, owner.name);
  ASSIGN_OR_RETURN(std::vector<Object> pods, list_all(api, kPods, options, kMaxPods, stop));
  std::erase_if(pods, [&owner](const Object& pod) {
    const auto view = view_of(pod);
    const auto workload = view ? tpu::workload_of(*view) : std::nullopt;
    return !workload || workload->kind != owner.kind || workload->name != owner.name;
  });
  return pods;
}

}  // namespace

Status for_each_object(client::Client& api, const ResourceType& type, client::ListOptions options,
                       const std::function<bool(Object object)>& visit, const std::stop_token& stop) {
  do {
    ASSIGN_OR_RETURN(const client::ListPage page, api.list(type, options, stop));
    for (const std::string& item : page.items) {
      ASSIGN_OR_RETURN(Json object, parse_json(item, {.without = kLeftOut}));
      if (!visit(Object(std::move(object)))) return {};
    }
    options.continue_token = page.continue_token;
  } while (!options.continue_token.empty());
  return {};
}

Result<std::vector<Object>> list_all(client::Client& api, const ResourceType& type, client::ListOptions options,
                                     std::size_t max_objects, const std::stop_token& stop) {
  std::vector<Object> all;
  bool too_many = false;
  const auto take = [&](Object object) {
    too_many = all.size() == max_objects;
    if (!too_many) all.push_back(std::move(object));
    return !too_many;
  };
  RETURN_IF_ERROR(for_each_object(api, type, std::move(options), take, stop));
  if (too_many) {
    return Error::of(ErrorCode::kResponseTooLong, "list {}: more than {} objects", type.plural, max_objects);
  }
  return all;
}

std::string Workload::name() const { return to_lower(type.kind) + "/" + object.name(); }

Result<Workload> find_workload(Context& context, const std::string& text) {
  ASSIGN_OR_RETURN(const Target target, parse_target(text));
  ASSIGN_OR_RETURN(client::Client* const api, context.api());
  ASSIGN_OR_RETURN(const std::string namespace_name, context.namespace_name());
  if (namespace_name.empty()) {
    return Error::invalid_argument("{}: needs one namespace; --all-namespaces cannot be used here", text);
  }
  std::vector<ResourceType> types = workload_types();
  if (!target.kind.empty()) {
    ASSIGN_OR_RETURN(const ResourceType type, workload_type_of(target.kind));
    types = {type};
  }
  std::vector<Workload> found;
  for (const ResourceType& type : types) {
    Result<Object> object = api->get(type, {namespace_name, target.name}, context.stop());
    if (object) {
      found.push_back({type, *std::move(object)});
    } else if (object.error().code() != ErrorCode::kNotFound || types.size() == 1) {
      return object.error();
    }
  }
  // The RayCluster of a RayJob has another name, but the Job of a JobSet of one Job may have the same.
  if (found.empty()) return Error::not_found("{}: no workload of that name in namespace {}", text, namespace_name);
  if (found.size() > 1) {
    std::vector<std::string> names;
    names.reserve(found.size());
    for (const Workload& each : found) names.push_back(each.name());
    return Error::invalid_argument("{}: which one? {}", text, fmt::join(names, ", "));
  }
  return std::move(found.front());
}

Result<std::vector<PodOwner>> pod_owners_of(client::Client& api, const Workload& workload,
                                            const std::stop_token& stop) {
  const std::string kind(workload.type.kind);
  const Json& json = workload.object.json();
  std::vector<PodOwner> owners;
  if (kind == "RayCronJob") return clusters_of_cron_job(api, workload, stop);
  if (kind == "DisaggregatedSet") return sets_of(api, workload, stop);
  if (kind == "RayJob") {
    add_cluster(string_at(json, {"status", "rayClusterName"}), owners);
  } else if (kind == "RayService") {
    add_cluster(string_at(json, {"status", "activeServiceStatus", "rayClusterName"}), owners);
    add_cluster(string_at(json, {"status", "pendingServiceStatus", "rayClusterName"}), owners);
  } else {
    owners.push_back({kind, workload.object.name()});
  }
  return owners;
}

Result<std::vector<Object>> slice_pods_of(Context& context, const Workload& workload) {
  ASSIGN_OR_RETURN(client::Client* const api, context.api());
  ASSIGN_OR_RETURN(const std::vector<PodOwner> owners, pod_owners_of(*api, workload, context.stop()));
  std::vector<Object> all;
  for (const PodOwner& owner : owners) {
    ASSIGN_OR_RETURN(std::vector<Object> pods,
                     pods_of_owner(*api, workload.object.namespace_name(), owner, context.stop()));
    std::ranges::move(pods, std::back_inserter(all));
  }
  // An index is decoded from the whole pod: once for each.
  using Place = std::tuple<std::string, int, std::string>;
  std::vector<std::pair<Place, Object>> placed;
  placed.reserve(all.size());
  for (Object& pod : all) {
    Place place(pod.label(tpu::kSlice), host_index_of(pod), pod.name());
    placed.emplace_back(std::move(place), std::move(pod));
  }
  std::ranges::sort(placed, {}, &std::pair<Place, Object>::first);
  std::ranges::transform(placed, all.begin(), [](auto& each) { return std::move(each.second); });
  return all;
}

std::vector<const Json*> tpu_containers_of(const Json& pod) {
  const Json& spec = object_at(pod, {"spec"});
  std::vector<const Json*> found;
  const auto containers = tpu::tpu_containers(spec);
  if (!containers) return found;
  for (const tpu::TpuContainer& each : *containers) {
    if (each.chips > 0) found.push_back(&array_at(spec, {"containers"})[each.position]);
  }
  return found;
}

int host_index_of(const Object& pod) {
  const auto view = view_of(pod);
  return view ? slice::host_index(*view).value_or(-1) : -1;
}

std::string slice_name_of(const Object& pod) { return std::string(tpu::name_in_slice_key(pod.label(tpu::kSlice))); }

}  // namespace tpuslice::plugin
