#include <algorithm>

#include "tests/support/page_commands.h"

namespace tpuslice {
namespace {

constexpr const char* kAllTests = "runs all tests, this one among them; continuous integration runs it";
constexpr const char* kRelease =
    "builds the release, ten minutes; image_test.sh assembles the image of the binary of this build";
constexpr const char* kEngine = "needs a container engine or a registry, and the image of `make image`";
constexpr const char* kReproduce = "clones and builds a release, ten minutes or more";
constexpr const char* kKubelet = "needs a kubelet";
constexpr const char* kMetricsServer = "needs a kubelet and metrics-server";
constexpr const char* kBenchmark = "a benchmark, minutes to hours";
constexpr const char* kUpstream = "needs the network and Go, and takes an hour";

}  // namespace

const std::vector<std::pair<std::string, std::string>>& commands_without_test() {
  static const std::vector<std::pair<std::string, std::string>> kCommands = {
      {"make test", kAllTests},
      {"make image", kRelease},
      {"addr2line -C -f -i -e build/image/tpu-slice-operator-0.1.0-amd64.debug 0x21f3c4", kRelease},
      {"archive=build/image/tpu-slice-operator-0.1.0-amd64.tar", kEngine},
      {"docker load -i $archive", kEngine},
      {"kind load image-archive $archive", kEngine},
      {"skopeo copy --preserve-digests oci:build/image/layout:0.1.0 docker://<registry>/tpu-slice-operator:0.1.0",
       kEngine},
      {"skopeo copy --preserve-digests oci:build/image/layout:0.1.0-sbom "
       "docker://<registry>/tpu-slice-operator:0.1.0-sbom",
       kEngine},
      {"mkdir build/image/archive && tar -xf $archive -C build/image/archive", kEngine},
      {"crane push build/image/archive <registry>/tpu-slice-operator:0.1.0", kEngine},
      {"deploy/image/reproduce.sh sha256:<digest>", kReproduce},
      {"deploy/image/reproduce.sh sha256:<digest> <revision>", kReproduce},
      {"docker build -f deploy/Dockerfile -t tpu-slice-operator:0.1.0 \\\n"
       "  --build-arg REVISION=\"$(git rev-parse HEAD)\" --build-arg CREATED=\"$(git log -1 --format=%cI)\" .",
       kEngine},
      {"kubectl -n tpu-slice-system logs job/tpu-slice-drain", kKubelet},
      {"kubectl -n tpu-slice-system port-forward deployment/tpu-slice-operator 8081:8081 8443:8443", kKubelet},
      {"kubectl -n tpu-slice-system top pods", kMetricsServer},
      {"make bench", kBenchmark},
      {"make bench ARGS=--record", kBenchmark},
      {"make bench ARGS='--runs 1 --only 4x64x4'", kBenchmark},
      {"make bench ARGS='--only jobset --runs 3'", kBenchmark},
      {"make bench ARGS='--only leaderworkerset --runs 3'", kBenchmark},
      {"make bench-admission", kBenchmark},
      {"make bench-fleet-pages", kBenchmark},
      {"make bench-healing", kBenchmark},
      {"make bench-placement", kBenchmark},
      {"make bench-recovery", kBenchmark},
      {"make bench-recovery ARGS='--kinds jobset --faults process-killed --failures 10'", kBenchmark},
      {"make bench-scale", kBenchmark},
      {"make bench-scheduling", kBenchmark},
      {"make bench-scheduling ARGS='--nodes 1000 --runs 1'", kBenchmark},
      {"make bench-scheduling ARGS='--nodes 15000 --only affinity,gates --limit 600 --record'", kBenchmark},
      {"git clone https://github.com/kubernetes-sigs/jobset /tmp/jobset", kUpstream},
      {"tests/upstream/run.sh jobset /tmp/jobset", kUpstream},
      {"tests/upstream/run.sh jobset /tmp/jobset --ginkgo.focus='startupPolicy' --ginkgo.v", kUpstream},
      {"VALIDATION=off tests/upstream/run.sh jobset /tmp/jobset", kUpstream},
  };
  return kCommands;
}

std::string reason_without_test(const PageCommand& command) {
  const auto& all = commands_without_test();
  const auto found = std::ranges::find(all, command.text, [](const auto& each) { return each.first; });
  return found == all.end() ? "" : found->second;
}

}  // namespace tpuslice
