#include "tests/conformance/exchange.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "api/base/file.h"
#include "api/types/patch.h"
#include "api/types/yaml.h"

namespace tpuslice::conformance {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::string>& patch_types() {
  static const std::map<std::string, std::string> kTypes = {
      {"json", "application/json-patch+json"},
      {"merge", "application/merge-patch+json"},
      {"strategic", "application/strategic-merge-patch+json"},
      {"apply", "application/apply-patch+yaml"},
  };
  return kTypes;
}

Error malformed(const std::string& what) { return Error::invalid_argument("{}", what); }

Status read_target(Step& step, const std::string& text) {
  std::istringstream words(text);
  if (!(words >> step.method >> step.path)) return malformed("\"" + text + "\" is not a method and path");
  if (step.method == "WATCH") step.kind = Step::Kind::kWatch;
  if (step.kind == Step::Kind::kUntil && !(words >> step.code)) return malformed("\"" + text + "\" has no code");
  return {};
}

Result<Json> body_of(const Json& json, const Json& objects) {
  Json body;
  if (const auto name = json.find("object"); name != json.end()) {
    const auto found = objects.find(name->get<std::string>());
    if (found == objects.end()) return malformed("no object " + name->dump());
    body = *found;
  }
  if (json.contains("body")) body = json.at("body");
  if (json.contains("with")) body = apply_merge_patch(body, json.at("with"));
  return body;
}

Result<Step> read_step(const Json& json, const Json& objects) {
  static const std::set<std::string> kKeys = {"do",   "until", "expire",  "type", "object", "with",
                                              "body", "query", "headers", "save", "show",   "events"};
  for (const auto& [key, value] : json.items()) {
    if (!kKeys.contains(key)) return malformed("unknown key " + key);
  }
  Step step;
  if (json.contains("expire")) {
    step.kind = Step::Kind::kExpire;
    step.path = json.at("expire").get<std::string>();
    return step;
  }
  if (json.contains("until")) step.kind = Step::Kind::kUntil;
  RETURN_IF_ERROR(read_target(step, string_at(json, {json.contains("until") ? "until" : "do"})));
  step.query = json.value("query", Json::object());
  step.headers = json.value("headers", Json::object());
  ASSIGN_OR_RETURN(step.body, body_of(json, objects));
  if (const std::string type = string_at(json, {"type"}); !type.empty()) {
    const auto found = patch_types().find(type);
    if (found == patch_types().end()) return malformed("unknown type " + type);
    step.headers["Content-Type"] = found->second;
  }
  if (!step.body.is_null() && !step.headers.contains("Content-Type")) {
    step.headers["Content-Type"] = "application/json";
  }
  if (json.contains("save")) step.save = json.at("save").get<std::map<std::string, std::string>>();
  if (json.contains("show")) step.show = json.at("show").get<std::vector<std::string>>();
  step.events = json.value("events", std::size_t{0});
  return step;
}

/// A namespace name: lower case, with dashes, at most 50 characters.
std::string slug(const std::string& text) {
  std::string name;
  for (const char each : text) {
    const auto c = static_cast<unsigned char>(each);
    if (std::isalnum(c) != 0) {
      name += static_cast<char>(std::tolower(c));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  name = name.substr(0, 50);
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

Result<Exchange> read_exchange(const Json& json, const Json& objects, const std::string& area) {
  Exchange exchange;
  exchange.area = area;
  exchange.name = string_at(json, {"name"});
  if (exchange.name.empty()) return malformed("an exchange has no name");
  exchange.space = slug(exchange.name);
  for (const Json& each : array_at(json, {"steps"})) {
    Result<Step> step = read_step(each, objects);
    if (!step) return step.error().within(fmt::format("{}, step {}", exchange.name, exchange.steps.size()));
    exchange.steps.push_back(*std::move(step));
  }
  if (exchange.steps.empty()) return malformed(exchange.name + " has no steps");
  for (const Json& each : array_at(json, {"known"})) {
    exchange.known.push_back({string_at(each, {"at"}), string_at(each, {"why"})});
    if (exchange.known.back().at.empty() || exchange.known.back().why.empty()) {
      return malformed(exchange.name + ": a known difference has a place and a reason");
    }
  }
  return exchange;
}

Status read_exchanges(const fs::path& path, std::vector<Exchange>& exchanges) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  ASSIGN_OR_RETURN(const Json json, parse_yaml(text));
  const Json objects = json.value("objects", Json::object());
  for (const Json& each : array_at(json, {"exchanges"})) {
    ASSIGN_OR_RETURN(Exchange exchange, read_exchange(each, objects, path.stem().string()));
    exchanges.push_back(std::move(exchange));
  }
  return {};
}

}  // namespace

Result<std::vector<Exchange>> load_exchanges(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Exchange> exchanges;
  for (const fs::path& file : files) {
    if (const Status read = read_exchanges(file, exchanges); !read) return read.error().within(file.string());
  }
  std::set<std::string> spaces;
  for (const Exchange& each : exchanges) {
    if (!spaces.insert(each.space).second) return malformed(each.id() + ": the name is another's too");
  }
  return exchanges;
}

Json value_at(const Json& json, std::string_view path) {
  if (path.empty()) return json;
  const std::size_t dot = std::min(path.find('.'), path.size());
  std::string name(path.substr(0, dot));
  const std::string_view rest = path.substr(std::min(dot + 1, path.size()));
  const bool each = name.ends_with("[]");
  if (each) name.resize(name.size() - 2);
  const Json* found = find_path(json, {name});
  if (found == nullptr) return nullptr;
  if (!each) return value_at(*found, rest);
  Json values = Json::array();
  for (const Json& item : *found) values.push_back(value_at(item, rest));
  return values;
}

}  // namespace tpuslice::conformance
