#include "cmd/tpu-slice-sim/server/media_type.h"

#include <map>
#include <string>
#include <vector>

#include "api/base/strings.h"

namespace tpuslice::sim {
namespace {

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = std::min(text.find(at), text.size());
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

struct MediaType {
  std::string name;
  std::map<std::string, std::string> parameters;
};

std::vector<MediaType> accepted(const http::Headers& headers) {
  std::vector<MediaType> types;
  const std::string* header = http::find_header(headers, "Accept");
  if (header == nullptr || header->empty()) return {{"application/json", {}}};
  for (const std::string& clause : split(*header, ',')) {
    MediaType type;
    const std::vector<std::string> parts = split(clause, ';');
    type.name = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const std::size_t equals = parts[i].find('=');
      if (equals != std::string::npos) type.parameters[parts[i].substr(0, equals)] = parts[i].substr(equals + 1);
    }
    types.push_back(std::move(type));
  }
  return types;
}

constexpr std::string_view kAccepted = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

bool is_json(const std::string& name) { return name == "application/json" || name == "application/*" || name == "*/*"; }

}  // namespace

Result<Form> negotiate(const http::Headers& headers, bool custom) {
  bool known = false;
  for (const MediaType& type : accepted(headers)) {
    if (!is_json(type.name)) continue;
    known = true;
    const auto as = type.parameters.find("as");
    if (as == type.parameters.end()) return Form::kObject;
    const auto version = type.parameters.find("v");
    if (version == type.parameters.end() || (version->second != "v1" && version->second != "v1beta1")) continue;
    if (as->second == "Table") return Form::kTable;
    if (as->second == "PartialObjectMetadata") return Form::kMetadata;
    if (as->second == "PartialObjectMetadataList") return Form::kMetadataList;
  }
  const std::string_view json_only = "application/json, application/yaml";
  const std::string_view types = custom ? json_only : kAccepted;
  if (known) {
    return Error::unsupported("only the following media types are accepted: {}", types).with_reason("NotAcceptable");
  }
  return Error::unsupported(
             "406: Not Acceptable\n\nAvailable representations: {}, application/json;stream=watch, "
             "application/vnd.kubernetes.protobuf;stream=watch",
             types)
      .with_reason("NotAcceptable");
}

bool wants_aggregated_discovery(const http::Headers& headers) {
  for (const MediaType& type : accepted(headers)) {
    const auto as = type.parameters.find("as");
    const auto version = type.parameters.find("v");
    if (is_json(type.name) && as != type.parameters.end() && as->second == "APIGroupDiscoveryList" &&
        version != type.parameters.end() && version->second == "v2") {
      return true;
    }
  }
  return false;
}

std::string content_type(const http::Headers& headers) {
  const std::string* header = http::find_header(headers, "Content-Type");
  if (header == nullptr || header->empty()) return "application/json";
  return to_lower(trimmed(std::string_view(*header).substr(0, header->find(';'))));
}

}  // namespace tpuslice::sim
