// Expectation: the expected number and fields of objects. No I/O.
#pragma once

#include <map>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "tests/e2e/runner/field_path.h"

namespace tpuslice::e2e {

/// Values that `remember` steps saved, by name.
using SavedValues = std::map<std::string, std::vector<Json>>;

enum class Comparison : std::uint8_t {
  kEquals,       ///< Every object has it, with this value.
  kMatches,      ///< Every object has it, and its text (or JSON) contains a match of the pattern.
  kAbsent,       ///< No object has it.
  kPresent,      ///< Every object has it, with any value.
  kAnyOrder,     ///< The values of all objects together, in any order, are these.
  kAllEqual,     ///< Every object has it, and all values are equal.
  kAllDistinct,  ///< Every object has it, and all values are distinct.
  kNoneOf,       ///< Every object has it, and no value is among the saved ones.
  kSameAs,       ///< The values of all objects together, in any order, are the saved ones.
};

struct FieldCheck {
  FieldPath path;
  Comparison comparison = Comparison::kEquals;
  Json value = {};                      ///< Of kEquals; the list of kAnyOrder; the name of kNoneOf and kSameAs.
  std::regex pattern = {};              ///< Of kMatches.
  std::optional<std::regex> part = {};  ///< Compares only its first group in the value.
};

struct Expectation {
  std::optional<int> count = {};  ///< Absent: at least one.
  std::vector<FieldCheck> fields = {};
};

/// Empty if `objects` are as expected; otherwise the first difference.
[[nodiscard]] std::string mismatch(const Expectation& expected, const std::vector<Json>& objects,
                                   const SavedValues& saved);

}  // namespace tpuslice::e2e
