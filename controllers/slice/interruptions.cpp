#include "controllers/slice/interruptions.h"

#include <algorithm>
#include <utility>

#include "tpu/labels.h"

namespace tpuslice::slice {
namespace {

/// When the pod got its node.
Timestamp started_at(const PodView& pod) {
  const Timestamp created = pod.created.value_or(Timestamp{});
  return parse_rfc3339(pod.annotation(tpu::kPlacedAt)).value_or(created);
}

std::string placement_of(const Slice& slice, const PodView& first) {
  const std::string& members = first.annotation(tpu::kSliceMembers);
  if (slice.size == 0 || (slice.size == 1 && members.empty())) return first.uid;
  return members == kOpenMembers ? std::string() : members;
}

void add_lost_host(const PodView& pod, plan::Interruption& out) {
  out.host = host_index(pod);
  out.node = pod.node_name;
  const auto failed = std::ranges::find_if(
      pod.containers, [](const ContainerView& each) { return each.terminated && each.exit_code != 0; });
  if (failed == pod.containers.end()) return;
  out.container = failed->name.str();
  out.exit_code = failed->exit_code;
}

}  // namespace

std::shared_ptr<const plan::Interruption> interruption_of(const Slice& slice, InterruptionCause cause, Timestamp now) {
  const std::vector<PodPtr> started = slice.started();
  const PodPtr first = started.empty() ? cause.pod : started.front();
  if (first == nullptr) return nullptr;
  plan::Interruption out;
  out.time = now;
  out.workload = workload_of(*first);
  out.slice = in_slice(*first) ? slice_key(*first) : slice.key;
  out.slice_name = slice.size == 0 && !in_slice(*first) ? first->key.name : short_name(Slice{.key = out.slice});
  out.placement = placement_of(slice, *first);
  out.what = cause.what;
  out.code = cause.code;
  out.why = std::move(cause.why);
  out.pool = first->annotation(tpu::kPlacedIn);
  if (out.pool.empty()) out.pool = std::move(cause.pool);
  out.accelerator = accelerator_of(first->scheduling->node_selector);
  if (cause.pod != nullptr) add_lost_host(*cause.pod, out);
  if (out.what == plan::kRejected) return std::make_shared<const plan::Interruption>(std::move(out));
  const Duration ran = std::max(now - started_at(*first), Duration::zero());
  out.host_seconds = std::max(slice.size, 1) * std::chrono::duration_cast<std::chrono::seconds>(ran).count();
  return std::make_shared<const plan::Interruption>(std::move(out));
}

}  // namespace tpuslice::slice
