// OperatorHarness: one operator, stepped by a test, with injected faults between it and the API server.
//
// Destroying it is a crash: its memory is lost, its writes are not.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "api/base/log.h"
#include "api/base/metrics.h"
#include "api/client/client.h"
#include "cmd/tpu-slice-sim/cluster/cluster.h"
#include "cmd/tpu-slice-sim/cluster/fault_transport.h"
#include "cmd/tpu-slice-sim/ray/dashboards.h"
#include "controllers/history/history_controller.h"
#include "controllers/jobset/jobset_kind.h"
#include "controllers/leaderworkerset/leaderworkerset_kind.h"
#include "controllers/placement/placement_controller.h"
#include "controllers/raycluster/raycluster_kind.h"
#include "controllers/rayservice/rayservice_kind.h"
#include "controllers/runtime/manager.h"
#include "controllers/slice/slice_controller.h"
#include "tpu/chips.h"

namespace tpuslice::testing {

struct OperatorOptions {
  std::string identity = "operator-a";
  bool leader_elect = false;
  std::uint64_t seed = 1;
  sim::Faults faults{};
  bool leader_worker_sets = false;                           ///< Also run the LeaderWorkerSet controller.
  bool ray_services = false;                                 ///< Also run the RayService controller.
  bool history = false;                                      ///< Also record interruptions.
  std::function<void(runtime::Manager&)> add_controllers{};  ///< Adds controllers of a test.
  sim::RayDashboards* dashboards = nullptr;                  ///< Of Ray clusters; null: they do not answer.
};

class OperatorHarness {
 public:
  OperatorHarness(sim::Cluster& cluster, const Clock& clock, OperatorOptions options = {})
      : delays_watches_(options.faults.delay_watch > Duration{}),
        server_(cluster.transport({"system:serviceaccount:tpu-slice-system:tpu-slice-operator",
                                   {"system:serviceaccounts", "system:authenticated"}})),
        faults_(*server_, clock, std::move(options.faults)),
        client_(faults_),
        election_client_(faults_),
        manager_(client_, election_client_, clock, metrics_, logger(clock), manager_options(options)) {
    raycluster::add_raycluster(manager_, {.mutation = {.kinds = raycluster::own_kinds(), .gate = true}});
    jobset::add_jobset(manager_, {.mutation = {.kinds = jobset::own_kinds(), .gate = true}},
                       {.counters = jobset::kKind.counters});
    if (options.leader_worker_sets) {
      leaderworkerset::add_leaderworkerset(manager_, {}, {.counters = leaderworkerset::kKind.counters});
    }
    if (options.ray_services) rayservice::add_rayservice(manager_, send_to(options.dashboards));
    if (options.add_controllers) options.add_controllers(manager_);
    slice::SliceStores stores = slice::add_slice_stores(manager_, workloads(options));
    if (options.history) {
      const history::History history = history::add_history(manager_, metrics_, stores, "tpu-slice-system");
      stores.on_interruption = [journal = history.journal](const auto& each) { journal->record(each); };
    }
    placement::add_placement(manager_, stores);
    slice::add_slices(manager_, stores, {.node_timeout = std::chrono::seconds(40)});
  }

  /// Does all work that is due. Returns when the next work is due; std::nullopt after a crash.
  std::optional<Instant> step(Instant now) {
    if (faults_.dead()) return std::nullopt;
    Instant due = manager_.step(now);
    // Delayed watch events arrive without a notification.
    if (delays_watches_) due = std::min(due, now + std::chrono::milliseconds(100));
    return due;
  }

  [[nodiscard]] sim::FaultTransport& faults() { return faults_; }
  [[nodiscard]] runtime::Manager& manager() { return manager_; }

 private:
  slice::Workloads workloads(const OperatorOptions& options) {
    slice::Workloads out;
    std::vector<const kind::Kind*> kinds = {&raycluster::kKind, &jobset::kKind};
    if (options.leader_worker_sets) kinds.push_back(&leaderworkerset::kKind);
    for (const kind::Kind* each : kinds) out.add(each->type, manager_.store<ObjectView>(each->type), {}, each->rests);
    return out;
  }
  static runtime::SendToWorkload send_to(sim::RayDashboards* dashboards) {
    if (dashboards != nullptr) return sim::in_process(*dashboards);
    return
        [](const std::string& address, const http::Request&, Duration,
           const std::stop_token&) -> Result<http::Response> { return Error::unavailable("{}: no answer", address); };
  }
  static runtime::ManagerOptions manager_options(const OperatorOptions& options) {
    runtime::ManagerOptions out;
    out.leader_elect = options.leader_elect;
    out.election.identity = options.identity;
    out.events.instance = options.identity;
    out.action_threads = 0;
    out.kept_keys.assign(tpu::kKeptKeys.begin(), tpu::kKeptKeys.end());
    out.seed = options.seed;
    return out;
  }
  /// TPUSLICE_TEST_LOG=debug prints the operator's log.
  static Logger logger(const Clock& clock) {
    const char* level = std::getenv("TPUSLICE_TEST_LOG");
    if (level == nullptr) return Logger();
    LogOptions options;
    options.level = parse_log_level(level).value_or(LogLevel::kInfo);
    options.format = LogFormat::kText;
    options.clock = &clock;
    return Logger(options);
  }

  const bool delays_watches_;
  Metrics metrics_;
  const std::unique_ptr<http::Transport> server_;
  sim::FaultTransport faults_;
  client::Client client_;
  client::Client election_client_;
  runtime::Manager manager_;
};

}  // namespace tpuslice::testing
