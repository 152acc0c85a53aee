#include "cmd/tpu-slice-sim/registry/object_checks.h"

#include <set>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "api/types/validation_names.h"
#include "cmd/tpu-slice-sim/resources/api_errors.h"
#include "cmd/tpu-slice-sim/schema/decode.h"

namespace tpuslice::sim {
namespace {

constexpr std::size_t kAnnotationLimit = 256U << 10U;

FieldProblem problem(std::string path, std::string message, std::string_view reason = "FieldValueInvalid") {
  FieldProblem out;
  out.path = std::move(path);
  out.message = std::move(message);
  out.reason = std::string(reason);
  return out;
}

FieldProblem invalid_value(std::string path, std::string_view value, std::string_view message) {
  return problem(std::move(path), fmt::format("Invalid value: \"{}\": {}", value, message));
}

ErrorMessages check_name(const Resource& resource, std::string_view name) {
  if (resource.id() == "namespaces") return check_dns1123_label(name);
  if (resource.id() == "services") return check_dns1123_label(name);
  return check_dns1123_subdomain(name);
}

void check_labels(const Json& metadata, std::vector<FieldProblem>& problems) {
  for (const auto& [key, value] : string_map_at(metadata, {"labels"})) {
    for (const std::string& message : check_label_key(key)) {
      problems.push_back(invalid_value("metadata.labels", key, message));
    }
    for (const std::string& message : check_label_value(value)) {
      problems.push_back(invalid_value("metadata.labels", value, message));
    }
  }
}

void check_annotations(const Json& metadata, std::vector<FieldProblem>& problems) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : string_map_at(metadata, {"annotations"})) {
    for (const std::string& message : check_label_key(to_lower(key))) {
      problems.push_back(invalid_value("metadata.annotations", key, message));
    }
    bytes += key.size() + value.size();
  }
  if (bytes > kAnnotationLimit) {
    problems.push_back(problem("metadata.annotations",
                               fmt::format("Too long: may not be more than {} bytes", kAnnotationLimit),
                               "FieldValueTooLong"));
  }
}

void check_owners(const Json& metadata, std::vector<FieldProblem>& problems) {
  const Json* controller = nullptr;
  for (const Json& owner : array_at(metadata, {"ownerReferences"})) {
    for (const char* field : {"apiVersion", "kind", "name", "uid"}) {
      if (!string_at(owner, {field}).empty()) continue;
      problems.push_back(invalid_value(fmt::format("metadata.ownerReferences.{}", field), "", "must not be empty"));
    }
    if (!bool_at(owner, {"controller"})) continue;
    if (controller != nullptr) {
      problems.push_back(problem(
          "metadata.ownerReferences",
          fmt::format("Invalid value: {}: Only one reference can have Controller set to true. Found \"true\" in "
                      "references for {}/{} and {}/{}",
                      metadata["ownerReferences"].dump(), string_at(*controller, {"kind"}),
                      string_at(*controller, {"name"}), string_at(owner, {"kind"}), string_at(owner, {"name"}))));
    }
    controller = &owner;
  }
}

void check_finalizers(const Json& metadata, bool custom, std::vector<FieldProblem>& problems) {
  const Json* finalizers = find_path(metadata, {"finalizers"});
  if (finalizers == nullptr || !finalizers->is_array()) return;
  static const std::set<std::string, std::less<>> kStandard = {"foregroundDeletion", "orphan", "kubernetes"};
  for (std::size_t i = 0; i < finalizers->size(); ++i) {
    const std::string text = (*finalizers)[i].get<std::string>();
    for (const std::string& message : check_label_key(text)) {
      problems.push_back(invalid_value("metadata.finalizers", text, message));
    }
    const bool qualified = text.find('/') != std::string::npos || kStandard.contains(text);
    if (!custom && !qualified) {
      problems.push_back(invalid_value(fmt::format("metadata.finalizers[{}]", i), text,
                                       "name is neither a standard finalizer name nor is it fully qualified"));
    }
  }
}

bool all_strings(const Json& container) {
  return std::all_of(container.begin(), container.end(), [](const Json& each) { return each.is_string(); });
}

Error wrong_type(const Resource& resource, std::string_view field, std::string_view wanted) {
  return undecodable(resource, fmt::format("metadata{}{}: must be {}", field.empty() ? "" : ".", field, wanted));
}

}  // namespace

Status check_metadata_types(const Resource& resource, const Json& object) {
  const Json* metadata = find_path(object, {"metadata"});
  if (metadata == nullptr) return {};
  if (!metadata->is_object()) return wrong_type(resource, "", "an object");
  for (const char* field : {"name", "generateName", "namespace", "uid", "resourceVersion", "deletionTimestamp"}) {
    const Json* value = find_path(*metadata, {field});
    if (value != nullptr && !value->is_string() && !value->is_null()) return wrong_type(resource, field, "a string");
  }
  for (const char* field : {"labels", "annotations"}) {
    const Json* value = find_path(*metadata, {field});
    if (value == nullptr || value->is_null()) continue;
    if (!value->is_object()) return wrong_type(resource, field, "an object");
    for (const Json& each : *value) {
      if (!each.is_string()) return wrong_type(resource, field, "a string");
    }
  }
  const Json* finalizers = find_path(*metadata, {"finalizers"});
  if (finalizers != nullptr && !finalizers->is_null() && !(finalizers->is_array() && all_strings(*finalizers))) {
    return wrong_type(resource, "finalizers", "a list of strings");
  }
  const Json* owners = find_path(*metadata, {"ownerReferences"});
  if (owners != nullptr && !owners->is_null() && !owners->is_array()) {
    return wrong_type(resource, "ownerReferences", "a list");
  }
  return {};
}

std::vector<FieldProblem> check_metadata(const Resource& resource, const Json& object) {
  std::vector<FieldProblem> problems;
  const Json& metadata = object.at("metadata");
  const std::string name = string_at(metadata, {"name"});
  if (name.empty()) {
    problems.push_back(
        problem("metadata.name", "Required value: name or generateName is required", "FieldValueRequired"));
  }
  if (const std::string prefix = string_at(metadata, {"generateName"}); !prefix.empty()) {
    // A dash at its end is followed by letters.
    std::string stem = prefix;
    if (stem.back() == '-') stem.back() = 'a';
    for (const std::string& message : check_name(resource, stem)) {
      problems.push_back(invalid_value("metadata.generateName", prefix, message));
    }
  }
  if (!name.empty()) {
    for (const std::string& message : check_name(resource, name)) {
      problems.push_back(invalid_value("metadata.name", name, message));
    }
  }
  check_labels(metadata, problems);
  check_annotations(metadata, problems);
  check_owners(metadata, problems);
  check_finalizers(metadata, resource.custom, problems);
  return problems;
}

std::vector<FieldProblem> check_metadata_update(const Resource& resource, const Json& object, const Json& old) {
  std::vector<FieldProblem> problems = check_metadata(resource, object);
  const Json& before = old.at("metadata");
  if (string_at(before, {"deletionTimestamp"}).empty()) return problems;
  const Json* finalizers = find_path(object, {"metadata", "finalizers"});
  if (finalizers == nullptr || !finalizers->is_array()) return problems;
  const Json* had = find_path(before, {"finalizers"});
  std::vector<std::string> added;
  for (const Json& each : *finalizers) {
    if (had == nullptr || std::find(had->begin(), had->end(), each) == had->end()) added.push_back(each.dump());
  }
  if (!added.empty()) {
    problems.push_back(problem("metadata.finalizers",
                               fmt::format("Forbidden: no new finalizers can be added if the object is being deleted, "
                                           "found new finalizers []string{{{}}}",
                                           fmt::join(added, ", ")),
                               "FieldValueForbidden"));
  }
  return problems;
}

}  // namespace tpuslice::sim
