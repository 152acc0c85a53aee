#include "tests/conformance/player.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "api/base/file.h"
#include "api/base/percent.h"
#include "api/base/strings.h"
#include "api/http/url.h"
#include "api/types/utf8.h"
#include "api/types/yaml.h"
#include "tests/conformance/normal_form.h"

namespace tpuslice::conformance {
namespace {

namespace fs = std::filesystem;

constexpr Duration kDeadline = std::chrono::seconds(30);
constexpr const char* kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

class Player {
 public:
  Player(World& world, std::string space) : world_(world), space_(std::move(space)) { vars_["ns"] = space_; }

  Status make_space() {
    const Json body = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", space_}}}};
    const http::Request request{"POST", "/api/v1/namespaces", {{"Content-Type", "application/json"}}, body.dump()};
    ASSIGN_OR_RETURN(const http::Response made, world_.transport().call(request, kDeadline, {}));
    if (made.status != 201) return Error::internal("namespace {}: {}", space_, made.body);
    RETURN_IF_ERROR(until("/api/v1/namespaces/" + space_ + "/serviceaccounts/default", 200));
    return until("/api/v1/namespaces/" + space_ + "/configmaps/kube-root-ca.crt", 200);
  }

  /// Errors: Timeout.
  Status until(const std::string& target, int code) {
    for (int attempt = 0; attempt < world_.attempts(); ++attempt) {
      ASSIGN_OR_RETURN(const http::Response seen, world_.transport().call({"GET", target, {}, {}}, kDeadline, {}));
      if (seen.status == code) return {};
      world_.pause();
    }
    return Error::of(ErrorCode::kTimeout, "GET {} does not come to answer {}", target, code);
  }

  [[nodiscard]] const std::set<std::string>& prefixes() const { return prefixes_; }

  Status run(const Step& step, Json& replies) {
    switch (step.kind) {
      case Step::Kind::kUntil:
        return until(target_of(step), step.code);
      case Step::Kind::kExpire:
        world_.expire();
        return until(fmt::format("/api/v1/namespaces/{}/configmaps?resourceVersion={}&resourceVersionMatch=Exact",
                                 space_, filled(step.path)),
                     410);
      case Step::Kind::kWatch:
        return watch(step, replies);
      case Step::Kind::kRequest:
        return request(step, replies);
    }
    return {};
  }

 private:
  std::string filled(std::string text) const {
    // Longer names first, so that $rv2 is not read as $rv.
    for (auto it = vars_.rbegin(); it != vars_.rend(); ++it) {
      const std::string name = "$" + it->first;
      for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + it->second.size())) {
        text.replace(at, name.size(), it->second);
      }
    }
    return text;
  }

  Json filled(const Json& json) const {
    if (json.is_string()) return filled(json.get<std::string>());
    if (!json.is_structured()) return json;
    Json made = json.is_object() ? Json::object() : Json::array();
    if (json.is_array()) {
      for (const Json& each : json) made.push_back(filled(each));
    } else {
      for (const auto& [key, value] : json.items()) made[filled(key)] = filled(value);
    }
    return made;
  }

  std::string target_of(const Step& step) const {
    std::string target = filled(step.path);
    char separator = target.find('?') == std::string::npos ? '?' : '&';
    for (const auto& [name, value] : step.query.items()) {
      const std::string text = value.is_string() ? filled(value.get<std::string>()) : value.dump();
      target += fmt::format("{}{}={}", separator, name, percent_encode(text));
      separator = '&';
    }
    return target;
  }

  http::Request request_of(const Step& step) {
    http::Request made{step.method, target_of(step), {{"User-Agent", "conformance"}}, {}};
    if (step.kind == Step::Kind::kWatch) {
      made.method = "GET";
      made.target += step.query.empty() ? "?watch=true" : "&watch=true";
    }
    for (const auto& [name, value] : step.headers.items()) made.headers.emplace_back(name, value.get<std::string>());
    if (!step.body.is_null()) {
      const Json body = filled(step.body);
      if (const std::string prefix = string_at(body, {"metadata", "generateName"}); !prefix.empty()) {
        prefixes_.insert(prefix);
      }
      made.body = body.is_string() ? body.get<std::string>() : body.dump();
    }
    return made;
  }

  static Json headers_of(const http::Headers& headers) {
    Json shown = Json::object();
    for (const auto& [name, value] : headers) {
      for (const char* wanted : {"Content-Type", "Warning", "Retry-After"}) {
        if (!equals_ignoring_case(name, wanted)) continue;
        const std::string before = string_at(shown, {wanted});
        shown[wanted] = before.empty() ? value : before + ", " + value;
      }
    }
    return shown;
  }

  static Json shown_of(const Json& body, const Step& step) {
    if (step.show) {
      Json shown = Json::object();
      for (const std::string& path : *step.show) shown[path] = value_at(body, path);
      return shown;
    }
    Json shown = body;
    drop_owners(shown);
    return shown;
  }

  /// managedFields are compared only if shown.
  static void drop_owners(Json& json) {
    if (json.is_object() && json.contains("metadata") && json["metadata"].is_object()) {
      json["metadata"].erase("managedFields");
    }
    if (!json.is_structured()) return;
    for (Json& each : json) drop_owners(each);
  }

  void save(const Step& step, const Json& body) {
    for (const auto& [name, path] : step.save) {
      const Json value = value_at(body, path);
      vars_[name] = value.is_string() ? value.get<std::string>() : value.dump();
    }
  }

  Status request(const Step& step, Json& replies) {
    ASSIGN_OR_RETURN(const http::Response response, world_.transport().call(request_of(step), kDeadline, {}));
    Result<Json> body = parse_json(response.body);
    if (!body) body = Json(is_utf8(response.body) ? response.body : "<binary>");
    save(step, *body);
    const bool refused = response.status >= 400;
    replies.push_back({{"code", response.status},
                       {"headers", headers_of(response.headers)},
                       {"body", refused && !step.show ? *body : shown_of(*body, step)}});
    return {};
  }

  Status watch(const Step& step, Json& replies) {
    ASSIGN_OR_RETURN(const auto stream, world_.transport().open(request_of(step), kDeadline, {}));
    Json reply = {{"code", stream->status()}, {"headers", headers_of(stream->headers())}};
    std::string text;
    Json events = Json::array();
    for (int attempt = 0; attempt < world_.attempts(); ++attempt) {
      const Result<std::string> more = stream->read(std::chrono::milliseconds(0), {});
      if (!more && !http::is_end_of_stream(more.error())) return more.error();
      if (more) text += *more;
      if (stream->status() == 200) take_events(step, text, events);
      if (!more || (step.events > 0 && events.size() >= step.events)) {
        reply[stream->status() == 200 ? "events" : "body"] = stream->status() == 200 ? events : parsed(text);
        replies.push_back(std::move(reply));
        return {};
      }
      if (more->empty()) world_.pause();
    }
    return Error::of(ErrorCode::kTimeout, "{} of {} events came: {}", events.size(), step.events, events.dump());
  }

  static Json parsed(const std::string& text) {
    const Result<Json> json = parse_json(text);
    return json ? *json : Json(text);
  }

  void take_events(const Step& step, std::string& text, Json& events) {
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      const Json event = parsed(text.substr(0, end));
      text.erase(0, end + 1);
      if (step.events > 0 && events.size() >= step.events) return;
      const Json object = event.value("object", Json());
      save(step, object);
      const std::string type = string_at(event, {"type"});
      events.push_back({{"type", type}, {"object", type == "ERROR" ? object : shown_of(object, step)}});
    }
  }

  World& world_;
  const std::string space_;
  std::map<std::string, std::string> vars_;
  std::set<std::string> prefixes_;
};

/// Calls `found` with the path and both values of every difference.
template <typename Found>
void differences(const Json& a, const Json& b, const std::string& at, const Found& found) {
  if (a == b) return;
  if (a.is_object() && b.is_object()) {
    for (const auto& [key, value] : a.items()) {
      const Json other = b.value(key, Json());
      if (!b.contains(key)) {
        found(at + "/" + key, &value, nullptr);
      } else {
        differences(value, other, at + "/" + key, found);
      }
    }
    for (const auto& [key, value] : b.items()) {
      if (!a.contains(key)) found(at + "/" + key, nullptr, &value);
    }
    return;
  }
  if (a.is_array() && b.is_array() && a.size() == b.size()) {
    for (std::size_t i = 0; i < a.size(); ++i) differences(a[i], b[i], fmt::format("{}/{}", at, i), found);
    return;
  }
  found(at, &a, &b);
}

std::string safe_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

bool lies_in(const std::string& place, const std::string& of) { return place == of || place.starts_with(of + "/"); }

}  // namespace

Status set_up(World& world) {
  Player player(world, "default");
  std::vector<fs::path> files;
  for (const char* folder : {"deploy/crds", "tests/conformance/crds"}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    }
  }
  for (const fs::path& file : files) {
    ASSIGN_OR_RETURN(const std::string text, read_file(file));
    ASSIGN_OR_RETURN(const auto documents, parse_yaml_documents(text));
    for (const YamlDocument& document : documents) {
      const Json& crd = document.value;
      const http::Request request{"POST", kDefinitions, {{"Content-Type", "application/json"}}, crd.dump()};
      ASSIGN_OR_RETURN(const http::Response made, world.transport().call(request, kDeadline, {}));
      if (made.status != 201) return Error::internal("{}: {}", file.string(), made.body);
      for (const Json& version : array_at(crd, {"spec", "versions"})) {
        RETURN_IF_ERROR(
            player.until(fmt::format("/apis/{}/{}/{}", string_at(crd, {"spec", "group"}), string_at(version, {"name"}),
                                     string_at(crd, {"spec", "names", "plural"})),
                         200));
      }
    }
  }
  return {};
}

Result<Json> play(World& world, const Exchange& exchange) {
  Player player(world, exchange.space);
  RETURN_IF_ERROR(player.make_space());
  Json replies = Json::array();
  for (std::size_t i = 0; i < exchange.steps.size(); ++i) {
    if (const Status status = player.run(exchange.steps[i], replies); !status) {
      return status.error().within(fmt::format("{}, step {}", exchange.id(), i));
    }
  }
  return normal_form(replies, exchange.space, player.prefixes());
}

Verdict compare(const Exchange& exchange, const Json& recorded, const Json& simulated) {
  Verdict verdict;
  std::vector<bool> seen(exchange.known.size());
  differences(recorded, simulated, "", [&](const std::string& place, const Json* wanted, const Json* found) {
    bool known = false;
    for (std::size_t i = 0; i < exchange.known.size(); ++i) {
      if (!lies_in(place, exchange.known[i].at)) continue;
      seen[i] = true;
      known = true;
    }
    if (known) return;
    const auto shown = [](const Json* json) { return json == nullptr ? std::string("nothing") : safe_text(*json); };
    verdict.differences.push_back(
        fmt::format("{}: recorded {}\n      simulated {}", place, shown(wanted), shown(found)));
  });
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i]) verdict.differences.push_back(exchange.known[i].at + ": is listed as known, but agrees");
  }
  if (!verdict.differences.empty()) {
    verdict.kind = Verdict::Kind::kDiffered;
  } else if (!exchange.known.empty()) {
    verdict.kind = Verdict::Kind::kKnown;
  }
  return verdict;
}

Json load_recordings(const std::string& folder, const std::string& area) {
  const std::string text = read_file(fs::path(folder) / (area + ".json")).value_or("");
  const Result<Json> json = parse_json(text);
  return json ? *json : Json::object();
}

}  // namespace tpuslice::conformance
