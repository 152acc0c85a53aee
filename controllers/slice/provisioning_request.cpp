#include "controllers/slice/provisioning_request.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/base/earlier.h"
#include "api/types/utf8.h"
#include "api/types/view_reader.h"
#include "controllers/slice/node_match.h"
#include "controllers/slice/scout_pod.h"
#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

/// Bytes of the message of a request in a waiting reason.
constexpr std::size_t kMaxMessage = 200;
/// The taint of nodes that GKE provisions for requests of kQueuedClass.
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
      request.message = std::move(condition.message);
      if (condition.is_true) request.changed = condition.changed;
    } else if (condition.is_true && precedes(request.ended, condition.type)) {
      request.ended = condition.type;
      request.message = std::move(condition.message);
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

bool tolerates_queued_nodes(const NodeRequirements& requirements) {
  NodeView queued;
  queued.taints = {{.key = std::string(kQueuedTaint), .value = "true", .effect = "NoSchedule"}};
  return std::ranges::all_of(requirements.pods,
                             [&](const PodRequirements& each) { return untolerated_taint(*each.pod, queued).empty(); });
}

class RequestPlanner {
 public:
  RequestPlanner(const std::vector<WaitingSlice>& waiting, const ProvisioningState& state,
                 const std::string& accelerator, Timestamp now, const ScaleUpOptions& options)
      : waiting_(waiting),
        state_(state),
        accelerator_(accelerator),
        now_(now),
        options_(options),
        bounds_(options.max_scouts) {}

  ScoutPlan plan() {
    for (const WaitingSlice& each : waiting_) {
      by_slice_.emplace(each.slice->key, &each);
      if (wants_request(each)) wanted_.insert(each.slice->key);
    }
    for (const auto& request : state_.requests) keep_or_delete(*request);
    std::ranges::sort(unsuccessful_, std::ranges::greater(), [](const auto* request) { return request->created; });
    for (const auto& each : state_.templates) {
      const ObjectKey slice = slice_of_request(each->annotations);
      templates_[slice] = each.get();
      if (!each->deletion && !wanted_.contains(slice)) plan_.deletes.push_back(remove(kPodTemplates, *each));
    }
    for (std::size_t first = 0; first < waiting_.size();) {
      const std::size_t last = end_of_gang(waiting_, first);
      ask(first, last);
      first = last;
    }
    return std::move(plan_);
  }

 private:
  [[nodiscard]] bool wants_request(const WaitingSlice& waiting) {
    if (scale_up_of(waiting, options_) != ScaleUp::kProvisioningRequest) return false;
    if (options_.provisioning_class != kQueuedClass || tolerates_queued_nodes(*waiting.lacks)) return true;
    plan_.notes[waiting.slice] = fmt::format(
        "; nothing is asked for: nodes of class {} have the taint {}=true:NoSchedule, which the pods do "
        "not tolerate",
        kQueuedClass, kQueuedTaint);
    return false;
  }

  void keep_or_delete(const ProvisioningRequestView& request) {
    const ObjectKey slice = slice_of_request(request.annotations);
    const bool is_first = requested_.insert(slice).second;
    if (request.deletion) return;
    const auto found = by_slice_.find(slice);
    const bool ended = !request.ended.empty();
    const Timestamp due = due_at(request, now_, options_);
    const bool is_wanted = wanted_.contains(slice);
    // An ended request is kept until it is due, even while its slice lacks no domain.
    const bool is_over = ended ? now_ >= due || found == by_slice_.end() : !is_wanted;
    if (!is_first || is_over || request.provisioning_class != options_.provisioning_class) {
      plan_.deletes.push_back(remove(kProvisioningRequests, request));
      return;
    }
    const bool unsuccessful = !ended && now_ >= due;
    bounds_.count(*found->second, ended ? Outcome::kEnded : unsuccessful ? Outcome::kUnsuccessful : Outcome::kOpen);
    if (unsuccessful) unsuccessful_.push_back(&request);
    if (!ended && !unsuccessful) set_earlier(next_unsuccessful_, due);
    if (ended || (request.provisioned && !unsuccessful)) set_earlier(plan_.changes_at, due);
    if (is_wanted) plan_.notes[found->second->slice] = note_of(request, *found->second->slice);
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

  /// Asks for nodes for the slices [first, last) of `waiting_`, which start together.
  void ask(std::size_t first, std::size_t last) {
    std::vector<const WaitingSlice*> missing;
    for (std::size_t i = first; i < last; ++i) {
      const WaitingSlice& waiting = waiting_[i];
      if (!wanted_.contains(waiting.slice->key)) continue;
      const Timestamp due = waiting.slice->last_created() + options_.delay;
      if (now_ < due) {
        set_earlier(plan_.changes_at, due);
        return;
      }
      if (!requested_.contains(waiting.slice->key)) missing.push_back(&waiting);
    }
    if (missing.empty() || !has_room(missing, bounds_, next_unsuccessful_, options_, plan_)) return;
    for (std::size_t excess = bounds_.take_excess(missing.size()); excess > 0; --excess) {
      plan_.deletes.push_back(remove(kProvisioningRequests, *unsuccessful_.back()));
      unsuccessful_.pop_back();
    }
    for (const WaitingSlice* waiting : missing) create(*waiting);
  }

  /// Creates the PodTemplate; a later plan creates the request, which would fail without it.
  void create(const WaitingSlice& waiting) {
    bounds_.count(waiting);
    const auto found = templates_.find(waiting.slice->key);
    if (found != templates_.end() && found->second->deletion) return;
    plan_.creates.push_back(
        found == templates_.end()
            ? plan::Action::create(kPodTemplates, Object(pod_template(*waiting.slice, accelerator_, options_)))
            : plan::Action::create(kProvisioningRequests,
                                   Object(provisioning_request(*waiting.slice, accelerator_, options_))));
    plan_.creates.back().failure_reason = "FailedScaleUp";
    plan_.notes[waiting.slice] = fmt::format("; ProvisioningRequest {}/{} asks for nodes", options_.namespace_name,
                                             scout_name(waiting.slice->key));
  }

  const std::vector<WaitingSlice>& waiting_;
  const ProvisioningState& state_;
  const std::string& accelerator_;
  const Timestamp now_;
  const ScaleUpOptions& options_;
  ScaleUpBounds bounds_;
  std::map<ObjectKey, const WaitingSlice*> by_slice_;
  std::set<ObjectKey> wanted_;     ///< Slices for which a request is wanted.
  std::set<ObjectKey> requested_;  ///< Slices with a request, which may be terminating.
  std::map<ObjectKey, const MetadataView*> templates_;
  std::vector<const ProvisioningRequestView*> unsuccessful_;  ///< Without those that ended. The oldest is last.
  std::optional<Timestamp> next_unsuccessful_;                ///< When the next request becomes unsuccessful.
  ScoutPlan plan_;
};

}  // namespace

Result<ProvisioningRequestView> ProvisioningRequestView::decode(std::string_view json,
                                                                const AnnotationPrefixes* /*keep*/) {
  ProvisioningRequestView request;
  view::Metadata metadata;
  RETURN_IF_ERROR(view::decoder().decode("provisioning request", json, [&](std::string_view member, view::Value value) {
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
  return value_of(annotations, tpu::kScoutAccelerator);
}

ObjectKey slice_of_request(const StringMap& annotations) {
  const std::string& slice = value_of(annotations, tpu::kScoutFor);
  return slice.empty() ? ObjectKey{} : slice_of_scout(slice);
}

bool may_bring_nodes(const ProvisioningRequestView& request, Timestamp now, const ScaleUpOptions& options) {
  if (request.deletion || !request.ended.empty() || request.provisioning_class == kCheckCapacityClass) return false;
  if (!request.provisioned) return true;
  return request.provisioning_class == kAtomicScaleUpClass && now < due_at(request, now, options);
}

ScoutPlan plan_provisioning_requests(const std::vector<WaitingSlice>& waiting, const ProvisioningState& state,
                                     const std::string& accelerator, Timestamp now, const ScaleUpOptions& options) {
  return RequestPlanner(waiting, state, accelerator, now, options).plan();
}

}  // namespace tpuslice::slice
