#include "tests/unit/controllers/placement/decisions.h"

#include <algorithm>

#include <fmt/format.h>

#include "controllers/placement/placement_plan.h"
#include "controllers/placement/scale_up/scouts.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

/// A scene as assign() sees it.
class Run {
 public:
  explicit Run(const Scene& scene) : inventory_(scene.nodes, scene.pods, after(scene.now)) {
    request_.ready = pointers_to(scene.ready);
    request_.domain_failures = scene.failures;
    request_.now = after(scene.now);
    request_.reservation = scene.reservation;
    request_.preemption_budget = {scene.max_preemptions, scene.preemption_record, request_.now};
    inventory_.cache.update_states(request_.now);
    request_.placed = &inventory_.cache.placed();
    add_asked_nodes(scene.scouts, scene.provisioning, request_options(), request_);
    assignment = assign(request_, inventory_);
  }

  ScaleUpPlan scouts(const std::vector<PodPtr>& existing, const ScaleUpOptions& options, bool has_autoscaler) {
    return plan_scouts(assignment.waiting, existing, inventory_, has_autoscaler, request_.now, options);
  }

  Assignment assignment;

 private:
  PlacementRequest request_;
  SceneInventory inventory_;
};

std::optional<Duration> since_start(const std::optional<Timestamp>& when) {
  return when ? std::optional<Duration>(*when - start_of_time()) : std::nullopt;
}

}  // namespace

Decisions decide(const Scene& scene) {
  const Run run(scene);
  Decisions out;
  for (const Placement& each : run.assignment.placements) {
    out.placed.push_back(fmt::format("{} to {}", each.slice->key.name, each.domain));
  }
  for (const WaitingSlice& each : run.assignment.waiting) {
    out.waiting[each.slice->key.name] = each.reason.text;
    if (each.lacks != nullptr) out.lacking.push_back(each.slice->key.name);
  }
  for (const Preemption& each : run.assignment.preemptions) {
    out.preempted.push_back(
        fmt::format("{} in {} for {}", each.victim->key.name, each.domain, each.preemptor->key.name));
  }
  out.changes_at = since_start(run.assignment.changes_at);
  return out;
}

ScoutDecisions decide_scouts(const Scene& scene, const ScaleUpOptions& options, bool has_autoscaler) {
  Run run(scene);
  const ScaleUpPlan plan = run.scouts(scene.scouts, options, has_autoscaler);
  ScoutDecisions out;
  for (const plan::Action& action : plan.creates) {
    const Json pod = *action.body.make();
    const std::string slice(string_at(pod, {"metadata", "annotations", tpu::kScaleUpFor}));
    out.created.push_back(slice.substr(slice.find('/') + 1));
    out.pods.emplace(out.created.back(), pod);
  }
  for (const plan::Action& action : plan.deletes) out.deleted.push_back(action.preconditions.uid);
  for (const auto& [slice, note] : plan.notes) out.notes.emplace(slice->key.name, note);
  out.changes_at = since_start(plan.changes_at);
  return out;
}

std::shared_ptr<const ProvisioningRequestView> a_request(const std::string& slice, const RequestChange& change) {
  ProvisioningRequestView request;
  request.key = {request_options().namespace_name, scale_up_name({"default", slice})};
  request.uid = "uid-of-request-of-" + slice;
  request.resource_version = "1";
  request.created = start_of_time();
  request.annotations = {{std::string(tpu::kScaleUpFor), "default/" + slice},
                         {std::string(tpu::kScaleUpAccelerator), kV6e}};
  request.provisioning_class = request_options().provisioning_class;
  if (change) change(request);
  return std::make_shared<const ProvisioningRequestView>(std::move(request));
}

std::shared_ptr<const MetadataView> a_template(const std::string& slice) {
  const auto request = a_request(slice);
  MetadataView view;
  view.key = request->key;
  view.uid = "uid-of-template-of-" + slice;
  view.resource_version = "1";
  view.annotations = request->annotations;
  return std::make_shared<const MetadataView>(std::move(view));
}

ScaleUpOptions request_options() {
  return {.mode = ScaleUp::kProvisioningRequest,
          .namespace_name = "tpu-system",
          .provisioning_class = std::string(kCheckCapacityClass)};
}

RequestDecisions decide_requests(const Scene& scene, const ScaleUpOptions& options) {
  const Run run(scene);
  const ScaleUpPlan plan =
      plan_provisioning_requests(run.assignment.waiting, scene.provisioning, kV6e, after(scene.now), options);
  RequestDecisions out;
  for (const plan::Action& action : plan.creates) {
    Json object = *action.body.make();
    const std::string slice(string_at(object, {"metadata", "annotations", tpu::kScaleUpFor}));
    out.created.push_back(fmt::format("{} {}", action.type.kind, slice.substr(slice.find("/") + 1)));
    out.objects.emplace(out.created.back(), std::move(object));
  }
  for (const plan::Action& action : plan.deletes) out.deleted.push_back(action.preconditions.uid);
  for (const auto& [slice, note] : plan.notes) out.notes.emplace(slice->key.name, note);
  out.changes_at = since_start(plan.changes_at);
  return out;
}

std::vector<std::string> avoided_by(const Json& scout, const std::string& topology_key) {
  const Json* terms = find_path(scout, {"spec", "affinity", "nodeAffinity",
                                        "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
  std::vector<std::string> out;
  if (terms == nullptr) return out;
  for (const Json& term : *terms) {
    std::vector<std::string> of_term;
    for (const Json& each : term.value("matchExpressions", Json::array())) {
      if (each.at("key") == topology_key && each.at("operator") == "NotIn") of_term = each.at("values");
    }
    if (&term == &terms->front()) out = of_term;
    std::erase_if(out, [&](const std::string& value) { return std::ranges::count(of_term, value) == 0; });
  }
  return out;
}

std::vector<Slice> many_slices(int count, int kinds, int spaces) {
  std::vector<Slice> out;
  for (int i = 0; i < count; ++i) {
    out.push_back(a_slice(fmt::format("s-{:02}", i))
                      .in(fmt::format("team-{}", i % spaces))
                      .selects("kind", std::to_string(i % kinds))
                      .created(std::chrono::seconds(i))
                      .slice());
  }
  return out;
}

std::vector<NodePtr> lettered_pools(int count) {
  std::vector<NodePtr> out;
  for (int i = 0; i < count; ++i) {
    for (NodePtr& node : a_pool(std::string("pool-") + static_cast<char>('a' + i)).nodes()) out.push_back(node);
  }
  return out;
}

std::vector<NodePtr> numbered_rows(int count, int pools_each) {
  std::vector<NodePtr> out;
  for (int row = 1; row <= count; ++row) {
    for (int pool = 1; pool <= pools_each; ++pool) {
      const PoolBuilder built = a_pool(fmt::format("pool-{}{}", row, pool)).label(kRow, fmt::format("row-{}", row));
      for (NodePtr& node : built.nodes()) out.push_back(node);
    }
  }
  return out;
}

SliceBuilder a_row_slice(const std::string& name, int hosts) { return a_slice(name).hosts(hosts).topology_key(kRow); }

}  // namespace tpuslice::placement
