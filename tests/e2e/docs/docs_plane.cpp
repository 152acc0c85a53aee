#include "tests/e2e/docs/docs_plane.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include "api/base/file.h"
#include "tests/e2e/install/ways.h"
#include "tests/support/eventually.h"
#include "tests/support/live_pods.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr Duration kWaitLimit = 180s;

class StopsPlane : public ::testing::Environment {
 public:
  void TearDown() override { DocsPlane::stop_plane(); }
};

const ::testing::Environment* const kStopsPlane = ::testing::AddGlobalTestEnvironment(new StopsPlane);

}  // namespace

void DocsPlane::TearDown() {
  pages_.reset();
  InstallPlane::TearDown();
}

void DocsPlane::start_pages(const std::string& namespace_name) {
  namespace_ = namespace_name;
  const std::string directory = fmt::format("{}/pages-{}", plane().dir(), namespace_name);
  auto variables = environment();
  const std::string kubeconfig = directory + "/kubeconfig";
  variables.emplace_back("KUBECONFIG", kubeconfig);
  pages_ = std::make_unique<PageRunner>(PageRunnerOptions{.directory = directory, .environment = variables});
  const auto admin = read_file(plane().kubeconfig());
  ASSERT_TRUE(admin.ok() && write_private_file(kubeconfig, *admin).ok());
  ASSERT_EQ(pages_->run("kubectl config set-context --current --namespace=" + namespace_name).exit_code, 0);
}

void DocsPlane::apply_here(const std::string& manifest) {
  const std::string path = fmt::format("{}/manifest-{}.yaml", pages_->directory(), manifests_++);
  ASSERT_TRUE(write_private_file(path, manifest).ok());
  const CommandResult applied = pages_->run("kubectl apply --server-side -f " + path);
  ASSERT_EQ(applied.exit_code, 0) << applied.text << manifest;
}

void DocsPlane::wait_until(const std::string& command) {
  CommandResult last;
  const bool done = eventually(
      [&] {
        last = pages_->run(command);
        return last.exit_code == 0;
      },
      kWaitLimit);
  ASSERT_TRUE(done) << command << "\n" << last.text;
}

std::map<std::string, std::string> DocsPlane::running_pods() {
  std::map<std::string, std::string> pods;
  for (const Object& pod : live_pods(client(), namespace_, std::string(tpu::kSlice))) {
    if (string_at(pod.json(), {"status", "phase"}) == "Running") pods[pod.name()] = pod.uid();
  }
  return pods;
}

void DocsPlane::wait_running(int pods) {
  ASSERT_TRUE(eventually([&] { return static_cast<int>(running_pods().size()) == pods; }, kWaitLimit))
      << pages_->run("kubectl get pods -o wide").text;
}

std::string workload_named(const std::string& kind, const std::string& name) {
  std::string manifest = workload_of(kind);
  RE2::GlobalReplace(&manifest, R"(\bname: (of-)?(raycluster|jobset|lws|rayjob)\b)", "name: " + name);
  return manifest;
}

}  // namespace tpuslice::testing
