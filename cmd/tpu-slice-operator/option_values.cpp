#include "cmd/tpu-slice-operator/option_values.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/strings.h"
#include "api/types/validation_names.h"

namespace tpuslice {

TakeOption text(std::string OperatorOptions::*member) {
  return [member](OperatorOptions& options, const std::string& value) {
    options.*member = value;
    return Status();
  };
}

TakeOption number(int OperatorOptions::*member, int least, int most) {
  return [=](OperatorOptions& options, const std::string& value) -> Status {
    const auto parsed = parse_integer<int>(value);
    if (!parsed || *parsed < least || *parsed > most) {
      return Error::invalid_argument("found \"{}\", expected a number from {} to {}", value, least, most);
    }
    options.*member = *parsed;
    return {};
  };
}

TakeOption one_of(std::string OperatorOptions::*member, std::vector<std::string> allowed) {
  return [member, allowed = std::move(allowed)](OperatorOptions& options, const std::string& value) -> Status {
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
      return Error::invalid_argument("found \"{}\", expected one of {}", value, fmt::join(allowed, ", "));
    }
    options.*member = value;
    return {};
  };
}

TakeOption namespaces(std::vector<std::string> OperatorOptions::*member) {
  return [member](OperatorOptions& options, const std::string& value) -> Status {
    std::vector<std::string> names;
    for (std::string& each : split(value, ',')) {
      if (const ErrorMessages errors = check_dns1123_label(each); !errors.empty()) {
        return Error::invalid_argument("found \"{}\", expected names of namespaces, separated by commas: {}", each,
                                       errors.front());
      }
      if (std::ranges::find(names, each) == names.end()) names.push_back(std::move(each));
    }
    if (names.size() > kMaxWatchedNamespaces) {
      return Error::invalid_argument("found {} namespaces, expected at most {}: leave it empty to serve all namespaces",
                                     names.size(), kMaxWatchedNamespaces);
    }
    options.*member = std::move(names);
    return {};
  };
}

TakeOption boolean(bool OperatorOptions::*member) {
  return [member](OperatorOptions& options, const std::string& value) -> Status {
    if (value != "true" && value != "false") {
      return Error::invalid_argument("found \"{}\", expected true or false", value);
    }
    options.*member = value == "true";
    return {};
  };
}

}  // namespace tpuslice
