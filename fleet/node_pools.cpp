#include "fleet/node_pools.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/strings.h"
#include "api/types/utf8.h"
#include "controllers/placement/domains/node_match.h"
#include "fleet/model.h"
#include "tpu/catalog.h"
#include "tpu/chips.h"

namespace tpuslice::fleet {
namespace {

constexpr std::size_t kMaxPoolText = 100;
constexpr std::int64_t kAmpleMilliCpu = 1'000'000;
constexpr std::int64_t kAmpleBytes = std::int64_t{1} << 50U;

/// What the text asks for.
struct PoolText {
  const tpu::Accelerator* accelerator = nullptr;
  tpu::Topology topology = tpu::Topology::of(1, 1);
  int count = 1;
};

/// The accelerator with that label, or the one for slices of several hosts of that generation.
Result<const tpu::Accelerator*> accelerator_named(const std::string& name) {
  const tpu::Accelerator* best = nullptr;
  std::set<std::string> known;
  for (const tpu::Accelerator& each : tpu::accelerators()) {
    if (each.label == name) return &each;
    known.insert(tpu_name(each.label));
    if (tpu_name(each.label) != name) continue;
    if (best == nullptr || each.max_chips > best->max_chips) best = &each;
  }
  if (best != nullptr) return best;
  return Error::invalid_argument("found \"{}\", expected one of {}", clip(name, kMaxPoolText), fmt::join(known, ", "));
}

Result<PoolText> parse(std::string_view text) {
  std::vector<std::string> words = split(text, ' ');
  std::erase(words, "");
  if (words.size() < 2 || words.size() > 3) {
    return Error::invalid_argument("found \"{}\", expected \"v6e 4x4 x3\": TPU, topology and number of node pools",
                                   clip(std::string(text), kMaxPoolText));
  }
  PoolText out;
  ASSIGN_OR_RETURN(out.accelerator, accelerator_named(words[0]));
  ASSIGN_OR_RETURN(out.topology, tpu::Topology::parse(words[1]));
  RETURN_IF_ERROR(tpu::check_topology(*out.accelerator, out.topology));
  if (words.size() == 2) return out;
  const std::optional<int> count = words[2].starts_with('x') ? parse_count(words[2].substr(1)) : std::optional<int>();
  if (!count || *count < 1 || *count > kMaxNewPools) {
    return Error::invalid_argument("found \"{}\", expected x1 to x{}", clip(words[2], kMaxPoolText), kMaxNewPools);
  }
  out.count = *count;
  return out;
}

/// A node of a pool of that shape; null if there is none.
NodePtr find_example(const Snapshot& snapshot, const PoolText& text) {
  const std::string topology = text.topology.to_string();
  const auto found = std::ranges::find_if(snapshot.nodes, [&](const NodePtr& node) {
    return placement::accelerator_of(node->labels) == text.accelerator->label &&
           value_of(node->labels, tpu::kTopologyLabel) == topology && tpu::chips_of(*node) > 0 && !node->minimal;
  });
  return found == snapshot.nodes.end() ? nullptr : *found;
}

void set_label(NodeView& node, std::string_view key, std::string value) {
  node.labels.insert_or_assign(SharedString(key), SharedString(std::move(value)));
}

NodeView make_example(const PoolText& text) {
  NodeView node;
  set_label(node, tpu::kAcceleratorLabel, std::string(text.accelerator->label));
  set_label(node, tpu::kTopologyLabel, text.topology.to_string());
  ResourceAmounts amounts = {
      {"cpu", kAmpleMilliCpu},
      {"ephemeral-storage", kAmpleBytes},
      {SharedString(tpu::kTpuResource), tpu::default_chips_per_host(*text.accelerator, text.topology)},
      {"memory", kAmpleBytes}};
  std::ranges::sort(amounts, {}, [](const ResourceAmount& each) { return each.name.str(); });
  node.allocatable = SharedValue<ResourceAmounts>::decoded(std::move(amounts));
  node.taints = {{SharedString(tpu::kTpuTaint), "present", "NoSchedule"}};
  return node;
}

/// Removes what is not so of a node that was just made.
void reset(NodeView& node) {
  node.ready = true;
  node.ready_changed.reset();
  node.unschedulable = false;
  node.deletion.reset();
  remove_repaired_taints(node);
  const auto is_temporary = [](const auto& label) {
    const std::string& key = label.first;
    return key.find("maintenance") != std::string::npos || key.find("partition") != std::string::npos ||
           key.starts_with("cloud.google.com/gke-tpu-slice-") || key == "cloud.google.com/gke-tpu-slice";
  };
  for (auto label = node.labels.begin(); label != node.labels.end();) {
    label = is_temporary(*label) ? node.labels.erase(label) : label + 1;
  }
}

}  // namespace

void remove_repaired_taints(NodeView& node) {
  std::erase_if(node.taints, [](const NodeTaint& taint) {
    if (taint.key.str().starts_with("node.kubernetes.io/")) return true;
    NodeView marked;
    marked.taints = {taint};
    return !placement::removal_reason(marked).empty();
  });
}

Result<std::vector<NodePtr>> new_pools(std::string_view text, const Snapshot& snapshot) {
  ASSIGN_OR_RETURN(const PoolText wanted, parse(text));
  const NodePtr example = find_example(snapshot, wanted);
  NodeView node = example == nullptr ? make_example(wanted) : *example;
  reset(node);
  const std::int64_t chips = tpu::chips_of(node);
  ASSIGN_OR_RETURN(const int hosts, tpu::host_count(wanted.topology, chips));
  std::set<std::string> taken;
  for (const NodePtr& each : snapshot.nodes) taken.insert(placement::domain_of_node(*each, snapshot.topology_key));
  std::vector<NodePtr> nodes;
  int number = 1;
  for (int made = 0; made < wanted.count; ++number) {
    const std::string pool =
        fmt::format("{}-{}-new-{}", tpu_name(wanted.accelerator->label), wanted.topology.to_string(), number);
    if (taken.contains(pool)) continue;
    ++made;
    set_label(node, snapshot.topology_key, pool);
    for (int host = 0; host < hosts; ++host) {
      NodeView each = node;
      each.key = {"", fmt::format("{}-{}", pool, host)};
      each.uid = each.key.name;
      set_label(each, tpu::kHostnameLabel, each.key.name);
      nodes.push_back(std::make_shared<const NodeView>(std::move(each)));
    }
  }
  return nodes;
}

}  // namespace tpuslice::fleet
