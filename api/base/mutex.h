// Mutex with lock annotations that Clang checks (-Wthread-safety); GCC sees plain locks.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

#if defined(__clang__)
#define TPUSLICE_ATTRIBUTE(x) __attribute__((x))
#else
#define TPUSLICE_ATTRIBUTE(x)
#endif

#define TPUSLICE_CAPABILITY(x) TPUSLICE_ATTRIBUTE(capability(x))
#define TPUSLICE_SCOPED_CAPABILITY TPUSLICE_ATTRIBUTE(scoped_lockable)
#define TPUSLICE_GUARDED_BY(x) TPUSLICE_ATTRIBUTE(guarded_by(x))
#define TPUSLICE_REQUIRES(...) TPUSLICE_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define TPUSLICE_EXCLUDES(...) TPUSLICE_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define TPUSLICE_ACQUIRE(...) TPUSLICE_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define TPUSLICE_RELEASE(...) TPUSLICE_ATTRIBUTE(release_capability(__VA_ARGS__))

namespace tpuslice {

class TPUSLICE_CAPABILITY("mutex") Mutex {
 public:
  void lock() TPUSLICE_ACQUIRE() { mutex_.lock(); }
  void unlock() TPUSLICE_RELEASE() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

/// Holds a Mutex until the end of the scope.
class TPUSLICE_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) TPUSLICE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() TPUSLICE_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/// Waits on a Mutex that the caller holds until `done()` is true. Waits with a limit or a stop_token may end before,
/// and return what `done()` returns then. A `done` that reads guarded members is annotated:
///
///   changed_.wait(mutex_, stop, [this]() TPUSLICE_REQUIRES(mutex_) { return !queue_.empty(); });
class ConditionVariable {
 public:
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

  template <typename Done>
  void wait(Mutex& mutex, Done done) TPUSLICE_REQUIRES(mutex) {
    condition_.wait(mutex, done);
  }
  template <typename Done>
  bool wait(Mutex& mutex, const std::stop_token& stop, Done done) TPUSLICE_REQUIRES(mutex) {
    return condition_.wait(mutex, stop, done);
  }
  template <typename Period, typename Done>
  bool wait_for(Mutex& mutex, Period limit, Done done) TPUSLICE_REQUIRES(mutex) {
    return condition_.wait_for(mutex, limit, done);
  }
  template <typename Period, typename Done>
  bool wait_for(Mutex& mutex, const std::stop_token& stop, Period limit, Done done) TPUSLICE_REQUIRES(mutex) {
    return condition_.wait_for(mutex, stop, limit, done);
  }

 private:
  std::condition_variable_any condition_;
};

}  // namespace tpuslice
