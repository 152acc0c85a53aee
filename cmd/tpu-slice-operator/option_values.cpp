#include "cmd/tpu-slice-operator/option_values.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/strings.h"

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
