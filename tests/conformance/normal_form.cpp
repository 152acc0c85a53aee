#include "tests/conformance/normal_form.h"

#include <algorithm>
#include <cctype>
#include <regex>

#include <fmt/format.h>

namespace tpuslice::conformance {
namespace {

constexpr const char* kShownVersion = "metadata.resourceVersion";

/// The whole body, or the members in `show`.
bool is_collection(const Json& object) {
  for (const auto& [key, value] : object.items()) {
    for (const char* part : {"items", "rows", "columnDefinitions"}) {
      if (key.starts_with(part)) return true;
    }
  }
  const std::string kind = string_at(object, {"kind"});
  return kind.ends_with("List") || kind == "Table";
}

class Normaliser {
 public:
  Normaliser(std::string space, const std::set<std::string>& prefixes) : space_(std::move(space)) {
    for (const std::string& prefix : prefixes) {
      std::string escaped;
      for (const char each : prefix)
        escaped +=
            std::isalnum(static_cast<unsigned char>(each)) != 0 ? std::string(1, each) : std::string("\\") + each;
      generated_.emplace_back("\\b(" + escaped + ")[a-z0-9]{5}\\b");
    }
  }

  /// First pass: collects resourceVersions.
  void collect(const Json& json) {
    if (json.is_array()) {
      for (const Json& each : json) collect(each);
    }
    if (!json.is_object() || string_at(json, {"type"}) == "BOOKMARK") return;
    if (const auto meta = json.find("metadata"); meta != json.end() && meta->is_object() && !is_collection(json)) {
      note_version(string_at(*meta, {"resourceVersion"}));
    }
    if (!is_collection(json)) note_version(string_at(json, {kShownVersion}));
    for (const auto& [key, value] : json.items()) collect(value);
  }

  [[nodiscard]] Json run(const Json& json, const std::string& key = {}, bool versions_move = false) {
    if (json.is_object()) return run_object(json, versions_move);
    if (json.is_array()) {
      Json list = Json::array();
      for (const Json& each : json) list.push_back(run(each, key));
      return list;
    }
    if (json.is_number() && (key == "nodePort" || key == "healthCheckNodePort") && json > Json(0)) return "<number>";
    if (!json.is_string()) return json;
    const std::string& text = json.get_ref<const std::string&>();
    if ((key == "resourceVersion" || key == kShownVersion) && !text.empty()) {
      const auto found = rank_of(text);
      return versions_move || found == 0 ? "<rv>" : fmt::format("<rv {}>", found);
    }
    if (key == "continue" && !text.empty()) return "<continue>";
    return replaced(text);
  }

 private:
  Json run_object(const Json& json, bool versions_move) {
    const bool bookmark = string_at(json, {"type"}) == "BOOKMARK";
    Json out = Json::object();
    for (const auto& [key, value] : json.items()) {
      const bool moves = (key == "metadata" && (is_collection(json) || versions_move)) || (key == "object" && bookmark);
      const bool version = key == "resourceVersion" || key == kShownVersion;
      out[replaced(key)] = run(value, key, moves || (version && (versions_move || is_collection(json))));
    }
    return out;
  }

  void note_version(const std::string& text) {
    if (!text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      versions_.insert(std::stoull(text));
    }
  }

  [[nodiscard]] std::size_t rank_of(const std::string& text) const {
    if (text.find_first_not_of("0123456789") != std::string::npos) return 0;
    const auto found = versions_.find(std::stoull(text));
    return found == versions_.end() ? 0 : static_cast<std::size_t>(std::distance(versions_.begin(), found)) + 1;
  }

  [[nodiscard]] std::string replaced(std::string text) {
    static const std::regex kTime(R"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000 UTC))");
    static const std::regex kUid("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
    static const std::regex kVersion(R"re(([rR]esource ?[vV]ersion[^"0-9]{0,24}: |current: |\()\d+(?=[,)]|$))re");
    static const std::regex kAddress(R"(\b10\.\d+\.\d+\.\d+\b)");
    static const std::regex kVolume(R"((kube-api-access-)[a-z0-9]{5}\b)");
    static const std::regex kKey(R"(Key: /registry/[^,]*,)");
    static const std::regex kPatched(R"re(Invalid value: "\{\\".*\}": )re");
    static const std::regex kAge(R"(\d+s)");
    if (std::regex_match(text, kAge)) return "<age>";
    text = std::regex_replace(text, kTime, "<time>");
    text = std::regex_replace(text, kVersion, "$1<rv>");
    text = std::regex_replace(text, kKey, "Key: <key>,");
    text = std::regex_replace(text, kPatched, "Invalid value: <patched>: ");
    text = std::regex_replace(text, kAddress, "<ip>");
    text = std::regex_replace(text, kVolume, "$1<random>");
    for (const std::regex& each : generated_) text = std::regex_replace(text, each, "$1<random>");
    replace_all(text, space_, "<ns>");
    std::smatch match;
    while (std::regex_search(text, match, kUid)) {
      const auto [entry, added] = uids_.emplace(match.str(), uids_.size() + 1);
      text.replace(static_cast<std::size_t>(match.position()), match.str().size(),
                   fmt::format("<uid {}>", entry->second));
    }
    return text;
  }

  static void replace_all(std::string& text, const std::string& what, const std::string& with) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
      text.replace(at, what.size(), with);
    }
  }

  const std::string space_;
  std::set<unsigned long long> versions_;
  std::vector<std::regex> generated_;
  std::map<std::string, std::size_t> uids_;
};

}  // namespace

Json normal_form(const Json& replies, const std::string& space, const std::set<std::string>& prefixes) {
  Normaliser normaliser(space, prefixes);
  normaliser.collect(replies);
  return normaliser.run(replies);
}

}  // namespace tpuslice::conformance
