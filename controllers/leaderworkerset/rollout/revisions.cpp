#include "controllers/leaderworkerset/rollout/revisions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/base/hash.h"
#include "api/types/json_text.h"
#include "controllers/leaderworkerset/rules/leaderworkerset_labels.h"
#include "controllers/leaderworkerset/rules/normal_form.h"

namespace tpuslice::leaderworkerset {
namespace {

constexpr std::size_t kMaxPrefix = 220;  // Part of a name of 253 characters.

/// Null counts as Shared: upstream's webhook sets it.
Json normal_network(const Json& set) {
  Json network = object_at(set, {"spec", "networkConfig"});
  network.erase("$patch");
  if (string_at(network, {"subdomainPolicy"}).empty()) network["subdomainPolicy"] = "Shared";
  return network;
}

}  // namespace

Revision Revision::read(const Object& revision) {
  const Json* data = find_path(revision.json(), {"data"});
  return {revision.key(),
          revision.uid(),
          revision.label(kRevisionKey),
          int_at(revision.json(), {"revision"}),
          data == nullptr ? Json::object() : *data,
          std::max(1, static_cast<int>(int_at(revision.json(), {"data", "spec", "leaderWorkerTemplate", "size"}, 1)))};
}

Json revision_data(const Json& set) {
  Json groups = normal_group_template(set);
  groups["$patch"] = "replace";
  Json network = normal_network(set);
  network["$patch"] = "replace";
  return {{"spec", {{"leaderWorkerTemplate", std::move(groups)}, {"networkConfig", std::move(network)}}}};
}

std::string revision_hash(const Json& data) { return safe_encode(std::to_string(fnv1_32(print_go_json(data)))); }

Json build_revision(const LeaderWorkerSetSpec& spec, const Json& data, std::int64_t number, const std::string& key) {
  const std::string hash = revision_hash(data);
  const std::string_view prefix = std::string_view(spec.key.name).substr(0, kMaxPrefix);
  return {{"apiVersion", kControllerRevisions.api_version()},
          {"kind", kControllerRevisions.kind},
          {"metadata",
           {{"name", fmt::format("{}-{}-{}", prefix, hash, number)},
            {"namespace", spec.key.namespace_name},
            {"labels", {{kLwsName, spec.key.name}, {kRevisionKey, key.empty() ? hash : key}}},
            {"ownerReferences", Json::array({spec.owner.to_json()})}}},
          {"data", data},
          {"revision", number}};
}

bool same_groups(const Json& data, const Json& other) {
  return data == other || revision_data(data) == revision_data(other);
}

const Revision* find_revision(const std::vector<Revision>& revisions, std::string_view key) {
  const Revision* found = nullptr;
  if (key.empty()) return found;
  for (const Revision& revision : revisions) {
    if (revision.key == key && (found == nullptr || revision.number > found->number)) found = &revision;
  }
  return found;
}

std::int64_t next_revision_number(const std::vector<Revision>& revisions) {
  std::int64_t highest = 0;
  for (const Revision& revision : revisions) highest = std::max(highest, revision.number);
  return highest + 1;
}

Json groups_of(const Json& data, const Json& set) {
  const bool has_network = find_set(data, {"spec", "networkConfig"}) != nullptr;
  return {{"spec",
           {{"leaderWorkerTemplate", normal_group_template(data)},
            {"networkConfig", normal_network(has_network ? data : set)}}}};
}

}  // namespace tpuslice::leaderworkerset
