#include "controllers/raycluster/rules/host_names.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/base/hash.h"
#include "api/base/strings.h"
#include "api/types/validation_names.h"

namespace tpuslice::raycluster {
namespace {

constexpr std::size_t kDnsLabel = 63;
constexpr std::size_t kGroupHashLength = 8;
constexpr std::string_view kLastHost = "99999";  // More hosts than any slice has.

/// `group` as part of a DNS label, in at most `max_length` characters; the hash distinguishes groups that become equal.
std::string shorten(std::string_view group, std::size_t max_length) {
  std::string text = to_lower(group.substr(0, max_length - kGroupHashLength - 1));
  for (char& c : text) {
    if (!is_lower_or_digit(c)) c = '-';
  }
  if (text.empty() || text.front() == '-') text.insert(0, "g");
  text.resize(std::min(text.size(), max_length - kGroupHashLength - 1));
  return text + "-" + short_hash(group, kGroupHashLength);
}

}  // namespace

std::string ray_headless_service(std::string_view cluster) { return fmt::format("{}-headless", cluster); }

tpu::HostNames ray_worker_hostnames(std::string_view group, int replica) {
  tpu::HostNames names;
  const std::string suffix = fmt::format("-{}-", replica);
  names.prefix = std::string(group) + suffix;
  if (!check_dns1123_label(names.prefix + std::string(kLastHost)).empty()) {
    names.prefix = shorten(group, kDnsLabel - suffix.size() - kLastHost.size()) + suffix;
  }
  return names;
}

std::string ray_slice_name(std::string_view group, int replica) { return fmt::format("{}-{}", group, replica); }

}  // namespace tpuslice::raycluster
