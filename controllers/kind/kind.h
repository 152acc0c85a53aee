// Kind: a workload kind that the operator serves, as one value. Each kind has one in its folder
// (controllers/<kind>/<kind>_kind.cpp); cmd/tpu-slice-operator/kinds.cpp lists them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/series_writer.h"
#include "api/types/resource_type.h"
#include "controllers/plan/plan.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/manager.h"
#include "controllers/runtime/workload_client.h"
#include "tpu/rules/workload_kinds.h"

namespace tpuslice::kind {

/// What the operator gives to the controllers of all kinds.
struct Settings {
  rules::MutationOptions mutation;               ///< Mutation of TPU pods.
  std::string cluster_domain = "cluster.local";  ///< DNS suffix of services.
  runtime::Namespaces watch_namespaces;
  bool has_webhook = false;  ///< Our webhook mutates the pods that others create.
  runtime::ControllerOptions controller;
  runtime::SendToWorkload send_to_workload;  ///< Sends requests to servers in pods of workloads.
  Json configuration;  ///< The configuration file: an object with valid sections of kinds (Kind::section), or null.
};

/// The controller of the project that the kind comes from. The operator does not act beside it. Empty for a kind of
/// ours.
struct Upstream {
  std::string_view name;   ///< "KubeRay"
  std::string_view lease;  ///< Name of its Lease for leader election.
  ResourceType type;       ///< It may update the status of this type in all namespaces.
  /// Prefix of its metrics that the operator has, too: "kuberay_". Counters of such a name are recorded, and
  /// Kind::upstream_metrics served, unless --upstream-metrics is false. Empty: it has none.
  std::string_view metrics = {};

  [[nodiscard]] bool exists() const { return !lease.empty(); }
};

/// A finalizer that the kind's controller sets on its objects.
struct Finalizer {
  std::string_view name;  ///< Empty: none.
  /// The finalizer stays on a terminating object when the operator is drained: the clean-up that it waits for would not
  /// be done.
  bool keep_on_terminating = false;
};

/// Writes series about the objects of a kind, on a thread that serves a scrape.
using WriteSeries = std::function<void(SeriesWriter& out)>;

/// Lives as long as the program.
struct Kind {
  ResourceType type;
  std::string_view controller;  ///< Name of its controller: "rayjob", as in --controllers.
  /// Another controller, without which it does not run unless it is named: "raycluster".
  std::string_view runs_with = {};
  Upstream upstream = {};
  const rules::WorkloadKind& admission;
  /// Whether the object, which is not terminating, creates no pods: it is suspended or has finished. Null: never. Not
  /// used for kinds whose children have the pods.
  bool (*rests)(const Json& object) = nullptr;
  Finalizer finalizer = {};
  std::string_view section = {};  ///< Key of its section in the configuration file; empty: none.
  /// Every error of the section, with paths from its key on.
  std::vector<rules::FieldError> (*check_section)(const Json& section) = nullptr;
  std::span<const plan::CounterDefinition* const> counters = {};  ///< Counters that its plans increment.
  /// Adds its controller and the watches that this needs.
  void (*add)(runtime::Manager& manager, const Settings& settings);
  /// Upstream's metrics that have series for each object: the function that writes them, from the stores of add(),
  /// after which it is called. The manager outlives that function. Null: upstream has none.
  WriteSeries (*upstream_metrics)(runtime::Manager& manager, const Settings& settings) = nullptr;
};

}  // namespace tpuslice::kind
