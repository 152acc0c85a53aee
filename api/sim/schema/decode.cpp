#include "api/sim/schema/decode.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/sim/api_errors.h"
#include "api/sim/schema/formats.h"

namespace tpuslice::sim {
namespace {

constexpr std::array<std::string_view, 15> kMetadata = {"annotations",
                                                        "creationTimestamp",
                                                        "deletionGracePeriodSeconds",
                                                        "deletionTimestamp",
                                                        "finalizers",
                                                        "generateName",
                                                        "generation",
                                                        "labels",
                                                        "managedFields",
                                                        "name",
                                                        "namespace",
                                                        "ownerReferences",
                                                        "resourceVersion",
                                                        "selfLink",
                                                        "uid"};

/// Members on the way from the root, with how often each name came.
class DuplicateFinder {
 public:
  void take(Json::parse_event_t event, const Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
        open_.push_back({});
        break;
      case Json::parse_event_t::key: {
        Level& level = open_.back();
        level.name = parsed.get<std::string>();
        if (!level.seen.insert(level.name).second) found_.push_back(path());
        break;
      }
      case Json::parse_event_t::object_end:
        open_.pop_back();
        next_item();
        break;
      case Json::parse_event_t::array_start:
        open_.push_back({{}, {}, 0});
        break;
      case Json::parse_event_t::array_end:
        open_.pop_back();
        next_item();
        break;
      case Json::parse_event_t::value:
        next_item();
        break;
    }
  }
  [[nodiscard]] std::vector<std::string> found() { return std::move(found_); }

 private:
  struct Level {
    std::string name;
    std::set<std::string> seen;
    int index = -1;  ///< Of a list.
  };

  void next_item() {
    if (!open_.empty() && open_.back().index >= 0) ++open_.back().index;
  }
  [[nodiscard]] std::string path() const {
    std::string text;
    for (const Level& level : open_) {
      if (level.index >= 0) {
        text += fmt::format("[{}]", level.index);
      } else {
        text += (text.empty() ? "" : ".") + level.name;
      }
    }
    return text;
  }

  std::vector<Level> open_;
  std::vector<std::string> found_;
};

std::string_view go_name(std::string_view type) {
  if (type == "integer" || type == "number") return "number";
  if (type == "boolean") return "bool";
  return type;
}

/// The last name of a path, without indexes: of "spec.containers[0].name", "name".
std::vector<std::string> names_of(std::string_view path) {
  std::vector<std::string> names;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const std::string_view part = path.substr(0, dot);
    names.emplace_back(part.substr(0, part.find('[')));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return names;
}

/// "Go struct field JobSpec.spec.parallelism". Which struct the field is of is guessed from its place.
std::string go_field(const Resource& resource, std::vector<std::string> names) {
  const bool map = names.size() > 1 && (names[0] == "data" || names[names.size() - 2] == "labels" ||
                                        names[names.size() - 2] == "annotations");
  if (map) names.pop_back();
  std::string owner = resource.kind;
  if (names.size() == 2 && (names[0] == "spec" || names[0] == "status")) {
    owner += names[0] == "spec" ? "Spec" : "Status";
  } else if (names.size() > 2) {
    owner = names[names.size() - 2];
    owner.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(owner.front())));
    if (owner.back() == 's') owner.pop_back();
  }
  return fmt::format("{}.{}", owner, fmt::join(names, "."));
}

std::string go_type(std::string_view wanted, const std::string& name) {
  if (wanted == "integer") return "int32";
  if (wanted == "boolean") return "bool";
  if (wanted != "array") return std::string(wanted);
  std::string item = name;
  item.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(item.front())));
  if (item.back() == 's') item.pop_back();
  return "[]v1." + item;
}

std::string type_complaint(const Resource& resource, const FieldProblem& problem) {
  constexpr std::string_view kMark = " in body must be of type ";
  const std::size_t mark = problem.message.find(kMark);
  if (mark == std::string::npos) return problem.message;
  const std::string_view rest = std::string_view(problem.message).substr(mark + kMark.size());
  const std::string_view wanted = rest.substr(0, rest.find(':'));
  std::string_view found = rest.substr(std::min(rest.find('"') + 1, rest.size()));
  found = found.substr(0, found.rfind('"'));
  if (wanted == "date-time") {
    return fmt::format("parsing time \"{}\" as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"{}\" as \"2006\"",
                       found, found);
  }
  if (wanted == "byte") {
    const auto bad = std::find_if(found.begin(), found.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '+' && c != '/';
    });
    return fmt::format("illegal base64 data at input byte {}", bad - found.begin());
  }
  const std::vector<std::string> names = names_of(problem.path);
  return fmt::format("json: cannot unmarshal {} into Go struct field {} of type {}", go_name(found),
                     go_field(resource, names), go_type(wanted, names.back()));
}

}  // namespace

std::string json_syntax_error(const std::string& text) {
  std::string trimmed = text;
  while (!trimmed.empty() && std::isspace(static_cast<unsigned char>(trimmed.back())) != 0) trimmed.pop_back();
  try {
    const Json parsed = Json::parse(trimmed);
    static_cast<void>(parsed);
  } catch (const Json::parse_error& error) {
    const std::size_t at = error.byte == 0 ? 0 : error.byte - 1;
    if (at >= trimmed.size()) return "unexpected end of JSON input";
    // A misspelt null, true or false is told from other nonsense.
    for (const std::string_view word : {"null", "true", "false"}) {
      const std::size_t begin = trimmed.rfind(word.front(), at);
      if (begin == std::string::npos || at - begin >= word.size() || at == begin) continue;
      if (trimmed.compare(begin, at - begin, word.substr(0, at - begin)) == 0) {
        return fmt::format("invalid character '{}' in literal {} (expecting '{}')", trimmed[at], word,
                           word[at - begin]);
      }
    }
    return fmt::format("invalid character '{}' looking for beginning of value", trimmed[at]);
  }
  return "unexpected end of JSON input";
}

Error unrecognized(const Resource& resource, const std::string& body) {
  const Result<Json> parsed = parse_json(body);
  std::string why;
  std::string shown = body.substr(0, 30);
  if (shown.size() < body.size()) shown += " ...";
  if (body.empty()) shown = "<empty>";
  if (!parsed) {
    why = json_syntax_error(body);
  } else {
    why = fmt::format(
        "json: cannot unmarshal {} into Go value of type struct {{ APIVersion string "
        "\"json:\\\"apiVersion,omitempty\\\"\"; "
        "Kind string \"json:\\\"kind,omitempty\\\"\" }}",
        go_name(json_type(*parsed)));
    shown.clear();  // What does not begin as an object is shown in hexadecimal.
    for (const char each : body.substr(0, 30)) shown += fmt::format("{:02x}", static_cast<unsigned char>(each));
  }
  return bad_request(fmt::format(
      "the object provided is unrecognized (must be of type {}): couldn't get version/kind; json parse error: "
      "{} ({})",
      resource.kind, why, shown));
}

Error undecodable(const Resource& resource, const std::string& why) {
  return bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", resource.kind, resource.version,
                                 resource.kind, why));
}

std::optional<Error> decoding_problem(const Resource& resource, const std::vector<FieldProblem>& problems) {
  for (const FieldProblem& problem : problems) {
    if (problem.reason == "FieldValueTypeInvalid" ||
        problem.message.find(" in body must be of type ") != std::string::npos) {
      return undecodable(resource, type_complaint(resource, problem));
    }
    if (const std::size_t quantity = problem.message.find("quantities must match"); quantity != std::string::npos) {
      return undecodable(resource, problem.message.substr(quantity));
    }
  }
  return std::nullopt;
}

std::vector<std::string> duplicate_fields(const std::string& text) {
  DuplicateFinder finder;
  const auto callback = [&finder](int /*depth*/, Json::parse_event_t event, Json& parsed) {
    finder.take(event, parsed);
    return true;
  };
  if (Json::parse(text, callback, false).is_discarded()) return {};
  return finder.found();
}

std::vector<std::string> prune_metadata(Json& object) {
  std::vector<std::string> dropped;
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return dropped;
  for (auto member = metadata->begin(); member != metadata->end();) {
    if (std::find(kMetadata.begin(), kMetadata.end(), member.key()) != kMetadata.end()) {
      ++member;
      continue;
    }
    dropped.push_back("metadata." + member.key());
    member = metadata->erase(member);
  }
  return dropped;
}

}  // namespace tpuslice::sim
