// Builders of LeaderWorkerSets for tests.
//
//   a_set("serve").replicas(2).size(4).tpu("tpu-v6e-slice", "4x4").object();     // leaders are hosts
//   a_set("serve").size(5).leader().tpu("tpu-v6e-slice", "4x4").object();        // leader without TPUs, 4 hosts
#pragma once

#include <string>

#include "api/types/object.h"
#include "controllers/leaderworkerset/rules/spec.h"

namespace tpuslice::leaderworkerset {

/// In namespace default, with the uid "uid-of-<name>".
class SetBuilder {
 public:
  explicit SetBuilder(const std::string& name);

  SetBuilder& replicas(int count);
  SetBuilder& size(int pods);
  /// Adds a leaderTemplate without TPUs.
  SetBuilder& leader();
  /// Node selector and chips of the workerTemplate, which leaders use too unless there is a leaderTemplate.
  SetBuilder& tpu(const std::string& accelerator, const std::string& topology, int chips = 4);
  SetBuilder& subgroups(int size, bool leader_excluded = false);
  SetBuilder& rollout(Json max_unavailable, Json max_surge, int partition = 0);
  SetBuilder& annotation(const std::string& key, const std::string& value);
  SetBuilder& label(const std::string& key, const std::string& value);
  /// Sets a field by JSON pointer: "/spec/startupPolicy". `value` may be null.
  SetBuilder& set(const std::string& pointer, Json value);
  /// Sets a field of spec.leaderWorkerTemplate: "/restartPolicy".
  SetBuilder& of_template(const std::string& pointer, Json value);
  SetBuilder& without(const std::string& pointer);

  [[nodiscard]] const Json& json() const { return json_; }
  [[nodiscard]] Object object() const { return Object(json_); }

 private:
  Json json_;
};

[[nodiscard]] SetBuilder a_set(const std::string& name);

}  // namespace tpuslice::leaderworkerset
