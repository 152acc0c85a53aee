#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>

#include <fmt/format.h>

#include "api/types/conditions.h"
#include "controllers/jobset/rules/jobset_labels.h"
#include "controllers/jobset/rules/scheduling.h"
#include "controllers/jobset/rules/validator_parts.h"
#include "tpu/rules/field_changes.h"

namespace tpuslice::rules {
namespace {

using Errors = FieldErrors;

std::string was(const Json& value) {
  return value.is_null() ? "absent" : clip(value.dump(-1, ' ', false, Json::error_handler_t::replace), 100);
}

void refuse_change(const FieldChange& change, std::string_view hint, Errors& errors) {
  errors.add([&] {
    return invalid_value(change.path, change.after,
                         fmt::format("field is immutable{}, was {}", hint, was(change.before)), kJobSetRule);
  });
}

/// The object at `path`, created if absent; null if a value on the path is not an object.
Json* object_at(Json& json, std::initializer_list<const char*> path) {
  Json* at = &json;
  for (const char* step : path) {
    if (at->is_null()) *at = Json::object();
    if (!at->is_object()) return nullptr;
    at = &(*at)[step];
  }
  if (at->is_null()) *at = Json::object();
  return at->is_object() ? at : nullptr;
}

void set_default(Json* object, const char* key, Json value) {
  if (object != nullptr && (!object->contains(key) || object->at(key).is_null())) (*object)[key] = std::move(value);
}

/// A copy of a block with the defaults of upstream's CRD and webhook.
Json block_with_defaults(const std::string& name, Json block) {
  if (name == "network") {
    set_default(object_at(block, {}), "enableDNSHostnames", true);
    set_default(object_at(block, {}), "publishNotReadyAddresses", true);
  } else if (name == "failurePolicy") {
    set_default(object_at(block, {}), "restartStrategy", "Recreate");
    set_default(object_at(block, {}), "maxRestarts", 0);
    const auto rules = block.find("rules");
    for (std::size_t index = 0; rules != block.end() && rules->is_array() && index < rules->size(); ++index) {
      if (string_at((*rules)[index], {"name"}).empty() && (*rules)[index].is_object()) {
        (*rules)[index]["name"] = jobset::default_rule_name(index);
      }
    }
  } else if (name == "volumeClaimPolicies") {
    for (Json& policy : block) {
      if (policy.is_object()) set_default(object_at(policy, {"retentionPolicy"}), "whenDeleted", "Delete");
    }
  }
  return block;
}

/// A copy of a replicated job with defaults, and without its name.
Json job_with_defaults(const ReplicatedJob& job) {
  Json copy = *job.json;
  copy.erase("name");
  set_default(&copy, "replicas", 1);
  set_default(&copy, "groupName", "default");
  set_default(object_at(copy, {"template", "spec"}), "completionMode", "Indexed");
  set_default(object_at(copy, {"template", "spec"}), "parallelism", 1);
  if (job.completions) set_default(object_at(copy, {"template", "spec"}), "completions", *job.completions);
  set_default(object_at(copy, {"template", "spec", "template", "spec"}), "restartPolicy", "OnFailure");
  return copy;
}

void erase_at(Json& json, std::initializer_list<const char*> parent, std::string_view key) {
  if (Json* object = object_at(json, parent); object != nullptr) object->erase(std::string(key));
}

/// Blocks that may be added and removed but not changed: upstream compares them only if both objects have them.
void check_blocks(const Json& jobset, const Json& old, Errors& errors) {
  for (const char* name : {"network", "successPolicy", "failurePolicy", "startupPolicy", "volumeClaimPolicies"}) {
    const Json* before = find_set(old, {"spec", name});
    const Json* after = find_set(jobset, {"spec", name});
    if (before == nullptr || after == nullptr) continue;
    for_each_change(block_with_defaults(name, *before), block_with_defaults(name, *after), fmt::format("spec.{}", name),
                    [&](const FieldChange& change) { refuse_change(change, "", errors); });
  }
}

/// A copy of spec.scheduling with the default of upstream's webhook.
Json scheduling_with_defaults(const JobSetSpec& spec) {
  if (spec.scheduling == nullptr) return {};
  Json copy = *spec.scheduling;
  if (array_at(copy, {"replicatedJobs"}).empty() && !jobset::has_startup_order(spec)) {
    set_default(object_at(copy, {}), "schedulingPolicy", {{"gang", Json::object()}});
  }
  return copy;
}

/// Upstream changes the PodGroups only while there are none: while the JobSet is suspended, and stays so.
void check_scheduling_update(const JobSetSpec& spec, const Json& old, const JobSetSpec& old_spec, Errors& errors) {
  const bool suspended = is_condition_true(array_at(old, {"status", "conditions"}), jobset::kSuspended);
  if (spec.suspended && old_spec.suspended && suspended) return;
  // An empty object, as in gang: {}, differs from an absent one, unlike in for_each_change().
  const FieldChange change{"spec.scheduling", scheduling_with_defaults(old_spec), scheduling_with_defaults(spec)};
  if (change.before != change.after) {
    refuse_change(change, " unless the JobSet is suspended, and stays suspended", errors);
  }
}

bool is_terminal(const Json& jobset) {
  const Json& conditions = array_at(jobset, {"status", "conditions"});
  return std::any_of(conditions.begin(), conditions.end(), [](const Json& condition) {
    const std::string type = string_at(condition, {"type"});
    return (type == "Completed" || type == "Failed") && string_at(condition, {"status"}) == "True";
  });
}

/// An Indexed Job may be resized if parallelism equals completions.
void check_elastic(const ReplicatedJob& job, const ReplicatedJob& old, bool terminal, Errors& errors) {
  if (job.parallelism == old.parallelism && job.completions == old.completions) return;
  if (terminal) {
    errors.push_back(forbidden(job.path + ".template.spec",
                               "parallelism and completions are immutable once the JobSet is Completed or Failed",
                               kJobSetRule));
    return;
  }
  if (job.parallelism < 1 && job.parallelism != old.parallelism) {
    errors.push_back(
        invalid_value(job.job_path("parallelism"), job.parallelism, "must be greater than or equal to 1", kJobSetRule));
  }
  if (job.completions && *job.completions < 1 && job.completions != old.completions) {
    errors.push_back(invalid_value(job.job_path("completions"), *job.completions, "must be greater than or equal to 1",
                                   kJobSetRule));
  }
  if (job.completions == job.parallelism) return;
  const Json* found = find_set(*job.json, {"template", "spec", "completions"});
  errors.push_back(
      invalid_value(job.job_path("completions"), found == nullptr ? Json() : *found,
                    fmt::format("must equal parallelism if the size of the Job changes: set {}, was {}",
                                job.parallelism, old.completions ? Json(*old.completions).dump() : "absent"),
                    kJobSetRule));
}

/// Whether the field may change while the JobSet is suspended.
bool is_scheduling_field(std::string_view path, const ReplicatedJob& job) {
  for (const char* field :
       {"metadata.labels", "metadata.annotations", "spec.nodeSelector", "spec.tolerations", "spec.schedulingGates"}) {
    if (path.starts_with(fmt::format("{}.{}", job.job_path("template"), field))) return true;
  }
  return false;
}

/// Sets the member of a container's resources to that of `old`; removes it if that is absent.
void keep_quantities(const Json& old, const char* map, Json& container) {
  Json* resources = object_at(container, {"resources"});
  if (resources == nullptr) return;
  if (const Json* found = find_set(old, {"resources", map}); found != nullptr) {
    (*resources)[map] = *found;
  } else {
    resources->erase(map);
  }
}

/// Gives the containers of `after` the requests and limits of those of `before`: they may change while the JobSet is
/// suspended, unlike claims.
void keep_resources(const Json& before, Json& after) {
  for (const char* list : {"containers", "initContainers"}) {
    Json* spec = object_at(after, {"template", "spec", "template", "spec"});
    if (spec == nullptr || !spec->contains(list) || !spec->at(list).is_array()) continue;
    std::map<std::string, const Json*> by_name;
    for (const Json& old : array_at(before, {"template", "spec", "template", "spec", list})) {
      by_name.emplace(string_at(old, {"name"}), &old);
    }
    for (Json& container : (*spec)[list]) {
      const auto old = by_name.find(string_at(container, {"name"}));
      if (old == by_name.end()) continue;
      for (const char* map : {"requests", "limits"}) keep_quantities(*old->second, map, container);
    }
  }
}

/// Whether the field is in the requests or limits of a container.
bool is_resource_field(std::string_view path, const ReplicatedJob& job) {
  if (!path.starts_with(job.job_path("template.spec."))) return false;
  return path.find(".resources.requests") != std::string_view::npos ||
         path.find(".resources.limits") != std::string_view::npos;
}

void check_job_update(const ReplicatedJob& job, const ReplicatedJob& old, bool suspended, bool terminal,
                      Errors& errors) {
  Json before = job_with_defaults(old);
  Json after = job_with_defaults(job);
  if (job.indexed && old.indexed) {
    check_elastic(job, old, terminal, errors);
    for (Json* copy : {&before, &after}) {
      erase_at(*copy, {"template", "spec"}, "parallelism");
      erase_at(*copy, {"template", "spec"}, "completions");
    }
  }
  if (suspended) keep_resources(before, after);
  for_each_change(before, after, job.path, [&](const FieldChange& change) {
    const bool schedules = is_scheduling_field(change.path, job) || (!suspended && is_resource_field(change.path, job));
    if (schedules && suspended) return;
    refuse_change(change, schedules ? " while the JobSet is not suspended" : "", errors);
  });
}

/// The names, in order.
Json names_of(const JobSetSpec& spec) {
  Json names = Json::array();
  for (const ReplicatedJob& job : spec.jobs) names.push_back(job.name);
  return names;
}

}  // namespace

void check_jobset_update(const Json& jobset, const JobSetSpec& spec, const Json& old, const JobSetSpec& old_spec,
                         Errors& errors) {
  const bool suspended = spec.suspended || old_spec.suspended;
  const bool terminal = is_terminal(old);
  if (names_of(spec) == names_of(old_spec)) {
    for (std::size_t index = 0; index < spec.jobs.size(); ++index) {
      check_job_update(spec.jobs[index], old_spec.jobs[index], suspended, terminal, errors);
    }
  } else {
    errors.push_back(invalid_value(
        "spec.replicatedJobs", names_of(spec),
        fmt::format("field is immutable: replicated jobs cannot be added, removed, renamed or reordered, were {}",
                    was(names_of(old_spec))),
        kJobSetRule));
    for (const ReplicatedJob& job : spec.jobs) {
      const ReplicatedJob* same = old_spec.find(job.name);
      if (same != nullptr) check_job_update(job, *same, suspended, terminal, errors);
    }
  }
  const Json* manager = find_set(jobset, {"spec", "managedBy"});
  const Json* old_manager = find_set(old, {"spec", "managedBy"});
  const FieldChange handover{"spec.managedBy", old_manager == nullptr ? Json() : *old_manager,
                             manager == nullptr ? Json() : *manager};
  if (handover.before != handover.after) refuse_change(handover, "", errors);
  check_blocks(jobset, old, errors);
  check_scheduling_update(spec, old, old_spec, errors);
}

}  // namespace tpuslice::rules
