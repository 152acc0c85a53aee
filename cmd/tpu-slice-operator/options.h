// Options of the operator: flags, and the same settings from a configuration file.
#pragma once

#include <string>
#include <vector>

#include "api/base/result.h"
#include "api/types/json.h"
#include "cmd/tpu-slice-operator/feature_gates.h"

namespace tpuslice {

struct OperatorOptions {
  std::string kubeconfig;                        ///< Empty: KUBECONFIG, else the pod's service account.
  std::string context;                           ///< Context of the kubeconfig; empty: its current one.
  std::string config;                            ///< Path of a configuration file.
  std::vector<std::string> controllers = {"*"};  ///< The list of --controllers: "*", "raycluster", "-jobset".
  std::vector<std::string> take_over;            ///< Controllers that run beside an upstream one of their kind.
  std::vector<std::string> watch_namespaces;     ///< None: all.
  bool leader_elect = false;
  std::string leader_election_namespace;  ///< Empty: the pod's own.
  std::string leader_election_id = "tpu-slice-operator";
  std::string metrics_bind_address = ":8443";  ///< "0" turns it off.
  bool metrics_secure = true;                  ///< HTTPS, for clients that the API server authenticates and authorizes.
  std::string metrics_cert_dir;                ///< tls.crt and tls.key; empty: the operator's own.
  std::string metrics_service = "tpu-slice-operator-metrics";  ///< Name of the Service the certificate is for.
  bool upstream_metrics = true;                                ///< Metrics under the names of upstream's operators.
  std::string health_probe_bind_address = ":8081";             ///< "0" turns it off.
  std::string webhook_bind_address = ":9443";                  ///< "0" turns it off.
  std::string webhook_cert_dir;                       ///< tls.crt and tls.key; empty: the operator makes its own.
  std::string webhook_client_ca_file;                 ///< Authorities of client certificates; empty: none required.
  std::string webhook_service = "tpu-slice-webhook";  ///< Name of the Service the certificate is for.
  std::string topology_key = "cloud.google.com/gke-nodepool";
  std::vector<std::string> topology_keys = {"cloud.google.com/gke-nodepool"};  ///< Workloads may name these, too.
  std::string scale_up = "auto";   ///< "auto", "scout", "provisioning-request" or "off".
  std::string provisioning_class;  ///< Class of provisioning requests.
  std::string scout_image = "registry.k8s.io/pause:3.10.1";
  int max_scale_ups = 50;              ///< Bound of scouts, or provisioning requests; see placement::ScaleUpBounds.
  int scale_up_timeout_seconds = 900;  ///< A scout or request without nodes for this long gives way to others.
  /// A placed slice is torn down if kube-scheduler refuses its domain for this long; 0: never.
  int scheduling_timeout_seconds = 120;
  int start_timeout_seconds = 900;  ///< The same for a pod that has no node, whatever it waits for.
  std::vector<std::string> capacity_order = {"reservation", "on-demand", "spot"};  ///< The first is used first.
  int reservation_timeout_seconds = 1800;  ///< How long domains are reserved for a waiting gang; 0: never.
  int hold_timeout_seconds = 900;          ///< A gang that runs in part may lose its domains then; 0: never.
  int reservation_percent = 0;             ///< Percentage of all nodes: maximum reserved, not counting the first gang.
  int max_preemptions_per_hour = 0;        ///< Slices preempted for slices of higher priority.
  bool show_hints = false;                 ///< Waiting reasons say what an administrator could set.
  bool show_other_namespaces = false;      ///< Waiting reasons name workloads of other namespaces.
  int node_timeout_seconds = 300;          ///< A TPU node that is not Ready for this long is lost.
  int disrupted_nodes = 2;                 ///< In a disruption, more TPU nodes than this are not Ready.
  int teardown_interval_seconds = 10;      ///< Between slices torn down for lost nodes, after the first ten; 0: none.
  int disrupted_percent = 55;              ///< In a disruption, at least this share is not Ready; no node is lost then.
  int shutdown_delay_seconds = 10;         ///< How long the webhook serves after a stop was requested.
  bool device_env = false;                 ///< TPU pods get what GKE's device plugin would set.
  std::string cluster_domain = "cluster.local";
  std::string ray_dashboard_address;  ///< Connect to this instead of the head pods; empty: to them.
  int max_concurrent_reconciles = 4;
  int kube_api_max_in_flight = 16;
  std::size_t memory_budget = 0;  ///< Bytes that the objects in stores may take; 0: from the memory limit.
  std::string log_format = "json";
  std::string log_level = "info";
  FeatureGates feature_gates;
  Json kind_sections;  ///< Sections of kinds in the configuration file, which are valid; null: none.

  /// Whether `name` runs under `controllers`: the last entry that names it, or "*", decides.
  [[nodiscard]] bool enables(std::string_view name) const;
  /// Whether controller `name` runs even if an upstream controller serves its kind.
  [[nodiscard]] bool takes_over(std::string_view name) const;
};

/// What the command line asked for.
struct CommandLine {
  OperatorOptions options;
  std::string output;    ///< The text to print and exit with, for --help and --version.
  bool drain = false;    ///< Do not run: release what the operator holds (drain_command.h).
  bool dry_run = false;  ///< The drain only prints what it would do.
};

/// Flags override the configuration file, which overrides the defaults.
///
/// Errors: InvalidArgument naming the flag or the file and key, what was found and what would be right.
[[nodiscard]] Result<CommandLine> parse_command_line(int argc, const char* const* argv);

/// Sets what the configuration file `text` says. `path` is for messages.
///
/// Errors: InvalidArgument with every error of the file, each with the path of its field.
[[nodiscard]] Status apply_configuration(std::string_view path, std::string_view text, OperatorOptions& options);

}  // namespace tpuslice
