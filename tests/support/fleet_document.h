// Documents of fleets for tests: snapshots as `kubectl tpu` reads them.
//
//   FleetDocument fleet;
//   fleet.pool({.name = "v6e-a"});
//   fleet.slice({.workload = "train", .pool = "v6e-a"});   // runs there
//   fleet.slice({.workload = "next"});                     // waits
//   fleet::read_snapshot(fleet.json());
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::testing {

struct PoolDocument {
  std::string name;
  std::string accelerator = "tpu-v6e-slice";
  std::string topology = "4x4";
  int hosts = 4;
  std::vector<int> missing = {};
  std::vector<int> not_ready = {};
  std::vector<int> cordoned = {};
  bool spot = false;
  bool maintenance = false;  ///< In an hour.
};

struct SliceDocument {
  std::string workload;
  std::string namespace_name = "default";
  std::string kind = "JobSet";
  std::string api_version = "jobset.x-k8s.io/v1alpha2";
  std::string slice = {};  ///< Name within the workload; empty: the workload's name and "-0".
  std::string accelerator = "tpu-v6e-slice";
  std::string topology = "4x4";
  int hosts = 4;
  std::string pool = {};    ///< Where it runs; empty: it waits.
  int ready = -1;           ///< Hosts that are Ready; -1: all.
  std::string failed = {};  ///< Why host 2 has failed.
  std::string stuck = {};   ///< Why the container of host 1 cannot start.
  bool terminating = false;
  bool succeeded = false;
  int gang = 1;  ///< Slices that start together.
  int priority = 0;
  int deadline = 0;                ///< activeDeadlineSeconds
  std::chrono::minutes since{30};  ///< Before the time of the snapshot it was created, or placed.
  std::string waiting = {};        ///< The reason that the operator has written.
};

class FleetDocument {
 public:
  FleetDocument();

  FleetDocument& pool(const PoolDocument& pool);
  FleetDocument& slice(const SliceDocument& slice);
  /// An object above the workload of pods: its kind, name and owner.
  FleetDocument& workload(const std::string& kind, const std::string& name, const std::string& owner_kind,
                          const std::string& owner, const std::string& namespace_name = "default");
  FleetDocument& set(const std::string& member, Json value);
  FleetDocument& option(const std::string& member, Json value);
  FleetDocument& history(Json record);

  [[nodiscard]] const Json& json() const { return json_; }
  /// 2026-01-01T12:00:00Z.
  [[nodiscard]] static Timestamp now();

 private:
  Json json_;
};

}  // namespace tpuslice::testing
