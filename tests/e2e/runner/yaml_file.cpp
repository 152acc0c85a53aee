#include "tests/e2e/runner/yaml_file.h"

#include <charconv>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "api/base/file.h"
#include "api/types/yaml.h"
#include "tests/support/control_plane_files.h"

namespace tpuslice::e2e {
namespace {

void collect_lines(const YAML::Node& node, const std::string& pointer, std::map<std::string, int>& lines) {
  if (node.IsMap()) {
    for (const auto& entry : node) {
      const std::string below = pointer + "/" + entry.first.as<std::string>();
      lines[below] = entry.first.Mark().line + 1;
      collect_lines(entry.second, below, lines);
    }
  } else if (node.IsSequence()) {
    std::size_t index = 0;
    for (const auto& item : node) {
      const std::string below = fmt::format("{}/{}", pointer, index++);
      lines[below] = item.Mark().line + 1;
      collect_lines(item, below, lines);
    }
  }
}

}  // namespace

std::string YamlNode::where() const {
  const auto found = lines_->find(pointer_);
  return fmt::format("{}:{}", *path_, found == lines_->end() ? 1 : found->second);
}

Error YamlNode::error(const std::string& problem) const { return Error::invalid_argument("{}: {}", where(), problem); }

Error YamlNode::expected(const std::string& what) const {
  return error(fmt::format("found {}, expected {}", json_->dump(), what));
}

YamlNode YamlNode::child(const std::string& name, const Json& json) const {
  return {*lines_, *path_, pointer_ + "/" + name, json};
}

Result<std::string> YamlNode::text() const {
  if (!json_->is_string() || json_->get_ref<const std::string&>().empty()) return expected("a string");
  return json_->get<std::string>();
}

Result<int> YamlNode::number() const {
  if (!json_->is_number_integer() || json_->get<std::int64_t>() < 0) return expected("an integer from 0");
  return json_->get<int>();
}

Result<bool> YamlNode::boolean() const {
  if (!json_->is_boolean()) return expected("true or false");
  return json_->get<bool>();
}

Result<Duration> YamlNode::duration() const {
  const std::string word = json_->is_string() ? json_->get<std::string>() : std::string();
  int amount = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), amount);
  const std::string unit(end, word.data() + word.size());
  if (problem != std::errc() || amount <= 0) return expected("a duration such as 30s");
  if (unit == "ms") return Duration(std::chrono::milliseconds(amount));
  if (unit == "s") return Duration(std::chrono::seconds(amount));
  if (unit == "m") return Duration(std::chrono::minutes(amount));
  return expected("a duration in ms, s or m");
}

Result<std::regex> YamlNode::pattern() const {
  ASSIGN_OR_RETURN(const std::string expression, text());
  try {
    return std::regex(expression);
  } catch (const std::regex_error& problem) {
    return error(fmt::format("{} is not a regular expression: {}", expression, problem.what()));
  }
}

Result<std::string> YamlNode::one_of(std::initializer_list<std::string_view> words) const {
  std::string all;
  for (const std::string_view word : words) {
    if (json_->is_string() && json_->get_ref<const std::string&>() == word) return std::string(word);
    all += (all.empty() ? "" : ", ") + std::string(word);
  }
  return expected("one of " + all);
}

Result<std::vector<YamlNode>> YamlNode::list() const {
  if (!json_->is_array()) return expected("a list");
  std::vector<YamlNode> out;
  for (std::size_t i = 0; i < json_->size(); ++i) out.push_back(child(std::to_string(i), (*json_)[i]));
  return out;
}

Result<std::vector<std::pair<std::string, YamlNode>>> YamlNode::entries() const {
  if (!json_->is_object()) return expected("a mapping");
  std::vector<std::pair<std::string, YamlNode>> out;
  for (const auto& [key, value] : json_->items()) out.emplace_back(key, child(key, value));
  return out;
}

Result<Members> YamlNode::members(const std::vector<std::string_view>& known) const {
  ASSIGN_OR_RETURN(const auto all, entries());
  std::map<std::string, YamlNode, std::less<>> nodes;
  for (const auto& [key, node] : all) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      std::string list;
      for (const std::string_view each : known) list += (list.empty() ? "" : ", ") + std::string(each);
      return node.error(fmt::format("unknown key \"{}\", expected one of {}", key, list));
    }
    nodes.emplace(key, node);
  }
  return Members(*this, std::move(nodes));
}

const YamlNode* Members::find(std::string_view key) const {
  const auto found = nodes_.find(key);
  return found == nodes_.end() ? nullptr : &found->second;
}

Result<YamlNode> Members::at(std::string_view key) const {
  if (const YamlNode* const node = find(key)) return *node;
  return owner_.error(fmt::format("\"{}\" is missing", key));
}

Result<YamlFile> YamlFile::read(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  return parse(path, text);
}

Result<YamlFile> YamlFile::parse(std::string path, const std::string& text) {
  auto json = parse_yaml(text);
  if (!json) return json.error().within(path);
  YamlFile file;
  file.path_ = std::make_unique<std::string>(std::move(path));
  file.json_ = std::make_unique<Json>(std::move(*json));
  file.lines_ = std::make_unique<std::map<std::string, int>>();
  // parse_yaml() accepted it, so this does not throw.
  collect_lines(YAML::Load(text), "", *file.lines_);
  return file;
}

}  // namespace tpuslice::e2e
