#include "tests/golden/short_form.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "api/types/json_pointer.h"
#include "api/types/object.h"
#include "api/types/yaml.h"

namespace tpuslice::golden {
namespace {

constexpr std::size_t kMinRatio = 3;  // Lines of the whole body to lines of the difference.

/// The bodies of a file in its order, by name ("Pod ml/train-worker-0-0"). Of several with one name only the first.
using Bodies = std::vector<std::pair<std::string, Json>>;

void remember(const Json& body, Bodies& earlier) {
  const Object object(body);
  const std::string name = object.kind() + " " + object.key().to_string();
  if (std::ranges::find(earlier, name, &Bodies::value_type::first) == earlier.end()) earlier.emplace_back(name, body);
}

/// Calls `visit` with each body, which it may replace.
void visit_bodies(std::vector<Json>& documents, const auto& visit) {
  for (Json& document : documents) {
    if (!document.contains("stages")) {
      if (document.is_object()) visit(document);
      continue;
    }
    for (Json& stage : document["stages"]) {
      for (Json& action : stage) {
        if (action["action"] == "create" && action.value("body", Json()).is_object()) visit(action["body"]);
      }
    }
  }
}

/// Adds to `with` and `without` of `difference`. Arrays of other lengths are replaced.
void compare(const Json& before, const Json& after, const std::string& at, Json& difference) {
  const auto within = [&at](std::string_view step) {
    std::string pointer = at;
    append_to_json_pointer(pointer, step);
    return pointer;
  };
  if (before.is_object() && after.is_object()) {
    for (const auto& [key, value] : before.items()) {
      if (!after.contains(key)) difference["without"].push_back(within(key));
    }
    for (const auto& [key, value] : after.items()) {
      if (before.contains(key)) {
        compare(before[key], value, within(key), difference);
      } else {
        difference["with"][within(key)] = value;
      }
    }
  } else if (before.is_array() && after.is_array() && before.size() == after.size()) {
    for (std::size_t i = 0; i < after.size(); ++i) compare(before[i], after[i], within(std::to_string(i)), difference);
  } else if (before != after) {
    difference["with"][at] = after;
  }
}

std::size_t lines(const Json& json) { return static_cast<std::size_t>(std::ranges::count(to_yaml(json), '\n')); }

Json short_form(const Json& body, const Bodies& earlier) {
  Json out = body;
  std::size_t most_lines = lines(body) / kMinRatio;
  for (const auto& [name, before] : earlier) {
    if (string_at(before, {"kind"}) != string_at(body, {"kind"})) continue;
    Json difference = {{"like", name}};
    compare(before, body, "", difference);
    const std::size_t size = lines(difference);
    if (size > most_lines) continue;
    out = std::move(difference);
    most_lines = size - 1;
  }
  return out;
}

Json full_form(const Json& difference, const Bodies& earlier) {
  const auto like = std::ranges::find(earlier, string_at(difference, {"like"}), &Bodies::value_type::first);
  if (like == earlier.end()) return difference;
  Json body = like->second;
  for (const Json& pointer : array_at(difference, {"without"})) {
    const Json::json_pointer at(pointer.get<std::string>());
    body.at(at.parent_pointer()).erase(at.back());
  }
  const Json with = difference.value("with", Json::object());
  for (const auto& [pointer, value] : with.items()) body[Json::json_pointer(pointer)] = value;
  return body;
}

}  // namespace

std::vector<Json> shorten(std::vector<Json> documents) {
  Bodies earlier;
  visit_bodies(documents, [&](Json& body) {
    Json shortened = short_form(body, earlier);
    remember(body, earlier);
    body = std::move(shortened);
  });
  return documents;
}

std::vector<Json> expand(std::vector<Json> documents) {
  Bodies earlier;
  visit_bodies(documents, [&](Json& body) {
    if (body.contains("like")) body = full_form(body, earlier);
    remember(body, earlier);
  });
  return documents;
}

std::string print(const std::vector<Json>& documents) {
  std::string text;
  for (const Json& document : documents) text += (text.empty() ? "" : "---\n") + to_yaml(document);
  return text;
}

Result<std::vector<Json>> parse(std::string_view text) {
  ASSIGN_OR_RETURN(const std::vector<YamlDocument> documents, parse_yaml_documents(text));
  std::vector<Json> out;
  for (const YamlDocument& document : documents) out.push_back(document.value);
  return out;
}

}  // namespace tpuslice::golden
