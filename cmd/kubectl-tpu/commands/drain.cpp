// kubectl tpu drain and undrain: takes a node pool out of use as a whole, and back.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cmd/kubectl-tpu/commands/commands.h"
#include "cmd/kubectl-tpu/evict.h"
#include "cmd/kubectl-tpu/target.h"
#include "cmd/kubectl-tpu/workload_pods.h"
#include "tpu/labels.h"

namespace tpuslice::plugin {
namespace {

constexpr std::size_t kMaxNodes = 20'000;
constexpr std::size_t kMaxPodsOfNode = 2'000;

struct DrainOptions {
  std::string pool;
  std::string topology_key = std::string(tpu::kNodePoolLabel);
  bool dry_run = false;
};

Result<std::vector<Object>> nodes_of(Context& context, const DrainOptions& options) {
  ASSIGN_OR_RETURN(const std::string pool, pool_name_of(options.pool));
  ASSIGN_OR_RETURN(client::Client* const api, context.api());
  ASSIGN_OR_RETURN(
      std::vector<Object> nodes,
      list_all(*api, kNodes, {.label_selector = options.topology_key + "=" + pool}, kMaxNodes, context.stop()));
  if (nodes.empty())
    return Error::not_found("{}: no node has the label {}={}", options.pool, options.topology_key, pool);
  return nodes;
}

Status set_unschedulable(Context& context, const std::vector<Object>& nodes, bool unschedulable, bool dry_run) {
  ASSIGN_OR_RETURN(client::Client* const api, context.api());
  const Json patch = {{"spec", {{"unschedulable", unschedulable ? Json(true) : Json(nullptr)}}}};
  const std::string_view done = unschedulable ? "cordoned" : "uncordoned";
  for (const Object& node : nodes) {
    const bool already = bool_at(node.json(), {"spec", "unschedulable"}) == unschedulable;
    if (!already) {
      const auto patched =
          api->patch(kNodes, node.key(), client::PatchType::kMerge, patch, {.dry_run = dry_run}, context.stop());
      if (!patched) return patched.error();
    }
    context.print(
        fmt::format("node/{} {}{}{}\n", node.name(), already ? "already " : "", done, dry_run ? " (dry run)" : ""));
  }
  return {};
}

/// The pods of slices on the nodes, of all namespaces. A request for each node: the API server finds a node's pods by
/// an index, and a pool has few nodes in a cluster of many pods.
Result<std::vector<Object>> slice_pods_on(Context& context, const std::vector<Object>& nodes) {
  ASSIGN_OR_RETURN(client::Client* const api, context.api());
  std::vector<Object> found;
  for (const Object& node : nodes) {
    const client::ListOptions options{.label_selector = std::string(kInSlice),
                                      .field_selector = "spec.nodeName=" + node.name()};
    ASSIGN_OR_RETURN(std::vector<Object> pods, list_all(*api, kPods, options, kMaxPodsOfNode, context.stop()));
    std::ranges::move(pods, std::back_inserter(found));
  }
  return found;
}

Result<ExitCode> drain_pool(Context& context, const DrainOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<Object> nodes, nodes_of(context, options));
  // Before the first eviction: otherwise a slice could be placed on the rest of the pool again.
  RETURN_IF_ERROR(set_unschedulable(context, nodes, true, options.dry_run));
  ASSIGN_OR_RETURN(const std::vector<Object> pods, slice_pods_on(context, nodes));
  const std::vector<Object> victims = one_pod_of_each_slice(pods);
  ASSIGN_OR_RETURN(client::Client* const api, context.api());
  bool blocked = false;
  for (const Object& pod : victims) {
    const Status evicted = evict(*api, pod, options.dry_run, context.stop());
    if (!evicted && evicted.error().code() == ErrorCode::kTooManyRequests) {
      context.note(evicted.error().message());
      blocked = true;
      continue;
    }
    // Its slice restarts already.
    if (!evicted &&
        (evicted.error().code() == ErrorCode::kNotFound || evicted.error().code() == ErrorCode::kConflict)) {
      continue;
    }
    if (!evicted) return evicted.error();
    context.print(fmt::format("pod/{} -n {} evicted{}: slice {} restarts elsewhere\n", pod.name(), pod.namespace_name(),
                              options.dry_run ? " (dry run)" : "", slice_name_of(pod)));
  }
  context.print(fmt::format("{}: {} nodes, {} slices{}\n", options.pool, nodes.size(), victims.size(),
                            options.dry_run ? "; nothing was changed" : ""));
  context.suggest(options.dry_run ? "drain " + options.pool
                  : blocked       ? "drain " + options.pool
                                  : "undrain " + options.pool);
  return blocked ? ExitCode::kNotNow : ExitCode::kYes;
}

Result<ExitCode> undrain_pool(Context& context, const DrainOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<Object> nodes, nodes_of(context, options));
  RETURN_IF_ERROR(set_unschedulable(context, nodes, false, options.dry_run));
  context.suggest("pools");
  return ExitCode::kYes;
}

void add_options(CLI::App& command, DrainOptions& options) {
  command.add_option("pool", options.pool, "pool/NAME")->required();
  command.add_option("--topology-key", options.topology_key,
                     "Label of nodes whose values are pools. Default: " + options.topology_key);
  command.add_flag("--dry-run", options.dry_run, "Print what would be done, and change nothing");
}

}  // namespace

void add_drain(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<DrainOptions>();
  add_options(commands.add(app, "drain", "Cordon all nodes of a pool, then evict one pod of each slice on it",
                           [options](Context& context) { return drain_pool(context, *options); }),
              *options);
}

void add_undrain(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<DrainOptions>();
  add_options(commands.add(app, "undrain", "Uncordon all nodes of a pool",
                           [options](Context& context) { return undrain_pool(context, *options); }),
              *options);
}

}  // namespace tpuslice::plugin
