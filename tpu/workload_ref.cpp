#include "tpu/workload_ref.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "tpu/labels.h"

namespace tpuslice::tpu {
namespace {

constexpr std::size_t kMaxKind = 63;
constexpr std::size_t kMaxName = 253;
constexpr std::size_t kMaxUid = 63;

bool is_kind(std::string_view text) {
  return !text.empty() && text.size() <= kMaxKind && std::ranges::all_of(text, is_letter_or_digit);
}

/// Group, version or object name, and other text of the same characters.
bool is_name(std::string_view text, std::size_t max_size = kMaxName) {
  return !text.empty() && text.size() <= max_size && is_letter_or_digit(text.front()) &&
         is_letter_or_digit(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_letter_or_digit(c) || c == '-' || c == '.'; });
}

std::optional<WorkloadRef> parse_workload(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view type = text.substr(0, slash);
  const std::size_t first_dot = type.find('.');
  const std::size_t second_dot = type.find('.', first_dot + 1);
  if (slash == std::string_view::npos || first_dot == std::string_view::npos || second_dot == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view kind = type.substr(0, first_dot);
  const std::string_view version = type.substr(first_dot + 1, second_dot - first_dot - 1);
  const std::string_view group = type.substr(second_dot + 1);
  const std::string_view name = text.substr(slash + 1);
  if (!is_kind(kind) || !is_name(version) || !is_name(group) || !is_name(name)) return std::nullopt;
  return WorkloadRef{fmt::format("{}/{}", group, version), std::string(kind), std::string(name), {}};
}

}  // namespace

std::string to_string(const WorkloadRef& workload) {
  const std::size_t slash = workload.api_version.find('/');
  return fmt::format("{}.{}.{}/{}", workload.kind, workload.api_version.substr(slash + 1),
                     workload.api_version.substr(0, slash), workload.name);
}

std::optional<WorkloadRef> workload_of(const PodView& pod) {
  if (std::optional<WorkloadRef> workload = parse_workload(pod.annotation(kWorkload))) {
    if (const std::string& uid = pod.annotation(kWorkloadUid); is_name(uid, kMaxUid)) workload->uid = uid;
    return workload;
  }
  if (!pod.controller) return std::nullopt;
  return WorkloadRef{pod.controller->api_version, pod.controller->kind, pod.controller->name, pod.controller->uid};
}

bool has_unique_name(const PodView& pod) { return pod.controller && pod.controller->kind == "StatefulSet"; }

}  // namespace tpuslice::tpu
