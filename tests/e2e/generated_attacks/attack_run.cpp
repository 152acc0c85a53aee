#include "tests/e2e/generated_attacks/attack_run.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/pause.h"
#include "tests/support/eventually.h"

namespace tpuslice::testing {
namespace {

using namespace std::chrono_literals;

/// Above that, what the operator keeps from one batch would be counted for the next.
constexpr double kFreshMib = 64;
/// Resident memory with which the API server is started again before the next batch.
constexpr double kMaxApiserverMib = 6144;
/// Resident memory with which it is killed at once.
constexpr double kKilledApiserverMib = 10240;
constexpr int kMaxHalvings = 6;

bool stores(const AttackCase& attack) {
  return attack.send != Send::kDryRun && attack.send != Send::kReview && attack.send != Send::kUpdateReview;
}

std::string program_of_this_build() {
  const std::string path = path_with_programs();
  return path.substr(0, path.find(':')) + "/tpu-slice-operator";
}

/// While it lives, kills the API server if that needs too much memory for this machine. There are objects whose
/// validation takes the API server itself gigabytes.
class ApiserverGuard {
 public:
  ApiserverGuard(Process* apiserver, Bystanders& others)
      : thread_([this, apiserver, &others](const std::stop_token& stop) {
          while (apiserver != nullptr && !stop.stop_requested()) {
            tpuslice::pause(200ms, stop);
            if (apiserver->resident_mib().value_or(0) < kKilledApiserverMib) continue;
            others.pause();
            killed_ = true;
            apiserver->kill();
            return;
          }
        }) {}

  /// Ends it. Returns whether it has killed the API server; then the bystanders are paused.
  bool end() {
    thread_.request_stop();
    thread_.join();
    return killed_;
  }

 private:
  bool killed_ = false;  ///< Written by the thread.
  std::jthread thread_;
};

}  // namespace

std::string BatchFigures::problem() const {
  if (exit_code) return fmt::format("the operator exited with status {}", *exit_code);
  if (peak_mib > kMaxPeakMib) return fmt::format("peak of {:.0f} MiB", peak_mib);
  if (others.refused > 0)
    return fmt::format("{} admissions of others refused: {}", others.refused, others.first_failure);
  if (others.ignored > 0) return fmt::format("{} JobSets of others delayed", others.ignored);
  return {};
}

void RunTotals::add(const std::vector<AttackCase>& attacks, const BatchFigures& figures) {
  ++batches;
  sent += static_cast<int>(attacks.size());
  for (const auto& [answer, count] : figures.answers) answers[answer] += count;
  peak_mib = std::max(peak_mib, figures.peak_mib);
  cpu_seconds += figures.cpu_seconds;
  if (figures.exit_code) ++exits;
  if (figures.apiserver_killed) ++apiserver_kills;
  left = std::max(left, figures.left);
  const BystanderFigures& others = figures.others;
  admissions.insert(admissions.end(), others.admissions.begin(), others.admissions.end());
  controls.insert(controls.end(), others.controls.begin(), others.controls.end());
  reviews.insert(reviews.end(), others.reviews.begin(), others.reviews.end());
  reactions.insert(reactions.end(), others.reactions.begin(), others.reactions.end());
  refused += others.refused;
  ignored += others.ignored;
  if (first_failure.empty()) first_failure = others.first_failure;
}

std::string RunTotals::to_string() const {
  const double slowest = reactions.empty() ? 0 : *std::ranges::max_element(reactions);
  std::string out = fmt::format("{} attacks in {} batches; answers: {}\n", sent, batches, answers);
  out += fmt::format("operator: peak {:.0f} MiB, {:.1f} CPU s, {} exits; {} objects left\n", peak_mib, cpu_seconds,
                     exits, left);
  out += fmt::format("webhook: {} reviews of others answered in {:.1f} ms, p99 {:.1f} ms, slowest {:.0f} ms\n",
                     reviews.size(), percentile(reviews, 0.5), percentile(reviews, 0.99), percentile(reviews, 1));
  out += fmt::format(
      "API server: {} ConfigMaps of others admitted in {:.0f} ms, p99 {:.0f} ms; killed above {:.0f} MiB: {}\n",
      controls.size(), percentile(controls, 0.5), percentile(controls, 0.99), kKilledApiserverMib, apiserver_kills);
  out += fmt::format(
      "others: {} pods admitted in {:.0f} ms, p99 {:.0f} ms, {} refused; {} JobSets in {:.0f} ms, slowest {:.0f} ms, "
      "{} delayed",
      admissions.size(), percentile(admissions, 0.5), percentile(admissions, 0.99), refused, reactions.size(),
      percentile(reactions, 0.5), slowest, ignored);
  if (!first_failure.empty()) out += "; the first failure: " + first_failure.substr(0, 300);
  return out;
}

Result<std::unique_ptr<AttackRun>> AttackRun::start() {
  std::unique_ptr<AttackRun> out(new AttackRun());
  ASSIGN_OR_RETURN(out->limit_, MemoryLimit::create(program_of_this_build(), kMemoryLimitMib));
  ASSIGN_OR_RETURN(SeedObjects seeds, SeedObjects::read());
  out->seeds_ = std::make_unique<SeedObjects>(std::move(seeds));
  // What is deleted is compacted soon, and the data of a long run fits.
  ASSIGN_OR_RETURN(out->plane_, AttackPlane::start({.program = out->limit_->program(),
                                                    .etcd_flags = {"--quota-backend-bytes=8589934592"},
                                                    .apiserver_flags = {"--etcd-compaction-interval=30s"}}));
  ASSIGN_OR_RETURN(out->sender_, CaseSender::start(*out->plane_, *out->seeds_));
  ASSIGN_OR_RETURN(out->others_, Bystanders::start(*out->plane_));
  return out;
}

void AttackRun::refresh() {
  OperatorProcess& op = plane_->op();
  if (op.running() && op.resident_mib().value_or(0) < kFreshMib) return;
  others_->pause();
  op.kill();
  const Status started = op.restart();
  if (!started) fmt::print("the operator does not start: {}\n", started.error().message());
  static_cast<void>(eventually(
      [&] { return plane_->plane().client().create(kPods, legitimate_pod(), {.dry_run = true}).ok(); }, 30s));
  static_cast<void>(others_->take());
  others_->resume();
}

void AttackRun::refresh_apiserver() {
  Process* const apiserver = plane_->plane().process("kube-apiserver");
  if (apiserver == nullptr || apiserver->resident_mib().value_or(0) < kMaxApiserverMib) return;
  others_->pause();
  apiserver->kill();
  start_apiserver();
}

void AttackRun::start_apiserver() {
  const Status started = plane_->plane().start_apiserver();
  if (!started) fmt::print("the API server does not start: {}\n", started.error().message());
  static_cast<void>(eventually(
      [&] { return plane_->plane().client().create(kPods, legitimate_pod(), {.dry_run = true}).ok(); }, 30s));
  plane_->wait_for_rest();
  static_cast<void>(others_->take());
  others_->resume();
}

BatchFigures AttackRun::run(const std::vector<AttackCase>& attacks) {
  OperatorProcess& op = plane_->op();
  refresh_apiserver();
  if (!op.running()) refresh();
  static_cast<void>(others_->take());
  static_cast<void>(sender_->take_answers());
  // 5: reset the peak of resident memory. Source: proc(5), /proc/pid/clear_refs.
  std::ofstream(fmt::format("/proc/{}/clear_refs", op.pid())) << "5";
  const double before = op.cpu_seconds().value_or(0);
  BatchFigures figures;
  ApiserverGuard guard(plane_->plane().process("kube-apiserver"), *others_);
  for (std::size_t i = 0; i < attacks.size() && op.running(); ++i) {
    const Status sent = sender_->send(attacks[i], static_cast<int>(i));
    if (!sent) fmt::print("{}\n", sent.error().message());
  }
  const bool stored = std::ranges::any_of(attacks, stores);
  if (stored && op.running()) plane_->wait_for_rest();
  figures.peak_mib = op.peak_resident_mib().value_or(0);
  figures.cpu_seconds = std::max(0.0, op.cpu_seconds().value_or(before) - before);
  figures.answers = sender_->take_answers();
  figures.left = sender_->clean_up();
  figures.others = others_->take();
  figures.apiserver_killed = guard.end();
  if (figures.apiserver_killed) {
    figures.others = {};
    start_apiserver();
  }
  if (!op.running()) figures.exit_code = op.exit_code();
  totals_.add(attacks, figures);
  return figures;
}

bool AttackRun::has_problem(const std::vector<AttackCase>& attacks) {
  refresh();
  return !run(attacks).problem().empty();
}

std::vector<AttackCase> AttackRun::reduced(std::vector<AttackCase> attacks) {
  for (const AttackCase& attack : attacks) {
    if (attacks.size() == 1 || !has_problem({attack})) continue;
    attacks = {attack};
    break;
  }
  if (attacks.size() > 1) return attacks;
  drop_mutations(attacks.front());
  shorten(attacks.front());
  return attacks;
}

void AttackRun::drop_mutations(AttackCase& attack) {
  for (std::size_t i = 0; i < attack.mutations.size();) {
    AttackCase smaller = attack;
    smaller.mutations.erase(smaller.mutations.begin() + static_cast<std::ptrdiff_t>(i));
    if (has_problem({smaller})) {
      attack = std::move(smaller);
    } else {
      ++i;
    }
  }
}

void AttackRun::shorten(AttackCase& attack) {
  for (int AttackCase::*const number : {&AttackCase::copies, &AttackCase::namespaces}) {
    AttackCase smaller = attack;
    smaller.*number = 1;
    if (attack.*number > 1 && has_problem({smaller})) attack = std::move(smaller);
  }
  for (std::size_t i = 0; i < attack.mutations.size(); ++i) {
    for (int halving = 0; halving < kMaxHalvings && attack.mutations[i].times > 1; ++halving) {
      AttackCase smaller = attack;
      smaller.mutations[i].times /= 2;
      if (!has_problem({smaller})) break;
      attack = std::move(smaller);
    }
  }
}

}  // namespace tpuslice::testing
