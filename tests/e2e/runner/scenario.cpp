#include "tests/e2e/runner/scenario.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include <fmt/format.h>

#include "api/base/file.h"
#include "cmd/tpu-slice-sim/cluster/nodes/node_pools.h"
#include "tests/e2e/runner/autoscaler_reader.h"
#include "tests/e2e/runner/step_reader.h"
#include "tests/support/control_plane_files.h"

namespace tpuslice::e2e {
namespace {

namespace fs = std::filesystem;

Status read_distinct_fields(const Members& members, Distinctness& always) {
  ASSIGN_OR_RETURN(const YamlNode fields, members.at("differ in"));
  ASSIGN_OR_RETURN(const auto list, fields.list());
  for (const YamlNode& each : list) {
    ASSIGN_OR_RETURN(const std::string text, each.text());
    ASSIGN_OR_RETURN(FieldPath path, read_path(each, text));
    always.fields.push_back(std::move(path));
  }
  return {};
}

Result<Distinctness> read_always(const YamlNode& node) {
  ASSIGN_OR_RETURN(const Members members, node.members({"of", "differ in", "at most", "except with"}));
  Distinctness always;
  ASSIGN_OR_RETURN(const YamlNode of, members.at("of"));
  ASSIGN_OR_RETURN(always.target, read_target(of));
  if (!always.target.name.empty()) return of.error("expected a list of objects such as pods -l app=train");
  if (const YamlNode* const limit = members.find("at most")) {
    if (members.find("differ in") != nullptr) return node.error("expected one of differ in, at most");
    ASSIGN_OR_RETURN(const auto number, limit->number());
    always.at_most = static_cast<std::size_t>(number);
  } else {
    RETURN_IF_ERROR(read_distinct_fields(members, always));
  }
  if (const YamlNode* const except = members.find("except with")) {
    ASSIGN_OR_RETURN(const std::string text, except->text());
    ASSIGN_OR_RETURN(always.except_with, read_path(*except, text));
  }
  return always;
}

Result<std::vector<std::string>> read_flags(const YamlNode& node) {
  std::vector<std::string> flags;
  ASSIGN_OR_RETURN(const auto list, node.list());
  for (const YamlNode& each : list) {
    ASSIGN_OR_RETURN(const std::string flag, each.text());
    if (!flag.starts_with("--") || flag.find('=') == std::string::npos) {
      return each.error(fmt::format("found \"{}\", expected a flag such as --max-scale-ups=3", flag));
    }
    flags.push_back(flag);
  }
  return flags;
}

Result<Scenario> read_scenario(const YamlNode& root) {
  ASSIGN_OR_RETURN(const Members members,
                   root.members({"name", "description", "pools", "operator flags", "autoscaler", "always", "steps"}));
  Scenario scenario;
  ASSIGN_OR_RETURN(const YamlNode name, members.at("name"));
  ASSIGN_OR_RETURN(scenario.name, name.text());
  ASSIGN_OR_RETURN(const YamlNode description, members.at("description"));
  ASSIGN_OR_RETURN(scenario.description, description.text());
  if (const YamlNode* const pools = members.find("pools")) {
    const auto parsed = sim::parse_node_pools({{"pools", pools->json()}});
    if (!parsed) return with_location(*pools, parsed.error());
    scenario.pools = pools->json();
  }
  if (const YamlNode* const flags = members.find("operator flags")) {
    ASSIGN_OR_RETURN(scenario.operator_flags, read_flags(*flags));
  }
  if (const YamlNode* const autoscaler = members.find("autoscaler")) {
    ASSIGN_OR_RETURN(scenario.autoscaler, read_autoscaler(*autoscaler, scenario.pools));
  }
  if (const YamlNode* const always = members.find("always")) {
    ASSIGN_OR_RETURN(const auto list, always->list());
    for (const YamlNode& each : list) {
      ASSIGN_OR_RETURN(Distinctness one, read_always(each));
      scenario.always.push_back(std::move(one));
    }
  }
  ASSIGN_OR_RETURN(const YamlNode steps, members.at("steps"));
  ASSIGN_OR_RETURN(const auto list, steps.list());
  if (list.empty()) return steps.error("expected at least one step");
  SavedNames names;
  for (const YamlNode& each : list) {
    ASSIGN_OR_RETURN(Step step, read_step(each, names));
    RETURN_IF_ERROR(check_autoscaler_step(each, step, scenario.autoscaler));
    scenario.steps.push_back(std::move(step));
  }
  return scenario;
}

}  // namespace

Result<Scenario> parse_scenario(const std::string& path, const std::string& text) {
  ASSIGN_OR_RETURN(const YamlFile file, YamlFile::parse(path, text));
  ASSIGN_OR_RETURN(Scenario scenario, read_scenario(file.root()));
  if (scenario.name != fs::path(path).stem()) {
    return Error::invalid_argument("{}: name is {}, must be the name of the file", path, scenario.name);
  }
  return scenario;
}

Result<Scenario> load_scenario(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  return parse_scenario(path, text);
}

Result<std::vector<Scenario>> load_scenarios(const std::string& folder) {
  std::error_code problem;
  std::vector<Scenario> all;
  for (const auto& entry : fs::directory_iterator(folder, problem)) {
    if (entry.path().extension() != ".yaml") continue;
    ASSIGN_OR_RETURN(Scenario scenario, load_scenario(entry.path()));
    all.push_back(std::move(scenario));
  }
  if (all.empty()) return Error::invalid_argument("{}: no scenarios found", folder);
  std::sort(all.begin(), all.end(), [](const Scenario& a, const Scenario& b) {
    return std::tie(a.pools, a.operator_flags, a.name) < std::tie(b.pools, b.operator_flags, b.name);
  });
  return all;
}

}  // namespace tpuslice::e2e
