#include "controllers/raycluster/pods/ray_start.h"

#include <gtest/gtest.h>

namespace tpuslice::raycluster {
namespace {

std::string command(const GroupSpec& group, NodeType type, const Json& container) {
  return ray_start_command(ray_start_params(group, type, container, "head.default.svc.cluster.local:6379"), type);
}

struct Case {
  const char* name;
  NodeType type;
  const char* container;
  StringMap params;
  const char* command;
};

class RayStart : public testing::TestWithParam<Case> {};

TEST_P(RayStart, IsWhatKubeRayGenerates) {
  GroupSpec group;
  group.ray_start_params = GetParam().params;
  EXPECT_EQ(command(group, GetParam().type, Json::parse(GetParam().container)), GetParam().command);
}

const Case kCases[] = {
    {"HeadWithRequestsAndMemoryLimit",
     NodeType::kHead,
     R"({"resources": {"limits": {"memory": "16Gi"}, "requests": {"cpu": "8"}}})",
     {},
     "ray start --head  --block  --dashboard-agent-listen-port=52365  --dashboard-host=0.0.0.0  --memory=17179869184  "
     "--metrics-export-port=8080  --num-cpus=8 "},
    {"TpuWorker",
     NodeType::kWorker,
     R"({"resources": {"limits": {"memory": "200G", "google.com/tpu": "4"}, "requests": {"cpu": "8"}}})",
     {},
     "ray start  --address=head.default.svc.cluster.local:6379  --block  --dashboard-agent-listen-port=52365  "
     "--memory=200000000000  --metrics-export-port=8080  --num-cpus=8  --resources='{\"TPU\":4}' "},
    {"CpuIsRoundedUp",
     NodeType::kWorker,
     R"({"resources": {"limits": {"cpu": "1500m"}}})",
     {{"address", "a:1"}},
     "ray start  --address=a:1  --block  --dashboard-agent-listen-port=52365  --metrics-export-port=8080  "
     "--num-cpus=2 "},
    {"UserParametersWin",
     NodeType::kWorker,
     R"({"resources": {"limits": {"cpu": "4", "nvidia.com/gpu": "1"}}})",
     {{"address", "a:1"}, {"num-cpus", "0"}, {"num-gpus", "7"}, {"block", "false"}},
     "ray start  --address=a:1  --block  --dashboard-agent-listen-port=52365  --metrics-export-port=8080  "
     "--num-cpus=0  --num-gpus=7 "},
    {"BooleansAreBareExceptForFlagsThatTakeWords",
     NodeType::kWorker,
     R"({})",
     {{"address", "a:1"},
      {"log-color", "false"},
      {"no-monitor", "TRUE"},
      {"verbose", "false"},
      {"include-dashboard", "true"}},
     "ray start  --address=a:1  --block  --dashboard-agent-listen-port=52365  --include-dashboard=true  "
     "--log-color=false  --metrics-export-port=8080  --no-monitor "},
    {"TpuJoinsTheUsersResources",
     NodeType::kWorker,
     R"({"resources": {"limits": {"google.com/tpu": "4"}}})",
     {{"address", "a:1"}, {"resources", "'{\"custom\": 0.5}'"}},
     "ray start  --address=a:1  --block  --dashboard-agent-listen-port=52365  --metrics-export-port=8080  "
     "--resources='{\"TPU\":4,\"custom\":0.5}' "},
    {"AListedTpuStays",
     NodeType::kWorker,
     R"({"resources": {"limits": {"google.com/tpu": "4"}}})",
     {{"address", "a:1"}, {"resources", "\"{\\\"TPU\\\": 2}\""}},
     "ray start  --address=a:1  --block  --dashboard-agent-listen-port=52365  --metrics-export-port=8080  "
     "--resources=\"{\\\"TPU\\\": 2}\" "},
    {"RequestsAloneAreNoTpu",
     NodeType::kWorker,
     R"({"resources": {"requests": {"google.com/tpu": "4"}}})",
     {{"address", "a:1"}},
     "ray start  --address=a:1  --block  --dashboard-agent-listen-port=52365  --metrics-export-port=8080 "},
    {"MigIsAGpu",
     NodeType::kWorker,
     R"({"resources": {"limits": {"nvidia.com/mig-1g.5gb": "2"}}})",
     {{"address", "a:1"}},
     "ray start  --address=a:1  --block  --dashboard-agent-listen-port=52365  --metrics-export-port=8080  "
     "--num-gpus=2 "},
};
INSTANTIATE_TEST_SUITE_P(Commands, RayStart, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(RayStartGroup, ResourcesAndLabelsReplaceWhatTheContainerSays) {
  GroupSpec group;
  group.resources = {{"CPU", "3"}, {"memory", "1Gi"}, {"custom", "2"}};
  group.labels = {{"b", "2"}, {"a", "1"}};
  EXPECT_EQ(
      command(group, NodeType::kHead, Json::parse(R"({"resources": {"limits": {"cpu": "8", "memory": "9Gi"}}})")),
      "ray start --head  --block  --dashboard-agent-listen-port=52365  --dashboard-host=0.0.0.0  --labels=a=1,b=2  "
      "--memory=1073741824  --metrics-export-port=8080  --num-cpus=3  --resources='{\"custom\":2}' ");
}

TEST(RayCommand, FollowsTheUsersOwnCommand) {
  Json container = {{"command", {"echo", "hello"}}, {"args", Json::array({"world"})}};
  set_ray_command(container, "ray start --block ", true);
  EXPECT_EQ(container["command"], Json({"/bin/bash", "-c", "--"}));
  EXPECT_EQ(container["args"][0],
            " echo  hello  world  && ulimit -n ${RAY_START_ULIMIT_OPEN_FILES:-65536}; ray start --block ");
}

TEST(RayCommand, ThatStartsRayIsNotChanged) {
  const Json own = {{"command", {"bash", "-c"}}, {"args", Json::array({"ray start --head"})}};
  Json container = own;
  set_ray_command(container, "ray start ", true);
  EXPECT_EQ(container, own);
  const Json other = {{"args", Json::array({"sleep 1"})}};
  container = other;
  set_ray_command(container, "ray start ", false);
  EXPECT_EQ(container, other);
}

}  // namespace
}  // namespace tpuslice::raycluster
