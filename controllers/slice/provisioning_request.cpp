#include "controllers/slice/provisioning_request.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/types/view_reader.h"
#include "controllers/slice/scout_pod.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

void read_conditions_of(view::Value value, ProvisioningRequestView& request) {
  view::each_item(value, [&](view::Value item) {
    view::ConditionView condition = view::read_condition(item);
    const bool ends =
        condition.type == "Failed" || condition.type == "BookingExpired" || condition.type == "CapacityRevoked";
    if (condition.type == "Provisioned") request.provisioned = condition.is_true;
    if (ends && condition.is_true) request.ended = true;
    if ((ends && condition.is_true) || (condition.type == "Provisioned" && !request.ended)) {
      request.message = std::move(condition.message);
    }
  });
}

Json annotations_of(const Slice& slice, const std::string& accelerator) {
  return {{tpu::kScoutFor, slice.key.to_string()}, {tpu::kScoutAccelerator, accelerator}};
}

Json metadata_of(const Slice& slice, const std::string& accelerator, const ScaleUpOptions& options) {
  return {{"name", scout_name(slice.key)},
          {"namespace", options.namespace_name},
          {"annotations", annotations_of(slice, accelerator)}};
}

Json pod_template(const Slice& slice, const std::string& accelerator, const ScaleUpOptions& options) {
  Json spec = scout_pod(slice, {}, options)["spec"];
  spec["affinity"].erase("podAntiAffinity");  // All pods of the request are hosts of one slice.
  return {{"apiVersion", "v1"},
          {"kind", "PodTemplate"},
          {"metadata", metadata_of(slice, accelerator, options)},
          {"template", {{"metadata", Json::object()}, {"spec", std::move(spec)}}}};
}

Json provisioning_request(const Slice& slice, const std::string& accelerator, const ScaleUpOptions& options) {
  const Json pod_set = {{"podTemplateRef", {{"name", scout_name(slice.key)}}}, {"count", slice.size}};
  return {{"apiVersion", kProvisioningRequests.api_version()},
          {"kind", kProvisioningRequests.kind},
          {"metadata", metadata_of(slice, accelerator, options)},
          {"spec", {{"provisioningClassName", options.provisioning_class}, {"podSets", Json::array({pod_set})}}}};
}

template <typename View>
plan::Action remove(const ResourceType& type, const View& object) {
  return plan::Action::remove(type, object.key, {.uid = object.uid});
}

ObjectKey slice_of_request(const StringMap& annotations) {
  const auto found = annotations.find(tpu::kScoutFor);
  return found == annotations.end() ? ObjectKey{} : slice_of_scout(found->second);
}

}  // namespace

Result<ProvisioningRequestView> ProvisioningRequestView::decode(std::string_view json,
                                                                const AnnotationPrefixes* /*keep*/) {
  ProvisioningRequestView request;
  view::Metadata metadata;
  RETURN_IF_ERROR(view::decoder().decode("provisioning request", json, [&](std::string_view member, view::Value value) {
    if (member == "metadata") metadata = view::read_metadata(value);
    if (member != "status") return;
    view::each_member(value, [&](std::string_view name, view::Value part) {
      if (name == "conditions") read_conditions_of(part, request);
    });
  }));
  request.created = metadata.created;
  RETURN_IF_ERROR(view::take_metadata("provisioning request", std::move(metadata), request));
  return request;
}

std::string accelerator_of_request(const StringMap& annotations) {
  const auto found = annotations.find(tpu::kScoutAccelerator);
  return found == annotations.end() ? std::string() : found->second;
}

ScoutPlan plan_provisioning_requests(const std::vector<WaitingSlice>& waiting, const ProvisioningState& state,
                                     const std::string& accelerator, Timestamp now, const ScaleUpOptions& options) {
  ScoutPlan plan;
  const auto set_earlier = [&](Timestamp when) { plan.changes_at = std::min(plan.changes_at.value_or(when), when); };
  std::map<ObjectKey, const WaitingSlice*> wanted;
  for (const WaitingSlice& each : waiting) {
    if (scale_up_of(each, options) == ScaleUp::kProvisioningRequest) wanted.emplace(each.slice->key, &each);
  }
  std::map<const NodeRequirements*, std::size_t> counts;
  std::set<ObjectKey> requested;
  for (const auto& request : state.requests) {
    const ObjectKey slice = slice_of_request(request->annotations);
    const auto found = wanted.find(slice);
    requested.insert(slice);
    if (request->deletion) continue;
    const Timestamp retry = request->created.value_or(now) + options.timeout;
    if (found == wanted.end() || (request->ended && now >= retry)) {
      plan.deletes.push_back(remove(kProvisioningRequests, *request));
      continue;
    }
    ++counts[found->second->lacks.get()];
    if (request->ended) set_earlier(retry);
    const char* state_text = request->ended ? "failed" : request->provisioned ? "is provisioned" : "asks for nodes";
    plan.notes[found->second->slice] =
        fmt::format("; ProvisioningRequest {} {}{}{}", request->key.to_string(), state_text,
                    request->message.empty() ? "" : ": ", request->message.substr(0, kMaxProvisioningMessage));
  }
  std::set<ObjectKey> templates;
  for (const auto& each : state.templates) {
    const ObjectKey slice = slice_of_request(each->annotations);
    templates.insert(slice);
    if (!each->deletion && !wanted.contains(slice)) plan.deletes.push_back(remove(kPodTemplates, *each));
  }
  for (const WaitingSlice& each : waiting) {
    if (!wanted.contains(each.slice->key) || requested.contains(each.slice->key)) continue;
    const Timestamp due = each.slice->last_created() + options.delay;
    if (now < due) {
      set_earlier(due);
      continue;
    }
    if (++counts[each.lacks.get()] > options.max_scouts) continue;
    const bool has_template = templates.contains(each.slice->key);
    plan.creates.push_back(
        has_template ? plan::Action::create(kProvisioningRequests,
                                            Object(provisioning_request(*each.slice, accelerator, options)))
                     : plan::Action::create(kPodTemplates, Object(pod_template(*each.slice, accelerator, options))));
    plan.creates.back().failure_reason = "FailedScaleUp";
  }
  return plan;
}

}  // namespace tpuslice::slice
