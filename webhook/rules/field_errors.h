// FieldError: what is wrong with one field of an object, and FieldErrors: all of them at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/types/json.h"

namespace tpuslice::webhook {

/// Prints as "spec.workerGroupSpecs[0].numOfHosts: Invalid value: 2: topology 4x4 ... set numOfHosts: 4".
struct FieldError {
  std::string path;    ///< "spec.workerGroupSpecs[0].numOfHosts"
  std::string found;   ///< The value as JSON; empty when the field is missing.
  std::string detail;  ///< What is wrong and which value would be right.
  std::string rule;    ///< Where the rule comes from: "kuberay", "gke", "kubernetes", "tpuslice".

  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const FieldError&, const FieldError&) = default;
};

/// Long values are cut, so that a message stays readable whatever somebody sent.
[[nodiscard]] FieldError invalid_value(std::string path, const Json& found, std::string detail, std::string_view rule);
[[nodiscard]] FieldError required_value(std::string path, std::string detail, std::string_view rule);

/// One message: the errors joined by "; ". "2 errors: [a; b]" for more than one.
[[nodiscard]] std::string to_message(const std::vector<FieldError>& errors);

}  // namespace tpuslice::webhook
