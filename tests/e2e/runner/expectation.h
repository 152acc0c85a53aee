// What is expected of objects, held against what was found. No I/O.
#pragma once

#include <map>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "tests/e2e/runner/field_path.h"

namespace tpuslice::e2e {

/// Values of a field that a step has set aside, by the name it gave them.
using Memory = std::map<std::string, std::vector<Json>>;

enum class Comparison : std::uint8_t {
  kEquals,       ///< Every object has it, with this value.
  kMatches,      ///< Every object has it, as a text (or printed as JSON) in which the pattern is found.
  kAbsent,       ///< No object has it.
  kPresent,      ///< Every object has it, whatever it is.
  kAnyOrder,     ///< The values of all objects together, in any order, are these.
  kAllEqual,     ///< Every object has it, and all have the same.
  kAllDistinct,  ///< Every object has it, and no two have the same.
  kNoneOf,       ///< Every object has it, and none of the values is remembered.
  kSameAs,       ///< The values of all objects together, in any order, are those that are remembered.
};

struct FieldCheck {
  FieldPath path;
  Comparison comparison = Comparison::kEquals;
  Json value = {};                      ///< Of kEquals; the list of kAnyOrder; the name of kNoneOf and kSameAs.
  std::regex pattern = {};              ///< Of kMatches.
  std::optional<std::regex> part = {};  ///< Only what its first group finds in the value is compared.
};

struct Expectation {
  std::optional<int> count = {};  ///< Without: at least one.
  std::vector<FieldCheck> fields = {};
};

/// Empty if `objects` are as expected; else what is not, as found and expected.
[[nodiscard]] std::string mismatch(const Expectation& expected, const std::vector<Json>& objects, const Memory& memory);

}  // namespace tpuslice::e2e
