#include "cmd/tpu-slice-sim/schema/decode.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "cmd/tpu-slice-sim/resources/api_errors.h"

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

/// Finds duplicate members while parsing.
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
    int index = -1;  ///< Index in a list.
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

}  // namespace

Error unrecognized(const Resource& resource, const std::string& body) {
  const Result<Json> parsed = parse_json(body);
  return bad_request(fmt::format("the object provided is unrecognized (must be of type {}): {}", resource.kind,
                                 parsed ? "not an object" : parsed.error().message()));
}

Error undecodable(const Resource& resource, const std::string& why) {
  return bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", resource.kind, resource.version,
                                 resource.kind, why));
}

std::optional<Error> decoding_problem(const Resource& resource, const std::vector<FieldProblem>& problems) {
  for (const FieldProblem& problem : problems) {
    if (problem.reason == "FieldValueTypeInvalid") {
      return undecodable(resource, fmt::format("{}: {}", problem.path, problem.message));
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
