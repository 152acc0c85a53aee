// Completion of command lines, by kubectl's protocol for plugins: kubectl runs kubectl_complete-tpu with the words so
// far.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace tpuslice::plugin {

/// The lines to print for `words`, the last of which is to be completed: "NAME\tDESCRIPTION" for each candidate, and
/// the directive of cobra, ":4" (no file names) or ":0". Pure.
///
/// Commands are completed by their names; words that begin with '-' by the options of the command and its parents;
/// values of options by the choices that the option has.
[[nodiscard]] std::vector<std::string> complete(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace tpuslice::plugin
