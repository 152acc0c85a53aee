#include "api/base/metrics.h"

#include <cstdlib>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "api/base/check.h"
#include "api/base/mutex.h"

namespace tpuslice {
namespace {

class PrometheusCounter final : public Counter {
 public:
  explicit PrometheusCounter(prometheus::Counter& counter) : counter_(counter) {}
  void increment(double by) override { counter_.Increment(by); }
  [[nodiscard]] double value() const override { return counter_.Value(); }

 private:
  prometheus::Counter& counter_;
};

class PrometheusGauge final : public Gauge {
 public:
  explicit PrometheusGauge(prometheus::Gauge& gauge) : gauge_(gauge) {}
  void set(double value) override { gauge_.Set(value); }
  void add(double by) override { gauge_.Increment(by); }
  [[nodiscard]] double value() const override { return gauge_.Value(); }

 private:
  prometheus::Gauge& gauge_;
};

class PrometheusHistogram final : public Histogram {
 public:
  explicit PrometheusHistogram(prometheus::Histogram& histogram) : histogram_(histogram) {}
  void observe(double value) override { histogram_.Observe(value); }

 private:
  prometheus::Histogram& histogram_;
};

using Key = std::pair<std::string, MetricLabels>;
template <typename Metric>
using Owned = std::map<Key, std::unique_ptr<Metric>>;

/// The metric under `key`, made by `make` the first time.
template <typename Metric, typename Make>
Metric& find_or_make(Owned<Metric>& owned, Key key, Make make) {
  const auto found = owned.find(key);
  if (found != owned.end()) return *found->second;
  try {
    return *owned.emplace(std::move(key), make()).first->second;
  } catch (const std::exception& error) {
    // Illegal names and names used for two types.
    TPUSLICE_CHECK_MSG(false, error.what());
  }
  std::abort();
}

}  // namespace

struct Metrics::Impl {
  prometheus::Registry registry;
  Mutex mutex;
  Owned<Counter> counters TPUSLICE_GUARDED_BY(mutex);
  Owned<Gauge> gauges TPUSLICE_GUARDED_BY(mutex);
  Owned<Histogram> histograms TPUSLICE_GUARDED_BY(mutex);
  Mutex updates_mutex;  ///< Held while updates run, so that none runs after stop_updates().
  std::map<const void*, std::function<void()>> updates TPUSLICE_GUARDED_BY(updates_mutex);
};

Buckets latency_buckets() { return {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}; }

Buckets exponential_buckets(double first, double factor, int count) {
  TPUSLICE_CHECK(first > 0 && factor > 1);
  Buckets buckets;
  for (double bound = first; std::cmp_less(buckets.size(), count); bound *= factor) buckets.push_back(bound);
  return buckets;
}

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

Counter& Metrics::counter(const std::string& name, const std::string& help, const MetricLabels& labels) {
  const MutexLock lock(impl_->mutex);
  return find_or_make(impl_->counters, {name, labels}, [&] {
    return std::make_unique<PrometheusCounter>(
        prometheus::BuildCounter().Name(name).Help(help).Register(impl_->registry).Add(labels));
  });
}

Gauge& Metrics::gauge(const std::string& name, const std::string& help, const MetricLabels& labels) {
  const MutexLock lock(impl_->mutex);
  return find_or_make(impl_->gauges, {name, labels}, [&] {
    return std::make_unique<PrometheusGauge>(
        prometheus::BuildGauge().Name(name).Help(help).Register(impl_->registry).Add(labels));
  });
}

Histogram& Metrics::histogram(const std::string& name, const std::string& help, const Buckets& buckets,
                              const MetricLabels& labels) {
  const MutexLock lock(impl_->mutex);
  return find_or_make(impl_->histograms, {name, labels}, [&] {
    return std::make_unique<PrometheusHistogram>(
        prometheus::BuildHistogram().Name(name).Help(help).Register(impl_->registry).Add(labels, buckets));
  });
}

void Metrics::update_at_scrape(const void* owner, std::function<void()> update) {
  const MutexLock lock(impl_->updates_mutex);
  impl_->updates[owner] = std::move(update);
}

void Metrics::stop_updates(const void* owner) {
  const MutexLock lock(impl_->updates_mutex);
  impl_->updates.erase(owner);
}

std::string Metrics::scrape() const {
  {
    const MutexLock lock(impl_->updates_mutex);
    for (const auto& [owner, update] : impl_->updates) update();
  }
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace tpuslice
