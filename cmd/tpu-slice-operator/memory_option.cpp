#include "cmd/tpu-slice-operator/memory_option.h"

#include "api/types/quantity.h"

namespace tpuslice {

Status set_memory_budget(OperatorOptions& options, const std::string& value) {
  constexpr std::int64_t kLeast = 1 << 20;
  const Result<Quantity> bytes = Quantity::parse(value);
  if (!bytes || bytes->value() < kLeast) {
    return Error::invalid_argument("found \"{}\", expected a quantity of bytes from 1Mi, such as 192Mi", value);
  }
  options.memory_budget = static_cast<std::size_t>(bytes->value());
  return {};
}

}  // namespace tpuslice
