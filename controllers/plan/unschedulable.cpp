#include "controllers/plan/unschedulable.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tpu/labels.h"

namespace tpuslice::plan {
namespace {

/// Reasons of nodes of other domains, which a placed pod does not select.
constexpr std::array<std::string_view, 2> kOtherNodes = {"didn't match Pod's node affinity/selector",
                                                         "didn't satisfy plugin(s) [NodeAffinity]"};
/// Texts that scheduler plugins append about preemption and resource claims.
constexpr std::array<std::string_view, 2> kAdditions = {"no new claims to deallocate", "preemption: "};
constexpr std::string_view kInsufficient = "Insufficient ";

/// Parts of kube-scheduler's reasons that another domain would not change.
constexpr std::array<std::string_view, 8> kTemporary = {
    "persistentvolumeclaim", "PersistentVolumeClaim", "ephemeral volume",          "Too many pods", "free ports",
    "resourceclaim",         "resource claim",        "cannot allocate all claims"};

template <typename Parts>
bool contains_any(std::string_view text, const Parts& parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

bool lacks_chips(std::string_view reason) {
  const std::size_t resource = reason.find(kInsufficient);
  return resource != std::string_view::npos &&
         reason.substr(resource + kInsufficient.size()).starts_with(tpu::kTpuResource);
}

bool is_temporary(std::string_view reason) {
  if (reason.find(kInsufficient) != std::string_view::npos) return !lacks_chips(reason);
  return contains_any(reason, kTemporary);
}

std::string_view without_count(std::string_view reason) {
  const std::size_t text = reason.find_first_not_of("0123456789");
  return text == std::string_view::npos || text == 0 || reason[text] != ' ' ? reason : reason.substr(text + 1);
}

/// "0/5 nodes are available: 1 Insufficient cpu, 4 node(s) had ... . preemption: ..." without what others add.
std::vector<std::string_view> reasons_of(std::string_view message) {
  constexpr std::string_view kHead = "nodes are available: ";
  if (const std::size_t head = message.find(kHead); head != std::string_view::npos) {
    message = message.substr(head + kHead.size());
  }
  for (const std::string_view addition : kAdditions) message = message.substr(0, message.find(addition));
  while (!message.empty() && std::string_view(" .,").find(message.back()) != std::string_view::npos) {
    message.remove_suffix(1);
  }
  std::vector<std::string_view> reasons;
  while (!message.empty()) {
    const std::size_t end = message.find(", ");
    reasons.push_back(without_count(message.substr(0, end)));
    message = end == std::string_view::npos ? std::string_view() : message.substr(end + 2);
  }
  std::erase_if(reasons, [](std::string_view reason) { return contains_any(reason, kOtherNodes); });
  return reasons;
}

}  // namespace

Unschedulable read_unschedulable(const PodView& pod) {
  const std::vector<std::string_view> reasons = reasons_of(pod.unschedulable);
  const bool placed = !pod.annotation(tpu::kPlacedIn).empty();
  if (reasons.empty()) {
    if (placed) return {pod.nominated, "its node does not exist"};
    return {pod.nominated, "no node matches its node selector and affinity", WaitingCode::kNoMatchingNodes};
  }
  const bool in_use = !placed && std::ranges::any_of(reasons, lacks_chips);
  return {pod.nominated || std::ranges::all_of(reasons, is_temporary), fmt::format("{}", fmt::join(reasons, ", ")),
          in_use ? WaitingCode::kNodesInUse : WaitingCode::kNotScheduled};
}

std::string explain_silence(const PodView& pod, Timestamp since) {
  const std::string& claims = pod.scheduling->resource_claims;
  return fmt::format("it waits for one since {}, and kube-scheduler reports {}{}", format_rfc3339(since),
                     pod.scheduling_error.empty() ? "no reason" : pod.scheduling_error,
                     claims.empty() ? "" : "; check that its resource claims exist: " + claims);
}

}  // namespace tpuslice::plan
