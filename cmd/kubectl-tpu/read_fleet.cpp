#include "cmd/kubectl-tpu/read_fleet.h"

#include <algorithm>
#include <iterator>
#include <utility>

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
constexpr std::size_t kBatch = 500;  ///< Objects.

bool is_refusal(const Error& error) {
  return error.code() == ErrorCode::kForbidden || error.code() == ErrorCode::kUnauthorized;
}

/// Adds the objects of one member of a snapshot to `out`.
Status add_batch(const char* member, Json batch, fleet::Snapshot& out) {
  ASSIGN_OR_RETURN(fleet::Snapshot part,
                   fleet::read_snapshot({{"schema", fleet::kSnapshotSchema}, {member, std::move(batch)}}));
  std::ranges::move(part.nodes, std::back_inserter(out.nodes));
  std::ranges::move(part.pods, std::back_inserter(out.pods));
  std::ranges::move(part.workloads, std::back_inserter(out.workloads));
  return {};
}

/// Adds the objects of a list, which are `member` of a snapshot. At most kBatch of them are in memory as JSON.
Status add_list(client::Client& api, const ResourceType& type, const client::ListOptions& options, std::size_t max,
                const std::stop_token& stop, const char* member, fleet::Snapshot& out) {
  Json batch = Json::array();
  std::size_t count = 0;
  Status added;
  const auto take = [&](const Object& object) {
    if (++count > max) {
      added = Error::of(ErrorCode::kResponseTooLong, "list {}: more than {} objects", type.plural, max);
      return false;
    }
    Json json = object.json();
    json["kind"] = type.kind;
    json["apiVersion"] = type.api_version();
    batch.push_back(fleet::trimmed(json));
    if (batch.size() == kBatch) added = add_batch(member, std::exchange(batch, Json::array()), out);
    return added.ok();
  };
  RETURN_IF_ERROR(for_each_object(api, type, options, take, stop));
  if (!added) return added.error();
  return add_batch(member, std::move(batch), out);
}

/// Pods with the label of a slice, or of none, as the operator watches them.
client::ListOptions pods_of_slices(const std::string& namespace_name) {
  return {.namespace_name = namespace_name, .label_selector = std::string(tpu::kSlice)};
}

/// The objects that have slices; those that cannot be read have no better names than those on their pods.
Status add_workloads(client::Client& api, const std::string& namespace_name, const std::stop_token& stop,
                     fleet::Snapshot& out) {
  for (const ResourceType& type : workload_types()) {
    if (type == kJobs || type == kStatefulSets) continue;
    const client::ListOptions options{.namespace_name = namespace_name, .metadata_only = true};
    Status added = add_list(api, type, options, kMaxFleetWorkloads, stop, "workloads", out);
    const bool ignored = added.ok() || is_refusal(added.error()) || added.error().code() == ErrorCode::kNotFound;
    if (!ignored) return added;
  }
  return {};
}

Result<ReadFleet> read_cluster(Context& context) {
  ASSIGN_OR_RETURN(client::Client* const api, context.api());
  const std::stop_token& stop = context.stop();
  ReadFleet out;
  fleet::Snapshot& snapshot = out.snapshot;
  ASSIGN_OR_RETURN(snapshot, fleet::read_snapshot({{"schema", fleet::kSnapshotSchema}}, context.now()));
  const auto note_refusal = [&](const Error& error, const char* resource) {
    snapshot.missing.push_back({resource, ""});
    if (!out.refusal) out.refusal = error;
  };
  const client::ListOptions tpu_nodes{.label_selector = std::string(tpu::kAcceleratorLabel)};
  if (const Status nodes = add_list(*api, kNodes, tpu_nodes, kMaxFleetNodes, stop, "nodes", snapshot); !nodes.ok()) {
    if (!is_refusal(nodes.error())) return nodes.error();
    note_refusal(nodes.error(), "nodes");
  }
  std::string namespace_name;
  if (const Status pods = add_list(*api, kPods, pods_of_slices(""), kMaxFleetPods, stop, "pods", snapshot);
      !pods.ok()) {
    if (!is_refusal(pods.error())) return pods.error();
    note_refusal(pods.error(), "pods");
    ASSIGN_OR_RETURN(const client::ClientConfig* const config, context.config());
    namespace_name =
        context.options().namespace_name.empty() ? config->namespace_name : context.options().namespace_name;
    RETURN_IF_ERROR(add_list(*api, kPods, pods_of_slices(namespace_name), kMaxFleetPods, stop, "pods", snapshot));
  }
  RETURN_IF_ERROR(add_workloads(*api, namespace_name, stop, snapshot));
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
