#include "controllers/runtime/metrics.h"

namespace tpuslice::runtime {
namespace {

Counter& reconciles(Metrics& metrics, const std::string& controller, const char* result) {
  return metrics.counter("controller_runtime_reconcile_total", "Reconciles per controller and result.",
                         {{"controller", controller}, {"result", result}});
}

/// The name of the label with the namespace is none that Prometheus gives to the samples of a pod.
MetricLabels labels_of(const WatchLabels& watch) {
  MetricLabels out = {{"resource", watch.resource}, {"label_selector", watch.label_selector}};
  if (!watch.namespace_name.empty()) out.emplace("watched_namespace", watch.namespace_name);
  if (!watch.field_selector.empty()) out.emplace("field_selector", watch.field_selector);
  return out;
}

}  // namespace

QueueMetrics queue_metrics(Metrics& metrics, const std::string& name) {
  const MetricLabels labels = {{"name", name}, {"controller", name}};
  const Buckets buckets = exponential_buckets(1e-8, 10, 12);
  return {
      metrics.gauge("workqueue_depth", "Keys ready to be worked on.", labels),
      metrics.counter("workqueue_adds_total", "Keys added.", labels),
      metrics.counter("workqueue_retries_total", "Keys added again after a failure.", labels),
      metrics.histogram("workqueue_queue_duration_seconds", "How long a key waits before it is worked on.", buckets,
                        labels),
      metrics.histogram("workqueue_work_duration_seconds", "How long the work on a key takes.", buckets, labels),
      metrics.gauge("workqueue_unfinished_work_seconds", "Sum of the time spent so far on keys being worked on.",
                    labels),
      metrics.gauge("workqueue_longest_running_processor_seconds", "Time spent so far on the key that takes longest.",
                    labels),
  };
}

ControllerMetrics controller_metrics(Metrics& metrics, const std::string& controller) {
  const MetricLabels labels = {{"controller", controller}};
  return {
      reconciles(metrics, controller, "success"),
      reconciles(metrics, controller, "error"),
      reconciles(metrics, controller, "requeue"),
      reconciles(metrics, controller, "requeue_after"),
      metrics.counter("controller_runtime_reconcile_errors_total", "Failed reconciles.", labels),
      metrics.counter("controller_runtime_terminal_reconcile_errors_total",
                      "Failed reconciles that only a change of the object can cure.", labels),
      metrics.counter("controller_runtime_reconcile_panics_total", "Reconciles that ended in an exception.", labels),
      metrics.counter("controller_runtime_reconcile_timeouts_total", "Reconciles that ended in a timeout.", labels),
      metrics.histogram("controller_runtime_reconcile_time_seconds", "Length of a reconcile.", latency_buckets(),
                        labels),
      metrics.gauge("controller_runtime_max_concurrent_reconciles", "Workers of the controller.", labels),
      metrics.gauge("controller_runtime_active_workers", "Workers that are busy.", labels),
      metrics.counter("tpuslice_unseen_writes_total", "Writes the watches did not show in time.", labels),
  };
}

WatchMetrics watch_metrics(Metrics& metrics, const WatchLabels& watch) {
  const MetricLabels labels = labels_of(watch);
  return {
      metrics.counter("tpuslice_watch_lists_total", "Whole lists read.", labels),
      metrics.counter("tpuslice_watch_connections_total", "Watches opened.", labels),
      metrics.counter("tpuslice_watch_expired_total", "Watches that relisted because their resourceVersion expired.",
                      labels),
      metrics.counter("tpuslice_watch_events_total", "Watch events read, bookmarks included.", labels),
      metrics.counter("tpuslice_watch_quarantined_objects_total",
                      "Versions of objects that are malformed, too large, or do not fit into the memory budget.",
                      labels),
      metrics.counter("tpuslice_watch_silent_total", "Watches opened again because nothing was received for too long.",
                      labels),
      metrics.gauge("tpuslice_watch_connected", "1 if the last list or watch succeeded.", labels),
      metrics.gauge("tpuslice_watch_last_byte_age_seconds", "Time since the API server last sent a byte for the watch.",
                    labels),
  };
}

StoreMetrics store_metrics(Metrics& metrics, const WatchLabels& watch) {
  const MetricLabels labels = labels_of(watch);
  return {
      metrics.gauge("tpuslice_store_bytes", "Memory of the objects of a watch, as the budget counts it.", labels),
      metrics.gauge("tpuslice_store_minimal_objects", "Objects of which only name and owner are kept.", labels),
  };
}

Buckets long_duration_buckets() { return exponential_buckets(0.5, 2, 17); }

BudgetMetrics budget_metrics(Metrics& metrics) {
  return {
      metrics.gauge("tpuslice_memory_budget_bytes", "Memory that the objects of all watches may take."),
      metrics.gauge("tpuslice_memory_budget_used_bytes", "Memory that the objects of all watches take."),
  };
}

}  // namespace tpuslice::runtime
