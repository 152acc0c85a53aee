#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_members.h"

#include "api/types/selector.h"
#include "cmd/tpu-slice-sim/cluster/owners.h"
#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_pods.h"
#include "cmd/tpu-slice-sim/registry/kinds.h"

namespace tpuslice::sim {

namespace {

class Claiming {
 public:
  Claiming(Registry& registry, const Json& set)
      : registry_(registry), set_(set), uid_(string_at(set, {"metadata", "uid"})) {
    const Json* selector = find_path(set, {"spec", "selector"});
    if (selector == nullptr) return;
    if (auto parsed = LabelSelector::from_json(*selector)) selector_ = std::move(*parsed);
  }

  void pod(const JsonPtr& pod) {
    const bool fits = selected(*pod) && ordinal_of(set_, *pod);
    if (controller_uid(*pod) == uid_) {
      if (fits) {
        members_.pods.push_back(pod);
      } else if (!terminating(set_)) {
        release("pods", *pod);
      }
    } else if (fits && !terminating(set_) && !terminating(*pod) && adopt("pods", *pod)) {
      members_.pods.push_back(pod);
    }
  }

  void revision(const JsonPtr& revision) {
    if (!selected(*revision)) return;
    const bool orphan = controller_of(*revision) == nullptr;
    if (orphan && !terminating(set_) && !adopt(kControllerRevisions, *revision)) return;
    members_.revisions.push_back(revision);
  }

  StatefulSetMembers take() { return std::move(members_); }

 private:
  [[nodiscard]] bool selected(const Json& object) const {
    return selector_.matches(string_map_at(object, {"metadata", "labels"}));
  }

  bool adopt(const char* resource, const Json& object) {
    return write(resource, object, [this](Json& json) {
      // Validation refuses this if the object got another controller owner meanwhile.
      remove_owner(json, uid_);
      add_owner(json, controller_reference(set_));
    });
  }

  void release(const char* resource, const Json& object) {
    write(resource, object, [this](Json& json) { remove_owner(json, uid_); });
  }

  bool write(const char* resource, const Json& object, const std::function<void(Json&)>& edit) {
    const std::string uid = string_at(object, {"metadata", "uid"});
    const auto written = registry_.modify(
        *registry_.resources().find_id(resource), Object(object).key(), {},
        [&](Json& json) -> Status {
          if (string_at(json, {"metadata", "uid"}) != uid) return Error::not_found("{} does not exist", uid);
          edit(json);
          return {};
        },
        as_controller("statefulset-controller"));
    if (written) members_.wrote = true;
    if (!written && written.error().code() != ErrorCode::kNotFound) members_.failed = true;
    return written.ok();
  }

  Registry& registry_;
  const Json& set_;
  const std::string uid_;
  LabelSelector selector_ = LabelSelector::nothing();
  StatefulSetMembers members_;
};

}  // namespace

StatefulSetMembers find_members(Registry& registry, const Json& set, const std::vector<JsonPtr>& pods,
                                const std::vector<JsonPtr>& revisions) {
  Claiming claiming(registry, set);
  for (const JsonPtr& revision : revisions) claiming.revision(revision);
  for (const JsonPtr& pod : pods) claiming.pod(pod);
  return claiming.take();
}

}  // namespace tpuslice::sim
