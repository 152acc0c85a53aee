// The metrics of queues, controllers and watches, by controller-runtime's names where it has them.
#pragma once

#include <string>

#include "api/base/metrics.h"

namespace tpuslice::runtime {

struct QueueMetrics {
  Gauge& depth;
  Counter& adds;
  Counter& retries;
  Histogram& queue_duration;
  Histogram& work_duration;
  Gauge& unfinished_work;
  Gauge& longest_running;
};
[[nodiscard]] QueueMetrics queue_metrics(Metrics& metrics, const std::string& name);

struct ControllerMetrics {
  Counter& success;
  Counter& error;
  Counter& requeue;  ///< Tried again for a reason that is no error: a conflict, a store that lags.
  Counter& requeue_after;
  Counter& errors;
  Counter& terminal_errors;
  Counter& panics;
  Counter& timeouts;
  Histogram& time;
  Gauge& max_concurrent;
  Gauge& active_workers;
  Counter& unseen_writes;  ///< Read-your-writes gave up.
};
[[nodiscard]] ControllerMetrics controller_metrics(Metrics& metrics, const std::string& controller);

struct WatchMetrics {
  Counter& lists;
  Counter& watches;
  Counter& expired;
  Counter& events;
  Counter& poison;
};
[[nodiscard]] WatchMetrics watch_metrics(Metrics& metrics, const std::string& resource);

}  // namespace tpuslice::runtime
