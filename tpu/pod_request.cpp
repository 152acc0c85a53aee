#include "tpu/pod_request.h"

#include <fmt/format.h>

#include "api/base/strings.h"
#include "tpu/labels.h"

namespace tpuslice::tpu {
namespace {

constexpr std::int64_t kMaxChips = 1000000;

/// The API server prints extended resources as strings of digits; clients may send JSON numbers.
std::optional<std::int64_t> parse_chips(const Json& quantity) {
  std::int64_t chips = -1;
  if (quantity.is_number_unsigned()) {
    const auto value = quantity.get<std::uint64_t>();
    chips = value > static_cast<std::uint64_t>(kMaxChips) ? -1 : static_cast<std::int64_t>(value);
  } else if (quantity.is_number_integer()) {
    chips = quantity.get<std::int64_t>();
  } else if (quantity.is_string()) {
    const auto& text = quantity.get_ref<const std::string&>();
    const auto number = parse_integer<std::int64_t>(text);
    if (!number) return std::nullopt;
    chips = *number;
  }
  if (chips < 0 || chips > kMaxChips) return std::nullopt;
  return chips;
}

}  // namespace

Result<std::vector<TpuContainer>> tpu_containers(const Json& pod_spec, std::string_view list) {
  std::vector<TpuContainer> found;
  const Json* containers = find_path(pod_spec, {list});
  if (containers == nullptr || !containers->is_array()) return found;
  for (std::size_t position = 0; position < containers->size(); ++position) {
    const Json& container = (*containers)[position];
    for (const std::string_view kind : {"limits", "requests"}) {
      const Json* quantity = find_path(container, {"resources", kind, kTpuResource});
      if (quantity == nullptr) continue;
      const auto chips = parse_chips(*quantity);
      if (!chips) {
        return Error::invalid_argument(
            "spec.{}[{}].resources.{}[{}]: Invalid value: {}: must be a whole number of chips", list, position, kind,
            kTpuResource, quantity->dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 64));
      }
      if (*chips > 0) found.push_back({position, string_at(container, {"name"}), *chips});
      break;
    }
    if (found.size() > kMaxTpuContainers) {
      return Error::invalid_argument("spec.{}: more than {} containers ask for {}; a host has at most {} chips", list,
                                     kMaxTpuContainers, kTpuResource, kMaxTpuContainers);
    }
  }
  return found;
}

std::int64_t total_chips(const std::vector<TpuContainer>& containers) {
  std::int64_t chips = 0;
  for (const TpuContainer& container : containers) chips += container.chips;
  return chips;
}

}  // namespace tpuslice::tpu
