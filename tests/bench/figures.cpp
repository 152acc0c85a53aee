#include "tests/bench/figures.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>

#include <fmt/format.h>

#include "api/base/clock.h"
#include "tests/bench/machine.h"

namespace tpuslice::bench {
namespace {

std::string output_of(const char* command) {
  FILE* const pipe = popen(command, "r");
  if (pipe == nullptr) return {};
  std::string out;
  std::array<char, 256> buffer{};
  while (const std::size_t size = fread(buffer.data(), 1, buffer.size(), pipe)) out.append(buffer.data(), size);
  pclose(pipe);
  while (out.ends_with('\n')) out.pop_back();
  return out;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string spread(std::vector<double> values, int digits) {
  if (values.empty()) return "-";
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  const std::string low = fmt::format("{:.{}f}", *min, digits);
  const std::string high = fmt::format("{:.{}f}", *max, digits);
  const std::string middle = fmt::format("{:.{}f}", median(values), digits);
  return low == high ? middle : fmt::format("{} ({}-{})", middle, low, high);
}

Status record(const std::string& path, const std::string& table) {
  const RealClock clock;
  std::ofstream file(path, std::ios::app);
  file << fmt::format("\n### {} at {}\n\n{} cores, {}.\n{}", format_rfc3339(clock.wall()).substr(0, 10),
                      output_of("git describe --always --dirty --exclude='*'"), machine_cores(), machine_model(),
                      table);
  if (!file.flush()) return Error::invalid_argument("{}: cannot be written", path);
  return {};
}

}  // namespace tpuslice::bench
