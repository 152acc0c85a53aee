#include "cmd/tpu-slice-sim/cluster/cluster.h"
#include "tests/conformance/worlds.h"

namespace tpuslice::conformance {
namespace {

class SimulatedWorld final : public World {
 public:
  [[nodiscard]] http::Transport& transport() override { return *transport_; }
  void pause() override {
    cluster_.settle();
    clock_.advance(std::chrono::seconds(1));
  }
  void expire() override { cluster_.compact(); }
  [[nodiscard]] int attempts() const override { return 100; }

 private:
  FakeClock clock_;
  sim::Cluster cluster_{clock_, {.pools = {}}};
  const std::unique_ptr<http::Transport> transport_ = cluster_.transport({"admin", {"system:masters"}});
};

}  // namespace

std::unique_ptr<World> simulated_world() { return std::make_unique<SimulatedWorld>(); }

}  // namespace tpuslice::conformance
