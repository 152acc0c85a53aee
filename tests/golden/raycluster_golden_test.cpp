// input.yaml -> plan.yaml, for each folder of tests/golden/raycluster.
#include <gtest/gtest.h>

#include <filesystem>

#include "api/base/file.h"
#include "api/types/yaml.h"
#include "controllers/raycluster/names.h"
#include "controllers/raycluster/raycluster_plan.h"
#include "tests/golden/cases.h"
#include "tests/support/raycluster/fixtures.h"

namespace tpuslice::raycluster {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = "tests/golden/raycluster";

// Name of the worker with the label "<group>/<replica>/<host>".
std::string worker_name(const Object& cluster, const std::string& label) {
  const std::size_t last = label.rfind('/');
  const std::size_t first = label.rfind('/', last - 1);
  return worker_pod_name(RayClusterSpec::read(cluster), label.substr(0, first),
                         {std::stoi(label.substr(first + 1, last - first - 1)), std::stoi(label.substr(last + 1))});
}

void apply_event(const Json& event, RayClusterObserved& seen) {
  const std::string name = worker_name(seen.cluster, string_at(event, {"worker"}));
  const auto pod = std::ranges::find(seen.pods, name, [](const auto& known) { return known->key.name; });
  TPUSLICE_CHECK_MSG(pod != seen.pods.end(), name);
  if (event.value("deleted", false)) {
    seen.pods.erase(pod);
    return;
  }
  change(*pod, [&](PodView& view) {
    if (event.value("failed", false)) view.phase = PodPhase::kFailed;
    view.reason = string_at(event, {"reason"});
    view.ready = false;
    if (event.value("terminating", false)) view.deletion = seen.now;
  });
}

// cluster: the RayCluster. running: true if all its children are running, or an earlier version of the RayCluster whose
// children are. events: changes of workers since then. services: further services. lastFailure: of the last plan.
RayClusterObserved observed(const Json& input) {
  RayClusterObserved seen = nothing_yet(Object(input["cluster"]));
  const Json running = input.value("running", Json(false));
  if (running.is_object() || running == true) {
    seen = all_running(running.is_object() ? Object(running) : seen.cluster.object());
    seen.cluster = Object(input["cluster"]);
  }
  for (const Json& event : input.value("events", Json::array())) apply_event(event, seen);
  for (const Json& service : input.value("services", Json::array())) {
    const ObjectView view = decode_object(service);
    std::erase_if(seen.services, [&](const auto& known) { return known->key == view.key; });
    seen.services.push_back(std::make_shared<const ObjectView>(view));
  }
  if (input.contains("lastFailure")) {
    seen.last_failure =
        plan::Failure{string_at(input, {"lastFailure", "reason"}), string_at(input, {"lastFailure", "message"})};
  }
  return seen;
}

class RayClusterGolden : public testing::TestWithParam<std::string> {};

TEST_P(RayClusterGolden, PlansAsWritten) {
  const fs::path folder = kFolder / GetParam();
  const Result<Json> input = parse_yaml(read_file(folder / "input.yaml").value());
  ASSERT_TRUE(input.ok()) << input.error().message();
  const plan::Plan plan = plan_raycluster(observed(*input), {});
  golden::expect_as_written({to_json(plan)}, folder / "plan.yaml");
}

INSTANTIATE_TEST_SUITE_P(Cases, RayClusterGolden, testing::ValuesIn(golden::cases(kFolder)), golden::name_of);

}  // namespace
}  // namespace tpuslice::raycluster
