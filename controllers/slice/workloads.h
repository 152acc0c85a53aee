// Workloads: whether the workload of a slice creates pods again that the slice has lost, as the stores of the kinds
// that this operator serves show it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/mutex.h"
#include "api/types/views.h"
#include "controllers/plan/plan.h"
#include "controllers/runtime/watch/store.h"

namespace tpuslice::slice {

enum class WorkloadState : std::uint8_t {
  kUnknown,  ///< No store has its kind, or its namespace.
  kRuns,
  kEnds,  ///< It is being deleted, is suspended, has finished, or no longer exists: lost pods are not created again.
};

/// Set up by one thread, then thread-safe.
class Workloads {
 public:
  /// Whether an object that is not terminating creates no pods: it is suspended or has finished (kind::Kind::rests).
  /// Null: never.
  using Rests = bool (*)(const Json& object);

  /// The store outlives it and has the objects of `namespaces`.
  void add(const ResourceType& type, const runtime::ObjectStore& store, runtime::Namespaces namespaces, Rests rests);
  [[nodiscard]] WorkloadState state_of(const plan::ObjectReference& workload) const;
  /// Whether objects of the kind are in a store.
  [[nodiscard]] bool serves(std::string_view api_version, std::string_view kind) const;

 private:
  /// What was read of versions of objects, which may be large and have many slices.
  class Known {
   public:
    [[nodiscard]] bool rests(const ObjectView& object, Rests read) TPUSLICE_EXCLUDES(mutex_);

   private:
    /// Beyond it, all is forgotten.
    static constexpr std::size_t kMaxObjects = 4096;
    struct Version {
      std::string resource_version;
      bool rests = false;
    };
    Mutex mutex_;
    std::map<std::string, Version> by_uid_ TPUSLICE_GUARDED_BY(mutex_);
  };
  struct Kind {
    ResourceType type;
    const runtime::ObjectStore* store = nullptr;
    runtime::Namespaces namespaces;
    Rests rests = nullptr;
  };
  std::vector<Kind> kinds_;
  std::shared_ptr<Known> known_ = std::make_shared<Known>();
};

}  // namespace tpuslice::slice
