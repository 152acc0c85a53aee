#include "cmd/tpu-slice-sim/cluster/stateful_sets/stateful_set_revisions.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "api/base/clock.h"
#include "api/base/hash.h"
#include "api/types/json_text.h"
#include "cmd/tpu-slice-sim/cluster/owners.h"

namespace tpuslice::sim {

namespace {

constexpr const char* kHashLabel = "controller.kubernetes.io/hash";
constexpr std::size_t kMaxPrefix = 223;

auto age(const Json& revision) {
  const auto created = parse_rfc3339(string_at(revision, {"metadata", "creationTimestamp"})).value_or(Timestamp{});
  return std::make_tuple(int_at(revision, {"revision"}), created, string_at(revision, {"metadata", "name"}));
}

}  // namespace

Json revision_data(const Json& set) {
  Json pods = set.at("spec").at("template");
  pods["$patch"] = "replace";
  return {{"spec", {{"template", std::move(pods)}}}};
}

const Json& template_in(const Json& revision) {
  static const Json kNone = {{"spec", Json::object()}};
  const Json* found = find_path(revision, {"data", "spec", "template"});
  return found == nullptr ? kNone : *found;
}

bool same_data(const Json& revision, const Json& data) {
  const Json* found = find_path(revision, {"data"});
  return found != nullptr && *found == data;
}

std::string revision_hash(const Json& data, std::int64_t collisions) {
  return safe_encode(std::to_string(fnv1_32(print_go_json(data) + std::to_string(collisions))));
}

std::string revision_name(const Json& set, const std::string& hash) {
  return string_at(set, {"metadata", "name"}).substr(0, kMaxPrefix) + "-" + hash;
}

Json make_revision(const Json& set, std::int64_t number, std::int64_t collisions) {
  Json data = revision_data(set);
  const std::string hash = revision_hash(data, collisions);
  Json metadata = {{"name", revision_name(set, hash)},
                   {"namespace", string_at(set, {"metadata", "namespace"})},
                   {"ownerReferences", Json::array({controller_reference(set)})}};
  if (const Json* labels = find_path(set, {"spec", "template", "metadata", "labels"})) metadata["labels"] = *labels;
  metadata["labels"][kHashLabel] = hash;
  if (const Json* annotations = find_path(set, {"metadata", "annotations"})) metadata["annotations"] = *annotations;
  return {{"apiVersion", "apps/v1"},
          {"kind", "ControllerRevision"},
          {"metadata", std::move(metadata)},
          {"data", std::move(data)},
          {"revision", number}};
}

void sort_revisions(std::vector<JsonPtr>& revisions) {
  std::stable_sort(revisions.begin(), revisions.end(),
                   [](const JsonPtr& a, const JsonPtr& b) { return age(*a) < age(*b); });
}

}  // namespace tpuslice::sim
