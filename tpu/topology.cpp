#include "tpu/topology.h"

#include <vector>

#include <fmt/format.h>

#include "api/base/strings.h"

namespace tpuslice::tpu {
namespace {

constexpr std::size_t kMaxDigits = 4;

/// Nothing unless `text` is a number from 1 to 9999, spelled in the only way.
std::optional<std::int64_t> parse_dimension(std::string_view text) {
  if (text.empty() || text.size() > kMaxDigits || text.front() == '0') return std::nullopt;
  const auto value = parse_integer<std::int64_t>(text);
  return value && *value > 0 ? value : std::nullopt;
}

}  // namespace

std::string to_string(const Bounds& bounds) { return fmt::format("{},{},{}", bounds[0], bounds[1], bounds[2]); }

Result<Topology> Topology::parse(std::string_view text) {
  const auto refused = [&] {
    return Error::invalid_argument("topology \"{}\" is not of the form 4x4 or 2x2x4", text.substr(0, 64));
  };
  Bounds bounds{1, 1, 1};
  std::size_t rank = 0;
  for (std::string_view rest = text;;) {
    const std::size_t separator = rest.find('x');
    const auto dimension = parse_dimension(rest.substr(0, separator));
    if (!dimension || rank == bounds.size()) return refused();
    bounds[rank++] = *dimension;
    if (separator == std::string_view::npos) break;
    rest.remove_prefix(separator + 1);
  }
  if (rank < 2) return refused();
  return Topology(rank, bounds);
}

std::string Topology::to_string() const {
  std::string text = fmt::format("{}x{}", padded_[0], padded_[1]);
  if (rank_ == 3) text += fmt::format("x{}", padded_[2]);
  return text;
}

bool Topology::fits_in(const Topology& other) const {
  if (rank_ != other.rank_) return false;
  for (std::size_t axis = 0; axis < padded_.size(); ++axis) {
    if (padded_[axis] > other.padded_[axis]) return false;
  }
  return true;
}

}  // namespace tpuslice::tpu
