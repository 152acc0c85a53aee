// YAML to JSON and back, the way Kubernetes manifests use it.
//
// Scalars follow the YAML 1.2 core schema: on, off, yes and no are strings; so is what is quoted. One difference,
// kubectl's: a whole number with leading zeros is octal (defaultMode: 0644). .inf and .nan have no JSON and are
// refused, as are duplicate keys, keys that are not scalars, and tags other than the core schema's. Merge keys ("<<")
// are expanded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/types/json.h"

namespace tpuslice {

struct YamlDocument {
  Json value;
  int line = 1;  ///< The line where its content starts.
};

struct YamlLimits {
  std::size_t bytes = 16U << 20U;  ///< Longest text.
  std::size_t depth = 128;         ///< Deepest nesting.
  std::size_t nodes = 1'000'000;   ///< Most values over all documents, counted after aliases are expanded.
};

/// Every document of the text; empty ones are left out. JSON is YAML too. Errors: InvalidArgument with line and column.
[[nodiscard]] Result<std::vector<YamlDocument>> parse_yaml_documents(std::string_view text,
                                                                     const YamlLimits& limits = {});

/// The one document of the text; null if it is empty. Errors: also for a second document.
[[nodiscard]] Result<Json> parse_yaml(std::string_view text, const YamlLimits& limits = {});

/// Block style, keys sorted, ending in a line end. Strings are quoted exactly when a YAML reader (1.2, or the 1.1 that
/// kubectl is) would not read the bare word as that string; those of several lines are literal blocks. parse_yaml reads
/// the same document back.
[[nodiscard]] std::string to_yaml(const Json& json);

}  // namespace tpuslice
