#include "webhook/admission_log.h"

#include <utility>

#include "api/types/utf8.h"

namespace tpuslice::webhook {
namespace {

/// Bytes of a message; that of an object with many errors is long, and the client gets all of it.
constexpr std::size_t kMaxMessage = 512;
/// Maximum of a name that is logged; those of Kubernetes have at most 253.
constexpr std::size_t kMaxName = 253;

}  // namespace

void AdmissionLog::record(std::string_view path, const AdmissionRecord& review) {
  const LogLevel level = review.allowed ? LogLevel::kDebug : LogLevel::kInfo;
  if (review.uid.empty() || !log_.enabled(level)) return;
  std::uint64_t left_out = 0;
  if (!review.allowed) {
    const MutexLock lock(mutex_);
    if (!limit_.try_take(clock_.now())) {
      ++left_out_;
      return;
    }
    left_out = std::exchange(left_out_, 0);
  }
  const Logger log = log_.with({{"webhook", path},
                                {"requestID", clip(review.uid, kMaxName)},
                                {"operation", clip(review.operation, kMaxName)},
                                {"kind", clip(review.kind, kMaxName)},
                                {"namespace", clip(review.namespace_name, kMaxName)},
                                {"name", clip(review.name, kMaxName)}});
  if (review.allowed) return log.debug("admission allowed");
  log.info("admission denied",
           {{"code", review.code}, {"reason", clip(review.message, kMaxMessage)}, {"left_out", left_out}});
}

}  // namespace tpuslice::webhook
