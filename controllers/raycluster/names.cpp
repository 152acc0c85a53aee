#include "controllers/raycluster/names.h"

#include <algorithm>

#include "api/base/hash.h"
#include "api/base/strings.h"

namespace tpuslice::raycluster {
namespace {

/// A pod's name is also its default hostname, a DNS label.
constexpr std::size_t kMaxLength = 63;
constexpr std::size_t kHashLength = 5;

/// The first `length` characters, without those at the end that are not alphanumeric.
std::string cut(std::string text, std::size_t length) {
  if (text.size() > length) text.resize(length);
  while (!text.empty() && !is_letter_or_digit(text.back())) text.pop_back();
  return text;
}

std::string as_dns_label(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    } else if (!is_letter_or_digit(c)) {
      c = '-';
    }
  }
  return text;
}

/// The end of a name as upstream cuts it: the last 50 characters; if the first of these is not a letter, it is replaced
/// by r.
std::string end_of(std::string text) {
  constexpr std::size_t kMaxName = 50;
  if (text.size() > kMaxName) text = text.substr(text.size() - kMaxName);
  if (!text.empty() && !is_letter(text.front())) text.front() = 'r';
  return text;
}

std::string with_suffix(const std::string& prefix, const std::string& suffix) {
  return cut(prefix, kMaxLength - suffix.size()) + suffix;
}

}  // namespace

std::string head_service_name(const RayClusterSpec& spec) {
  std::string name = spec.head.service == nullptr ? std::string() : string_at(*spec.head.service, {"metadata", "name"});
  return name.empty() ? spec.key.name + "-head-svc" : name;
}

std::string serve_service_name(const RayClusterSpec& spec) { return spec.key.name + "-serve-svc"; }

std::string ingress_name(const RayClusterSpec& spec) { return end_of(spec.key.name + "-head-ingress"); }

std::string head_service_fqdn(const RayClusterSpec& spec, std::string_view cluster_domain) {
  return fmt::format("{}.{}.svc.{}", head_service_name(spec), spec.key.namespace_name, cluster_domain);
}

std::string head_pod_name(const RayClusterSpec& spec) {
  return with_suffix(as_dns_label(spec.key.name + "-head"), "-" + short_hash(spec.uid + "/head", kHashLength));
}

std::string worker_pod_name(const RayClusterSpec& spec, std::string_view group, WorkerIndex index) {
  std::string identity = fmt::format("{}/worker/{}/{}/{}", spec.uid, group, index.replica, index.host);
  std::string numbers = fmt::format("-{}-{}-", index.replica, index.host);
  if (index.attempt > 0) {
    identity += fmt::format("/{}", index.attempt);
    numbers += fmt::format("{}-", index.attempt);
  }
  return with_suffix(as_dns_label(fmt::format("{}-{}-worker", spec.key.name, group)),
                     numbers + short_hash(identity, kHashLength));
}

std::optional<WorkerIndex> parse_worker_pod_name(const RayClusterSpec& spec, std::string_view group,
                                                 std::string_view name) {
  // "<prefix>-<replica>-<host>-<hash>" or "<prefix>-<replica>-<host>-<attempt>-<hash>"; the prefix may end in numbers.
  std::string_view rest = name.substr(0, name.rfind('-'));
  const auto take_number = [&rest]() -> std::optional<int> {
    const std::size_t dash = rest.rfind('-');
    if (dash == std::string_view::npos) return std::nullopt;
    const std::optional<int> number = parse_count(rest.substr(dash + 1));
    rest = rest.substr(0, dash);
    return number;
  };
  const std::optional<int> last = take_number();
  const std::optional<int> second = take_number();
  if (!last || !second) return std::nullopt;
  const WorkerIndex first_attempt{*second, *last};
  if (worker_pod_name(spec, group, first_attempt) == name) return first_attempt;
  const std::optional<int> third = take_number();
  if (!third) return std::nullopt;
  const WorkerIndex later_attempt{*third, *second, *last};
  if (*last > 0 && *last <= kMaxAttempt && worker_pod_name(spec, group, later_attempt) == name) return later_attempt;
  return std::nullopt;
}

std::string replica_name(const RayClusterSpec& spec, std::string_view group, int replica) {
  const std::string identity = fmt::format("{}/replica/{}/{}", spec.uid, group, replica);
  return with_suffix(std::string(group), "-" + short_hash(identity, kHashLength));
}

std::string autoscaler_name(const RayClusterSpec& spec) { return end_of(spec.key.name); }

std::string own_service_account(const RayClusterSpec& spec) {
  if (spec.head.pod_template == nullptr) return {};
  std::string name = string_at(*spec.head.pod_template, {"spec", "serviceAccountName"});
  return name.empty() ? string_at(*spec.head.pod_template, {"spec", "serviceAccount"}) : name;
}

std::string head_service_account(const RayClusterSpec& spec) {
  const std::string own = own_service_account(spec);
  return own.empty() ? autoscaler_name(spec) : own;
}

std::string auth_secret_name(const RayClusterSpec& spec) { return end_of(spec.key.name); }

std::string redis_cleanup_job_name(const RayClusterSpec& spec) {
  std::string name = spec.key.name + "-redis-cleanup";
  if (name.size() > kMaxLength) name = name.substr(name.size() - kMaxLength);
  if (!is_letter_or_digit(name.front())) name.front() = 'r';
  return name;
}

std::string identifier(const RayClusterSpec& spec, std::string_view node_type) {
  return cut(fmt::format("{}-{}", spec.key.name, node_type), kMaxLength);
}

}  // namespace tpuslice::raycluster
