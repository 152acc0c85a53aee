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
constexpr int kMaxQueueRounds = 2000;

std::string pool_of(const std::string& node) { return node.substr(0, node.rfind('-')); }

class History {
 public:
  History(std::uint64_t seed, bool with_timeline)
      : random_(seed), hosts_(random_.uniform(2, 4)), world_(seed * 2 + 1, random_.uniform(2, 6), hosts_) {
    world_.with_timeline = with_timeline;
    leader_.emplace(world_, remembered_, "leader", options_);
    if (!autoscaled_) return;
    for (const auto& [pool, nodes] : world_.pools()) {
      if (random_.uniform(0, 1) == 0) world_.remove_unused_pool(pool);
    }
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
    remembered_.update();
    leader_->observe(random_.uniform<std::size_t>(0, 4));
    if (rival_) rival_->observe(random_.uniform<std::size_t>(0, 4));
    switch (random_.uniform(0, 8)) {
      case 0:
        world_.scheduler_step();
        break;
      case 7:
        if (autoscaled_) world_.autoscaler_step();
        break;
      case 8:
        world_.queue_step();
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
    switch (random_.uniform(0, 24)) {
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
        leader_.emplace(world_, remembered_, "next leader", options_);
        break;
      case 12:
        world_.note("a second leader starts");
        rival_.emplace(world_, remembered_, "rival", options_);
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
      case 16:
        if (!leader_->in_plan() && !(rival_ && rival_->in_plan())) {
          world_.advance(std::chrono::minutes(random_.uniform(1, 70)));
        }
        break;
      case 17:
        if (!world_.desired().empty()) {
          DesiredSlice& desired = world_.desired()[random_.uniform<std::size_t>(0, world_.desired().size() - 1)];
          world_.set_refused(desired, !desired.refused);
        }
        break;
      case 18:
      case 19:
        set_all_ready(random_.uniform(0, 1) == 0);
        break;
      case 15:
        if (autoscaled_) world_.remove_unused_pool(pool_of(some_node()));
        break;
      default:
        add_slices();
    }
  }

  /// The control plane loses all nodes, or sees all of them again.
  void set_all_ready(bool ready) {
    for (const auto& [pool, nodes] : world_.pools()) {
      for (const std::string& node : nodes) world_.set_ready(node, ready);
    }
  }

  void add_slices() {
    if (world_.desired().size() >= 8) return;
    DesiredSlice desired;
    desired.name = fmt::format("slice-{}", world_.desired().size());
    desired.owner = static_cast<Owner>(random_.uniform(0, 3));
    desired.hosts = hosts_;
    desired.priority = random_.uniform(0, 4) == 0 ? 10 : 0;
    if (random_.uniform(0, 3) == 0) desired.deadline_seconds = random_.uniform(10, 4000);
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
    } else if (desired.topology_key == kPool && random_.uniform(0, 5) == 0) {
      desired.queued = true;
      desired.owner = random_.uniform(0, 1) == 0 ? Owner::kReplica : Owner::kJob;
    }
    world_.add_slice(std::move(desired));
  }

  void fail(std::string what) {
    if (!result_.broken.empty()) return;
    world_.note("BROKEN: " + what);
    result_.broken = std::move(what);
  }

  /// Within any hour, no more slices were preempted than the options allow, by all leaders together.
  void check_preemptions() {
    const std::vector<Timestamp>& ended = world_.preemptions();
    const std::size_t budget = options_.of_placement.max_preemptions_per_hour;
    if (ended.size() <= budget) return;
    const Timestamp earlier = ended[ended.size() - 1 - budget];
    // The leaders here may take minutes from the record to the deletes.
    if (ended.back() - earlier < placement::kPreemptionPeriod - 10min) {
      fail(fmt::format("more than {} preemptions within an hour", budget));
    }
  }

  /// No domain is used by two slices, no host index is live twice.
  void check_always() {
    check_preemptions();
    std::map<std::string, std::string> pool_users;
    std::map<std::string, std::string> placed_in_pool;
    std::set<std::pair<std::string, std::string>> ids;
    // The other hosts of a slice that has just lost one may still be released to its domain; it is torn down then.
    std::set<std::string> broken;
    std::set<std::string> with_record;
    for (const auto& [key, pod] : world_.pods()) {
      if (!slice::in_slice(*pod)) continue;
      if (!slice::is_live(*pod)) broken.insert(pod->label(tpu::kSlice));
      if (slice::is_live(*pod) && pod->annotation(tpu::kSliceHost) == "0") with_record.insert(pod->label(tpu::kSlice));
    }
    for (const auto& [key, pod] : world_.pods()) {
      const std::string& name = pod->label(tpu::kSlice);
      if (name.empty() || name == tpu::kNoSlice || !slice::is_live(*pod)) continue;
      if (!ids.emplace(name, pod->annotation(tpu::kSliceHost)).second) fail("two live pods of one host in " + name);
      if (!pod->node_name.empty()) {
        const auto [user, inserted] = pool_users.emplace(pool_of(pod->node_name), name);
        if (!inserted && user->second != name)
          fail(fmt::format("{} and {} both run in {}", user->second, name, user->first));
      }
      const auto placed = pod->scheduling->node_selector.find(kPool);
      if (rivalry_ || placed == pod->scheduling->node_selector.end() || broken.contains(name) ||
          !with_record.contains(name))
        continue;
      const auto [user, inserted] = placed_in_pool.emplace(placed->second, name);
      if (!inserted && user->second != name)
        fail(fmt::format("{} and {} were both placed to {}", user->second, name, user->first));
    }
  }

  [[nodiscard]] std::set<std::string> placed_slices() const {
    std::set<std::string> names;
    for (const auto& [key, pod] : world_.pods()) {
      if (slice::in_slice(*pod) && slice::is_live(*pod) && !pod->annotation(tpu::kPlacedIn).empty()) {
        names.insert(pod->label(tpu::kSlice));
      }
    }
    return names;
  }

  /// No slice is placed while one that comes before it and could use the same domain is ready and not placed by the
  /// same plan.
  void check_order(const std::set<std::string>& before) {
    if (leader_->planned() != passed_over_by_) {
      for (const DesiredSlice& other : world_.desired()) {
        const auto passed = passed_over_.find(other.name);
        if (passed == passed_over_.end() || !was_ready(other, passed_over_by_)) continue;
        fail(fmt::format("{} was passed over by {}", other.name, passed->second));
      }
      passed_over_.clear();
      passed_over_by_ = leader_->planned();
    }
    const std::set<std::string> placed = placed_slices();
    for (const DesiredSlice& each : world_.desired()) {
      if (before.contains(each.name) || !placed.contains(each.name)) continue;
      if (each.deadline_seconds) continue;  // It may use what is reserved for a gang.
      for (const DesiredSlice& other : world_.desired()) {
        const bool alike = other.topology_key == each.topology_key && other.gang.empty() && !other.queued;
        // A slice that was rejected is left out for a while.
        const bool rejected = remembered_.rejected()->contains({"default", other.name});
        if (!alike || rejected || other.deleted || !was_ready(other, passed_over_by_)) continue;
        if (other.priority > each.priority || waits_for_longer(other, each)) {
          passed_over_.emplace(other.name, each.name);
        }
      }
    }
  }

  /// Of two slices of the same priority: the first pod of `a` is older than that of `b`, which has never run, and so
  /// has no domain that is kept for it.
  [[nodiscard]] bool waits_for_longer(const DesiredSlice& a, const DesiredSlice& b) const {
    if (a.priority != b.priority || !b.gang.empty() || b.queued) return false;
    const std::vector<PodPtr> hosts = world_.live_hosts(b);
    const bool is_first = std::ranges::all_of(
        hosts, [&](const PodPtr& pod) { return pod != nullptr && pod->created == remembered_.first_created(b.name); });
    return is_first && remembered_.first_created(a.name) < remembered_.first_created(b.name);
  }

  /// All pods existed and waited for nodes at this version of the world, and still do.
  [[nodiscard]] bool was_ready(const DesiredSlice& desired, std::uint64_t version) const {
    const auto waited = [&](const PodPtr& pod) {
      return pod != nullptr && slice::is_gated(*pod) && std::stoull(pod->resource_version) <= version;
    };
    const auto terminating = [&](const auto& entry) {
      return entry.second->label(tpu::kSlice) == desired.name && !slice::is_live(*entry.second);
    };
    return std::ranges::all_of(world_.live_hosts(desired), waited) && std::ranges::none_of(world_.pods(), terminating);
  }

  /// Repairs all nodes and runs all components until none has anything to do.
  void settle() {
    world_.note("all is repaired");
    rival_.reset();
    for (const auto& [pool, nodes] : world_.pools()) {
      if (autoscaled_ && world_.is_absent(pool)) continue;
      for (const std::string& node : nodes) {
        world_.restore_node(node);
        world_.set_ready(node, true);
        world_.cordon(node, false);
        world_.set_chips(node, 4);
      }
    }
    world_.delete_stray_pods();
    for (DesiredSlice& desired : world_.desired()) world_.set_refused(desired, false);
    // Otherwise waiting reasons would change with each period of reservation, for ever.
    LeaderOptions options = options_;
    options.of_placement.reservation.timeout = std::chrono::hours(10'000);
    leader_.emplace(world_, remembered_, "last leader", options);
    int idle_rounds = 0;
    for (int round = 0; round < kMaxRounds && idle_rounds < 40 && result_.broken.empty(); ++round) {
      remembered_.update();
      leader_->observe(1000);
      bool busy = world_.kubelets_step();
      busy = world_.owners_step() || busy;
      busy = world_.scheduler_step() || busy;
      busy = (autoscaled_ && world_.autoscaler_step()) || busy;
      // The queue would try again for ever where nodes are reserved for others.
      busy = (round < kMaxQueueRounds && world_.queue_step()) || busy;
      const std::set<std::string> before = placed_slices();
      busy = leader_->act(world_) || busy;
      check_order(before);
      busy = busy || !leader_->idle(world_);
      check_always();
      // Long enough in all for a domain that has rejected a slice to be tried again.
      world_.advance(busy ? Duration(10ms) : Duration(5min));
      idle_rounds = busy ? 0 : idle_rounds + 1;
    }
    if (idle_rounds < 40) fail("the cluster does not settle");
  }

  /// Number of domains with `hosts` nodes that are all free.
  [[nodiscard]] std::int64_t free_domains(const std::string& key, int hosts) const {
    std::map<std::string, int> free_nodes;
    for (const auto& [name, node] : world_.nodes()) {
      if (!world_.is_used(name)) ++free_nodes[node->labels.find(key)->second];
    }
    // The autoscaler would bring these.
    for (const auto& [pool, nodes] : world_.pools()) {
      if (key == kPool && world_.is_absent(pool)) free_nodes[pool] = static_cast<int>(nodes.size());
    }
    return std::ranges::count(free_nodes, hosts, [](const auto& entry) { return entry.second; });
  }

  /// Every slice runs with all pods in one domain, or waits with all pods because no domain is free.
  void check_end() {
    std::set<std::string> running_gangs;
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
        if (!desired.gang.empty()) running_gangs.insert(desired.gang);
        if (domains.size() != 1) fail(desired.name + " is spread over several domains");
        continue;
      }
      if (desired.queued && bound == 0) continue;  // Its nodes were chosen badly, or not yet.
      if (bound > 0 || gated == 0)
        fail(fmt::format("{} is left with {} of {} pods on nodes", desired.name, bound, desired.hosts));
      ++result_.slices_waiting;
      waiting_.push_back(desired);
    }
    for (const DesiredSlice& desired : waiting_) check_waiting(desired);
    check_gangs(running_gangs);
  }

  /// No two gangs hold domains of the same kind and wait for those of each other.
  void check_gangs(const std::set<std::string>& running) {
    std::map<std::string, std::set<std::string>> stalled;  // By topology key.
    for (const DesiredSlice& desired : waiting_) {
      if (running.contains(desired.gang)) stalled[desired.topology_key].insert(desired.gang);
    }
    for (const auto& [key, gangs] : stalled) {
      if (gangs.size() > 1) fail(fmt::format("{} and {} wait for each other", *gangs.begin(), *gangs.rbegin()));
    }
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

  LeaderOptions random_options() {
    LeaderOptions out{.of_slices = {.node_timeout = std::chrono::seconds(40)}};
    placement::PlacementOptions& options = out.of_placement;
    options.scale_up.mode = autoscaled_ ? placement::ScaleUp::kAuto : placement::ScaleUp::kOff;
    options.scale_up.namespace_name = "tpu-slice-system";
    options.scale_up.max_scale_ups = random_.uniform<std::size_t>(2, 5);
    options.scale_up.timeout = std::chrono::seconds(random_.uniform(20, 900));
    if (random_.uniform(0, 1) == 0) options.max_preemptions_per_hour = random_.uniform<std::size_t>(1, 4);
    options.reservation.timeout = std::chrono::seconds(random_.uniform(0, 1800));
    options.reservation.percent = random_.uniform(0, 100);
    return out;
  }

  Random random_;
  const int hosts_;
  const bool autoscaled_ = random_.uniform(0, 1) == 0;
  const LeaderOptions options_ = random_options();
  World world_;
  RememberedChanges remembered_{world_};
  std::optional<Leader> leader_;
  std::optional<Leader> rival_;
  bool rivalry_ = false;
  int gangs_ = 0;
  std::vector<DesiredSlice> waiting_;
  std::map<std::string, std::string> passed_over_;  ///< By slice, the slice that went before, in the plan of:
  std::uint64_t passed_over_by_ = 0;
  HistoryResult result_;
};

}  // namespace

HistoryResult run_history(std::uint64_t seed, bool with_timeline) { return History(seed, with_timeline).run(); }

}  // namespace tpuslice::testing
