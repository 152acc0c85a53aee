#include "controllers/runtime/write_backoff.h"

#include <utility>

#include "api/base/earlier.h"

namespace tpuslice::runtime {

std::shared_ptr<const plan::FailedWrites> WriteBackoff::failed_writes() const {
  const MutexLock lock(mutex_);
  return current_;
}

WriteBackoff::Failures WriteBackoff::record(const plan::Plan& plan, const ExecutionReport& report, Timestamp now) {
  Failures failures;
  const MutexLock lock(mutex_);
  std::shared_ptr<plan::FailedWrites> changed;
  const auto changing = [&]() TPUSLICE_REQUIRES(mutex_) -> plan::FailedWrites& {
    if (changed == nullptr) changed = std::make_shared<plan::FailedWrites>(*current_);
    return *changed;
  };
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    for (std::size_t j = 0; j < plan.stages[i].actions.size(); ++j) {
      const plan::Action& action = plan.stages[i].actions[j];
      const ActionReport& done = report.stages[i][j];
      if (done.outcome == Outcome::kSkipped || action.best_effort) continue;
      if (done.error && done.error->code() == ErrorCode::kCancelled) continue;
      if (!done.error) {
        if (current_->find(action) != nullptr) changing().record_success(action);
        continue;
      }
      changing().record_failure(action, *done.error, now);
      const plan::FailedWrite* const failed = changing().find(action);
      if (failed == nullptr) continue;  // Forgotten: there are too many.
      ++failures.count;
      failures.keeps_failing = failures.keeps_failing || failed->keeps_failing();
      set_earlier(failures.retry_at, failed->retry_at);
    }
  }
  if (changed != nullptr) current_ = std::move(changed);
  return failures;
}

}  // namespace tpuslice::runtime
