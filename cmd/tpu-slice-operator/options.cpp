#include "cmd/tpu-slice-operator/options.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <map>
#include <ranges>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "api/base/file.h"
#include "api/base/strings.h"
#include "api/types/validation_names.h"
#include "api/types/yaml.h"
#include "cmd/tpu-slice-operator/controller_names.h"
#include "cmd/tpu-slice-operator/kinds.h"
#include "cmd/tpu-slice-operator/memory_option.h"
#include "cmd/tpu-slice-operator/option_values.h"

namespace tpuslice {
namespace {

constexpr std::string_view kConfigVersion = "config.tpuslice.dev/v1alpha1";
constexpr std::string_view kConfigKind = "OperatorConfiguration";

/// One setting: its flag, its key in the configuration file, and how its text is taken.
struct Setting {
  std::string flag;
  std::string help;
  TakeOption set;
  bool is_switch = false;
};

/// "--leader-elect" -> "leaderElect".
std::string config_key(const std::string& flag) {
  std::string key;
  for (std::size_t i = 2; i < flag.size(); ++i) {
    if (flag[i] == '-') {
      key += static_cast<char>(std::toupper(static_cast<unsigned char>(flag[++i])));
    } else {
      key += flag[i];
    }
  }
  return key;
}

Status set_controllers(OperatorOptions& options, const std::string& value) {
  ASSIGN_OR_RETURN(options.controllers, parse_controllers(value));
  return {};
}

Status set_take_over(OperatorOptions& options, const std::string& value) {
  ASSIGN_OR_RETURN(options.take_over, parse_take_over(value));
  return {};
}

Status set_topology_keys(OperatorOptions& options, const std::string& value) {
  std::vector<std::string> keys = split(value, ',');
  for (const std::string& key : keys) {
    if (const ErrorMessages errors = check_label_key(key); !errors.empty()) {
      return Error::invalid_argument("found \"{}\", expected node label keys, separated by commas: {}", key,
                                     errors.front());
    }
  }
  options.topology_keys = std::move(keys);
  return {};
}

Status set_capacity_order(OperatorOptions& options, const std::string& value) {
  std::vector<std::string> order = split(value, ',');
  if (!std::ranges::is_permutation(order, OperatorOptions().capacity_order)) {
    return Error::invalid_argument("found \"{}\", expected reservation, on-demand and spot in any order, with commas",
                                   value);
  }
  options.capacity_order = std::move(order);
  return {};
}

Status set_feature_gates(OperatorOptions& options, const std::string& value) {
  ASSIGN_OR_RETURN(options.feature_gates, FeatureGates::parse(value));
  return {};
}

/// Settings of features that are not enabled are refused.
Status check_features(const OperatorOptions& options) {
  if (!options.provisioning_class.empty()) RETURN_IF_ERROR(options.feature_gates.require(kProvisioningRequests));
  if (options.scale_up == "scout") RETURN_IF_ERROR(options.feature_gates.require(kScoutPods));
  if (options.max_preemptions_per_hour > 0) RETURN_IF_ERROR(options.feature_gates.require(kSlicePreemption));
  return {};
}

const std::vector<Setting>& settings() {  // NOLINT(readability-function-size): a table
  using O = OperatorOptions;
  static const std::vector<Setting> kSettings = {
      {"--kubeconfig", "Path of a kubeconfig. Default: $KUBECONFIG, else the service account of the pod.",
       text(&O::kubeconfig)},
      {"--context", "Context of the kubeconfig to use. Default: its current-context.", text(&O::context)},
      {"--controllers",
       "Controllers to run, separated by commas: \"*\" is all; one of " + list_of_left_out_kinds() +
           " leaves that kind to another operator while the webhook still serves its pods; " + list_of_followers() +
           ", to keep one, name it later: \"*,-raycluster,rayjob\". \"-slice\" leaves slices to the scheduler: "
           "their pods are not gated. Default: *",
       set_controllers},
      {"--take-over",
       "Kinds, separated by commas, that are served even if their upstream controller runs: " +
           list_of_upstream_kinds() + "; " + list_of_followers() +
           ". Default: none, a kind whose upstream controller holds a live Lease is left to it",
       set_take_over},
      {"--watch-namespace", "Serve only these namespaces, at most 20, separated by commas. Default: all",
       namespaces(&O::watch_namespaces)},
      {"--leader-elect", "Only act while holding a Lease; needed with more than one replica. Default: false",
       boolean(&O::leader_elect), true},
      {"--leader-election-namespace", "Namespace of the Lease. Default: the namespace of the pod.",
       text(&O::leader_election_namespace)},
      {"--leader-election-id", "Name of the Lease. Default: tpu-slice-operator", text(&O::leader_election_id)},
      {"--metrics-bind-address", "Address of /metrics; 0 turns it off. Default: :8443", text(&O::metrics_bind_address)},
      {"--metrics-secure",
       "Serve /metrics by HTTPS, to clients with a bearer token whose user may get the path /metrics: the API server "
       "authenticates and authorizes them (TokenReview, SubjectAccessReview). With =false: by HTTP, to all. Default: "
       "true",
       boolean(&O::metrics_secure), true},
      {"--metrics-cert-dir",
       "Folder with tls.crt and tls.key for /metrics, re-read when they change. Default: the webhook's certificate if "
       "the operator makes that itself, else a self-signed one",
       text(&O::metrics_cert_dir)},
      {"--metrics-service",
       "Service in front of /metrics, for which the operator's own certificate is issued, too. Default: "
       "tpu-slice-operator-metrics",
       text(&O::metrics_service)},
      {"--upstream-metrics",
       "Serve the metrics of KubeRay and JobSet under their names, too, with the names of objects and namespaces. "
       "Default: true",
       boolean(&O::upstream_metrics), true},
      {"--health-probe-bind-address",
       "Address of /healthz and /readyz; 0 turns it off. \":8081\" is that port of all IPv6 and IPv4 addresses. "
       "Default: :8081",
       text(&O::health_probe_bind_address)},
      {"--webhook-bind-address", "Address of the admission webhook, HTTPS; 0 turns it off. Default: :9443",
       text(&O::webhook_bind_address)},
      {"--webhook-cert-dir",
       "Folder with tls.crt and tls.key for the webhook, re-read when they change. Default: the operator makes and "
       "renews its own certificate and patches the webhook configurations.",
       text(&O::webhook_cert_dir)},
      {"--webhook-client-ca-file",
       "PEM file with certificate authorities. When set, the webhook refuses clients without a certificate of theirs; "
       "the API server needs one in its admission configuration. Default: none, any client may connect",
       text(&O::webhook_client_ca_file)},
      {"--shutdown-delay",
       "Seconds for which the webhook serves on after SIGTERM, while the API server learns of other replicas. Default: "
       "10",
       number(&O::shutdown_delay_seconds, 0, 600)},
      {"--webhook-service", "Service the webhook's own certificate is issued for. Default: tpu-slice-webhook",
       text(&O::webhook_service)},
      {"--topology-key", "Node label whose values are whole TPU slices. Default: cloud.google.com/gke-nodepool",
       text(&O::topology_key)},
      {"--topology-keys",
       "Node labels, separated by commas, that workloads may name instead of --topology-key. Default: "
       "cloud.google.com/gke-nodepool",
       set_topology_keys},
      {"--scale-up",
       "How the cluster autoscaler is asked for nodes when slices have no free ones: \"scout\": by scout pods; "
       "\"provisioning-request\": by ProvisioningRequests of --provisioning-class; \"auto\": by scout pods if the "
       "ConfigMap kube-system/cluster-autoscaler-status is there; \"off\": not at all. Default: auto",
       one_of(&O::scale_up, {"auto", "scout", "provisioning-request", "off"})},
      {"--provisioning-class",
       "Class of ProvisioningRequests, such as check-capacity.autoscaling.x-k8s.io, "
       "best-effort-atomic-scale-up.autoscaling.x-k8s.io or queued-provisioning.gke.io. Needs "
       "--feature-gates=ProvisioningRequests=true. Default: none, none are made",
       text(&O::provisioning_class)},
      {"--scout-image", "Image of scout pods, which do nothing. Default: registry.k8s.io/pause:3.10.1",
       text(&O::scout_image)},
      {"--max-scale-ups",
       "Maximum number of scout pods, or of ProvisioningRequests, with the same node requirements; also the maximum of "
       "one namespace. Of one accelerator there are at most twenty times as many. Default: 50",
       number(&O::max_scale_ups, 1, 1000)},
      {"--scale-up-timeout",
       "Seconds after which a scout pod without a node, or a ProvisioningRequest without its nodes, does not hold up "
       "those of other slices; a failed ProvisioningRequest is created again after this time. Default: 900",
       number(&O::scale_up_timeout_seconds, 60, 86'400)},
      {"--scheduling-timeout",
       "Seconds after which a placed slice is torn down, and waits again, if kube-scheduler refuses one of its pods "
       "for a reason that concerns its nodes, or the API server refuses to release one; 0: never. Default: 120",
       number(&O::scheduling_timeout_seconds, 0, 86'400)},
      {"--capacity-order",
       "Which nodes slices get first, if several node pools are free: reservation, on-demand and spot in any order, "
       "separated by commas. Default: reservation,on-demand,spot",
       set_capacity_order},
      {"--start-timeout",
       "The same if a pod of a placed slice has no node after so many seconds, whatever it waits for: CPU, a volume, a "
       "resource claim; 0: never. Default: 900",
       number(&O::start_timeout_seconds, 0, 7 * 86'400)},
      {"--reservation-timeout",
       "Slices that start together and wait for more nodes reserve the free ones for so many seconds; then younger "
       "slices may use these for as long, and so on in turns; 0: none are reserved. Default: 1800",
       number(&O::reservation_timeout_seconds, 0, 7 * 86'400)},
      {"--reservation-percent",
       "Share of an accelerator's nodes that may be reserved while they are idle; those of the first in the queue do "
       "not count. Default: 0, only the first reserves",
       number(&O::reservation_percent, 0, 100)},
      {"--hold-timeout",
       "Seconds after which slices that start together, of which some run and the others wait, give their domains to "
       "older ones in the same state, so that neither waits for the other for ever; 0: never. Default: 900",
       number(&O::hold_timeout_seconds, 0, 7 * 86'400)},
      {"--max-preemptions-per-hour",
       "Slices of lower priority that may be preempted within an hour, for each accelerator, so that slices of higher "
       "priority start. Above 0 needs --feature-gates=SlicePreemption=true. Default: 0, priorities decide the order of "
       "waiting slices only; Kueue preempts whole workloads",
       number(&O::max_preemptions_per_hour, 0, 100'000)},
      {"--show-other-namespaces",
       "Waiting reasons name the workloads of other namespaces that use or reserve nodes. Default: false",
       boolean(&O::show_other_namespaces), true},
      {"--show-hints", "Waiting reasons also say what an administrator of the cluster could set. Default: false",
       boolean(&O::show_hints), true},
      {"--node-not-ready-timeout",
       "Seconds after which a TPU node that is not Ready counts as lost: the slices on it are torn down and rebuilt. "
       "Default: 300, as Kubernetes evicts the pods of such a node",
       number(&O::node_timeout_seconds, 1, 86'400)},
      {"--disruption-nodes",
       "While more TPU nodes of a zone than this number are not Ready, and at least --disruption-percent of all its "
       "nodes, with TPUs and without, none of them counts as lost, nor for --node-not-ready-timeout afterwards: the "
       "control plane is at fault. Default: 2",
       number(&O::disrupted_nodes, 0, 1'000'000)},
      {"--disruption-percent", "See --disruption-nodes; 100 is only all nodes. Default: 55",
       number(&O::disrupted_percent, 1, 100)},
      {"--teardown-interval",
       "Seconds between slices that are torn down for lost nodes, after the first ten; 0: no limit. Default: 10, as "
       "kube-controller-manager evicts the pods of one node after another",
       number(&O::teardown_interval_seconds, 0, 3600)},
      {"--device-env",
       "Give TPU containers the environment that GKE's device plugin gives them (TPU_TOPOLOGY, TPU_ACCELERATOR_TYPE, "
       "bounds), for clusters whose device plugin sets none. Default: false",
       boolean(&O::device_env), true},
      {"--cluster-domain", "DNS domain of the cluster. Default: cluster.local", text(&O::cluster_domain)},
      {"--ray-dashboard-address",
       "Host and port to which requests to Ray's dashboards and Serve proxies go, for an operator outside of the "
       "cluster; those to dashboards have the name of the head service as header Host. Default: the head pod's",
       text(&O::ray_dashboard_address)},
      {"--max-concurrent-reconciles", "Objects of a kind worked on at the same time. Default: 4",
       number(&O::max_concurrent_reconciles, 1, 64)},
      {"--kube-api-max-in-flight", "Requests to the API server under way at the same time. Default: 16",
       number(&O::kube_api_max_in_flight, 1, 256)},
      {"--memory-budget",
       "Memory for watched objects, which namespaces share. Default: 3/8 of the memory limit; 384Mi without one",
       set_memory_budget},
      {"--feature-gates",
       fmt::format("Features to switch on or off, as Name=true, separated by commas: {}, AllAlpha, AllBeta. Default: "
                   "beta features are on, alpha features off",
                   fmt::join(FeatureGates::known() | std::views::transform(&Feature::name), ", ")),
       set_feature_gates},
      {"--log-format", "json or text. Default: json", one_of(&O::log_format, {"json", "text"})},
      {"--log-level", "debug, info, warn or error. Default: info",
       one_of(&O::log_level, {"debug", "info", "warn", "error"})},
  };
  return kSettings;
}

/// A value of the configuration file as the flag's text; lists and maps of booleans join with commas.
Result<std::string> scalar_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean() || value.is_number_integer()) return value.dump();
  if (value.is_array()) {
    std::string joined;
    for (const Json& item : value) {
      if (!item.is_string()) return Error::invalid_argument("found {}, expected a list of strings", value.dump());
      joined += (joined.empty() ? "" : ",") + item.get<std::string>();
    }
    return joined;
  }
  if (value.is_object()) {
    std::string joined;
    for (const auto& [name, entry] : value.items()) {
      joined += fmt::format("{}{}={}", joined.empty() ? "" : ",", name, entry.dump());
    }
    return joined;
  }
  return Error::invalid_argument("found {}, expected a string, number or boolean", value.dump());
}

/// The kind with a section of that key; null without one.
const kind::Kind* kind_of_section(const std::string& key) {
  const auto found = std::ranges::find(kinds(), std::string_view(key), &kind::Kind::section);
  return key.empty() || found == kinds().end() ? nullptr : *found;
}

std::vector<std::string_view> section_keys() {
  std::vector<std::string_view> keys;
  for (const kind::Kind* each : kinds()) {
    if (!each->section.empty()) keys.push_back(each->section);
  }
  return keys;
}

Status set_from_file(const std::string& key, const Json& value, OperatorOptions& options) {
  const auto& all = settings();
  const auto setting = std::ranges::find_if(all, [&](const Setting& each) { return config_key(each.flag) == key; });
  if (setting == all.end()) {
    return Error::invalid_argument("no such setting; keys are {} and the flags in camel case, e.g. {}",
                                   fmt::join(section_keys(), ", "), config_key("--leader-elect"));
  }
  ASSIGN_OR_RETURN(const std::string flag_text, scalar_text(value));
  return setting->set(options, flag_text);
}

}  // namespace

Status apply_configuration(std::string_view path, std::string_view text, OperatorOptions& options) {
  const auto documents = parse_yaml_documents(text);
  if (!documents) return documents.error().within(path);
  if (documents->size() != 1 || !documents->front().value.is_object()) {
    return Error::invalid_argument("{}: expected one YAML document with apiVersion: {} and kind: {}", path,
                                   kConfigVersion, kConfigKind);
  }
  const Json& json = documents->front().value;
  if (string_at(json, {"apiVersion"}) != kConfigVersion || string_at(json, {"kind"}) != kConfigKind) {
    return Error::invalid_argument("{}: found {} {}, expected {} {}", path, string_at(json, {"apiVersion"}),
                                   string_at(json, {"kind"}), kConfigVersion, kConfigKind);
  }
  std::vector<std::string> errors;
  for (const auto& [key, value] : json.items()) {
    if (key == "apiVersion" || key == "kind") continue;
    if (const kind::Kind* owner = kind_of_section(key)) {
      for (const rules::FieldError& error : owner->check_section(value)) errors.push_back(error.to_string());
      options.kind_sections[key] = value;
    } else if (const Status set = set_from_file(key, value, options); !set) {
      errors.push_back(set.error().within(key).message());
    }
  }
  if (errors.empty()) return {};
  return Error::invalid_argument("{}: {}", path, fmt::join(errors, "; "));
}

Result<CommandLine> parse_command_line(int argc, const char* const* argv) {
  CLI::App app("Runs multi-host TPU slice workloads on Kubernetes: reconciles " + list_of_served_kinds() +
                   ", schedules slices whole, and serves the admission webhook that gives every TPU pod its identity.",
               "tpu-slice-operator");
  app.set_version_flag("--version", TPUSLICE_VERSION);
  std::map<std::string, std::string> given;
  for (const Setting& setting : settings()) {
    const std::string& flag = setting.flag;
    if (setting.is_switch) {
      app.add_flag_function(
          flag, [&given, flag](std::int64_t count) { given[flag] = count > 0 ? "true" : "false"; }, setting.help);
    } else {
      app.add_option_function<std::string>(
          flag, [&given, flag](const std::string& value) { given[flag] = value; }, setting.help);
    }
  }
  CommandLine result;
  app.add_option("--config", result.options.config,
                 "Configuration file (YAML, " + std::string(kConfigVersion) + " " + std::string(kConfigKind) +
                     ") with the same settings in camel case; flags win.");
  CLI::Option* const drain =
      app.add_flag("--drain", result.drain,
                   "Instead of running, release what the operator holds, before it is uninstalled: delete its webhook "
                   "configurations, remove its scheduling gate from all pods, and its finalizers. The operator must be "
                   "stopped. Exits with 0 if nothing is left; docs/install.md");
  app.add_flag("--dry-run", result.dry_run, "With --drain: print what would be done, and change nothing.")
      ->needs(drain);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    std::ostringstream out;
    std::ostringstream err;
    app.exit(success, out, err);
    result.output = out.str();
    return result;
  } catch (const CLI::ParseError& error) {
    return Error::invalid_argument("{}; see --help", error.what());
  }
  if (!result.options.config.empty()) {
    const Result<std::string> content = read_file(result.options.config);
    if (!content) return content.error().within("--config");
    RETURN_IF_ERROR(apply_configuration(result.options.config, *content, result.options));
  }
  for (const Setting& setting : settings()) {
    const auto value = given.find(setting.flag);
    if (value == given.end()) continue;
    if (const Status set = setting.set(result.options, value->second); !set) return set.error().within(setting.flag);
  }
  RETURN_IF_ERROR(check_features(result.options));
  return result;
}

}  // namespace tpuslice
