#include "tests/conformance/worlds.h"
#include "tests/support/control_plane.h"

namespace tpuslice::conformance {
namespace {

/// Other controllers would write to the objects of the exchanges.
constexpr const char* kControllers =
    "--controllers=-cronjob-controller,-daemonset-controller,-deployment-controller,-disruption-controller,"
    "-endpoints-controller,-endpointslice-controller,-garbage-collector-controller,-job-controller,"
    "-node-lifecycle-controller,-persistentvolumeclaim-protection-controller,-pod-garbage-collector-controller,"
    "-replicaset-controller,-statefulset-controller";

class RealWorld final : public World {
 public:
  explicit RealWorld(testing::ControlPlane& plane) : plane_(plane) {}
  [[nodiscard]] http::Transport& transport() override { return plane_.transport(); }
  void pause() override { static_cast<void>(plane_.process("kube-apiserver")->wait(std::chrono::milliseconds(20))); }
  void expire() override {}
  [[nodiscard]] int attempts() const override { return 6000; }

 private:
  testing::ControlPlane& plane_;
};

}  // namespace

std::unique_ptr<World> real_world(testing::ControlPlane& plane) { return std::make_unique<RealWorld>(plane); }

Result<std::unique_ptr<testing::ControlPlane>> start_plane() {
  testing::ControlPlaneOptions options;
  options.scheduler = false;
  options.kwok = false;
  options.controller_flags = {kControllers};
  options.apiserver_flags = {"--etcd-compaction-interval=5s"};
  return testing::ControlPlane::start(std::move(options));
}

}  // namespace tpuslice::conformance
