#include "cmd/kubectl-tpu/read_fleet.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "api/base/file.h"
#include "api/types/yaml.h"
#include "cmd/kubectl-tpu/operator_info.h"
#include "cmd/kubectl-tpu/target.h"
#include "cmd/kubectl-tpu/workload_pods.h"
#include "fleet/changes.h"
#include "fleet/node_pools.h"
#include "tpu/labels.h"

namespace tpuslice::plugin {
namespace {

constexpr std::size_t kMaxFile = 1U << 30U;  ///< Bytes.
constexpr std::size_t kMaxValues = 100'000'000;
constexpr std::size_t kMaxFleetNodes = 50'000;
constexpr std::size_t kMaxFleetPods = 200'000;
constexpr std::size_t kMaxFleetWorkloads = 50'000;

bool is_refusal(const Error& error) {
  return error.code() == ErrorCode::kForbidden || error.code() == ErrorCode::kUnauthorized;
}

/// Appends the trimmed objects of a list to `document[member]`.
Status add_list(client::Client& api, const ResourceType& type, const client::ListOptions& options, std::size_t max,
                const std::stop_token& stop, Json& list) {
  ASSIGN_OR_RETURN(const std::vector<Object> objects, list_all(api, type, options, max, stop));
  for (const Object& object : objects) {
    Json json = object.json();
    json["kind"] = type.kind;
    json["apiVersion"] = type.api_version();
    list.push_back(fleet::trimmed(json));
  }
  return {};
}

/// Pods with the label of a slice, or of none, as the operator watches them.
client::ListOptions pods_of_slices(const std::string& namespace_name) {
  return {.namespace_name = namespace_name, .label_selector = std::string(tpu::kSlice)};
}

/// The objects that have slices; those that cannot be read have no better names than those on their pods.
Status add_workloads(client::Client& api, const std::string& namespace_name, const std::stop_token& stop, Json& list) {
  for (const ResourceType& type : workload_types()) {
    if (type == kJobs || type == kStatefulSets) continue;
    const client::ListOptions options{.namespace_name = namespace_name, .metadata_only = true};
    Status added = add_list(api, type, options, kMaxFleetWorkloads, stop, list);
    const bool ignored = added.ok() || is_refusal(added.error()) || added.error().code() == ErrorCode::kNotFound;
    if (!ignored) return added;
  }
  return {};
}

Result<ReadFleet> read_cluster(Context& context) {
  ASSIGN_OR_RETURN(client::Client* const api, context.api());
  const std::stop_token& stop = context.stop();
  ReadFleet out;
  Json document = {{"schema", fleet::kSnapshotSchema}, {"time", format_rfc3339(context.now())},
                   {"nodes", Json::array()},           {"pods", Json::array()},
                   {"workloads", Json::array()},       {"missing", Json::array()}};
  const auto note_refusal = [&](const Error& error, const char* resource) {
    document["missing"].push_back({{"resource", resource}});
    if (!out.refusal) out.refusal = error;
  };
  const client::ListOptions tpu_nodes{.label_selector = std::string(tpu::kAcceleratorLabel)};
  if (const Status nodes = add_list(*api, kNodes, tpu_nodes, kMaxFleetNodes, stop, document["nodes"]); !nodes.ok()) {
    if (!is_refusal(nodes.error())) return nodes.error();
    note_refusal(nodes.error(), "nodes");
  }
  std::string namespace_name;
  if (const Status pods = add_list(*api, kPods, pods_of_slices(""), kMaxFleetPods, stop, document["pods"]);
      !pods.ok()) {
    if (!is_refusal(pods.error())) return pods.error();
    note_refusal(pods.error(), "pods");
    ASSIGN_OR_RETURN(const client::ClientConfig* const config, context.config());
    namespace_name =
        context.options().namespace_name.empty() ? config->namespace_name : context.options().namespace_name;
    RETURN_IF_ERROR(add_list(*api, kPods, pods_of_slices(namespace_name), kMaxFleetPods, stop, document["pods"]));
  }
  RETURN_IF_ERROR(add_workloads(*api, namespace_name, stop, document["workloads"]));
  ASSIGN_OR_RETURN(out.snapshot, fleet::read_snapshot(document));
  read_operator(context, *api, out);
  return out;
}

/// Reads one document, or the objects of several as one List.
Result<Json> read_document(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  if (text.starts_with('{')) {  // JSON is read much faster than YAML.
    auto json = parse_json(text, {.bytes = kMaxFile, .values = kMaxValues});
    return json ? std::move(json) : Result<Json>(json.error().within(path));
  }
  auto documents = parse_yaml_documents(text, {.bytes = kMaxFile, .nodes = kMaxValues});
  if (!documents) return documents.error().within(path);
  if (documents->size() == 1) return std::move(documents->front().value);
  Json list = {{"kind", "List"}, {"items", Json::array()}};
  for (YamlDocument& each : *documents) list["items"].push_back(std::move(each.value));
  return list;
}

}  // namespace

void add_source_options(CLI::App& command, FleetSource& source) {
  command.add_option("--snapshot", source.snapshot,
                     "Answer from a file instead of the cluster: a snapshot, or the nodes and pods that `kubectl get "
                     "-o yaml` prints");
}

Result<ReadFleet> read_fleet(Context& context, const FleetSource& source) {
  ReadFleet out;
  if (!source.snapshot.empty()) {
    ASSIGN_OR_RETURN(const Json document, read_document(source.snapshot));
    auto snapshot = fleet::read_snapshot(document, context.now());
    if (!snapshot) return snapshot.error().within(source.snapshot);
    out.snapshot = *std::move(snapshot);
  } else if (source.pools.empty()) {
    ASSIGN_OR_RETURN(out, read_cluster(context));
  } else {
    out.snapshot.time = context.now();
  }
  for (const std::string& pool : source.pools) {
    auto nodes = fleet::new_pools(pool, out.snapshot);
    if (!nodes) return nodes.error().within("--pools");
    out.snapshot.nodes.insert(out.snapshot.nodes.end(), nodes->begin(), nodes->end());
  }
  return out;
}

Result<fleet::Snapshot> read_whole_fleet(Context& context, const FleetSource& source) {
  ASSIGN_OR_RETURN(ReadFleet read, read_fleet(context, source));
  if (read.refusal) return *std::move(read.refusal);
  if (!read.assumed.empty()) context.note(read.assumed);
  return std::move(read.snapshot);
}

}  // namespace tpuslice::plugin
