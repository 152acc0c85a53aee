#include "controllers/raycluster/children/children.h"

#include <algorithm>
#include <utility>

#include "api/base/strings.h"
#include "controllers/plan/conditions.h"
#include "controllers/raycluster/names.h"
#include "controllers/raycluster/pods/autoscaler.h"
#include "controllers/raycluster/rules/raycluster_labels.h"
#include "tpu/labels.h"

namespace tpuslice::raycluster {
namespace {

using Kind = plan::ChildDecision::Kind;

const ChildType& type_of(const Object& object) {
  const auto found =
      std::ranges::find(kChildTypes, object.kind(), [](const ChildType& child) { return child.type.kind; });
  TPUSLICE_CHECK_MSG(found != kChildTypes.end(), object.kind());
  return *found;
}

std::string progress(const Child& child) {
  if (!child.watched && child.decision.kind == Kind::kWait) {
    return fmt::format("{} are not watched yet: if this lasts, the operator lacks the permissions of deploy/rbac",
                       child.type.type.plural);
  }
  const std::string name = fmt::format("{} {}", to_lower(child.type.type.kind), child.desired.name());
  if (child.adopted) return name + " is being adopted";
  const std::string_view text = plan::progress(child.decision.kind, "is being restored");
  return text.empty() ? std::string() : fmt::format("{} {}", name, text);
}

void append(std::string& list, const std::string& text) {
  if (!text.empty()) list += (list.empty() ? "" : "; ") + text;
}

/// Whether the children were ready for this generation. An operator that has just started, or has lost a permission,
/// then does not hold back pods.
bool were_ready(const Object& cluster) {
  const Json* condition = find_condition(array_at(cluster.json(), {"status", "conditions"}), plan::kChildrenReady);
  return condition != nullptr && string_at(*condition, {"status"}) == "True" &&
         condition->value("observedGeneration", std::int64_t{0}) == cluster.generation();
}

Child decide_child(const RayClusterSpec& spec, Object desired, const RayClusterObserved& seen) {
  const ChildType& type = type_of(desired);
  if (!seen.children.watches(type.type)) {
    return {type, std::move(desired), {were_ready(seen.cluster) ? Kind::kNone : Kind::kWait}, {}, false};
  }
  const ObjectView* live = seen.children.find(type.type, desired.key());
  if (live == nullptr) return {type, std::move(desired), {Kind::kCreate}};
  if (type.type == kIngresses) keep_ingress_class(*live, desired);
  const Json& json = desired.json();
  const bool adopted = plan::is_orphan(json, *live);
  plan::ChildDecision decision = adopted ? plan::adopt(json) : plan::decide_child(json, live, type.exact);
  if (!decision.conflict.empty()) {
    decision.conflict += fmt::format(", but RayCluster {} (uid {}) needs that name: delete or rename one of them",
                                     spec.key.to_string(), spec.uid);
  }
  return {type, std::move(desired), std::move(decision), live->uid, true, adopted};
}

}  // namespace

Json child_metadata(const RayClusterSpec& spec, const std::string& name) {
  Json labels = Json::object();
  set_label(labels, kRayCluster, spec.key.name);
  set_label(labels, tpu::kAppName, kApplication);
  set_label(labels, kCreatedBy, kOperator);
  return {{"name", name},
          {"namespace", spec.key.namespace_name},
          {"labels", std::move(labels)},
          {"ownerReferences", Json::array({spec.owner.to_json()})}};
}

std::vector<Object> desired_children(const RayClusterSpec& spec) {
  std::vector<Object> out;
  if (spec.autoscaling.enabled) out = autoscaler_children(spec);
  if (spec.head.ingress) out.push_back(build_ingress(spec));
  return out;
}

std::vector<ChildKey> child_keys(const RayClusterSpec& spec) {
  std::vector<ChildKey> out;
  const auto add = [&](const ResourceType& type, std::string name) {
    out.push_back({type, {spec.key.namespace_name, std::move(name)}});
  };
  if (spec.autoscaling.enabled) {
    const std::string name = autoscaler_name(spec);
    if (own_service_account(spec).empty()) add(kServiceAccounts, name);
    add(kRoles, name);
    add(kRoleBindings, name);
  }
  if (spec.head.ingress) add(kIngresses, ingress_name(spec));
  return out;
}

std::vector<Child> decide_children(const RayClusterSpec& spec, std::vector<Object> desired,
                                   const RayClusterObserved& seen) {
  std::vector<Child> out;
  out.reserve(desired.size());
  for (Object& object : desired) out.push_back(decide_child(spec, std::move(object), seen));
  return out;
}

std::string child_conflicts(const std::vector<Child>& children) {
  std::string out;
  for (const Child& child : children) append(out, child.decision.conflict);
  return out;
}

bool are_usable(const std::vector<Child>& children) {
  return std::ranges::none_of(children, [](const Child& child) {
    if (!child.type.needed_by_pods) return false;
    return child.decision.kind == Kind::kWait || child.decision.kind == Kind::kConflict;
  });
}

Problem child_problem(const std::vector<Child>& children, const std::optional<plan::Failure>& last_failure) {
  if (std::string conflicts = child_conflicts(children); !conflicts.empty()) {
    return {std::string(are_usable(children) ? kIngressConflict : kChildConflict), std::move(conflicts)};
  }
  const auto has_failed = [&](const Child& child) { return child.type.failure_reason == last_failure->reason; };
  const bool failed =
      last_failure && (last_failure->reason == kFailedSecret || std::ranges::any_of(children, has_failed));
  if (failed) return {last_failure->reason, last_failure->message};
  std::string pending;
  for (const Child& child : children) append(pending, progress(child));
  return pending.empty() ? Problem{} : Problem{"ChildrenPending", std::move(pending)};
}

}  // namespace tpuslice::raycluster
