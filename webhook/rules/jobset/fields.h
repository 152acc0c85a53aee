// The fields of a JobSet that its rules read, with the defaults of upstream's webhook and of Kubernetes' Jobs in place
// of what is absent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::webhook {

/// One element of spec.replicatedJobs; borrows from the JobSet.
struct ReplicatedJob {
  const Json* json = nullptr;
  std::string path;  ///< "spec.replicatedJobs[0]"
  std::string name;
  std::int64_t replicas = 1;
  std::int64_t parallelism = 1;
  std::optional<std::int64_t> completions;  ///< 1 where parallelism is absent too, as Jobs have it.
  bool indexed = true;
  const Json* pod = nullptr;  ///< Its pod template, if there is one.

  /// Of a field of the Job: "spec.replicatedJobs[0].template.spec.<field>".
  [[nodiscard]] std::string job_path(std::string_view field) const;
};

/// Those elements of spec.replicatedJobs that are objects.
[[nodiscard]] std::vector<ReplicatedJob> replicated_jobs(const Json& jobset);

/// The one called `name`, or nullptr.
[[nodiscard]] const ReplicatedJob* find_job(const std::vector<ReplicatedJob>& jobs, std::string_view name);

/// metadata.name, or the longest that metadata.generateName can become; empty if it has neither.
[[nodiscard]] std::string longest_jobset_name(const Json& jobset);

/// What a rule of the failure policy without a name is called.
[[nodiscard]] std::string default_rule_name(std::size_t index);

[[nodiscard]] bool is_suspended(const Json& jobset);

}  // namespace tpuslice::webhook
