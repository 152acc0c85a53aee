#include "controllers/runtime/watch/refused_objects.h"

#include <algorithm>

#include <fmt/format.h>

namespace tpuslice::runtime {
namespace {

std::string in_kibibytes(std::size_t bytes) { return fmt::format("{} KiB", (bytes + 1023) / 1024); }

}  // namespace

void RefusedObjects::add(const std::string& namespace_name, std::size_t bytes) {
  const auto [known, added] = smallest_.try_emplace(namespace_name, bytes);
  if (!added) known->second = std::min(known->second, bytes);
}

bool RefusedObjects::fits_again() const {
  return std::ranges::any_of(smallest_, [this](const auto& each) {
    return budget_.fits(each.first, 0, each.second, MemoryBudget::Purpose::kNewObject);
  });
}

Error RefusedObjects::error(const ResourceType& type, const ObjectKey& key, std::size_t bytes,
                            std::string_view kept) const {
  Error out = Error::invalid_argument(
      "{} {} takes {} of memory, but the objects of namespace {} have {} and may take no more of the budget of {}, so "
      "{}; delete some, or ask the administrator for a larger --memory-budget",
      type.kind, key.to_string(), in_kibibytes(bytes), key.namespace_name,
      in_kibibytes(budget_.used(key.namespace_name)), in_kibibytes(budget_.bytes()), kept);
  out.with_reason(std::string(kOverMemoryBudget));
  return out;
}

}  // namespace tpuslice::runtime
