#include "tpu/naming.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/types/validation_names.h"

namespace tpuslice::tpu {
namespace {

/// Digits of all numbers from `begin` to `end` - 1 together.
std::int64_t digits_between(std::int64_t begin, std::int64_t end) {
  std::int64_t total = 0;
  std::int64_t low = 0;
  for (std::int64_t high = 10, digits = 1;; high *= 10, ++digits) {
    total += digits * std::max<std::int64_t>(0, std::min(end, high) - std::max(begin, low));
    if (end <= high) return total;
    low = high;
  }
}

}  // namespace

Status check_host_part(std::string_view path, std::string_view text) {
  return text.empty() ? Status() : first_error(path, text, check_dns1123_label(text));
}

std::string HostNames::of(int host) const {
  std::string name;
  append_to(name, host);
  return name;
}

void HostNames::append_to(std::string& text, int host) const {
  if (host == 0 && !first.empty()) {
    text += first;
    return;
  }
  text += prefix;
  text += std::to_string(std::int64_t{offset} + host);  // The offset is up to the largest completion index.
}

std::int64_t HostNames::total_size(int hosts) const {
  const int numbered_from = first.empty() ? 0 : 1;
  const std::int64_t numbered = std::int64_t{hosts} - numbered_from;
  const std::int64_t begin = std::int64_t{offset} + numbered_from;
  return static_cast<std::int64_t>(first.size()) + numbered * static_cast<std::int64_t>(prefix.size()) +
         digits_between(begin, begin + numbered);
}

HostNames numbered_hostnames(std::string_view name, int first) { return {{}, fmt::format("{}-", name), first}; }

}  // namespace tpuslice::tpu
