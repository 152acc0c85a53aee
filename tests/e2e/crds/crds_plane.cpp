#include "tests/e2e/crds/crds_plane.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "api/base/clock.h"
#include "api/base/file.h"
#include "api/types/yaml.h"
#include "tests/support/crds.h"
#include "tests/support/eventually.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr Duration kCommandLimit = 150s;
/// How long the API server may take to delete the definitions by itself.
constexpr Duration kTouchInterval = 30s;

}  // namespace

std::unique_ptr<ControlPlane>& CrdsPlane::plane() {
  static std::unique_ptr<ControlPlane> plane;
  return plane;
}

int& CrdsPlane::commands() {
  static int count = 0;
  return count;
}

void CrdsPlane::SetUp() {
  if (const auto programs = control_plane_programs(); !programs) GTEST_SKIP() << programs.error().message();
  if (plane() == nullptr) {
    auto started = ControlPlane::start({.controllers = false, .scheduler = false, .kwok = false});
    ASSERT_TRUE(started.ok()) << started.error().message();
    plane() = std::move(started).value();
    return;
  }
  delete_crds("crd --all");
}

void CrdsPlane::TearDown() {
  if (!HasFailure() || plane() == nullptr) return;
  plane()->keep_dir();
  std::cerr << "logs are in " << plane()->dir() << "\n";
}

CommandOutput CrdsPlane::run(const std::string& command) {
  const std::string log = fmt::format("{}/command-{}.log", plane()->dir(), commands()++);
  auto process =
      Process::start({.program = "/bin/sh",
                      .args = {"-c", command},
                      .log = log,
                      .env = {{"KUBECONFIG", plane()->kubeconfig()}, {"KUBECACHEDIR", plane()->dir() + "/cache"}}});
  if (!process) return {-1, process.error().message()};
  const auto exit_code = (*process)->wait(kCommandLimit);
  return {exit_code.value_or(-1), read_file(log).value_or("")};
}

std::string CrdsPlane::expect_run(const std::string& command) {
  const CommandOutput output = run(command);
  EXPECT_EQ(output.exit_code, 0) << command << "\n" << output.text;
  return output.text;
}

Json CrdsPlane::expect_json(const std::string& command) {
  const std::string text = expect_run(command + " 2>/dev/null");
  const auto json = parse_json(text);
  EXPECT_TRUE(json.ok()) << command << "\n" << text;
  return json.value_or(Json());
}

void CrdsPlane::install() {
  expect_run("kubectl apply --server-side -f deploy/crds");
  wait_established();
}

void CrdsPlane::wait_established() {
  expect_run("kubectl wait --for=condition=Established --timeout=120s crd --all");
  for (const Json& crd : read_crds()) {
    const std::string name = string_at(crd, {"spec", "names", "plural"});
    if (run("kubectl get crd " + string_at(crd, {"metadata", "name"})).exit_code != 0) continue;
    EXPECT_TRUE(eventually([&] { return run("kubectl explain " + name + ".spec").exit_code == 0; }, 120s)) << name;
  }
}

void CrdsPlane::delete_crds(const std::string& which) {
  expect_run("kubectl delete --wait=false " + which);
  const RealClock clock;
  Instant touch = clock.now() + kTouchInterval;
  const auto none = [&] {
    const CommandOutput remaining = run("kubectl get crd -o name");
    if (remaining.exit_code == 0 && remaining.text.empty()) return true;
    // The API server lists the instances of a definition before it deletes it. While the storage of the type starts
    // again, as after an update, that fails, and each failure doubles the wait for the next try, up to minutes. A
    // change of the definition starts its storage again and is followed by a try at once.
    if (clock.now() >= touch) {
      run(fmt::format(R"(kubectl get crd -o name | xargs -r -I % kubectl patch % --type=merge )"
                      R"(-p '{{"spec":{{"names":{{"categories":["touched-{}"]}}}}}}')",
                      commands()));
      touch = clock.now() + kTouchInterval;
    }
    return false;
  };
  // kubectl's own wait would not say what the API server waits for.
  EXPECT_TRUE(eventually(none, 240s)) << run(R"(kubectl get crd -o jsonpath='{range .items[*]}{.metadata.name} )"
                                             R"({.metadata.deletionTimestamp} {.status.conditions}{"\n"}{end}')")
                                             .text;
}

std::string CrdsPlane::write(const Json& object) {
  std::string path = fmt::format("{}/manifest-{}.json", plane()->dir(), commands()++);
  EXPECT_TRUE(write_private_file(path, object.dump()).ok());
  return path;
}

std::vector<std::string> yaml_files(const std::string& folder, const std::string& prefix) {
  std::set<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const bool named = entry.path().filename().string().starts_with(prefix);
    if (named && entry.path().extension() == ".yaml") paths.insert(entry.path().string());
  }
  return {paths.begin(), paths.end()};
}

std::vector<Json> read_documents(const std::vector<std::string>& paths) {
  std::vector<Json> out;
  for (const std::string& path : paths) {
    std::vector<YamlDocument> documents = parse_yaml_documents(read_file(path).value()).value();
    for (YamlDocument& document : documents) {
      out.push_back(std::move(document.value));
    }
  }
  return out;
}

Json valid_object(const std::string& kind) {
  const Json pods = {{"spec", {{"containers", Json::array({Json{{"name", "main"}, {"image", "example"}}})}}}};
  const Json cluster = {
      {"rayVersion", "2.52.0"},
      {"headGroupSpec", {{"template", pods}}},
      {"workerGroupSpecs", Json::array({Json{{"groupName", "workers"}, {"replicas", 1}, {"template", pods}}})}};
  const auto object = [&](const char* version, Json spec) {
    return Json{{"apiVersion", version},
                {"kind", kind},
                {"metadata", {{"name", "valid"}, {"namespace", "default"}}},
                {"spec", std::move(spec)}};
  };
  if (kind == "RayCluster") return object("ray.io/v1", cluster);
  if (kind == "RayJob") return object("ray.io/v1", {{"entrypoint", "python train.py"}, {"rayClusterSpec", cluster}});
  if (kind == "RayCronJob") {
    return object("ray.io/v1", {{"schedule", "30 2 * * *"},
                                {"jobTemplate", {{"entrypoint", "python train.py"}, {"rayClusterSpec", cluster}}}});
  }
  if (kind == "RayService") return object("ray.io/v1", {{"rayClusterConfig", cluster}});
  const Json groups = {{"leaderWorkerTemplate", {{"size", 2}, {"workerTemplate", pods}}}};
  if (kind == "LeaderWorkerSet") return object("leaderworkerset.x-k8s.io/v1", groups);
  if (kind == "DisaggregatedSet") {
    return object("disaggregatedset.x-k8s.io/v1",
                  {{"roles", Json::array({Json{{"name", "prefill"}, {"spec", groups}},
                                          Json{{"name", "decode"}, {"spec", groups}}})}});
  }
  if (kind == "DisaggregatedSetRoleScaler") return object("disaggregatedset.x-k8s.io/v1", {{"replicas", 1}});
  return object(
      "jobset.x-k8s.io/v1alpha2",
      {{"replicatedJobs", Json::array({Json{{"name", "workers"}, {"template", {{"spec", {{"template", pods}}}}}}})}});
}

}  // namespace tpuslice::testing
