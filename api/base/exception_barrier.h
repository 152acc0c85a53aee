// ExceptionBarrier: where an unexpected exception ends. It costs one object, one attempt or one connection, not the
// process: every replica watches the same objects, so all of them would end, again after each restart.
//
//   const ExceptionBarrier barrier("watch", metrics, clock, log);
//   const Status staged = barrier.run([&] { return sink.stage(object); });  // kDefect if stage() threw
//   barrier.keep_running(stop, [&] { recorder.run(stop); });                // the main function of a thread
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>

#include "api/base/clock.h"
#include "api/base/log.h"
#include "api/base/metrics.h"
#include "api/base/result.h"

namespace tpuslice {

namespace internal {

template <typename T>
struct ResultOf {
  using Type = Result<T>;
};
template <typename T>
struct ResultOf<Result<T>> {
  using Type = Result<T>;
};

}  // namespace internal

/// Thread-safe. Counts each exception that it catches in tpuslice_exceptions_total, and logs at most one a minute.
class ExceptionBarrier {
 public:
  /// `where` is a label of the metric, so it comes from a fixed set. `metrics` and `clock` outlive it.
  ExceptionBarrier(std::string where, Metrics& metrics, const Clock& clock, Logger log);

  /// What `work` returns, as a Result. Errors also: Defect if it threw.
  template <typename Work>
  auto run(Work&& work) const -> typename internal::ResultOf<std::invoke_result_t<Work>>::Type {
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
        work();
        return {};
      } else {
        return work();
      }
    } catch (const std::exception& thrown) {
      return caught(thrown.what());
    } catch (...) {
      return caught("not a std::exception");
    }
  }

  /// Calls `work`, which runs until `stop`; after an exception once more, a second later.
  void keep_running(const std::stop_token& stop, const std::function<void()>& work) const;

 private:
  [[nodiscard]] Error caught(std::string_view what) const;

  const std::string where_;
  Counter& counter_;
  const Clock& clock_;
  const Logger log_;
  mutable std::atomic<Instant> next_log_ = Instant::min();
};

/// barrier->run(work); without a barrier exceptions reach the caller.
template <typename Work>
auto run_behind(const ExceptionBarrier* barrier, Work&& work) ->
    typename internal::ResultOf<std::invoke_result_t<Work>>::Type {
  if (barrier != nullptr) return barrier->run(work);
  if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
    work();
    return {};
  } else {
    return work();
  }
}

}  // namespace tpuslice
