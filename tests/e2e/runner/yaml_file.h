// YamlFile: strict reading of a YAML file; errors have file and line.
//
//   ASSIGN_OR_RETURN(const YamlFile file, YamlFile::read("scenarios/tutorial.yaml"));
//   ASSIGN_OR_RETURN(const Members root, file.root().members({"name", "steps"}));
//   ASSIGN_OR_RETURN(const std::string name, root.at("name").text());
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/types/json.h"

namespace tpuslice::e2e {

class Members;

/// A value and its location. Refers to the YamlFile. All errors are InvalidArgument.
class YamlNode {
 public:
  YamlNode(const std::map<std::string, int>& lines, const std::string& path, std::string pointer, const Json& json)
      : lines_(&lines), path_(&path), pointer_(std::move(pointer)), json_(&json) {}

  [[nodiscard]] const Json& json() const { return *json_; }
  [[nodiscard]] std::string where() const;  ///< "scenarios/tutorial.yaml:12"
  [[nodiscard]] Error error(const std::string& problem) const;

  [[nodiscard]] Result<std::string> text() const;  ///< A string that is not empty.
  [[nodiscard]] Result<int> number() const;        ///< 0 or more.
  [[nodiscard]] Result<bool> boolean() const;
  [[nodiscard]] Result<Duration> duration() const;  ///< "500ms", "30s", "2m"
  [[nodiscard]] Result<std::regex> pattern() const;
  [[nodiscard]] Result<std::string> one_of(std::initializer_list<std::string_view> words) const;
  [[nodiscard]] Result<std::vector<YamlNode>> list() const;
  /// The members of a mapping. Errors: also for a key that is not in `known`.
  [[nodiscard]] Result<Members> members(const std::vector<std::string_view>& known) const;
  /// The members of a mapping with any keys, sorted by key.
  [[nodiscard]] Result<std::vector<std::pair<std::string, YamlNode>>> entries() const;

 private:
  [[nodiscard]] Error expected(const std::string& what) const;
  [[nodiscard]] YamlNode child(const std::string& name, const Json& json) const;

  const std::map<std::string, int>* lines_;
  const std::string* path_;
  std::string pointer_;
  const Json* json_;
};

/// The members of a mapping.
class Members {
 public:
  Members(YamlNode owner, std::map<std::string, YamlNode, std::less<>> nodes)
      : owner_(std::move(owner)), nodes_(std::move(nodes)) {}

  [[nodiscard]] const YamlNode* find(std::string_view key) const;
  /// Errors: for a key that is missing.
  [[nodiscard]] Result<YamlNode> at(std::string_view key) const;
  [[nodiscard]] const YamlNode& owner() const { return owner_; }

 private:
  YamlNode owner_;
  std::map<std::string, YamlNode, std::less<>> nodes_;
};

class YamlFile {
 public:
  /// Errors: InvalidArgument.
  static Result<YamlFile> read(const std::string& path);
  static Result<YamlFile> parse(std::string path, const std::string& text);

  [[nodiscard]] YamlNode root() const { return {*lines_, *path_, "", *json_}; }

 private:
  YamlFile() = default;

  // On the heap, so that nodes outlive a move of the file.
  std::unique_ptr<std::string> path_;
  std::unique_ptr<Json> json_;
  std::unique_ptr<std::map<std::string, int>> lines_;  ///< By JSON pointer; for a member, the line of its key.
};

}  // namespace tpuslice::e2e
