#include "tests/support/control_plane.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "api/base/file.h"
#include "api/client/credentials.h"

namespace tpuslice::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEtcd = "etcd";
constexpr const char* kApiserver = "kube-apiserver";
constexpr const char* kControllers = "kube-controller-manager";
constexpr const char* kScheduler = "kube-scheduler";
constexpr const char* kKwok = "kwok";
constexpr ResourceType kServiceAccounts{"", "v1", "ServiceAccount", "serviceaccounts"};
constexpr const char* kMasters = "system:masters";
constexpr Duration kPollInterval = std::chrono::milliseconds(25);
constexpr Duration kDeadline = std::chrono::seconds(10);
constexpr int kAttempts = 3;

}  // namespace

Result<std::unique_ptr<ControlPlane>> ControlPlane::start(ControlPlaneOptions options) {
  std::unique_ptr<ControlPlane> plane(new ControlPlane(std::move(options)));
  const Instant started = plane->clock_.now();
  if (const Status status = plane->start_all(); !status) {
    if (!plane->created_dir_) return status.error();
    plane->keep_dir();
    return status.error().within("control plane in " + plane->dir());
  }
  plane->start_time_ = plane->clock_.now() - started;
  return plane;
}

ControlPlane::~ControlPlane() { stop(); }

void ControlPlane::stop() {
  for (const auto& [program, process] : processes_) process->signal(SIGKILL);
  processes_.clear();
  if (!created_dir_ || options_.keep_dir) return;
  std::error_code ignored;
  fs::remove_all(dir(), ignored);
  created_dir_ = false;
}

Status ControlPlane::start_all() {
  ASSIGN_OR_RETURN(programs_, control_plane_programs());
  RETURN_IF_ERROR(prepare_dir());
  RETURN_IF_ERROR(start_servers());
  RETURN_IF_ERROR(apply_crds());
  if (options_.kwok) RETURN_IF_ERROR(apply_kubelet_policy());
  RETURN_IF_ERROR(start_clients());
  RETURN_IF_ERROR(add_pools(options_.pools));
  if (options_.controllers) {
    RETURN_IF_ERROR(wait_for("default service account", [this] {
      return client_->get(kServiceAccounts, {"default", "default"}).ok();
    }));
  }
  for (const char* program : {kControllers, kScheduler, kKwok}) {
    if (Process* const client = process(program)) client->restart_on_exit();
  }
  return {};
}

Status ControlPlane::start_kwok() { return launch(kKwok, kwok_arguments(options_, dir())); }

void ControlPlane::kill_kwok() { processes_.erase(kKwok); }

Status ControlPlane::prepare_dir() {
  if (options_.dir.empty()) {
    ASSIGN_OR_RETURN(options_.dir, make_temporary_directory("tpu-slice-controlplane"));
  } else {
    std::error_code problem;
    options_.dir = fs::absolute(options_.dir).string();
    fs::create_directories(options_.dir, problem);
    if (problem || !fs::is_empty(options_.dir)) {
      return Error::invalid_argument("{}: must be a new or empty directory", options_.dir);
    }
  }
  created_dir_ = true;
  ASSIGN_OR_RETURN(ClusterCertificates certificates, ClusterCertificates::create(dir(), options_.address));
  certificates_ = std::make_unique<ClusterCertificates>(std::move(certificates));
  ASSIGN_OR_RETURN(const std::string stages, assemble_stages(control_plane_sources() + "/stages"));
  return write_private_file(dir() + "/stages.yaml", stages);
}

Status ControlPlane::start_servers() {
  Status status;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    ASSIGN_OR_RETURN(ports_, free_ports());
    RETURN_IF_ERROR(connect());
    RETURN_IF_ERROR(launch(kEtcd, etcd_arguments(options_, dir(), ports_)));
    status = wait_for("etcd", [this] { return accepts_connections(ports_.etcd); });
    if (status.ok()) status = start_apiserver();
    if (status.ok() || !port_conflict()) break;
    processes_.clear();
    fs::remove_all(dir() + "/etcd");
    fs::remove(dir() + "/etcd.log");
    fs::remove(dir() + "/kube-apiserver.log");
  }
  return status;
}

bool ControlPlane::port_conflict() const {
  return std::any_of(processes_.begin(), processes_.end(), [](const auto& entry) {
    return !entry.second->running() &&
           last_lines(entry.second->log(), 20).find("address already in use") != std::string::npos;
  });
}

Status ControlPlane::connect() {
  config_.server = fmt::format("https://127.0.0.1:{}", ports_.apiserver);
  config_.ca = certificates_->authority();
  ASSIGN_OR_RETURN(const http::Identity admin, certificates_->client("admin", {kMasters}));
  config_.client_certificate = admin.certificate_chain;
  config_.client_key = admin.private_key;
  RETURN_IF_ERROR(write_private_file(kubeconfig(), kubeconfig_text(server(), authority(), admin)));
  client_.reset();
  ASSIGN_OR_RETURN(transport_, client::make_transport(config_, clock_));
  client_ =
      std::make_unique<client::Client>(*transport_, client::ClientOptions{.user_agent = "test", .deadline = kDeadline});
  return {};
}

Status ControlPlane::start_clients() {
  // All are cluster administrators: their own roles are not under test.
  for (const char* program : {kControllers, kScheduler, kKwok}) {
    const auto written = write_kubeconfig(program, std::string("system:") + program, {kMasters});
    if (!written) return written.error();
  }
  if (options_.controllers) RETURN_IF_ERROR(launch(kControllers, controller_arguments(options_, dir())));
  if (options_.scheduler) RETURN_IF_ERROR(launch(kScheduler, scheduler_arguments(options_, dir())));
  if (options_.kwok) RETURN_IF_ERROR(start_kwok());
  return {};
}

Status ControlPlane::launch(const std::string& program, std::vector<std::string> arguments) {
  // A home directory without configuration files of the user.
  ASSIGN_OR_RETURN(processes_[program],
                   Process::start({.program = programs_[program],
                                   .args = std::move(arguments),
                                   .log = dir() + "/" + program + ".log",
                                   .directory = dir(),
                                   .env = {{"HOME", dir()}, {"GOGC", std::to_string(options_.gogc)}}}));
  return {};
}

void ControlPlane::kill_apiserver() {
  if (Process* apiserver = process(kApiserver)) apiserver->kill();
}

Status ControlPlane::start_apiserver() {
  RETURN_IF_ERROR(launch(kApiserver, apiserver_arguments(options_, dir(), ports_)));
  return wait_for("API server", [this] {
    http::Request request;
    request.target = "/readyz";
    return client_->raw(std::move(request)).ok();
  });
}

Status ControlPlane::wait_for(const std::string& what, const std::function<bool()>& condition) {
  const Instant until = clock_.now() + options_.start_limit;
  while (true) {
    for (const auto& [program, process] : processes_) {
      if (process->running()) continue;
      return Error::unavailable("{} exited with status {}:\n{}", program, *process->exit_code(),
                                last_lines(process->log(), 5));
    }
    if (condition()) return {};
    if (clock_.now() >= until) {
      return Error::of(ErrorCode::kTimeout, "{}: not ready after {} s", what,
                       std::chrono::duration_cast<std::chrono::seconds>(options_.start_limit).count());
    }
    // Waits for the poll interval or until the process exits.
    static_cast<void>(processes_.rbegin()->second->wait(kPollInterval));
  }
}

Process* ControlPlane::process(const std::string& program) {
  const auto found = processes_.find(program);
  return found == processes_.end() ? nullptr : found->second.get();
}

Status ControlPlane::pause(const std::string& program) {
  Process* const found = process(program);
  if (found == nullptr) return Error::not_found("{}: was not started", program);
  found->signal(SIGSTOP);
  return {};
}

Status ControlPlane::resume(const std::string& program) {
  Process* const found = process(program);
  if (found == nullptr) return Error::not_found("{}: was not started", program);
  found->signal(SIGCONT);
  return {};
}

Result<std::string> ControlPlane::write_kubeconfig(const std::string& name, const std::string& user,
                                                   const std::vector<std::string>& groups) {
  ASSIGN_OR_RETURN(const http::Identity identity, certificates_->client(user, groups));
  const std::string path = dir() + "/" + name + ".kubeconfig";
  RETURN_IF_ERROR(write_private_file(path, kubeconfig_text(server(), authority(), identity)));
  return path;
}

Result<std::string> ControlPlane::user_kubeconfig(const std::string& user, const std::vector<std::string>& groups) {
  return write_kubeconfig("user-" + user, user, groups);
}

}  // namespace tpuslice::testing
