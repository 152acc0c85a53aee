#include "controllers/jobset/teardown.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "controllers/jobset/children.h"
#include "controllers/jobset/labels.h"
#include "controllers/jobset/succession.h"

namespace tpuslice::jobset {
namespace {

using runtime::Action;
using runtime::Propagation;

constexpr Duration kSlow = std::chrono::seconds(10);

/// The Job controller has not created all pods of this attempt yet.
bool is_forming(const JobView& job) {
  if (is_ending(job) || job.suspended) return false;
  const int left = job.completions ? *job.completions - job.succeeded : job.parallelism;
  return !job.started || job.active < std::min(job.parallelism, left);
}

std::optional<Timestamp> ending_since(const JobView& job) {
  const auto since = job.annotations.find(kEndingSince);
  return since == job.annotations.end() ? std::nullopt : parse_rfc3339(since->second);
}

class Teardown {
 public:
  Teardown(const JobBuilder* successors, const Options& options, Changes& changes)
      : successors_(successors), options_(options), changes_(changes) {}

  void end(const JobView& job) {
    if (job.deletion) return see_off(job, *job.deletion);
    if (const std::optional<Timestamp> since = ending_since(job); since && job.suspended) {
      const Timestamp patience_ends = *since + options_.quiet_within;
      const bool quiet = job.condition("Suspended") != nullptr && job.active == 0;
      if (!quiet && changes_.now < patience_ends) {
        return changes_.look_again_in(patience_ends - changes_.now);
      }
    } else if (is_forming(job)) {
      return quiet(job);
    }
    if (successors_ != nullptr && may_go_before_its_pods(job, changes_.spec, *successors_)) {
      // What makes that safe is true of the Job as it was seen.
      remove(job, {.uid = job.uid, .resource_version = job.resource_version}, Propagation::kBackground);
    } else {
      remove(job, {.uid = job.uid}, Propagation::kForeground);
    }
    deleted_.push_back(job.key.name);
  }

  void tell(std::string_view why) {
    if (!deleted_.empty()) {
      changes_.reasons.push_back(fmt::format("deleting {} job{} ({}): {}", deleted_.size(),
                                             deleted_.size() == 1 ? "" : "s", join_names(deleted_), why));
    }
    if (!quieted_.empty()) {
      changes_.reasons.push_back(
          fmt::format("suspending {} job{} ({}) whose pods are still being created, before "
                      "deletion: {}",
                      quieted_.size(), quieted_.size() == 1 ? "" : "s", join_names(quieted_), why));
    }
    if (!going_.empty()) {
      changes_.waits.push_back({"Deletion", fmt::format("{} job{} still being deleted: {}", going_.size(),
                                                        going_.size() == 1 ? " is" : "s are", join_names(going_))});
    }
  }

 private:
  void see_off(const JobView& job, Timestamp deletion) {
    // Told only when it takes long: each Job that goes would change the text, and be a write.
    if (const Timestamp slow = deletion + kSlow; changes_.now < slow)
      return changes_.look_again_in(slow - changes_.now);
    going_.push_back(job.key.name);
    const Timestamp stuck = deletion + options_.stuck_after;
    if (changes_.now < stuck) return changes_.look_again_in(stuck - changes_.now);
    remove(job, {.uid = job.uid}, Propagation::kBackground);
    const std::string text = fmt::format(
        "job {} is being deleted since {}, longer than {} s: it is let go before its pods, which are on lost nodes or "
        "have finalizers",
        job.key.name, format_rfc3339(deletion),
        std::chrono::duration_cast<std::chrono::seconds>(options_.stuck_after).count());
    changes_.event(runtime::EventType::kWarning, "JobDeletionStuck", text);
    changes_.reasons.push_back(text);
  }

  void quiet(const JobView& job) {
    Json patch = {{"metadata", {{"annotations", {{kEndingSince, format_rfc3339(changes_.now)}}}}},
                  {"spec", {{"suspend", true}}}};
    changes_.deletes.push_back(Action::patch(kJobs, job.key, std::move(patch), {.uid = job.uid}));
    quieted_.push_back(job.key.name);
  }

  void remove(const JobView& job, runtime::Preconditions preconditions, Propagation propagation) {
    Action action = Action::remove(kJobs, job.key, std::move(preconditions));
    action.propagation = propagation;
    changes_.deletes.push_back(std::move(action));
  }

  const JobBuilder* const successors_;
  const Options& options_;
  Changes& changes_;
  std::vector<std::string> deleted_;
  std::vector<std::string> quieted_;
  std::vector<std::string> going_;
};

}  // namespace

void tear_down(const std::vector<JobPtr>& jobs, std::string_view why, const JobBuilder* successors,
               const Options& options, Changes& changes) {
  Teardown teardown(successors, options, changes);
  for (const JobPtr& job : jobs) teardown.end(*job);
  teardown.tell(why);
}

}  // namespace tpuslice::jobset
