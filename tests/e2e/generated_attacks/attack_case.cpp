#include "tests/e2e/generated_attacks/attack_case.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace tpuslice::testing {
namespace {

template <typename Value, std::size_t Count>
using Names = std::array<std::pair<Value, std::string_view>, Count>;

constexpr Names<Make, 5> kMakes = {
    {{Make::kValue, "value"}, {Make::kText, "text"}, {Make::kList, "list"}, {Make::kMap, "map"}, {Make::kRaw, "raw"}}};
constexpr Names<Send, 7> kSends = {{{Send::kDryRun, "dry-run"},
                                    {Send::kCreate, "create"},
                                    {Send::kUpdate, "update"},
                                    {Send::kPatch, "patch"},
                                    {Send::kStatus, "status"},
                                    {Send::kReview, "review"},
                                    {Send::kUpdateReview, "update-review"}}};
constexpr Names<Reading, 5> kReadings = {{{Reading::kWhole, "whole"},
                                          {Reading::kNothing, "nothing"},
                                          {Reading::kSlowly, "slowly"},
                                          {Reading::kLeaves, "leaves"},
                                          {Reading::kHalf, "half"}}};

template <typename Value, std::size_t Count>
std::string name_of(const Names<Value, Count>& names, Value value) {
  const auto* const found = std::ranges::find(names, value, &std::pair<Value, std::string_view>::first);
  return std::string(found->second);
}

template <typename Value, std::size_t Count>
Status read_name(const Names<Value, Count>& names, const Json& json, std::string_view key, Value& value) {
  if (!json.contains(key)) return {};
  const auto* const found =
      std::ranges::find(names, string_at(json, {key}), &std::pair<Value, std::string_view>::second);
  if (found == names.end()) return Error::invalid_argument("{}: unknown: {}", key, json[std::string(key)].dump());
  value = found->first;
  return {};
}

Json mutation_json(const Mutation& mutation) {
  Json out = {{"at", mutation.at}, {"make", name_of(kMakes, mutation.make)}, {"of", mutation.of}};
  if (mutation.times != 1) out["times"] = mutation.times;
  return out;
}

/// The members of a JSON pointer.
std::vector<std::string> tokens_of(const std::string& pointer) {
  std::vector<std::string> tokens;
  for (const char c : pointer) {
    if (c == '/') {
      tokens.emplace_back();
    } else if (!tokens.empty()) {
      tokens.back() += c;
    }
  }
  for (std::string& token : tokens) {
    for (const auto& [escaped, character] : {std::pair("~1", "/"), std::pair("~0", "~")}) {
      for (std::size_t at = 0; (at = token.find(escaped, at)) != std::string::npos; ++at) {
        token.replace(at, 2, character);
      }
    }
  }
  return tokens;
}

bool is_index(const std::string& token) {
  return token == "-" || (!token.empty() && token.find_first_not_of("0123456789") == std::string::npos);
}

/// The place of a JSON pointer. What is missing, or of another type, is created.
Json& place_of(Json& object, const std::string& pointer) {
  Json* at = &object;
  for (const std::string& token : tokens_of(pointer)) {
    if (at->is_array() || (at->is_null() && is_index(token))) {
      if (at->is_null()) *at = Json::array();
      const std::size_t index =
          token == "-" || !is_index(token) ? at->size() : std::strtoul(token.c_str(), nullptr, 10);
      if (index >= at->size()) {
        at->push_back(nullptr);
        at = &at->back();
      } else {
        at = &(*at)[index];
      }
      continue;
    }
    if (!at->is_object()) *at = Json::object();
    at = &(*at)[token];
  }
  return *at;
}

std::string repeated_text(std::string_view unit, std::int64_t times) {
  std::string out;
  out.reserve(unit.size() * static_cast<std::size_t>(times));
  for (std::int64_t i = 0; i < times; ++i) out += unit;
  return out;
}

/// Lists of the API are maps by name: equal names are refused.
Json list_of(const Json& item, std::int64_t times) {
  Json list = Json::array();
  for (std::int64_t i = 0; i < times; ++i) {
    Json next = item;
    for (const char* key : {"name", "groupName", "key", "mountPath"}) {
      if (!next.is_object() || !next.contains(key) || !next[key].is_string()) continue;
      next[key] = fmt::format("{}-{}", next[key].get<std::string>().substr(0, 40), i);
    }
    if (next.is_object() && next.contains("containerPort")) next["containerPort"] = 1 + i % 65'535;
    list.push_back(std::move(next));
  }
  return list;
}

/// Stands for raw text until the document is printed.
std::string placeholder(std::size_t index) { return fmt::format("@raw-{}@", index); }

Json made(const Mutation& mutation, const Json& before, std::size_t index) {
  switch (mutation.make) {
    case Make::kValue:
      return mutation.of;
    case Make::kText:
      return repeated_text(mutation.of.get<std::string>(), mutation.times);
    case Make::kList: {
      const bool first = mutation.of.is_null() && before.is_array() && !before.empty();
      return list_of(first ? before.front() : mutation.of, mutation.times);
    }
    case Make::kMap: {
      Json map = Json::object();
      for (std::int64_t i = 0; i < mutation.times; ++i) map[fmt::format("k{}", i)] = mutation.of;
      return map;
    }
    case Make::kRaw:
      return placeholder(index);
  }
  return {};
}

}  // namespace

Json to_json(const AttackCase& attack) {
  Json out = {{"object", attack.object}, {"send", name_of(kSends, attack.send)}, {"mutations", Json::array()}};
  if (attack.copies != 1) out["copies"] = attack.copies;
  if (attack.namespaces != 1) out["namespaces"] = attack.namespaces;
  if (attack.reading != Reading::kWhole) out["reading"] = name_of(kReadings, attack.reading);
  for (const Mutation& mutation : attack.mutations) out["mutations"].push_back(mutation_json(mutation));
  return out;
}

Result<AttackCase> attack_from_json(const Json& json) {
  AttackCase attack;
  attack.object = string_at(json, {"object"});
  attack.copies = static_cast<int>(int_at(json, {"copies"}, 1));
  attack.namespaces = static_cast<int>(int_at(json, {"namespaces"}, 1));
  RETURN_IF_ERROR(read_name(kSends, json, "send", attack.send));
  RETURN_IF_ERROR(read_name(kReadings, json, "reading", attack.reading));
  for (const Json& item : array_at(json, {"mutations"})) {
    Mutation mutation{.at = string_at(item, {"at"}), .times = int_at(item, {"times"}, 1)};
    RETURN_IF_ERROR(read_name(kMakes, item, "make", mutation.make));
    if (item.contains("of")) mutation.of = item["of"];
    const bool named = mutation.make == Make::kText || mutation.make == Make::kRaw;
    if (named && !mutation.of.is_string()) return Error::invalid_argument("of: must be a string: {}", item.dump());
    attack.mutations.push_back(std::move(mutation));
  }
  return attack;
}

std::string description_of(const AttackCase& attack) {
  Json json = to_json(attack);
  for (Json& mutation : json["mutations"]) {
    std::string of = mutation["of"].dump(-1, ' ', true, Json::error_handler_t::replace);
    if (of.size() > 200) mutation["of"] = of.substr(0, 200) + "...";
  }
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string raw_text(std::string_view what, std::int64_t times) {
  if (what == "arrays") return repeated_text("[", times) + repeated_text("]", times);
  if (what == "objects") return repeated_text(R"({"a":)", times) + "1" + repeated_text("}", times);
  if (what == "digits") return repeated_text("9", times);
  if (what == "duplicates") return "{" + repeated_text(R"("a":{},)", times) + R"("a":1})";
  if (what == "bytes") return "\"" + repeated_text("\xff\xc0", times) + "\"";
  return "\"" + repeated_text("\\u0000", times) + "\"";
}

std::string mutated(Json object, const std::vector<Mutation>& mutations) {
  for (std::size_t i = 0; i < mutations.size(); ++i) {
    Json& place = place_of(object, mutations[i].at);
    place = made(mutations[i], place, i);
  }
  std::string text = object.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (std::size_t i = 0; i < mutations.size(); ++i) {
    if (mutations[i].make != Make::kRaw) continue;
    const std::string quoted = "\"" + placeholder(i) + "\"";
    const std::size_t at = text.find(quoted);
    if (at == std::string::npos) continue;  // Another mutation has replaced it.
    text.replace(at, quoted.size(), raw_text(mutations[i].of.get<std::string>(), mutations[i].times));
  }
  return text;
}

void shrink_to(std::size_t limit, const Json& object, std::vector<Mutation>& mutations) {
  for (int round = 0; round < 24 && mutated(object, mutations).size() > limit; ++round) {
    const auto longest = std::ranges::max_element(mutations, {}, [](const Mutation& mutation) {
      const std::size_t each = mutation.make == Make::kRaw ? 8 : mutation.of.dump().size() + 8;
      return static_cast<double>(mutation.times) * static_cast<double>(each);
    });
    if (longest == mutations.end() || longest->times < 2) return;
    longest->times /= 2;
  }
}

}  // namespace tpuslice::testing
