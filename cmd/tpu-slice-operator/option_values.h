// How the text of an option is taken: checked, and set in OperatorOptions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cmd/tpu-slice-operator/options.h"

namespace tpuslice {

/// Errors: InvalidArgument with what was found and what is expected.
using TakeOption = std::function<Status(OperatorOptions&, const std::string&)>;

/// Any text.
[[nodiscard]] TakeOption text(std::string OperatorOptions::*member);
/// A decimal integer.
[[nodiscard]] TakeOption number(int OperatorOptions::*member, int least, int most);
/// One of the allowed texts.
[[nodiscard]] TakeOption one_of(std::string OperatorOptions::*member, std::vector<std::string> allowed);
/// At most so many namespaces: each has a watch, and a thread, for every type that a kind reads.
inline constexpr std::size_t kMaxWatchedNamespaces = 20;
/// Names of namespaces, separated by commas; none for an empty text.
[[nodiscard]] TakeOption namespaces(std::vector<std::string> OperatorOptions::*member);
/// Either true or false.
[[nodiscard]] TakeOption boolean(bool OperatorOptions::*member);

}  // namespace tpuslice
