// Random fleets as the API server has them: node pools in all states, and slices that wait, run, end or are broken.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/types/json.h"
#include "controllers/placement/placement_options.h"
#include "tests/laws/laws.h"

namespace tpuslice::laws {

class FleetGenerator {
 public:
  explicit FleetGenerator(std::uint64_t seed) : dice_(seed) { generate(); }

  [[nodiscard]] static Timestamp now();
  [[nodiscard]] const Json& nodes() const { return nodes_; }
  [[nodiscard]] const Json& pods() const { return pods_; }
  [[nodiscard]] const placement::PlacementOptions& options() const { return options_; }
  [[nodiscard]] bool has_autoscaler() const { return has_autoscaler_; }
  /// The ConfigMap with the preemptions of the last hour; null: it does not exist.
  [[nodiscard]] const Json& preemptions() const { return preemptions_; }

 private:
  struct Shape {
    std::string accelerator;
    std::string topology;
    int hosts = 1;
  };
  struct Pool {
    std::string name;
    Shape shape;
    bool taken = false;
  };

  void generate();
  void choose_options();
  void add_pool(int index);
  void add_workload(int index);
  /// The pods of one slice; `pool`: it runs there, or null.
  void add_slice(const std::string& workload, const std::string& space, const Shape& shape, int slice, int gang,
                 Pool* pool);
  [[nodiscard]] Json make_pod(const std::string& name, const std::string& space, const Shape& shape) const;
  Pool* free_pool(const Shape& shape);
  [[nodiscard]] std::string time_before_now(int max_seconds);

  Dice dice_;
  std::vector<Pool> pools_;
  placement::PlacementOptions options_;
  bool has_autoscaler_ = false;
  Json preemptions_;
  Json nodes_ = Json::array();
  Json pods_ = Json::array();
};

}  // namespace tpuslice::laws
