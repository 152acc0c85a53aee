#include "tests/sim/slices/history.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "tests/sim/slices/leader.h"
#include "tpu/labels.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kMaxRounds = 20000;

std::string pool_of(const std::string& node) { return node.substr(0, node.rfind('-')); }

class History {
 public:
  History(std::uint64_t seed, bool with_timeline)
      : random_(seed), hosts_(random_.uniform(2, 4)), world_(seed * 2 + 1, random_.uniform(2, 6), hosts_) {
    world_.with_timeline = with_timeline;
    leader_.emplace(world_, "leader", slice::Options{.node_timeout = std::chrono::seconds(40)});
  }

  HistoryResult run() {
    const int disturbances = random_.uniform(5, 40);
    for (int i = 0; i < disturbances && result_.broken.empty(); ++i) {
      disturb();
      const int steps = random_.uniform(0, 12);
      for (int step = 0; step < steps && result_.broken.empty(); ++step) take_step();
    }
    settle();
    if (result_.broken.empty()) check_end();
    result_.timeline = world_.timeline();
    return std::move(result_);
  }

 private:
  void take_step() {
    ++result_.steps;
    world_.advance(random_.uniform(0, 9) == 0 ? Duration(15s) : Duration(100ms));
    leader_->observe(random_.uniform<std::size_t>(0, 4));
    if (rival_) rival_->observe(random_.uniform<std::size_t>(0, 4));
    switch (random_.uniform(0, 6)) {
      case 0:
        world_.scheduler_step();
        break;
      case 1:
        world_.kubelets_step();
        break;
      case 2:
        world_.owners_step();
        break;
      case 3:
        if (rival_) {
          rival_->act(world_);
          break;
        }
        [[fallthrough]];
      default:
        leader_->act(world_);
    }
    check_always();
  }

  void disturb() {
    const auto some_node = [&] {
      const auto pool =
          std::next(world_.pools().begin(), random_.uniform<std::ptrdiff_t>(0, std::ssize(world_.pools()) - 1));
      return pool->second[random_.uniform<std::size_t>(0, pool->second.size() - 1)];
    };
    const auto some_pod = [&]() -> PodPtr {
      if (world_.pods().empty()) return nullptr;
      return std::next(world_.pods().begin(), random_.uniform<std::ptrdiff_t>(0, std::ssize(world_.pods()) - 1))
          ->second;
    };
    switch (random_.uniform(0, 19)) {
      case 0:
        if (const PodPtr pod = some_pod()) world_.fail_pod(pod);
        break;
      case 1:
        if (const PodPtr pod = some_pod()) world_.delete_pod(pod);
        break;
      case 2:
      case 3:
        world_.set_ready(some_node(), false);
        break;
      case 4:
        world_.set_ready(some_node(), true);
        break;
      case 5:
        world_.cordon(some_node(), random_.uniform(0, 1) == 0);
        break;
      case 6:
        world_.delete_node(some_node());
        break;
      case 7:
        world_.restore_node(some_node());
        break;
      case 8:
        world_.set_chips(some_node(), random_.uniform(0, 1) == 0 ? 0 : 4);
        break;
      case 9:
        world_.add_stray_pod(some_node(), random_.uniform(0, 1) == 0);
        break;
      case 10:
        world_.delete_stray_pods();
        break;
      case 11:
        world_.note("the leader dies; another starts");
        leader_.emplace(world_, "next leader", slice::Options{.node_timeout = std::chrono::seconds(40)});
        break;
      case 12:
        world_.note("a second leader starts");
        rival_.emplace(world_, "rival", slice::Options{.node_timeout = std::chrono::seconds(40)});
        rivalry_ = true;
        break;
      case 13:
        if (rival_) {
          world_.note("the second leader dies");
          rival_.reset();
        }
        break;
      case 14:
        if (!world_.desired().empty()) {
          DesiredSlice& desired = world_.desired()[random_.uniform<std::size_t>(0, world_.desired().size() - 1)];
          world_.note("slice " + desired.name + " is deleted");
          desired.deleted = true;
        }
        break;
      default:
        add_slices();
    }
  }

  void add_slices() {
    if (world_.desired().size() >= 8) return;
    DesiredSlice desired;
    desired.name = fmt::format("slice-{}", world_.desired().size());
    desired.owner = static_cast<Owner>(random_.uniform(0, 3));
    desired.hosts = hosts_;
    desired.priority = random_.uniform(0, 4) == 0 ? 10 : 0;
    if (random_.uniform(0, 4) == 0) {
      desired.topology_key = kDoublePool;
      desired.hosts = 2 * hosts_;
    }
    if (random_.uniform(0, 5) == 0) {
      desired.gang = fmt::format("gang-{}", ++gangs_);
      desired.gang_slices = 2;
      desired.owner = random_.uniform(0, 1) == 0 ? Owner::kReplica : Owner::kJob;
      DesiredSlice second = desired;
      second.name = fmt::format("slice-{}", world_.desired().size() + 1);
      world_.add_slice(std::move(second));
    }
    world_.add_slice(std::move(desired));
  }

  void fail(std::string what) {
    if (!result_.broken.empty()) return;
    world_.note("BROKEN: " + what);
    result_.broken = std::move(what);
  }

  /// No domain is used by two slices, no host index is live twice.
  void check_always() {
    std::map<std::string, std::string> pool_users;
    std::map<std::string, std::string> placed_in_pool;
    std::set<std::pair<std::string, std::string>> ids;
    for (const auto& [key, pod] : world_.pods()) {
      const std::string& name = pod->label(tpu::kSlice);
      if (name.empty() || name == tpu::kNoSlice || !slice::is_live(*pod)) continue;
      if (!ids.emplace(name, pod->annotation(tpu::kSliceHost)).second) fail("two live pods of one host in " + name);
      if (!pod->node_name.empty()) {
        const auto [user, inserted] = pool_users.emplace(pool_of(pod->node_name), name);
        if (!inserted && user->second != name)
          fail(fmt::format("{} and {} both run in {}", user->second, name, user->first));
      }
      const auto placed = pod->node_selector.find(kPool);
      if (rivalry_ || placed == pod->node_selector.end()) continue;
      const auto [user, inserted] = placed_in_pool.emplace(placed->second, name);
      if (!inserted && user->second != name)
        fail(fmt::format("{} and {} were both placed to {}", user->second, name, user->first));
    }
  }

  /// Repairs all nodes and runs all components until none has anything to do.
  void settle() {
    world_.note("all is repaired");
    rival_.reset();
    for (const auto& [pool, nodes] : world_.pools()) {
      for (const std::string& node : nodes) {
        world_.restore_node(node);
        world_.set_ready(node, true);
        world_.cordon(node, false);
        world_.set_chips(node, 4);
      }
    }
    world_.delete_stray_pods();
    int idle_rounds = 0;
    for (int round = 0; round < kMaxRounds && idle_rounds < 40 && result_.broken.empty(); ++round) {
      leader_->observe(1000);
      bool busy = world_.kubelets_step();
      busy = world_.owners_step() || busy;
      busy = world_.scheduler_step() || busy;
      busy = leader_->act(world_) || busy;
      busy = busy || !leader_->idle(world_);
      check_always();
      world_.advance(busy ? Duration(10ms) : Duration(10s));
      idle_rounds = busy ? 0 : idle_rounds + 1;
    }
    if (idle_rounds < 40) fail("the cluster does not settle");
  }

  /// Number of domains with `hosts` nodes that are all free.
  [[nodiscard]] std::int64_t free_domains(const std::string& key, int hosts) const {
    std::map<std::string, int> free_nodes;
    for (const auto& [name, node] : world_.nodes()) {
      if (world_.used_chips(name) == 0) ++free_nodes[node->labels.find(key)->second];
    }
    return std::ranges::count(free_nodes, hosts, [](const auto& entry) { return entry.second; });
  }

  /// Every slice runs with all pods in one domain, or waits with all pods because no domain is free.
  void check_end() {
    std::map<std::string, int> waiting_by_gang;
    for (const DesiredSlice& desired : world_.desired()) {
      if (desired.deleted) continue;
      const std::vector<PodPtr> hosts = world_.live_hosts(desired);
      std::set<std::string> domains;
      int bound = 0;
      int gated = 0;
      for (const PodPtr& pod : hosts) {
        if (pod == nullptr) continue;
        if (!pod->node_name.empty()) {
          ++bound;
          domains.insert(world_.nodes().at(pod->node_name)->labels.find(desired.topology_key)->second);
        }
        if (slice::is_gated(*pod)) ++gated;
      }
      if (bound == desired.hosts) {
        ++result_.slices_run;
        if (domains.size() != 1) fail(desired.name + " is spread over several domains");
        continue;
      }
      if (bound > 0 || gated == 0)
        fail(fmt::format("{} is left with {} of {} pods on nodes", desired.name, bound, desired.hosts));
      ++result_.slices_waiting;
      waiting_.push_back(desired);
    }
    for (const DesiredSlice& desired : waiting_) check_waiting(desired);
  }

  /// A slice may wait beside a free domain only if that is reserved for an older gang.
  void check_waiting(const DesiredSlice& desired) {
    const std::int64_t free = free_domains(desired.topology_key, desired.hosts);
    // A gang waits for ever if one of its slices was deleted.
    const auto waiting_in_gang = std::ranges::count(waiting_, desired.gang, &DesiredSlice::gang);
    if (free < (desired.gang.empty() ? 1 : waiting_in_gang)) return;
    if (!desired.gang.empty() && std::ranges::any_of(world_.desired(), [&](const DesiredSlice& other) {
          return other.gang == desired.gang && other.deleted;
        })) {
      return;
    }
    const bool reserved_for_another = std::ranges::any_of(waiting_, [&](const DesiredSlice& other) {
      return other.name != desired.name && (other.gang != desired.gang || other.gang.empty()) &&
             (other.gang_slices > 1 || other.topology_key != desired.topology_key);
    });
    if (reserved_for_another) return;
    fail(fmt::format("{} waits although {} domains of {} are free", desired.name, free, desired.topology_key));
  }

  Random random_;
  const int hosts_;
  World world_;
  std::optional<Leader> leader_;
  std::optional<Leader> rival_;
  bool rivalry_ = false;
  int gangs_ = 0;
  std::vector<DesiredSlice> waiting_;
  HistoryResult result_;
};

}  // namespace

HistoryResult run_history(std::uint64_t seed, bool with_timeline) { return History(seed, with_timeline).run(); }

}  // namespace tpuslice::testing
