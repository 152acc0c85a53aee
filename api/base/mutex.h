// Mutex with lock annotations that Clang checks (-Wthread-safety); GCC sees plain locks.
#pragma once

#include <condition_variable>
#include <mutex>

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
#define TPUSLICE_NO_THREAD_SAFETY_ANALYSIS TPUSLICE_ATTRIBUTE(no_thread_safety_analysis)

namespace tpuslice {

class TPUSLICE_CAPABILITY("mutex") Mutex {
 public:
  void lock() TPUSLICE_ACQUIRE() { mutex_.lock(); }
  void unlock() TPUSLICE_RELEASE() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class TPUSLICE_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) TPUSLICE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() TPUSLICE_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/// Waits on a Mutex; pass a stop_token to every wait.
using ConditionVariable = std::condition_variable_any;

}  // namespace tpuslice
