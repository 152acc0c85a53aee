#include "tests/e2e/install/install_plane.h"

#include <csignal>
#include <filesystem>

#include <fmt/format.h>

#include "api/base/base64.h"
#include "api/base/file.h"
#include "api/base/strings.h"
#include "api/types/yaml.h"
#include "tests/support/eventually.h"
#include "tests/support/live_pods.h"
#include "tests/support/operator_process.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr Duration kCommandLimit = 300s;
constexpr const char* kMounts = "/etc/tpu-slice-operator";
constexpr ResourceType kDeployments{"apps", "v1", "Deployment", "deployments"};
constexpr ResourceType kConfigurations[] = {
    {"admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", false},
    {"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", false}};

std::string& helm_folder() {
  static std::string folder;
  return folder;
}

int command_number() {
  static int number = 0;
  return number++;
}

std::vector<sim::NodePool> pools(int count) {
  std::vector<sim::NodePool> pools;
  for (int i = 0; i < count; ++i) {
    sim::NodePool pool;
    pool.name = fmt::format("tpu-{}", i);
    pool.accelerator = "tpu-v6e-slice";
    pool.topology = "4x4";
    pool.machine_type = "ct6e-standard-4t";
    pool.hosts = 4;
    pool.chips_per_host = 4;
    pools.push_back(std::move(pool));
  }
  sim::NodePool cpu;
  cpu.name = "cpu";
  cpu.hosts = 3;
  pools.push_back(std::move(cpu));
  return pools;
}

void add_differences(const std::string& where, const Json& left, const Json& right, std::vector<std::string>& out) {
  if (left == right) return;
  if (left.is_object() && right.is_object()) {
    for (const auto& [key, value] : left.items()) {
      if (!right.contains(key)) {
        out.push_back(fmt::format("{}.{}: only in the first", where, key));
      } else {
        add_differences(where + "." + key, value, right[key], out);
      }
    }
    for (const auto& [key, value] : right.items()) {
      if (!left.contains(key)) out.push_back(fmt::format("{}.{}: only in the second", where, key));
    }
  } else if (left.is_array() && right.is_array() && left.size() == right.size()) {
    for (std::size_t i = 0; i < left.size(); ++i) {
      add_differences(fmt::format("{}[{}]", where, i), left[i], right[i], out);
    }
  } else {
    out.push_back(fmt::format("{}: {} != {}", where, left.dump().substr(0, 200), right.dump().substr(0, 200)));
  }
}

/// Writes what a volume of the pod would hold at `mount` below `folder`.
Status write_mount(client::Client& client, const std::string& namespace_name, const Json& volume, const Json& mount,
                   const std::string& folder) {
  const bool secret = volume.contains("secret");
  const std::string name = string_at(volume, {secret ? "secret" : "configMap", secret ? "secretName" : "name"});
  ASSIGN_OR_RETURN(const Object source, client.get(secret ? kSecrets : kConfigMaps, {namespace_name, name}));
  const std::string path = folder + string_at(mount, {"mountPath"});
  const std::string only = string_at(mount, {"subPath"});
  std::error_code problem;
  fs::create_directories(only.empty() ? fs::path(path) : fs::path(path).parent_path(), problem);
  for (const auto& [key, value] : string_map_at(source.json(), {"data"})) {
    if (!only.empty() && key != only) continue;
    const std::string content = secret ? decode_base64(value).value_or("") : value.str();
    RETURN_IF_ERROR(write_private_file(only.empty() ? path + "/" + key : path, content));
  }
  return {};
}

Status write_mounts(client::Client& client, const std::string& namespace_name, const Json& pod,
                    const std::string& folder) {
  for (const Json& mount : array_at(pod["containers"][0], {"volumeMounts"})) {
    for (const Json& volume : array_at(pod, {"volumes"})) {
      if (string_at(volume, {"name"}) != string_at(mount, {"name"})) continue;
      RETURN_IF_ERROR(write_mount(client, namespace_name, volume, mount, folder));
    }
  }
  return {};
}

/// Replaces the clientConfig of the installed webhooks that have `member`.
template <typename Change>
Status change_webhooks(client::Client& client, const char* member, const Change& change) {
  for (const ResourceType& type : kConfigurations) {
    ASSIGN_OR_RETURN(Object configuration, client.get(type, {{}, "tpu-slice-operator"}));
    for (Json& webhook : configuration.mutable_json()["webhooks"]) {
      Json& target = webhook["clientConfig"];
      if (!target.contains(member)) continue;
      change(target);
      target.erase(member);
    }
    const auto replaced = client.replace(type, configuration);
    if (!replaced) return replaced.error();
  }
  return {};
}

/// The webhooks' Service becomes the same path on 127.0.0.1:port.
Status redirect_webhooks(client::Client& client, int port) {
  return change_webhooks(client, "service", [&](Json& target) {
    target["url"] = fmt::format("https://127.0.0.1:{}{}", port, string_at(target, {"service", "path"}));
  });
}

}  // namespace

Result<ObjectSet> object_set(const std::string& yaml) {
  ASSIGN_OR_RETURN(const auto documents, parse_yaml_documents(yaml));
  ObjectSet objects;
  for (const YamlDocument& document : documents) {
    if (document.value.is_null()) continue;
    const Object object(document.value);
    const std::string id = fmt::format("{} {}", object.kind(), object.key().to_string());
    if (!objects.emplace(id, document.value).second) return Error::invalid_argument("{} is there twice", id);
  }
  return objects;
}

std::vector<std::string> differences(const ObjectSet& left, const ObjectSet& right) {
  std::vector<std::string> out;
  for (const auto& [id, object] : left) {
    if (right.contains(id)) {
      add_differences(id, object, right.at(id), out);
    } else {
      out.push_back(id + ": only in the first");
    }
  }
  for (const auto& [id, object] : right) {
    if (!left.contains(id)) out.push_back(id + ": only in the second");
  }
  return out;
}

std::unique_ptr<ControlPlane>& InstallPlane::shared_plane() {
  static std::unique_ptr<ControlPlane> plane;
  return plane;
}

void InstallPlane::SetUpTestSuite() {
  if (shared_plane()) return;
  auto started = ControlPlane::start({.pools = pools(kPools)});
  if (!started && started.error().code() == ErrorCode::kNotFound) GTEST_SKIP() << started.error().message();
  ASSERT_TRUE(started.ok()) << started.error().message();
  shared_plane() = *std::move(started);
  const CommandOutput helm = run("tests/helm/assets.sh");
  if (helm.exit_code == 0) helm_folder() = fs::path(trimmed(helm.text)).parent_path();
}

void InstallPlane::TearDownTestSuite() { shared_plane().reset(); }

void InstallPlane::SetUp() {
  if (!shared_plane()) GTEST_SKIP() << "the control plane is missing (`make controlplane` builds it)";
  if (helm_folder().empty()) GTEST_SKIP() << run("tests/helm/assets.sh").text;
}

void InstallPlane::TearDown() {
  operator_.reset();
  if (!HasFailure() || !shared_plane()) return;
  plane().keep_dir();
  fmt::print("logs: {}\n", plane().dir());
}

std::vector<std::pair<std::string, std::string>> InstallPlane::environment() {
  return {{"KUBECONFIG", plane().kubeconfig()},
          {"HELM_CACHE_HOME", plane().dir() + "/helm"},
          {"HELM_CONFIG_HOME", plane().dir() + "/helm"},
          {"HELM_DATA_HOME", plane().dir() + "/helm"},
          {"PATH", fmt::format("{}:{}", helm_folder(), path_with_programs())}};
}

CommandOutput InstallPlane::run(const std::string& command) {
  const std::string log = fmt::format("{}/command-{}.log", plane().dir(), command_number());
  auto process = Process::start(
      {.program = "/bin/bash", .args = {"-o", "pipefail", "-c", command}, .log = log, .env = environment()});
  if (!process) return {-1, process.error().message()};
  const auto exit_code = (*process)->wait(kCommandLimit);
  return {exit_code.value_or(-1), read_file(log).value_or("")};
}

std::string InstallPlane::expect_run(const std::string& command) {
  const CommandOutput output = run(command);
  EXPECT_EQ(output.exit_code, 0) << command << "\n" << output.text.substr(0, 4000);
  return output.text;
}

void InstallPlane::apply(const std::string& manifest) {
  const std::string path = fmt::format("{}/manifest-{}.yaml", plane().dir(), command_number());
  ASSERT_TRUE(write_private_file(path, manifest).ok());
  expect_run("kubectl apply --server-side -f " + path);
}

void InstallPlane::start_operator(const std::string& namespace_name, bool metrics_as_installed) {
  const auto deployment = client().get(kDeployments, {namespace_name, "tpu-slice-operator"});
  ASSERT_TRUE(deployment.ok()) << deployment.error().message();
  const Json& pod = deployment->json()["spec"]["template"]["spec"];
  const std::string folder = fmt::format("{}/mounts-{}", plane().dir(), command_number());
  const Status mounted = write_mounts(client(), namespace_name, pod, folder);
  ASSERT_TRUE(mounted.ok()) << mounted.error().message();
  const auto kubeconfig = plane().service_account_kubeconfig({namespace_name, string_at(pod, {"serviceAccountName"})});
  ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.error().message();

  const int webhook = free_port().value_or(0);
  health_port_ = free_port().value_or(0);
  metrics_port_ = free_port().value_or(0);
  const std::map<std::string, int> ports = {{"--webhook-bind-address=", webhook},
                                            {"--health-probe-bind-address=", health_port_},
                                            {"--metrics-bind-address=", metrics_port_}};
  std::vector<std::string> args = {"--kubeconfig=" + *kubeconfig, "--shutdown-delay=0"};
  bool secure = true;
  for (const Json& arg : pod["containers"][0]["args"]) {
    std::string text = arg.get<std::string>();
    for (const auto& [flag, port] : ports) {
      if (text.starts_with(flag)) text = fmt::format("{}127.0.0.1:{}", flag, port);
    }
    if (const std::size_t at = text.find(kMounts); at != std::string::npos) text.insert(at, folder);
    secure = secure && text != "--metrics-secure=false";
    args.push_back(std::move(text));
  }
  if (secure && !metrics_as_installed) args.emplace_back("--metrics-secure=false");

  const Status redirected = redirect_webhooks(client(), webhook);
  ASSERT_TRUE(redirected.ok()) << redirected.error().message();
  log_ = fmt::format("{}/operator-{}.log", plane().dir(), command_number());
  auto process = Process::start({.program = TPUSLICE_OPERATOR_PROGRAM, .args = std::move(args), .log = log_});
  ASSERT_TRUE(process.ok()) << process.error().message();
  operator_ = *std::move(process);
  const std::string probe = fmt::format(
      "for check in '' /stores /webhook-failure-policy; do curl -sf http://127.0.0.1:{}/readyz$check || exit 1; done",
      health_port_);
  ASSERT_TRUE(eventually([&] { return !operator_->running() || run(probe).exit_code == 0; }));
  ASSERT_TRUE(operator_->running()) << read_file(log_).value_or("");
}

void InstallPlane::stop_operator() {
  operator_->signal(SIGTERM);
  EXPECT_EQ(operator_->wait(20s), std::optional(0)) << read_file(log_).value_or("").substr(0, 4000);
}

void InstallPlane::restore_webhooks() {
  const Status restored = change_webhooks(client(), "url", [](Json& target) {
    const std::string url = string_at(target, {"url"});
    target["service"] = {{"name", "tpu-slice-webhook"},
                         {"namespace", kOperatorNamespace},
                         {"path", url.substr(url.find('/', std::string_view("https://").size()))}};
  });
  EXPECT_TRUE(restored.ok()) << restored.error().message();
}

std::string InstallPlane::forbidden_requests() {
  const CommandOutput refused = run(fmt::format(
      "curl -sf http://127.0.0.1:{}/metrics | grep '^rest_client_requests_total.*code=\"403\"'", metrics_port_));
  return refused.exit_code == 0 ? refused.text : "";
}

std::vector<Object> InstallPlane::tpu_pods() { return live_pods(client(), "default", std::string(tpu::kSlice)); }

}  // namespace tpuslice::testing
