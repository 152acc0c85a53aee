#include "tests/bench/fleet_pages/fleet_pages_bench.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include <fmt/format.h>

#include "tests/bench/lean_client.h"
#include "tests/bench/machine.h"

namespace tpuslice::bench {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLimit = std::chrono::minutes(5);
constexpr int kRounds = 3;
constexpr Duration kWatched = 30s;
/// After it the fleet is read again, however long that took before.
constexpr Duration kPause = 20s;

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

Result<std::unique_ptr<FleetPagesBench>> FleetPagesBench::start(FleetPagesOptions options) {
  std::unique_ptr<FleetPagesBench> bench(new FleetPagesBench(std::move(options)));
  testing::ControlPlaneOptions plane;
  plane.controllers = false;  // Nodes without kubelets stay Ready.
  plane.scheduler = false;
  plane.kwok = false;
  plane.priority_and_fairness = false;
  plane.gogc = 100;
  plane.start_limit = kLimit;
  ASSIGN_OR_RETURN(bench->plane_, testing::ControlPlane::start(std::move(plane)));
  RETURN_IF_ERROR(bench->create_objects());
  RETURN_IF_ERROR(bench->make_ready());
  RETURN_IF_ERROR(bench->start_operator());
  return bench;
}

Status FleetPagesBench::create_objects() {
  ASSIGN_OR_RETURN(const auto client, LeanClient::connect(plane_->config(), kInFlight));
  RETURN_IF_ERROR(client->post(kNodes.path(""), nodes_of(options_.fleet, format_rfc3339(clock_.wall()))));
  for (int index = 0; index < options_.fleet.namespaces; ++index) {
    const std::string name = namespace_of(index);
    const Object owner({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
    if (const auto created = plane_->client().create(kNamespaces, owner); !created) return created.error();
    RETURN_IF_ERROR(client->post(kPods.path(name), pods_of(options_.fleet, index)));
  }
  fmt::print(stderr, "{} nodes, {} slices\n", options_.fleet.nodes, options_.fleet.running + options_.fleet.waiting);
  return {};
}

Status FleetPagesBench::make_ready() {
  const std::vector<ObjectKey> pods = running_pods_of(options_.fleet);
  const Json status = ready_status(format_rfc3339(clock_.wall()));
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> done = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kInFlight; ++i) {
      threads.emplace_back([&] {
        for (std::size_t pod = next++; pod < pods.size(); pod = next++) {
          if (plane_->client().update_status(kPods, pods[pod], status).ok()) ++done;
        }
      });
    }
  }
  if (done == pods.size()) return {};
  return Error::unavailable("the status of {} of {} pods was written", done.load(), pods.size());
}

Status FleetPagesBench::start_operator() {
  ASSIGN_OR_RETURN(const std::string account, testing::install_operator(*plane_));
  const auto prepared = testing::output_of(
      fmt::format("export KUBECONFIG={}; kubectl create serviceaccount reader >/dev/null && for role in tpu-slice-view "
                  "tpu-slice-fleet; do kubectl create clusterrolebinding reader-$role --clusterrole=$role "
                  "--serviceaccount=default:reader >/dev/null || exit 1; done && kubectl create token reader",
                  plane_->kubeconfig()));
  if (!prepared) return prepared.error();
  token_ = *prepared;
  testing::OperatorProcessOptions options{.kubeconfig = account,
                                          .log = plane_->dir() + "/operator.log",
                                          .program = options_.operator_program,
                                          .metrics_secure = true,
                                          .flags = {"--controllers=slice"},
                                          .ready_limit = kLimit};
  ASSIGN_OR_RETURN(operator_, testing::OperatorProcess::start(std::move(options)));
  return wait_until_at_rest();
}

Status FleetPagesBench::wait_until_at_rest() {
  return wait_for_rest([this] { return operator_->cpu_seconds().value_or(0); }, kLimit);
}

Result<ServedAnswer> FleetPagesBench::ask() const {
  ASSIGN_OR_RETURN(const std::string printed,
                   testing::output_of(fmt::format(
                       "curl -sfk -o /dev/null -H 'Accept-Encoding: gzip' -H 'Authorization: Bearer {}' -w "
                       "'%{{time_starttransfer}} %{{size_download}}' https://127.0.0.1:{}/fleet/v1/snapshot",
                       token_, operator_->metrics_port())));
  ServedAnswer answer;
  char* end = nullptr;
  answer.milliseconds = std::strtod(printed.c_str(), &end) * 1e3;
  answer.bytes = std::strtod(end, nullptr);
  return answer;
}

Result<DirectAnswer> FleetPagesBench::run_plugin(const std::string& command) const {
  const Instant begin = clock_.now();
  const pid_t child = ::fork();
  if (child < 0) return Error::internal("fork failed");
  if (child == 0) {
    ::setenv("KUBECONFIG", plane_->kubeconfig().c_str(), 1);
    const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(null, STDOUT_FILENO);
    ::dup2(null, STDERR_FILENO);
    ::execl(options_.plugin.c_str(), "kubectl-tpu", command.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  rusage usage{};
  if (::wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) == 1 ||
      WEXITSTATUS(status) == 127) {
    return Error::unavailable("{} {}: status {}", options_.plugin, command, status);
  }
  return DirectAnswer{.seconds = seconds(clock_.now() - begin),
                      .cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime),
                      .peak = static_cast<double>(usage.ru_maxrss) / 1024};
}

Status FleetPagesBench::measure_watch(FleetPagesFigures& out) {
  const auto percent = [&]() -> Result<double> {
    ASSIGN_OR_RETURN(const double before, operator_->cpu_seconds());
    pause_for(kWatched);
    ASSIGN_OR_RETURN(const double after, operator_->cpu_seconds());
    return (after - before) / seconds(kWatched) * 100;
  };
  ASSIGN_OR_RETURN(out.cpu_unwatched, percent());
  ASSIGN_OR_RETURN(const auto watching,
                   testing::Process::start(
                       {.program = "/usr/bin/curl",
                        .args = {"-sNk", "-o", "/dev/null", "-H", "Authorization: Bearer " + token_,
                                 fmt::format("https://127.0.0.1:{}/fleet/v1/watch", operator_->metrics_port())}}));
  ASSIGN_OR_RETURN(out.cpu_watched, percent());
  ASSIGN_OR_RETURN(out.resident_watched, operator_->resident_mib());
  return {};
}

Result<FleetPagesFigures> FleetPagesBench::measure() {
  FleetPagesFigures out;
  ASSIGN_OR_RETURN(out.resident, operator_->resident_mib());
  for (int round = 0; round < kRounds; ++round) {
    ASSIGN_OR_RETURN(out.first.emplace_back(), ask());
    for (int i = 0; i < options_.answers; ++i) {
      ASSIGN_OR_RETURN(out.later.emplace_back(), ask());
    }
    pause_for(kPause);
  }
  for (int round = 0; round < kRounds; ++round) {
    ASSIGN_OR_RETURN(out.direct.emplace_back(), run_plugin("status"));
  }
  RETURN_IF_ERROR(measure_watch(out));
  return out;
}

}  // namespace tpuslice::bench
