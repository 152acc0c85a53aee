#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/base/earlier.h"
#include "controllers/placement/domains/node_match.h"
#include "controllers/placement/gang.h"
#include "fleet/accelerator_model.h"
#include "tpu/catalog.h"
#include "tpu/chips.h"
#include "tpu/placement.h"

namespace tpuslice::fleet {
namespace {

using placement::Capacity;
using placement::Domain;
using placement::DomainName;
using placement::NodeUse;
using placement::Slice;

/// A node that is stopped within this time is shown as such.
constexpr Duration kSoon = std::chrono::hours(24);

std::string_view name_of(Capacity capacity) {
  switch (capacity) {
    case Capacity::kReservation:
      return "reservation";
    case Capacity::kOnDemand:
      return "on-demand";
    case Capacity::kSpot:
      return "spot";
  }
  return {};
}

/// Why slices cannot use the node; empty if they can.
std::string problem_of_node(const NodeView& node) {
  if (node.minimal) return "cannot be read";
  if (node.deletion) return "is being deleted";
  if (!node.ready) return "is not Ready";
  if (tpu::chips_of(node) == 0) return "advertises no TPU chips";
  return {};
}

/// Why new slices do not get the node; empty if they do.
std::string drain_of_node(const NodeView& node) {
  return node.unschedulable ? "is cordoned" : placement::removal_reason(node);
}

/// Problems of nodes: the first, and how many further nodes have one.
struct Problems {
  std::string first;
  std::size_t more = 0;

  void add(const NodeView& node, const std::string& problem) {
    if (first.empty()) {
      first = fmt::format("node {} {}", node.key.name, problem);
    } else {
      ++more;
    }
  }
  [[nodiscard]] std::string text() const {
    if (more == 0) return first;
    return fmt::format("{}, and {} more node{}", first, more, more == 1 ? "" : "s");
  }
};

/// Makes a pool of its nodes.
class PoolMaker {
 public:
  PoolMaker(const AcceleratorModel& model, DomainName name, const std::vector<const NodeUse*>& nodes)
      : model_(model), name_(std::move(name)), nodes_(nodes) {}

  Pool make() {
    pool_.name = name_.second;
    pool_.topology_key = name_.first;
    pool_.accelerator = model_.cache.accelerator();
    pool_.tpu = tpu_name(pool_.accelerator);
    if (const auto found = model_.outlook.reserved.find(name_); found != model_.outlook.reserved.end()) {
      reserved_ = &found->second;
    }
    read_labels();
    read_size();
    for (const NodeUse* use : nodes_) add_node(*use);
    add_planned_users();
    pool_.used_hosts = static_cast<std::int64_t>(planned_ ? nodes_.size() : used_);
    set_state();
    set_times();
    return std::move(pool_);
  }

 private:
  void read_labels() {
    const NodeView& node = *nodes_.front()->node;
    pool_.topology = value_of(node.labels, tpu::kTopologyLabel);
    pool_.zone = value_of(node.labels, tpu::kZoneLabel);
    pool_.capacity = name_of(placement::capacity_of(node));
  }

  /// A pool of several slices of one host has as many nodes as it has.
  void read_size() {
    std::int64_t chips = 0;
    std::int64_t largest = 0;
    for (const NodeUse* use : nodes_) {
      const std::int64_t of_node = tpu::chips_of(*use->node);
      chips += of_node;
      largest = std::max(largest, of_node);
    }
    pool_.chips = chips;
    pool_.wanted_hosts = static_cast<std::int64_t>(nodes_.size());
    const auto topology = tpu::Topology::parse(pool_.topology);
    if (!topology) return;
    if (largest == 0) {
      const auto accelerator = tpu::find_accelerator(pool_.accelerator);
      if (!accelerator) return;
      largest = tpu::default_chips_per_host(**accelerator, *topology);
    }
    pool_.wanted_hosts = std::max(pool_.wanted_hosts, topology->chips() / std::max<std::int64_t>(largest, 1));
    pool_.chips = std::max({chips, topology->chips(), largest * static_cast<std::int64_t>(nodes_.size())});
  }

  void add_node(const NodeUse& use) {
    const NodeView& node = *use.node;
    pool_.nodes.push_back(node.key.name);
    if (!use.is_free()) {
      ++used_;
      add_user(use);
    }
    const std::string problem = problem_of_node(node);
    const std::string drain = drain_of_node(node);
    const auto maintenance = placement::scheduled_maintenance(node);
    if (maintenance) set_earlier(maintenance_, *maintenance);
    HostState state = use.is_free() ? HostState::kFree : HostState::kUsed;
    if (use.is_free() && reserved_ != nullptr) state = HostState::kReserved;
    if (maintenance && *maintenance < model_.snapshot.time + kSoon) state = HostState::kMaintenance;
    if (!drain.empty()) {
      state = HostState::kCordoned;
      draining_.add(node, drain);
    }
    if (!problem.empty()) {
      state = HostState::kBroken;
      broken_.add(node, problem);
      if (!node.ready && node.ready_changed) set_earlier(broken_since_, *node.ready_changed);
    }
    pool_.hosts.push_back(static_cast<char>(state));
  }

  void add_user(const NodeUse& use) {
    const ObjectKey key = use.slice();
    if (key.name.empty()) {
      if (use.pod != nullptr) add({model_.names.of(*use.pod), {}, false});
      return;
    }
    if (!slices_.insert(key).second) return;
    const Slice* const slice = find_slice(model_, key);
    const PodPtr pod = use.pod != nullptr ? use.pod : slice == nullptr ? nullptr : slice->any_pod();
    if (pod != nullptr) add({model_.names.of(*pod), std::string(tpu::name_in_slice_key(key.name)), false});
  }

  void add(PoolUser user) {
    if (std::ranges::find(pool_.users, user) == pool_.users.end()) pool_.users.push_back(std::move(user));
  }

  void add_user_of_slice(const ObjectKey& key, bool reserved) {
    const Slice* const slice = find_slice(model_, key);
    const PodPtr pod = slice == nullptr ? nullptr : slice->any_pod();
    if (pod != nullptr) add({model_.names.of(*pod), placement::short_name(*slice), reserved});
  }

  /// Slices that get the pool in the next plan, or for which it is reserved.
  void add_planned_users() {
    for (const auto& [key, verdict] : model_.outlook.verdicts) {
      if (verdict.domain != name_.second) continue;
      const Slice* const slice = find_slice(model_, key);
      if (slice == nullptr || slice->topology_key != name_.first) continue;
      add_user_of_slice(key, false);
      planned_ = true;
      std::ranges::replace(pool_.hosts, static_cast<char>(HostState::kFree), static_cast<char>(HostState::kUsed));
    }
    if (reserved_ != nullptr) add_user_of_slice(reserved_->slice, true);
  }

  void set_state() {
    const auto missing = pool_.wanted_hosts - static_cast<std::int64_t>(nodes_.size());
    if (missing > 0 || !broken_.first.empty()) {
      pool_.state = PoolState::kBroken;
      pool_.problem = broken_.text();
      if (missing > 0) {
        pool_.problem = fmt::format("{} of {} nodes exist{}{}", nodes_.size(), pool_.wanted_hosts,
                                    pool_.problem.empty() ? "" : "; ", pool_.problem);
      }
      return;
    }
    if (maintenance_ && *maintenance_ < model_.snapshot.time + kSoon) {
      pool_.problem = fmt::format("maintenance at {}", format_rfc3339(*maintenance_));
    }
    if (!draining_.first.empty()) {
      pool_.state = PoolState::kDraining;
      pool_.problem = draining_.text();
    } else if (used_ == nodes_.size() || planned_) {
      pool_.state = PoolState::kInUse;
    } else if (used_ > 0) {
      pool_.state = PoolState::kPartial;
    } else if (reserved_ != nullptr) {
      pool_.state = PoolState::kReserved;
    }
  }

  void set_times() {
    if (pool_.state == PoolState::kBroken) {
      pool_.since = broken_since_;
    } else if (pool_.state == PoolState::kReserved) {
      pool_.until = reserved_->until;
      if (const Slice* const slice = find_slice(model_, reserved_->slice)) pool_.since = slice->queued_since;
    }
    if (slices_.empty() || pool_.state == PoolState::kReserved) return;
    std::optional<Timestamp> last;
    bool all_end = true;
    for (const ObjectKey& key : slices_) {
      const Slice* const slice = find_slice(model_, key);
      if (slice == nullptr) continue;
      const Timestamp placed = placement::placed_at(*slice);
      if (placed == Timestamp{}) {
        all_end = false;
        continue;
      }
      if (pool_.state != PoolState::kBroken) set_earlier(pool_.since, placed);
      const auto end = placement::ends_by(*slice, placed);
      all_end = all_end && end.has_value();
      if (end) last = std::max(last.value_or(*end), *end);
    }
    if (all_end) pool_.until = last;
  }

  const AcceleratorModel& model_;
  const DomainName name_;
  const std::vector<const NodeUse*>& nodes_;
  const ReservedDomain* reserved_ = nullptr;
  Pool pool_;
  std::size_t used_ = 0;
  bool planned_ = false;  ///< A slice gets it in the next plan.
  std::set<ObjectKey> slices_;
  Problems broken_;
  Problems draining_;
  std::optional<Timestamp> broken_since_;
  std::optional<Timestamp> maintenance_;
};

/// Recent interruptions of the pool.
std::int64_t failures_of(const Snapshot& snapshot, const std::string& pool) {
  return std::ranges::count_if(snapshot.history, [&](const HistoryRecord& record) {
    return record.pool == pool && record.time > snapshot.time - kSoon && record.what != "Preempted";
  });
}

}  // namespace

const Slice* find_slice(const AcceleratorModel& model, const ObjectKey& key) {
  const auto found = model.cache.slices().find(key);
  return found == model.cache.slices().end() ? nullptr : &found->second.slice;
}

std::vector<Pool> make_pools(const AcceleratorModel& model) {
  std::map<DomainName, std::vector<const NodeUse*>> by_name;
  for (const NodePtr& node : model.snapshot.nodes) {
    const NodeUse* const use = std::as_const(model.cache.domains()).find(node->key.name);
    if (use == nullptr) continue;
    const std::string& pool = placement::domain_of_node(*node, model.snapshot.topology_key);
    if (pool.empty()) {
      by_name[{std::string(tpu::kHostnameLabel), node->key.name}].push_back(use);
    } else {
      by_name[{model.snapshot.topology_key, pool}].push_back(use);
    }
  }
  std::vector<Pool> pools;
  for (auto& [name, nodes] : by_name) {
    std::ranges::sort(nodes, {}, [](const NodeUse* use) -> const std::string& { return use->node->key.name; });
    pools.push_back(PoolMaker(model, name, nodes).make());
    pools.back().failures = failures_of(model.snapshot, name.second);
  }
  return pools;
}

}  // namespace tpuslice::fleet
