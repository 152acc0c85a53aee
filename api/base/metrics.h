// Metrics: counters, gauges and histograms, printed in the Prometheus text format.
//
// Names follow controller-runtime's (controller_runtime_*, workqueue_*, rest_client_*), so existing dashboards work.
//
//   Counter& errors = metrics.counter("controller_runtime_reconcile_errors_total", "Failed reconciles.",
//                                     {{"controller", "raycluster"}});
//   errors.increment();
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tpuslice {

using MetricLabels = std::map<std::string, std::string>;

/// Thread-safe. Never decreases.
class Counter {
 public:
  virtual ~Counter() = default;
  virtual void increment(double by = 1) = 0;
  [[nodiscard]] virtual double value() const = 0;
};

/// Thread-safe.
class Gauge {
 public:
  virtual ~Gauge() = default;
  virtual void set(double value) = 0;
  virtual void add(double by) = 0;
  [[nodiscard]] virtual double value() const = 0;
};

/// Thread-safe.
class Histogram {
 public:
  virtual ~Histogram() = default;
  virtual void observe(double value) = 0;
};

/// Ascending upper bounds; the bucket of everything (+Inf) is added.
using Buckets = std::vector<double>;
/// Prometheus' default, for durations in seconds: 5 ms to 10 s.
[[nodiscard]] Buckets latency_buckets();
/// `count` bounds, each `factor` times the one before: 1, 2, 4, ...
[[nodiscard]] Buckets exponential_buckets(double first, double factor, int count);

/// Thread-safe. The same name and labels give the same metric; what is returned lives as long as the registry. A name
/// that is no Prometheus name, or is used for two types of metric, is a bug and aborts.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  Counter& counter(const std::string& name, const std::string& help, const MetricLabels& labels = {});
  Gauge& gauge(const std::string& name, const std::string& help, const MetricLabels& labels = {});
  Histogram& histogram(const std::string& name, const std::string& help, const Buckets& buckets,
                       const MetricLabels& labels = {});

  /// Calls `update` at the start of each scrape(), for gauges that depend on the time. `owner` is the key for
  /// stop_updates(), which it must call before it is destroyed. `update` may set metrics, but must not call this
  /// object.
  void update_at_scrape(const void* owner, std::function<void()> update);
  void stop_updates(const void* owner);

  /// Everything, in the text format (version 0.0.4).
  [[nodiscard]] std::string scrape() const;

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace tpuslice
