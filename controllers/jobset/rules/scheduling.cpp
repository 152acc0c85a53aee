#include "controllers/jobset/rules/scheduling.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/base/hash.h"
#include "tpu/labels.h"
#include "tpu/rules/tpu_rules.h"
#include "tpu/slice_shape.h"

namespace tpuslice::jobset {
namespace {

constexpr std::size_t kMaxNameInGang = 40;
constexpr std::size_t kGangHashLength = 10;

SchedulingGroup read_group(const Json& json, std::string path) {
  SchedulingGroup group;
  group.path = std::move(path);
  group.json = &json;
  group.gang = find_set(json, {"schedulingPolicy", "basic"}) == nullptr;
  group.min_count = int32_at(json, {"schedulingPolicy", "gang", "minCount"});
  return group;
}

/// The targets of an entry that no earlier one has.
std::vector<const ReplicatedJob*> targets_of(const JobSetSpec& spec, const Json& entry, std::set<std::string>& seen) {
  std::vector<const ReplicatedJob*> out;
  for (const Json& name : array_at(entry, {"targetReplicatedJobs"})) {
    if (!name.is_string()) continue;
    const ReplicatedJob* job = spec.find(name.get_ref<const std::string&>());
    if (job != nullptr && seen.insert(job->name).second) out.push_back(job);
  }
  return out;
}

std::vector<SchedulingGroup> groups_of_whole(const JobSetSpec& spec) {
  const SchedulingGroup whole = read_group(*spec.scheduling, "spec.scheduling");
  std::vector<SchedulingGroup> out;
  if (!has_startup_order(spec)) out.push_back(whole);
  for (const ReplicatedJob& job : spec.jobs) {
    if (has_startup_order(spec)) out.push_back(whole);
    out.back().jobs.push_back(&job);
  }
  return out;
}

}  // namespace

std::int64_t SchedulingGroup::pods() const {
  std::int64_t total = 0;
  for (const ReplicatedJob* job : jobs) total += (per_job ? 1 : job->replicas) * job->parallelism;
  return total;
}

std::vector<const ReplicatedJob*> SchedulingGroup::slice_jobs() const {
  std::vector<const ReplicatedJob*> out;
  std::ranges::copy_if(jobs, std::back_inserter(out), [](const ReplicatedJob* job) { return may_be_slices(*job); });
  return out;
}

std::int64_t SchedulingGroup::slices() const {
  std::int64_t total = 0;
  for (const ReplicatedJob* job : slice_jobs()) total += job->replicas;
  return total;
}

bool has_startup_order(const JobSetSpec& spec) {
  return spec.in_order ||
         std::ranges::any_of(spec.jobs, [](const ReplicatedJob& job) { return !job.depends_on.empty(); });
}

bool may_be_slices(const ReplicatedJob& job) {
  if (job.pod_template == nullptr || !rules::asks_for_tpus(*job.pod_template)) return false;
  return tpu::selected_hosts(*job.pod_template) != 1;
}

std::vector<SchedulingGroup> scheduling_groups(const JobSetSpec& spec) {
  if (spec.scheduling == nullptr) return {};
  const Json& entries = array_at(*spec.scheduling, {"replicatedJobs"});
  if (entries.empty()) return groups_of_whole(spec);
  std::vector<SchedulingGroup> out;
  std::set<std::string> seen;
  for (std::size_t index = 0; index < entries.size(); ++index) {
    const std::string path = fmt::format("spec.scheduling.replicatedJobs[{}]", index);
    const Json* job = find_set(entries[index], {"job"});
    SchedulingGroup group = job == nullptr ? read_group(entries[index], path) : read_group(*job, path + ".job");
    group.per_job = job != nullptr;
    group.jobs = targets_of(spec, entries[index], seen);
    out.push_back(std::move(group));
  }
  return out;
}

std::vector<StringMap> gang_annotations(const JobSetSpec& spec) {
  std::vector<StringMap> out(spec.jobs.size());
  for (const SchedulingGroup& group : scheduling_groups(spec)) {
    const std::vector<const ReplicatedJob*> jobs = group.slice_jobs();
    const std::int64_t slices = group.per_job || !group.gang ? 1 : group.slices();
    StringMap annotations{{std::string(tpu::kGangSlices), std::to_string(slices)}};
    // Without a name, the slices of one replicated job start together.
    if (slices > 1 && jobs.size() > 1) {
      const std::string hash = sha1_hex(fmt::format("{}/{}", spec.uid, group.path)).substr(0, kGangHashLength);
      annotations.insert_or_assign(std::string(tpu::kGang),
                                   fmt::format("{}-{}", spec.key.name.substr(0, kMaxNameInGang), hash));
    }
    for (const ReplicatedJob* job : jobs) out[static_cast<std::size_t>(job - spec.jobs.data())] = annotations;
  }
  return out;
}

}  // namespace tpuslice::jobset
