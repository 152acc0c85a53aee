#include "controllers/slice/workloads.h"

#include <algorithm>
#include <utility>

namespace tpuslice::slice {

void Workloads::add(const ResourceType& type, const runtime::ObjectStore& store, runtime::Namespaces namespaces,
                    Rests rests) {
  kinds_.push_back({type, &store, std::move(namespaces), rests});
}

WorkloadState Workloads::state_of(const plan::ObjectReference& workload) const {
  const auto kind = std::ranges::find_if(kinds_, [&](const Kind& each) {
    return each.type.kind == workload.kind && each.type.api_version() == workload.api_version;
  });
  if (kind == kinds_.end() || !kind->store->synced(workload.key)) return WorkloadState::kUnknown;
  const runtime::Namespaces& watched = kind->namespaces;
  if (!watched.empty() && std::ranges::find(watched, workload.key.namespace_name) == watched.end()) {
    return WorkloadState::kUnknown;
  }
  const auto object = kind->store->get(workload.key);
  if (object == nullptr || object->deletion) return WorkloadState::kEnds;
  if (!workload.uid.empty() && object->uid != workload.uid) return WorkloadState::kEnds;  // Another of that name.
  if (object->minimal) return WorkloadState::kUnknown;
  const bool rests = kind->rests != nullptr && known_->rests(*object, kind->rests);
  return rests ? WorkloadState::kEnds : WorkloadState::kRuns;
}

bool Workloads::serves(std::string_view api_version, std::string_view kind) const {
  return std::ranges::any_of(
      kinds_, [&](const Kind& each) { return each.type.kind == kind && each.type.api_version() == api_version; });
}

bool Workloads::Known::rests(const ObjectView& object, Rests read) {
  {
    const MutexLock lock(mutex_);
    const auto found = by_uid_.find(object.uid);
    if (found != by_uid_.end() && found->second.resource_version == object.resource_version) return found->second.rests;
  }
  const bool result = read(object.object().json());
  const MutexLock lock(mutex_);
  if (by_uid_.size() >= kMaxObjects) by_uid_.clear();
  by_uid_[object.uid] = {object.resource_version, result};
  return result;
}

}  // namespace tpuslice::slice
