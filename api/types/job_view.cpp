// Jobs from bytes.
#include <algorithm>
#include <array>

#include "api/types/view_reader.h"

namespace tpuslice {
namespace view {
namespace {

/// Members of an object: names, and values as JSON text.
using RawMembers = std::vector<std::pair<std::string, std::string>>;

/// Members of the pod template, as JSON text. They are parsed only if the Job is suspended, and spec.suspend may follow
/// spec.template in the document.
struct RawTemplate {
  RawMembers metadata;
  RawMembers spec;
};

template <std::size_t kCount>
RawMembers read_raw(Value value, const std::array<std::string_view, kCount>& names) {
  RawMembers members;
  each_member(value, [&](std::string_view key, Value member) {
    if (std::find(names.begin(), names.end(), key) == names.end()) return;
    members.emplace_back(key, std::string_view(simdjson::to_json_string(member)));
  });
  return members;
}

/// The labels to keep, and all of them as text.
StringMap read_labels(Value value, const KeptKeys* keep, RawMembers& raw) {
  StringMap kept;
  simdjson::ondemand::object labels = value.get_object();
  raw.emplace_back("labels", std::string_view(labels.raw_json()));
  labels.reset();
  for (auto label : labels) {
    const std::string_view key = label.unescaped_key();
    Value text = label.value();
    if (is_kept(key, keep) && !is_null(text)) kept.insert_or_assign(SharedString::decoded(key), shared_text_of(text));
  }
  kept.shrink_to_fit();
  return kept;
}

RawTemplate read_template(Value value, const KeptKeys* keep, JobView& job) {
  static constexpr std::array<std::string_view, 6> kOfSpec = {"affinity",     "containers",      "initContainers",
                                                              "nodeSelector", "schedulingGates", "tolerations"};
  RawTemplate raw;
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "metadata") {
      each_member(member, [&](std::string_view part, Value content) {
        if (part == "labels") job.template_labels = read_labels(content, keep, raw.metadata);
        if (part == "annotations") raw.metadata.emplace_back(part, std::string_view(simdjson::to_json_string(content)));
      });
    }
    if (key == "spec") raw.spec = read_raw(member, kOfSpec);
  });
  return raw;
}

/// Limits the memory of the document tree, which may be fifty times that of the text.
constexpr JsonLimits kTemplateLimits{.values = 100'000};

Result<Json> parse_members(const RawMembers& members) {
  Json parsed = Json::object();
  for (const auto& [name, text] : members) {
    ASSIGN_OR_RETURN(parsed[name], parse_json(text, kTemplateLimits));
  }
  return parsed;
}

/// Name and resources of the containers that have some.
Json resources_of(const Json& containers) {
  Json out = Json::array();
  if (!containers.is_array()) return out;
  for (const Json& container : containers) {
    const Json* resources = find_set(container, {"resources"});
    if (resources == nullptr || resources->empty()) continue;
    out.push_back({{"name", string_at(container, {"name"})}, {"resources", *resources}});
  }
  return out;
}

/// Normalized: equal templates have equal texts, whatever their order of members and spacing.
Result<std::string> print_template(const RawTemplate& raw) {
  Json printed = Json::object();
  ASSIGN_OR_RETURN(Json metadata, parse_members(raw.metadata));
  ASSIGN_OR_RETURN(Json spec, parse_members(raw.spec));
  for (const char* list : {"containers", "initContainers"}) {
    if (!spec.contains(list)) continue;
    spec[list] = resources_of(spec[list]);
    if (spec[list].empty()) spec.erase(list);
  }
  if (!metadata.empty()) printed["metadata"] = std::move(metadata);
  if (!spec.empty()) printed["spec"] = std::move(spec);
  return printed.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void read_job_spec(Value value, const KeptKeys* keep, JobView& job, RawTemplate& raw) {
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "parallelism") {
      job.parallelism = int32_of(member, key);
    } else if (key == "completions") {
      job.completions = int32_of(member, key);
    } else if (key == "suspend") {
      job.suspended = flag_of(member);
    } else if (key == "template") {
      raw = read_template(member, keep, job);
    }
  });
}

bool is_read(std::string_view type) {
  static constexpr std::array<std::string_view, 5> kTypes = {"Complete", "Failed", "FailureTarget",
                                                             "SuccessCriteriaMet", "Suspended"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

void read_job_conditions(Value value, JobView& job) {
  job.conditions.clear();
  each_item(value, [&](Value item) {
    ConditionView read = read_condition(item);
    if (!is_read(read.type)) return;
    job.conditions.push_back(
        {std::move(read.type), read.is_true, std::move(read.reason), std::move(read.message), read.changed});
  });
}

void read_job_status(Value value, JobView& job) {
  each_member(value, [&](std::string_view key, Value member) {
    if (key == "active") {
      job.active = int32_of(member, key);
    } else if (key == "ready") {
      job.ready = int32_of(member, key);
    } else if (key == "succeeded") {
      job.succeeded = int32_of(member, key);
    } else if (key == "failed") {
      job.failed = int32_of(member, key);
    } else if (key == "terminating") {
      job.terminating = int32_of(member, key);
    } else if (key == "startTime") {
      job.started = time_of(member);
    } else if (key == "conditions") {
      read_job_conditions(member, job);
    }
  });
}

}  // namespace
}  // namespace view

const JobCondition* JobView::condition(std::string_view type) const {
  const auto found = std::find_if(conditions.begin(), conditions.end(), [&](const JobCondition& condition) {
    return condition.is_true && condition.type == type;
  });
  return found == conditions.end() ? nullptr : &*found;
}

Result<JobView> JobView::decode(std::string_view json, const KeptKeys* keep) {
  JobView job;
  view::Metadata metadata;
  view::RawTemplate raw;
  RETURN_IF_ERROR(view::decode("job", json, [&](std::string_view member, view::Value value) {
    if (member == "metadata") metadata = view::read_metadata(value, keep);
    if (member == "spec") view::read_job_spec(value, keep, job, raw);
    if (member == "status") view::read_job_status(value, job);
  }));
  job.foreground_deletion = metadata.foreground_deletion;
  RETURN_IF_ERROR(view::take_metadata("job", std::move(metadata), job));
  if (job.suspended) {
    Result<std::string> printed = view::print_template(raw);
    if (!printed)
      return Error::invalid_argument("job cannot be decoded: .spec.template: {}", printed.error().message());
    job.pod_template = *std::move(printed);
  }
  return job;
}

}  // namespace tpuslice
