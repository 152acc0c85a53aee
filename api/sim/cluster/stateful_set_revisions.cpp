#include "api/sim/cluster/stateful_set_revisions.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "api/base/clock.h"
#include "api/sim/cluster/owners.h"

namespace tpuslice::sim {

namespace {

constexpr const char* kHashLabel = "controller.kubernetes.io/hash";
constexpr std::size_t kLongestPrefix = 223;

/// FNV-1, where hash_of() is FNV-1a.
std::uint32_t fnv1(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash * 16777619U) ^ static_cast<unsigned char>(c);
  return hash;
}

/// As Go prints JSON: what could be taken for HTML is written by its number.
std::string go_json(const Json& json) {
  std::string out;
  for (const char c : json.dump()) {
    if (c == '<') {
      out += "\\u003c";
    } else if (c == '>') {
      out += "\\u003e";
    } else if (c == '&') {
      out += "\\u0026";
    } else {
      out += c;
    }
  }
  return out;
}

/// Letters and digits that make no words.
std::string safe(std::string text) {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  for (char& c : text) c = kLetters[static_cast<unsigned char>(c) % kLetters.size()];
  return text;
}

auto age(const Json& revision) {
  const auto born = parse_rfc3339(string_at(revision, {"metadata", "creationTimestamp"})).value_or(Timestamp{});
  return std::make_tuple(int_at(revision, {"revision"}), born, string_at(revision, {"metadata", "name"}));
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
  return safe(std::to_string(fnv1(go_json(data) + std::to_string(collisions))));
}

std::string revision_name(const Json& set, const std::string& hash) {
  return string_at(set, {"metadata", "name"}).substr(0, kLongestPrefix) + "-" + hash;
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
