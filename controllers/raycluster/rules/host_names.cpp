#include "controllers/raycluster/rules/host_names.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/base/hash.h"

namespace tpuslice::raycluster {
namespace {

constexpr std::size_t kDnsLabel = 63;
constexpr std::size_t kGroupHashLength = 8;
constexpr std::string_view kLastHost = "99999";  // More hosts than any slice has.

bool is_lower_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_dns_label(std::string_view text) {
  return !text.empty() && text.size() <= kDnsLabel && is_lower_alphanumeric(text.front()) &&
         is_lower_alphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_lower_alphanumeric(c) || c == '-'; });
}

/// `group` as part of a DNS label, in at most `max_length` characters; the hash distinguishes groups that become equal.
std::string shorten(std::string_view group, std::size_t max_length) {
  std::string text(group.substr(0, max_length - kGroupHashLength - 1));
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (!is_lower_alphanumeric(c)) c = '-';
  }
  if (text.empty() || !is_lower_alphanumeric(text.front())) text.insert(0, "g");
  text.resize(std::min(text.size(), max_length - kGroupHashLength - 1));
  return text + "-" + short_hash(group, kGroupHashLength);
}

}  // namespace

std::string ray_headless_service(std::string_view cluster) { return fmt::format("{}-headless", cluster); }

tpu::HostNames ray_worker_hostnames(std::string_view group, int replica) {
  tpu::HostNames names;
  const std::string suffix = fmt::format("-{}-", replica);
  names.prefix = std::string(group) + suffix;
  if (!is_dns_label(names.prefix + std::string(kLastHost))) {
    names.prefix = shorten(group, kDnsLabel - suffix.size() - kLastHost.size()) + suffix;
  }
  return names;
}

std::string ray_slice_name(std::string_view group, int replica) { return fmt::format("{}-{}", group, replica); }

}  // namespace tpuslice::raycluster
