#include "cmd/kubectl-tpu/completion.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "api/base/strings.h"
#include "cmd/kubectl-tpu/target.h"

namespace tpuslice::plugin {
namespace {

/// Directives of cobra. Source: github.com/spf13/cobra, completions.go.
constexpr std::string_view kDefault = ":0";
constexpr std::string_view kNoFiles = ":4";
constexpr std::string_view kNoSpaceNoFiles = ":6";

void add(std::vector<std::string>& lines, std::string_view begun, const std::string& word,
         const std::string& description) {
  if (!word.starts_with(begun)) return;
  lines.push_back(description.empty() ? word : word + "\t" + description);
}

const CLI::Option* find_option(const CLI::App* command, const std::string& name) {
  for (; command != nullptr; command = command->get_parent()) {
    if (const CLI::Option* const option = command->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

const CLI::App* find_command(const CLI::App& command, const std::string& name) {
  const auto all = command.get_subcommands([](const CLI::App*) { return true; });
  const auto found = std::ranges::find(all, name, [](const CLI::App* each) { return each->get_name(); });
  return found == all.end() ? nullptr : *found;
}

/// The command that the words name, and whether the last of them is an option without its value.
struct Place {
  const CLI::App* command;
  const CLI::Option* open = nullptr;
};

Place place_of(const CLI::App& app, const std::vector<std::string>& words) {
  Place place{&app};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (place.open != nullptr) {
      place.open = nullptr;
      continue;
    }
    const std::string& word = words[i];
    if (word.starts_with("-")) {
      const CLI::Option* const option = find_option(place.command, word);  // Null for --name=value.
      if (option != nullptr && takes_value(*option)) place.open = option;
    } else if (const CLI::App* const next = find_command(*place.command, word)) {
      place.command = next;
    }
  }
  return place;
}

/// The choices that an option's description of its type lists: "{wide,json}".
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return split(std::string_view(type).substr(open + 1, close - open - 1), ',');
}

void add_options(const CLI::App* command, std::string_view begun, std::vector<std::string>& lines) {
  for (; command != nullptr; command = command->get_parent()) {
    for (const CLI::Option* const option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        add(lines, begun, "--" + name, option->get_description());
      }
    }
  }
}

/// Whether the command's first argument is a workload.
bool is_about_workload(const CLI::App& command) { return command.get_option_no_throw("workload") != nullptr; }

}  // namespace

std::vector<std::string> complete(const CLI::App& app, const std::vector<std::string>& words) {
  const std::string begun = words.empty() ? std::string() : words.back();
  const Place place = place_of(app, words);
  std::vector<std::string> lines;
  std::string_view directive = kNoFiles;
  if (place.open != nullptr) {
    for (const std::string& choice : choices_of(*place.open)) add(lines, begun, choice, "");
    if (lines.empty()) directive = kDefault;  // It may be a file.
  } else if (begun.starts_with("-")) {
    add_options(place.command, begun, lines);
  } else {
    for (const CLI::App* const command :
         place.command->get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
      add(lines, begun, command->get_name(), command->get_description());
    }
    for (const CLI::Option* const option : place.command->get_options()) {
      if (!option->get_positional()) continue;
      for (const std::string& choice : choices_of(*option)) add(lines, begun, choice, "");
    }
    if (is_about_workload(*place.command) && begun.find('/') == std::string::npos) {
      for (const ResourceType& type : workload_types()) add(lines, begun, to_lower(type.kind) + "/", "");
      directive = kNoSpaceNoFiles;
    }
    if (place.command->get_option_no_throw("pool") != nullptr) {
      add(lines, begun, "pool/", "");
      directive = kNoSpaceNoFiles;
    }
  }
  lines.emplace_back(directive);
  return lines;
}

}  // namespace tpuslice::plugin
