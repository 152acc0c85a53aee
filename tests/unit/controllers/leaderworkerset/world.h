// World: a LeaderWorkerSet "serve" with all its children, as observed once all groups are ready, for tests of plans.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "controllers/leaderworkerset/observed.h"
#include "controllers/plan/plan.h"
#include "tests/unit/controllers/leaderworkerset/leaderworkersets.h"

namespace tpuslice::leaderworkerset {

/// The time of observations.
inline const Timestamp kToday = Timestamp(std::chrono::seconds(1'800'000'000));

template <typename View = ObjectView>
std::shared_ptr<const View> stored(Json json, const std::string& uid) {
  json["metadata"]["uid"] = uid;
  return std::make_shared<const View>(View::from_json(json).value());
}

class World {
 public:
  explicit World(SetBuilder builder);

  [[nodiscard]] LeaderWorkerSetSpec spec() const { return LeaderWorkerSetSpec::read(observed_.set); }
  [[nodiscard]] LeaderWorkerSetObserved& seen() { return observed_; }
  /// Of the revision of all groups.
  [[nodiscard]] const std::string& key() const { return key_; }

  /// Plans, and applies the status.
  plan::Plan plan();

  void change_pod(const std::string& name, const std::function<void(PodView&)>& change);
  void change_set(const std::string& pointer, Json value);
  /// Changes the live leader set.
  void change_leader_set(const std::function<void(StatefulSetView&)>& change);
  void drop_stateful_set(const std::string& name);
  /// Changes the image and creates the revision for it, but does not change the leader set. Returns its key.
  std::string add_update(const std::string& image);
  /// Adds leader, worker set and workers of a ready group with the revision `key`.
  void add_group(int index, const std::string& key);
  /// Applies the records of complete groups that the next plan would write.
  void record_members();

 private:
  [[nodiscard]] PodView pod(const std::string& name, const std::string& key, const std::string& owner_uid,
                            const std::string& owner) const;

  LeaderWorkerSetObserved observed_;
  std::string key_;
};

/// Two groups of two pods. The next plan records their members.
[[nodiscard]] World world();

/// The same after that plan: the next one is empty.
[[nodiscard]] World stable_world();

}  // namespace tpuslice::leaderworkerset
