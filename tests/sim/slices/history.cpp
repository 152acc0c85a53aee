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

constexpr int kQuietRounds = 20000;

std::string pool_of(const std::string& node) { return node.substr(0, node.rfind('-')); }

class History {
 public:
  History(std::uint64_t seed, bool with_timeline)
      : random_(seed), hosts_(random_.uniform(2, 4)), world_(seed * 2 + 1, random_.uniform(2, 6), hosts_) {
    world_.tell = with_timeline;
    leader_.emplace(world_, "leader", slice::Options{});
  }

  Verdict tell() {
    const int disturbances = random_.uniform(5, 40);
    for (int i = 0; i < disturbances && verdict_.broken.empty(); ++i) {
      disturb();
      const int steps = random_.uniform(0, 12);
      for (int step = 0; step < steps && verdict_.broken.empty(); ++step) take_step();
    }
    settle();
    if (verdict_.broken.empty()) judge_end();
    verdict_.timeline = world_.timeline();
    return std::move(verdict_);
  }

 private:
  void take_step() {
    ++verdict_.steps;
    world_.advance(random_.uniform(0, 9) == 0 ? Duration(15s) : Duration(100ms));
    leader_->see(random_.uniform<std::size_t>(0, 4));
    if (rival_) rival_->see(random_.uniform<std::size_t>(0, 4));
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
        world_.intrude(some_node(), random_.uniform(0, 1) == 0);
        break;
      case 10:
        world_.expel();
        break;
      case 11:
        world_.note("the leader dies; another begins");
        leader_.emplace(world_, "next leader", slice::Options{});
        break;
      case 12:
        world_.note("a second leader begins");
        rival_.emplace(world_, "rival", slice::Options{});
        rivalry_ = true;
        break;
      case 13:
        if (rival_) {
          world_.note("the second leader dies");
          rival_.reset();
        }
        break;
      case 14:
        if (!world_.wanted().empty()) {
          Wanted& wanted = world_.wanted()[random_.uniform<std::size_t>(0, world_.wanted().size() - 1)];
          world_.note("slice " + wanted.name + " is deleted");
          wanted.deleted = true;
        }
        break;
      default:
        want_more();
    }
  }

  void want_more() {
    if (world_.wanted().size() >= 8) return;
    Wanted wanted;
    wanted.name = fmt::format("slice-{}", world_.wanted().size());
    wanted.owner = static_cast<Owner>(random_.uniform(0, 3));
    wanted.hosts = hosts_;
    wanted.priority = random_.uniform(0, 4) == 0 ? 10 : 0;
    if (random_.uniform(0, 4) == 0) {
      wanted.topology_key = kDoublePool;
      wanted.hosts = 2 * hosts_;
    }
    if (random_.uniform(0, 5) == 0) {
      wanted.gang = fmt::format("gang-{}", ++gangs_);
      wanted.gang_slices = 2;
      wanted.owner = random_.uniform(0, 1) == 0 ? Owner::kReplica : Owner::kJob;
      Wanted twin = wanted;
      twin.name = fmt::format("slice-{}", world_.wanted().size() + 1);
      world_.want(std::move(twin));
    }
    world_.want(std::move(wanted));
  }

  void fail(std::string what) {
    if (!verdict_.broken.empty()) return;
    world_.note("BROKEN: " + what);
    verdict_.broken = std::move(what);
  }

  /// No domain is used by two slices, no host index is live twice.
  void check_always() {
    std::map<std::string, std::string> user_of_pool;
    std::map<std::string, std::string> sent_to_pool;
    std::set<std::pair<std::string, std::string>> ids;
    for (const auto& [key, pod] : world_.pods()) {
      const std::string& name = pod->label(tpu::kSlice);
      if (name.empty() || name == tpu::kNoSlice || !slice::is_live(*pod)) continue;
      if (!ids.emplace(name, slice::annotation(*pod, tpu::kSliceHost)).second)
        fail("two live pods of one host in " + name);
      if (!pod->node_name.empty()) {
        const auto [user, fresh] = user_of_pool.emplace(pool_of(pod->node_name), name);
        if (!fresh && user->second != name)
          fail(fmt::format("{} and {} both run in {}", user->second, name, user->first));
      }
      const auto sent = pod->node_selector.find(kPool);
      if (rivalry_ || sent == pod->node_selector.end()) continue;
      const auto [user, fresh] = sent_to_pool.emplace(sent->second, name);
      if (!fresh && user->second != name)
        fail(fmt::format("{} and {} were both sent to {}", user->second, name, user->first));
    }
  }

  /// All is repaired and everybody goes on until nobody has anything to do.
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
    world_.expel();
    int quiet = 0;
    for (int round = 0; round < kQuietRounds && quiet < 40 && verdict_.broken.empty(); ++round) {
      leader_->see(1000);
      bool busy = world_.kubelets_step();
      busy = world_.owners_step() || busy;
      busy = world_.scheduler_step() || busy;
      busy = leader_->act(world_) || busy;
      busy = busy || !leader_->idle(world_);
      check_always();
      world_.advance(busy ? Duration(10ms) : Duration(10s));
      quiet = busy ? 0 : quiet + 1;
    }
    if (quiet < 40) fail("nobody comes to rest");
  }

  /// Domains of that many nodes of which none is in use.
  [[nodiscard]] std::int64_t free_domains(const std::string& key, int hosts) const {
    std::map<std::string, int> free_nodes;
    for (const auto& [name, node] : world_.nodes()) {
      if (world_.used_chips(name) == 0) ++free_nodes[node->labels.find(key)->second];
    }
    return std::ranges::count(free_nodes, hosts, [](const auto& entry) { return entry.second; });
  }

  /// Every slice runs whole in one domain, or waits whole because no domain is left for it.
  void judge_end() {
    std::map<std::string, int> waiting_by_gang;
    for (const Wanted& wanted : world_.wanted()) {
      if (wanted.deleted) continue;
      const std::vector<PodPtr> hosts = world_.live_hosts(wanted);
      std::set<std::string> domains;
      int bound = 0;
      int gated = 0;
      for (const PodPtr& pod : hosts) {
        if (pod == nullptr) continue;
        if (!pod->node_name.empty()) {
          ++bound;
          domains.insert(world_.nodes().at(pod->node_name)->labels.find(wanted.topology_key)->second);
        }
        if (slice::is_gated(*pod)) ++gated;
      }
      if (bound == wanted.hosts) {
        ++verdict_.slices_run;
        if (domains.size() != 1) fail(wanted.name + " is spread over several domains");
        continue;
      }
      if (bound > 0 || gated == 0)
        fail(fmt::format("{} is left with {} of {} pods on nodes", wanted.name, bound, wanted.hosts));
      ++verdict_.slices_waiting;
      waiting_.push_back(wanted);
    }
    for (const Wanted& wanted : waiting_) judge_waiting(wanted);
  }

  /// A slice may wait beside a free domain only if an older gang keeps it, which could start if others ended.
  void judge_waiting(const Wanted& wanted) {
    const std::int64_t free = free_domains(wanted.topology_key, wanted.hosts);
    // Of slices that start together, those that still wait; unless one was deleted: then they wait for ever.
    const auto mates = std::ranges::count(waiting_, wanted.gang, &Wanted::gang);
    if (free < (wanted.gang.empty() ? 1 : mates)) return;
    if (!wanted.gang.empty() && std::ranges::any_of(world_.wanted(), [&](const Wanted& other) {
          return other.gang == wanted.gang && other.deleted;
        })) {
      return;
    }
    const bool somebody_keeps = std::ranges::any_of(waiting_, [&](const Wanted& other) {
      return other.name != wanted.name && (other.gang != wanted.gang || other.gang.empty()) &&
             (other.gang_slices > 1 || other.topology_key != wanted.topology_key);
    });
    if (somebody_keeps) return;
    fail(fmt::format("{} waits although {} domains of {} are free", wanted.name, free, wanted.topology_key));
  }

  Random random_;
  const int hosts_;
  World world_;
  std::optional<Leader> leader_;
  std::optional<Leader> rival_;
  bool rivalry_ = false;
  int gangs_ = 0;
  std::vector<Wanted> waiting_;
  Verdict verdict_;
};

}  // namespace

Verdict tell_history(std::uint64_t seed, bool with_timeline) { return History(seed, with_timeline).tell(); }

}  // namespace tpuslice::testing
