#include "controllers/placement/scale_up/provisioning_request.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/types/utf8.h"
#include "api/types/view_reader.h"
#include "controllers/placement/domains/node_match.h"
#include "controllers/placement/scale_up/scouts.h"
#include "tpu/labels.h"

namespace tpuslice::placement {
namespace {

/// Bytes of the message of a request in a waiting reason.
constexpr std::size_t kMaxMessage = 200;
/// The taint of nodes that GKE provisions for requests of kQueuedProvisioningClass.
constexpr std::string_view kQueuedTaint = "cloud.google.com/gke-queued";

/// The later of two ends: capacity may be revoked after its booking has expired.
bool precedes(const std::string& a, const std::string& b) {
  const auto rank = [](const std::string& type) {
    return type == "CapacityRevoked" ? 3 : type == "BookingExpired" ? 2 : type == "Failed" ? 1 : 0;
  };
  return rank(a) < rank(b);
}

void read_conditions_of(view::Value value, ProvisioningRequestView& request) {
  view::each_item(value, [&](view::Value item) {
    view::ConditionView condition = view::read_condition(item);
    if (condition.type == "Provisioned") {
      request.provisioned = condition.is_true;
      if (!request.ended.empty()) return;
      request.message = condition.message;
      if (condition.is_true) request.changed = condition.changed;
    } else if (condition.is_true && precedes(request.ended, condition.type)) {
      request.ended = condition.type;
      request.message = condition.message;
      request.changed = condition.changed;
    }
  });
}

/// When the request counts as unsuccessful or, if it has ended, may be replaced.
Timestamp due_at(const ProvisioningRequestView& request, Timestamp now, const ScaleUpOptions& options) {
  const Timestamp created = request.created.value_or(now);
  return std::max(created, request.changed.value_or(created)) + options.timeout;
}

Json annotations_of(const Slice& slice, const std::string& accelerator) {
  return {{tpu::kScaleUpFor, slice.key.to_string()}, {tpu::kScaleUpAccelerator, accelerator}};
}

Json metadata_of(const Slice& slice, const std::string& accelerator, const ScaleUpOptions& options) {
  return {{"name", scale_up_name(slice.key)},
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
  const Json pod_set = {{"podTemplateRef", {{"name", scale_up_name(slice.key)}}}, {"count", slice.size}};
  return {{"apiVersion", kProvisioningRequests.api_version()},
          {"kind", kProvisioningRequests.kind},
          {"metadata", metadata_of(slice, accelerator, options)},
          {"spec", {{"provisioningClassName", options.provisioning_class}, {"podSets", Json::array({pod_set})}}}};
}

bool tolerates_queued_nodes(const NodeRequirements& requirements) {
  NodeView queued;
  queued.taints = {{.key = std::string(kQueuedTaint), .value = "true", .effect = "NoSchedule"}};
  return std::ranges::all_of(requirements.pods,
                             [&](const PodRequirements& each) { return untolerated_taint(*each.pod, queued).empty(); });
}

class ProvisioningRequests final : public ScaleUpMeans {
 public:
  ProvisioningRequests(const ProvisioningState& state, const std::string& accelerator, Timestamp now,
                       const ScaleUpOptions& options)
      : state_(state), accelerator_(accelerator), now_(now), options_(options) {
    for (const auto& each : state.templates) templates_[slice_of_request(each->annotations)] = each.get();
  }

  [[nodiscard]] ResourceType type() const override { return kProvisioningRequests; }

  [[nodiscard]] bool wants(const WaitingSlice& waiting) const override {
    if (scale_up_of(waiting, options_) != ScaleUp::kProvisioningRequest) return false;
    return options_.provisioning_class != kQueuedProvisioningClass || tolerates_queued_nodes(*waiting.lacks);
  }

  void note_refusal(const WaitingSlice& waiting, ScaleUpPlan& plan) const override {
    if (scale_up_of(waiting, options_) != ScaleUp::kProvisioningRequest) return;
    plan.notes[waiting.slice] = fmt::format(
        "; nothing is asked for: nodes of class {} have the taint {}=true:NoSchedule, which the pods do "
        "not tolerate",
        kQueuedProvisioningClass, kQueuedTaint);
  }

  [[nodiscard]] std::vector<ExistingScaleUp> existing(const WaitingSlices& waiting) const override {
    std::vector<ExistingScaleUp> out;
    for (const auto& request : state_.requests) {
      ExistingScaleUp each{request->key, request->uid, request->created, slice_of_request(request->annotations),
                           request->deletion.has_value()};
      const auto found = waiting.find(each.slice);
      if (!each.terminating && found != waiting.end()) decide(*found->second, *request, each);
      out.push_back(std::move(each));
    }
    return out;
  }

  /// Creates the PodTemplate; a later plan creates the request, which would fail without it.
  [[nodiscard]] std::optional<plan::Action> create(const WaitingSlice& waiting) override {
    const Slice& slice = *waiting.slice;
    const auto found = templates_.find(slice.key);
    if (found == templates_.end()) {
      return plan::Action::create(kPodTemplates, Object(pod_template(slice, accelerator_, options_)));
    }
    if (found->second->deletion) return std::nullopt;
    return plan::Action::create(kProvisioningRequests, Object(provisioning_request(slice, accelerator_, options_)));
  }

  [[nodiscard]] std::string note_of_new(const Slice& slice) const override {
    return fmt::format("; ProvisioningRequest {}/{} asks for nodes", options_.namespace_name, scale_up_name(slice.key));
  }

 private:
  void decide(const WaitingSlice& waiting, const ProvisioningRequestView& request, ExistingScaleUp& out) const {
    const bool ended = !request.ended.empty();
    const Timestamp due = due_at(request, now_, options_);
    const bool is_wanted = wants(waiting);
    // An ended request is kept until it is due, even while its slice lacks no domain.
    const bool is_over = ended ? now_ >= due : !is_wanted;
    out.kept = !is_over && request.provisioning_class == options_.provisioning_class;
    if (!out.kept) return;
    const bool unsuccessful = !ended && now_ >= due;
    out.state = ended ? ScaleUpState::kEnded : unsuccessful ? ScaleUpState::kUnsuccessful : ScaleUpState::kOpen;
    if (out.state == ScaleUpState::kOpen) out.unsuccessful_at = due;
    if (ended || (request.provisioned && !unsuccessful)) out.changes_at = due;
    if (is_wanted) out.note = note_of(request, *waiting.slice);
  }

  [[nodiscard]] std::string note_of(const ProvisioningRequestView& request, const Slice& slice) const {
    const Timestamp due = due_at(request, now_, options_);
    std::string state = "asks for nodes";
    std::string then;
    if (!request.ended.empty()) {
      state = fmt::format("has ended ({})", request.ended);
      then = fmt::format("; the next one is made at {}", format_rfc3339(due));
    } else if (request.provisioned) {
      state = "is provisioned";
      if (now_ >= due) {
        then = fmt::format("; the slice has no {} after {} s, so the request gives way to those of other slices",
                           domain_noun(slice.topology_key),
                           std::chrono::duration_cast<std::chrono::seconds>(options_.timeout).count());
      }
    }
    return fmt::format("; ProvisioningRequest {} {}{}{}{}", request.key.to_string(), state,
                       request.message.empty() ? "" : ": ", clip(request.message, kMaxMessage), then);
  }

  const ProvisioningState& state_;
  const std::string& accelerator_;
  const Timestamp now_;
  const ScaleUpOptions& options_;
  std::map<ObjectKey, const MetadataView*> templates_;  ///< By slice.
};

}  // namespace

Result<ProvisioningRequestView> ProvisioningRequestView::decode(std::string_view json, const KeptKeys* /*keep*/) {
  ProvisioningRequestView request;
  view::Metadata metadata;
  RETURN_IF_ERROR(view::decode("provisioning request", json, [&](std::string_view member, view::Value value) {
    if (member == "metadata") metadata = view::read_metadata(value);
    if (member != "spec" && member != "status") return;
    view::each_member(value, [&](std::string_view name, view::Value part) {
      if (name == "provisioningClassName") request.provisioning_class = view::text_of(part);
      if (name == "conditions") read_conditions_of(part, request);
    });
  }));
  request.created = metadata.created;
  RETURN_IF_ERROR(view::take_metadata("provisioning request", std::move(metadata), request));
  return request;
}

std::string accelerator_of_request(const StringMap& annotations) {
  return value_of(annotations, tpu::kScaleUpAccelerator);
}

ObjectKey slice_of_request(const StringMap& annotations) {
  return slice_of_scale_up(value_of(annotations, tpu::kScaleUpFor));
}

bool may_bring_nodes(const ProvisioningRequestView& request, Timestamp now, const ScaleUpOptions& options) {
  if (request.deletion || !request.ended.empty() || request.provisioning_class == kCheckCapacityClass) return false;
  if (!request.provisioned) return true;
  return request.provisioning_class == kAtomicScaleUpClass && now < due_at(request, now, options);
}

ScaleUpPlan plan_provisioning_requests(const std::vector<WaitingSlice>& waiting, const ProvisioningState& state,
                                       const std::string& accelerator, Timestamp now, const ScaleUpOptions& options) {
  ProvisioningRequests means(state, accelerator, now, options);
  ScaleUpPlan plan = plan_scale_up(waiting, means, now, options);
  std::set<ObjectKey> wanted;
  for (const WaitingSlice& each : waiting) {
    if (means.wants(each)) wanted.insert(each.slice->key);
  }
  for (const auto& each : state.templates) {
    if (each->deletion || wanted.contains(slice_of_request(each->annotations))) continue;
    plan.deletes.push_back(plan::Action::remove(kPodTemplates, each->key, {.uid = each->uid}));
  }
  return plan;
}

}  // namespace tpuslice::placement
