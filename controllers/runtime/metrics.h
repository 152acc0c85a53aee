// The metrics of queues, controllers and watches. Names are those of controller-runtime where it has the metric.
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
  Counter& requeue;  ///< Retries without an error: conflicts, stores that lag.
  Counter& requeue_after;
  Counter& errors;
  Counter& terminal_errors;
  Counter& panics;
  Counter& timeouts;
  Histogram& time;
  Gauge& max_concurrent;
  Gauge& active_workers;
  Counter& unseen_writes;  ///< Writes that the stores did not show in time.
};
[[nodiscard]] ControllerMetrics controller_metrics(Metrics& metrics, const std::string& controller);

/// What is watched, as the labels of its metrics say.
struct WatchLabels {
  std::string resource;
  std::string label_selector;
  std::string namespace_name;       ///< Empty: all; then there is no such label.
  std::string field_selector = {};  ///< Empty: all; then there is no such label.
};

struct WatchMetrics {
  Counter& lists;
  Counter& watches;
  Counter& expired;
  Counter& events;
  Counter& quarantined;
  Counter& silent;
  Gauge& connected;
  Gauge& last_byte_age;
};
[[nodiscard]] WatchMetrics watch_metrics(Metrics& metrics, const WatchLabels& labels);

struct StoreMetrics {
  Gauge& bytes;
  Gauge& minimal;
};
[[nodiscard]] StoreMetrics store_metrics(Metrics& metrics, const WatchLabels& labels);

/// Half a second to nine hours: how long users wait.
[[nodiscard]] Buckets long_duration_buckets();

struct BudgetMetrics {
  Gauge& bytes;
  Gauge& used;
};
[[nodiscard]] BudgetMetrics budget_metrics(Metrics& metrics);

}  // namespace tpuslice::runtime
