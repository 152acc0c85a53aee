#include "tests/bench/fleet/jobs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "tests/bench/fleet/draws.h"

namespace tpuslice::fleet_bench {
namespace {

// Lengths are log-normal. Published traces have means far above their medians, since few long jobs do most of the work:
// "Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN Training Workloads" (2019), "Characterization and
// Prediction of Deep Learning Workloads in Large-Scale GPU Datacenters" (2021), "MLaaS in the Wild: Workload Analysis
// and Scheduling in Large-Scale Heterogeneous GPU Clusters" (2022), "Characterization of Large Language Model
// Development in the Datacenter" (2024). The median is an assumption, longer than theirs: multi-host slices are not
// used for the many jobs of one accelerator that last minutes. With this sigma the mean is six times the median before
// it is cut off.
constexpr double kMedianSeconds = 40 * 60;  ///< Of jobs with slices of 4 hosts; longer with larger slices.
constexpr double kSigma = 1.9;
constexpr double kMinSeconds = 5 * 60;
constexpr double kMaxSeconds = 4 * 24 * 3600;
constexpr Duration kCheckpointInterval = std::chrono::minutes(30);

// Arrivals are a Poisson process whose rate follows the hours of the day, as in the traces of 2021 and 2022 above. The
// amplitude, and fewer jobs at weekends, are assumptions.
constexpr double kDailyAmplitude = 0.4;
constexpr double kPeakHour = 15;
constexpr double kWeekendFactor = 0.6;
constexpr int kFirstSaturday = 2;  ///< Days after the start, a Thursday.

constexpr std::array<int, 4> kSliceCounts = {1, 2, 4, 8};
constexpr std::array<int, 3> kPriorities = {0, 100, 1000};
constexpr std::array<int, 3> kRestartBudgets = {3, 10, 100};
constexpr std::array<const char*, 4> kTenants = {"team-a", "team-b", "team-c", "team-d"};
constexpr std::array<const char*, 3> kPinnedZones = {"zone-a", "zone-b", "zone-c"};
constexpr const char* kPinnedShape = "4x4";  ///< Only some of its jobs select a zone.

/// Rate of arrivals, of its maximum.
double arrival_rate(Duration since_start) {
  const double hours = hours_of(since_start);
  const int day = static_cast<int>(hours / 24) % 7;
  const double cycle = 1 + kDailyAmplitude * std::cos(2 * std::numbers::pi * (std::fmod(hours, 24) - kPeakHour) / 24);
  const bool weekend = day == kFirstSaturday || day == kFirstSaturday + 1;
  return cycle * (weekend ? kWeekendFactor : 1) / (1 + kDailyAmplitude);
}

/// Given their number, the arrivals of a Poisson process are independent, with its rate as density.
Timestamp draw_arrival(Draws& draws, Timestamp start, Timestamp end) {
  while (true) {
    const Duration since = whole_seconds(draws.uniform(0, seconds_of(end - start) - 1));
    if (draws.chance(arrival_rate(since))) return start + since;
  }
}

/// Numbers of slices, priorities, restart budgets and preferences are assumptions.
Job draw_job(Draws& draws, const Shape& shape) {
  Job job;
  job.slices = kSliceCounts[draws.choice({0.72, 0.16, 0.09, 0.03})];
  job.priority = kPriorities[draws.choice({0.60, 0.30, 0.10})];
  job.tenant = kTenants[draws.choice({0.4, 0.3, 0.2, 0.1})];
  job.tolerates_spot = shape.has_spot && job.priority == 0 && draws.chance(0.7);
  if (shape.name == kPinnedShape && !job.tolerates_spot && draws.chance(0.15)) {
    job.zone = kPinnedZones[draws.choice({1, 1, 1})];
    job.slices = 1;
  }
  // No job needs more than half of the domains.
  job.slices = std::clamp(job.slices, 1, std::max(1, static_cast<int>(shape.domains.size()) / 2));
  const double median = kMedianSeconds * std::pow(shape.hosts / 4.0, 0.3);
  const double seconds = std::clamp(draws.log_normal(median, kSigma), kMinSeconds, kMaxSeconds);
  job.length = whole_seconds(seconds);
  job.checkpoint = kCheckpointInterval;
  if (draws.chance(0.5)) {
    job.deadline_seconds = std::llround(seconds * draws.uniform(1.2, 3) + seconds_of(kStartUp));
  }
  job.max_restarts = kRestartBudgets[draws.choice({0.2, 0.5, 0.3})];
  return job;
}

void add_jobs(const Fleet& fleet, ShapeId id, std::uint64_t seed, double load, Timestamp start, Timestamp end,
              std::vector<Job>& jobs) {
  const Shape& shape = fleet.shapes[id];
  Draws draws(seed, "jobs of " + shape.name);
  const double nodes = static_cast<double>(shape.domains.size()) * shape.hosts;
  double left = load * shape.share * nodes * seconds_of(end - start);
  while (true) {
    Job job = draw_job(draws, shape);
    job.shape = id;
    job.arrives = draw_arrival(draws, start, end);
    const double work = hosts_of(fleet, job) * seconds_of(job.length);
    // The last one is added with the probability that makes the expected load exact.
    if (work > left && !draws.chance(left / work)) return;
    jobs.push_back(std::move(job));
    if (work > left) return;
    left -= work;
  }
}

}  // namespace

std::vector<Job> make_jobs(const Fleet& fleet, std::uint64_t seed, double load, Timestamp start, Timestamp end) {
  std::vector<Job> jobs;
  for (ShapeId shape = 0; shape < static_cast<ShapeId>(fleet.shapes.size()); ++shape) {
    add_jobs(fleet, shape, seed, load, start, end, jobs);
  }
  std::ranges::stable_sort(jobs, {}, &Job::arrives);
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].id = static_cast<int>(i);
  return jobs;
}

}  // namespace tpuslice::fleet_bench
