#include "tpu/naming.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/base/hash.h"
#include "api/types/validation_names.h"

namespace tpuslice::tpu {
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

/// `group` as part of a DNS label, in at most `room` characters; the hash distinguishes groups that become equal.
std::string shorten(std::string_view group, std::size_t room) {
  std::string text(group.substr(0, room - kGroupHashLength - 1));
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (!is_lower_alphanumeric(c)) c = '-';
  }
  if (text.empty() || !is_lower_alphanumeric(text.front())) text.insert(0, "g");
  text.resize(std::min(text.size(), room - kGroupHashLength - 1));
  return text + "-" + short_hash(group, kGroupHashLength);
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

std::string ray_headless_service(std::string_view cluster) { return fmt::format("{}-headless", cluster); }

HostNames ray_worker_hostnames(std::string_view group, int replica) {
  HostNames names;
  const std::string suffix = fmt::format("-{}-", replica);
  names.prefix = std::string(group) + suffix;
  if (!is_dns_label(names.prefix + std::string(kLastHost))) {
    names.prefix = shorten(group, kDnsLabel - suffix.size() - kLastHost.size()) + suffix;
  }
  return names;
}

std::string ray_slice_name(std::string_view group, int replica) { return fmt::format("{}-{}", group, replica); }

HostNames numbered_hostnames(std::string_view name, int first) { return {{}, fmt::format("{}-", name), first}; }

HostNames lws_hostnames(std::string_view leader, int first) {
  return {first == 0 ? std::string(leader) : std::string(), fmt::format("{}-", leader), first};
}

}  // namespace tpuslice::tpu
