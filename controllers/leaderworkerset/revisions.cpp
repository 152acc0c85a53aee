#include "controllers/leaderworkerset/revisions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/types/json_text.h"
#include "controllers/leaderworkerset/labels.h"
#include "controllers/leaderworkerset/normal_form.h"
#include "webhook/rules/fields.h"

namespace tpuslice::leaderworkerset {
namespace {

constexpr std::size_t kLongestPrefix = 220;  // Of a name of 253 characters.

/// Go's encoder writes these so that the text can stand in HTML.
std::string print_as_go(const Json& json) {
  std::string out;
  const std::string text = print_json(json);
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    if (text[i] == '<') {
      out += "\\u003c";
    } else if (text[i] == '>') {
      out += "\\u003e";
    } else if (text[i] == '&') {
      out += "\\u0026";
    } else if (rest.starts_with("\u2028") || rest.starts_with("\u2029")) {
      out += rest.starts_with("\u2028") ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::uint32_t fnv1_32(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) {
    hash *= 16777619U;
    hash ^= static_cast<unsigned char>(c);
  }
  return hash;
}

/// Source: k8s.io/apimachinery/pkg/util/rand, SafeEncodeString.
std::string encode_safely(std::string text) {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  for (char& c : text) c = kLetters[static_cast<unsigned char>(c) % kLetters.size()];
  return text;
}

/// Null counts as Shared, as upstream's webhook writes it.
Json normal_network(const Json& set) {
  const Json* found = webhook::find_set(set, {"spec", "networkConfig"});
  Json network = found != nullptr && found->is_object() ? *found : Json::object();
  network.erase("$patch");
  if (string_at(network, {"subdomainPolicy"}).empty()) network["subdomainPolicy"] = "Shared";
  return network;
}

}  // namespace

Revision Revision::read(const Object& revision) {
  const Json* data = find_path(revision.json(), {"data"});
  return {revision.key(), revision.uid(), revision.label(kRevisionKey), int_at(revision.json(), {"revision"}),
          data == nullptr ? Json::object() : *data};
}

Json revision_data(const Json& set) {
  Json groups = normal_group_template(set);
  groups["$patch"] = "replace";
  Json network = normal_network(set);
  network["$patch"] = "replace";
  return {{"spec", {{"leaderWorkerTemplate", std::move(groups)}, {"networkConfig", std::move(network)}}}};
}

std::string revision_hash(const Json& data) { return encode_safely(std::to_string(fnv1_32(print_as_go(data)))); }

Json build_revision(const LeaderWorkerSetSpec& spec, const Json& data, std::int64_t number, const std::string& key) {
  const std::string hash = revision_hash(data);
  const std::string_view prefix = std::string_view(spec.key.name).substr(0, kLongestPrefix);
  return {{"apiVersion", kControllerRevisions.api_version()},
          {"kind", kControllerRevisions.kind},
          {"metadata",
           {{"name", fmt::format("{}-{}-{}", prefix, hash, number)},
            {"namespace", spec.key.namespace_name},
            {"labels", {{tpu::kLwsName, spec.key.name}, {kRevisionKey, key.empty() ? hash : key}}},
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

std::int64_t next_number(const std::vector<Revision>& revisions) {
  std::int64_t highest = 0;
  for (const Revision& revision : revisions) highest = std::max(highest, revision.number);
  return highest + 1;
}

Json groups_of(const Json& data, const Json& set) {
  const bool has_network = webhook::find_set(data, {"spec", "networkConfig"}) != nullptr;
  return {{"spec",
           {{"leaderWorkerTemplate", normal_group_template(data)},
            {"networkConfig", normal_network(has_network ? data : set)}}}};
}

}  // namespace tpuslice::leaderworkerset
