// MemoryBudget: how much memory the objects in all stores may take, and which namespace may take how much of it
// (docs/adr/0031-one-memory-budget.md).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "api/base/log.h"
#include "api/base/mutex.h"

namespace tpuslice::runtime {

/// The rule: a namespace may take bytes only while it has not more than a multiple of what is then left of the whole
/// budget, as shared-memory switches share their buffers between ports ("Dynamic queue length thresholds for
/// shared-memory packet switches", 1998). So one namespace gets a large part of an idle budget, those that fill it
/// together get equal parts, and each leaves a part of what it finds. Nothing is evicted: a namespace above its
/// threshold just cannot grow. Objects of the cluster, such as nodes, count but are never refused: tenants cannot
/// create them.
///
/// Thread-safe.
class MemoryBudget {
 public:
  /// What the bytes are for. The later purposes may use more of them: known objects can grow, as their status does,
  /// when new ones no longer fit, and objects that do not fit keep a minimal view.
  enum class Purpose : std::uint8_t { kNewObject, kKnownObject, kMinimalView };

  explicit MemoryBudget(std::size_t bytes, Logger log = Logger()) : bytes_(bytes), log_(std::move(log)) {}

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t used() const TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::size_t used(const std::string& namespace_name) const TPUSLICE_EXCLUDES(mutex_);

  /// What counted `before` bytes, 0 if it is new, shall count `after`. False, and nothing is changed, if that does
  /// not fit into the budget of its namespace.
  [[nodiscard]] bool try_replace(const std::string& namespace_name, std::size_t before, std::size_t after,
                                 Purpose purpose) TPUSLICE_EXCLUDES(mutex_);
  /// The same without a limit.
  void replace(const std::string& namespace_name, std::size_t before, std::size_t after) TPUSLICE_EXCLUDES(mutex_);
  /// Whether try_replace() would succeed.
  [[nodiscard]] bool fits(const std::string& namespace_name, std::size_t before, std::size_t after,
                          Purpose purpose) const TPUSLICE_EXCLUDES(mutex_);

  /// Calls `decode`, which needs much memory for a moment: one at a time, of all watches.
  template <typename Decode>
  [[nodiscard]] auto decode_alone(Decode decode) TPUSLICE_EXCLUDES(decoding_) {
    const MutexLock lock(decoding_);
    return decode();
  }

 private:
  [[nodiscard]] std::size_t used_locked(const std::string& namespace_name) const TPUSLICE_REQUIRES(mutex_);
  [[nodiscard]] bool fits_locked(const std::string& namespace_name, std::size_t before, std::size_t after,
                                 Purpose purpose) const TPUSLICE_REQUIRES(mutex_);
  /// False if less than `before` was charged: a bug. Then no more than that is released.
  [[nodiscard]] bool replace_locked(const std::string& namespace_name, std::size_t before, std::size_t after)
      TPUSLICE_REQUIRES(mutex_);
  /// A wrong count must not end a process whose webhook fails closed.
  void report_wrong_count(const std::string& namespace_name) TPUSLICE_EXCLUDES(mutex_);

  const std::size_t bytes_;
  const Logger log_;
  std::atomic<bool> reported_ = false;  ///< A wrong count is logged once.
  Mutex decoding_;
  mutable Mutex mutex_;
  std::size_t total_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, std::size_t> used_ TPUSLICE_GUARDED_BY(mutex_);  ///< By namespace.
};

}  // namespace tpuslice::runtime
