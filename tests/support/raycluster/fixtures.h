// RayClusters and observed pods for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/types/typed.h"
#include "controllers/raycluster/observed.h"
#include "controllers/raycluster/raycluster_options.h"
#include "controllers/raycluster/rules/spec.h"

namespace tpuslice::raycluster {

/// 2026-01-01T00:00:00Z.
[[nodiscard]] Timestamp a_time();

struct GroupFixture {
  std::string name = "tpu-group";
  int replicas = 1;
  int hosts = 4;
  std::string accelerator = "tpu-v6e-slice";  ///< Empty: a group without TPUs.
  std::string topology = "4x4";
  int chips = 4;
};

/// The cluster of the MaxText tutorial: a head, and one v6e 4x4 slice of four hosts.
[[nodiscard]] Json tutorial_cluster();
/// A small head and the given groups.
[[nodiscard]] Json a_cluster(const std::string& name, const std::vector<GroupFixture>& groups);
[[nodiscard]] Json a_group(const GroupFixture& group);

/// The observed head of `cluster`, Running and ready.
[[nodiscard]] PodView a_head(const Object& cluster);
/// One observed worker, Running and ready.
[[nodiscard]] PodView a_worker(const Object& cluster, const std::string& group, int replica, int host);
/// All children of `cluster`; its pods are Running and ready.
[[nodiscard]] RayClusterObserved all_running(const Object& cluster);
/// The cluster without children.
[[nodiscard]] RayClusterObserved nothing_yet(const Object& cluster);

/// Changes an observed object; its spec is read again at the end of the statement:
///
///   edit(seen.cluster)["spec"]["suspend"] = true;
template <typename Spec>
class Edit {
 public:
  explicit Edit(Typed<Spec>& target) : target_(target), json_(target.json()) {}
  ~Edit() { target_ = Object(std::move(json_)); }
  Edit(const Edit&) = delete;
  Edit& operator=(const Edit&) = delete;

  Json& operator[](const char* member) { return json_[member]; }

 private:
  Typed<Spec>& target_;
  Json json_;
};
template <typename Spec>
[[nodiscard]] Edit<Spec> edit(Typed<Spec>& target) {
  return Edit<Spec>(target);
}

/// A pod as a store holds it.
[[nodiscard]] PodView decode_pod(const Json& pod);
[[nodiscard]] ObjectView decode_object(const Json& object);

[[nodiscard]] std::shared_ptr<const PodView> share(PodView pod);
/// Replaces the pod by a changed copy.
template <typename Change>
void change(std::shared_ptr<const PodView>& pod, Change how) {
  PodView copy = *pod;
  how(copy);
  pod = share(std::move(copy));
}

}  // namespace tpuslice::raycluster
