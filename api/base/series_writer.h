// SeriesWriter: writes gauges that are computed when they are scraped, in the Prometheus text format.
//
// Series about single objects are not in the registry of Metrics, which keeps what it has.
//
//   SeriesWriter out(text, {.series = 20'000});
//   out.family("kuberay_job_info", "RayJobs.");
//   for (const auto& job : jobs) out.sample({{"name", job.name}, {"namespace", job.namespace_name}}, 1);
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace tpuslice {

struct SeriesLimits {
  std::size_t series = 20'000;
  std::size_t bytes = 4U << 20U;  ///< Length of what is written.
};

/// Appends to a text. The samples of a family follow its family() at once, as the format demands.
class SeriesWriter {
 public:
  /// A name and a value. Values are escaped, names must be valid.
  using Label = std::pair<std::string_view, std::string_view>;

  /// `text` outlives the writer.
  explicit SeriesWriter(std::string& text, SeriesLimits limits = {})
      : text_(text), limits_(limits), begin_(text.size()) {}

  /// Begins a family of gauges. Nothing is written of a family without samples. Names and help outlive its samples, are
  /// valid, and need no escapes.
  void family(std::string_view name, std::string_view help);
  /// A sample of that family; left out if it exceeds a limit.
  void sample(std::initializer_list<Label> labels, double value);

  /// Number of samples that a limit left out.
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

 private:
  std::string& text_;
  const SeriesLimits limits_;
  const std::size_t begin_;  ///< Length of the text before.
  std::string_view name_;
  std::string_view help_;
  bool has_header_ = false;
  std::size_t series_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace tpuslice
