#include "cmd/kubectl-tpu/rehearsal.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "api/base/file.h"
#include "api/base/strings.h"
#include "api/client/client.h"
#include "api/types/yaml.h"
#include "cmd/tpu-slice-operator/kinds.h"
#include "cmd/tpu-slice-sim/admission/webhooks.h"
#include "cmd/tpu-slice-sim/assets.h"
#include "cmd/tpu-slice-sim/cluster/cluster.h"
#include "controllers/placement/placement_controller.h"
#include "controllers/slice/slice_controller.h"
#include "tpu/chips.h"
#include "tpu/labels.h"
#include "webhook/admission_handler.h"

namespace tpuslice::plugin {
namespace {

using namespace std::chrono_literals;

constexpr int kMaxRounds = 40;
constexpr int kMaxPlannedSlices = 2'000;
/// What is shown of the objects that are created for a manifest.
constexpr std::array<std::string_view, 14> kShown = {"pods",
                                                     "jobs.batch",
                                                     "statefulsets.apps",
                                                     "services",
                                                     "configmaps",
                                                     "persistentvolumeclaims",
                                                     "serviceaccounts",
                                                     "roles.rbac.authorization.k8s.io",
                                                     "rolebindings.rbac.authorization.k8s.io",
                                                     "ingresses.networking.k8s.io",
                                                     "rayclusters.ray.io",
                                                     "rayjobs.ray.io",
                                                     "leaderworkersets.leaderworkerset.x-k8s.io",
                                                     "jobsets.jobset.x-k8s.io"};

sim::UserInfo operator_user() {
  return {"system:serviceaccount:tpu-slice-system:tpu-slice-operator",
          {"system:serviceaccounts", "system:serviceaccounts:tpu-slice-system", "system:authenticated"}};
}

rules::MutationOptions mutation_of(const RehearsalOptions& options) {
  rules::MutationOptions mutation;
  if (!options.topology_key.empty()) mutation.topology_key = options.topology_key;
  mutation.topology_keys = options.topology_keys;
  mutation.topology_keys.insert(mutation.topology_key);
  mutation.gate = true;
  mutation.kinds = admission_kinds();
  for (const kind::Kind* each : kinds()) mutation.served_kinds.emplace(each->type.kind);
  return mutation;
}

/// The webhook server, called in process.
class InProcessWebhook final : public http::Transport {
 public:
  explicit InProcessWebhook(rules::MutationOptions options) : options_(std::move(options)) {}

  Result<http::Response> call(const http::Request& request, Duration, std::stop_token) override {
    webhook::AdmissionRecord record;
    http::Response response = webhook::handle_admission(request, options_, &record);
    if (!record.allowed && refusal_.empty()) refusal_ = record.message;
    return response;
  }
  Result<std::unique_ptr<http::Stream>> open(const http::Request&, Duration, std::stop_token) override {
    return Error::unsupported("the webhook has no streams");
  }
  /// The message of the first answer that does not allow the object; empty if all do.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  const rules::MutationOptions options_;
  std::string refusal_;
};

/// The cluster and the operator in it.
class Stage {
 public:
  explicit Stage(const RehearsalOptions& options)
      : cluster_(clock_, {.pools = {{.name = "cpu", .hosts = 4, .cpu = "10000", .memory = "100Ti"}}}),
        webhook_(std::make_shared<InProcessWebhook>(mutation_of(options))),
        webhooks_(cluster_.storage(),
                  [this](const Json&) { return Result<std::shared_ptr<http::Transport>>(webhook_); }),
        server_(cluster_.transport(operator_user())),
        api_(*server_),
        manager_(api_, api_, clock_, metrics_, Logger(), manager_options()) {
    cluster_.set_webhooks([this](const sim::AdmissionRequest& request) { return webhooks_.mutate(request); },
                          [this](const sim::AdmissionRequest& request) { return webhooks_.validate(request); });
    add_controllers(options);
  }

  Status install() {
    for (const Asset& asset : assets()) {
      if (const Status applied = cluster_.apply_yaml(asset.text); !applied) return applied.error().within(asset.path);
    }
    run(30s);
    for (const std::string_view resource : kShown) {
      for (const sim::JsonPtr& object : cluster_.storage().list(resource)) {
        known_.insert(string_at(*object, {"metadata", "uid"}));
      }
    }
    return {};
  }

  /// Objects of namespaces that have none get `default_namespace`.
  Status apply(Json object, const std::string& default_namespace) {
    if (const Json* const metadata = find_set(object, {"metadata"}); metadata != nullptr && !metadata->is_object()) {
      return Error::invalid_argument("metadata: Invalid value: found {}, expected an object", metadata->type_name());
    }
    const sim::ResourcePtr resource =
        cluster_.registry().resources().find_kind(string_at(object, {"apiVersion"}), string_at(object, {"kind"}));
    if (resource != nullptr && resource->namespaced && string_at(object, {"metadata", "namespace"}).empty()) {
      object["metadata"]["namespace"] = default_namespace;
    }
    const std::string namespace_name = string_at(object, {"metadata", "namespace"});
    if (!namespace_name.empty() && cluster_.get("namespaces", {"", namespace_name}) == nullptr) {
      RETURN_IF_ERROR(
          cluster_.apply({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", namespace_name}}}}));
    }
    try {
      const Result<Object> applied = cluster_.apply(std::move(object));
      if (!applied) return applied.error();
      known_.insert(applied->uid());
      return {};
    } catch (const Json::exception& error) {  // Defaults are set before the types of all fields are checked.
      return Error::invalid_argument("a field has another type than its kind allows: {}", error.what());
    }
  }

  /// Until nothing more is created.
  void settle() {
    std::size_t before = 0;
    for (int round = 0; round < kMaxRounds; ++round) {
      run(20s);
      const bool grew = add_pools();
      const std::size_t pods = cluster_.storage().list("pods").size();
      if (round > 1 && !grew && pods == before) return;
      before = pods;
    }
  }

  /// Why the webhook refuses a pod that a controller creates; empty if it refuses none.
  [[nodiscard]] const std::string& refusal() const { return webhook_->refusal(); }

  [[nodiscard]] std::vector<Json> created() {
    std::vector<Json> out;
    for (const std::string_view resource : kShown) {
      for (const sim::JsonPtr& object : cluster_.storage().list(resource)) {
        const std::string space = string_at(*object, {"metadata", "namespace"});
        const bool is_ours = !known_.contains(string_at(*object, {"metadata", "uid"})) && space != "tpu-slice-system" &&
                             space != "kube-system" && string_at(*object, {"metadata", "name"}) != "kube-root-ca.crt";
        // A ServiceAccount of each namespace.
        if (is_ours && !(resource == "serviceaccounts" && string_at(*object, {"metadata", "name"}) == "default")) {
          out.push_back(*object);
        }
      }
    }
    return out;
  }

 private:
  static runtime::ManagerOptions manager_options() {
    runtime::ManagerOptions options;
    options.leader_elect = false;
    options.action_threads = 0;
    options.kept_keys.assign(tpu::kKeptKeys.begin(), tpu::kKeptKeys.end());
    return options;
  }

  void add_controllers(const RehearsalOptions& options) {
    kind::Settings settings;
    settings.mutation = mutation_of(options);
    settings.has_webhook = true;
    settings.send_to_workload = [](const std::string& address, const http::Request&, Duration,
                                   const std::stop_token&) -> Result<http::Response> {
      return Error::unavailable("{}: no answer", address);
    };
    for (const kind::Kind* each : kinds()) {
      settings.controller.counters = each->counters;
      settings.controller.muted_counters = each->upstream.metrics;
      each->add(manager_, settings);
    }
    const slice::SliceStores stores = slice::add_slice_stores(manager_);
    placement::add_placement(manager_, stores);
    slice::add_slices(manager_, stores);
  }

  void run(Duration duration) {
    cluster_.run_for(clock_, duration, [this](Instant now) { return std::optional<Instant>(manager_.step(now)); });
  }

  /// Nodes for the slices that wait, exactly what their pods select. Whether there were any.
  bool add_pools() {
    bool any = false;
    for (const sim::JsonPtr& pod : cluster_.storage().list("pods")) {
      const std::string key = string_at(*pod, {"metadata", "labels", tpu::kSlice});
      const std::string hosts = string_at(*pod, {"metadata", "annotations", tpu::kSliceHosts});
      const bool gated = !array_at(*pod, {"spec", "schedulingGates"}).empty();
      const ObjectKey slice{string_at(*pod, {"metadata", "namespace"}), key};
      if (!gated || hosts.empty() || slices_.size() >= kMaxPlannedSlices || !slices_.insert(slice).second) continue;
      any = true;
      add_pool(*pod, parse_count(hosts).value_or(1));
    }
    return any;
  }

  void add_pool(const Json& pod, int hosts) {
    const auto view = PodView::decode(pod.dump());
    if (!view) return;
    sim::NodePool pool;
    pool.name = fmt::format("planned-{}", slices_.size());
    pool.machine_type = "planned";
    pool.chips_per_host = static_cast<int>(std::clamp<std::int64_t>(tpu::chips_of(*view), 1, 8));
    pool.hosts = std::min(hosts, tpu::kMaxSliceHosts);
    pool.cpu = "10000";
    pool.memory = "100Ti";
    for (const auto& [label, value] : view->scheduling->node_selector) pool.labels[label.str()] = value.str();
    pool.accelerator = string_at(pool.labels, {tpu::kAcceleratorLabel});
    pool.topology = string_at(pool.labels, {tpu::kTopologyLabel});
    const std::string topology_key = view->annotation(tpu::kTopologyKey);
    if (!topology_key.empty() && !pool.labels.contains(topology_key)) pool.labels[topology_key] = pool.name;
    for (int host = 0; host < pool.hosts; ++host) {
      // A node that cannot be added leaves the slice without nodes, and its other pods may not be created.
      if (!cluster_.apply(sim::make_node(pool, host, nodes_++, format_rfc3339(clock_.wall()))).ok()) return;
    }
  }

  FakeClock clock_;
  sim::Cluster cluster_;
  const std::shared_ptr<InProcessWebhook> webhook_;
  sim::WebhookAdmission webhooks_;
  const std::unique_ptr<http::Transport> server_;
  client::Client api_;
  Metrics metrics_;
  runtime::Manager manager_;
  std::set<std::string> known_;  ///< Uids of objects that are not created for the manifest.
  std::set<ObjectKey> slices_;   ///< Those that have nodes.
  int nodes_ = 4;                ///< With those without TPUs.
};

bool is_rejection(const Error& error) {
  return error.code() == ErrorCode::kInvalid || error.code() == ErrorCode::kForbidden ||
         error.message().find("denied the request") != std::string::npos;
}

}  // namespace

Result<Rehearsed> rehearse(const std::vector<Json>& documents, const RehearsalOptions& options) {
  Stage stage(options);
  RETURN_IF_ERROR(stage.install());
  Rehearsed out;
  for (Json object : documents) {
    if (!object.is_object()) return Error::invalid_argument("found {}, expected an object", object.type_name());
    const std::string name =
        fmt::format("{}/{}", to_lower(string_at(object, {"kind"})), string_at(object, {"metadata", "name"}));
    const Status applied = stage.apply(std::move(object), options.namespace_name);
    if (applied.ok()) continue;
    if (!is_rejection(applied.error())) return applied.error().within(name);
    out.refusal = fmt::format("{}: {}", name, applied.error().message());
    return out;
  }
  stage.settle();
  out.refusal = stage.refusal();
  out.created = stage.created();
  return out;
}

Result<std::vector<Json>> read_manifests(const std::vector<std::string>& files) {
  std::vector<Json> objects;
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(const std::string text, read_file(file));
    auto documents = parse_yaml_documents(text);
    if (!documents) return documents.error().within(file);
    for (YamlDocument& document : *documents) {
      if (string_at(document.value, {"kind"}) != "List") {
        objects.push_back(std::move(document.value));
        continue;
      }
      for (const Json& item : array_at(document.value, {"items"})) objects.push_back(item);
    }
  }
  if (objects.empty()) return Error::invalid_argument("--filename: found no objects");
  return objects;
}

Result<std::string> namespace_of_manifest(Context& context, const FleetSource& source) {
  if (!context.options().namespace_name.empty()) return context.options().namespace_name;
  const bool offline = !source.snapshot.empty() || !source.pools.empty();
  if (offline || context.options().all_namespaces) return std::string("default");
  ASSIGN_OR_RETURN(const std::string name, context.namespace_name());
  return name.empty() ? std::string("default") : name;
}

}  // namespace tpuslice::plugin
