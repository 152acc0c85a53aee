#include "controllers/runtime/watch/memory_budget.h"

#include <algorithm>

namespace tpuslice::runtime {
namespace {

/// The multiple, in halves, of what is left. One namespace alone gets 2/3 of the budget for new objects, 5/7 with their
/// growth, and 3/4 with minimal views.
std::size_t halves_of(MemoryBudget::Purpose purpose) {
  switch (purpose) {
    case MemoryBudget::Purpose::kNewObject:
      return 4;
    case MemoryBudget::Purpose::kKnownObject:
      return 5;
    case MemoryBudget::Purpose::kMinimalView:
      return 6;
  }
  return 0;
}

std::size_t count_after(std::size_t used, std::size_t before, std::size_t after) {
  return used - std::min(used, before) + after;
}

}  // namespace

std::size_t MemoryBudget::used() const {
  const MutexLock lock(mutex_);
  return total_;
}

std::size_t MemoryBudget::used(const std::string& namespace_name) const {
  const MutexLock lock(mutex_);
  return used_locked(namespace_name);
}

bool MemoryBudget::try_replace(const std::string& namespace_name, std::size_t before, std::size_t after,
                               Purpose purpose) {
  bool right = true;
  {
    const MutexLock lock(mutex_);
    if (!fits_locked(namespace_name, before, after, purpose)) return false;
    right = replace_locked(namespace_name, before, after);
  }
  if (!right) report_wrong_count(namespace_name);
  return true;
}

void MemoryBudget::replace(const std::string& namespace_name, std::size_t before, std::size_t after) {
  bool right = true;
  {
    const MutexLock lock(mutex_);
    right = replace_locked(namespace_name, before, after);
  }
  if (!right) report_wrong_count(namespace_name);
}

bool MemoryBudget::fits(const std::string& namespace_name, std::size_t before, std::size_t after,
                        Purpose purpose) const {
  const MutexLock lock(mutex_);
  return fits_locked(namespace_name, before, after, purpose);
}

std::size_t MemoryBudget::used_locked(const std::string& namespace_name) const {
  const auto found = used_.find(namespace_name);
  return found == used_.end() ? 0 : found->second;
}

bool MemoryBudget::fits_locked(const std::string& namespace_name, std::size_t before, std::size_t after,
                               Purpose purpose) const {
  if (after <= before || namespace_name.empty()) return true;
  const std::size_t total = count_after(total_, before, after);
  if (total > bytes_) return false;
  // The rule applies to the state after the change: a refused object is refused again while nothing else has changed.
  return 2 * count_after(used_locked(namespace_name), before, after) <= halves_of(purpose) * (bytes_ - total);
}

bool MemoryBudget::replace_locked(const std::string& namespace_name, std::size_t before, std::size_t after) {
  std::size_t& used = used_[namespace_name];
  const bool right = used >= before && total_ >= before;
  const std::size_t released = std::min({before, used, total_});
  used = used - released + after;
  total_ = total_ - released + after;
  if (used == 0) used_.erase(namespace_name);
  return right;
}

void MemoryBudget::report_wrong_count(const std::string& namespace_name) {
  if (reported_.exchange(true)) return;
  log_.error("memory budget counted wrongly: more is released than was charged; restart the operator to count again",
             {{"namespace", namespace_name}});
}

}  // namespace tpuslice::runtime
