#include "tests/bench/machine.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stop_token>
#include <thread>

#include <fmt/format.h>

#include "api/base/pause.h"

namespace tpuslice::bench {
namespace {

constexpr Duration kWindow = std::chrono::milliseconds(500);
constexpr double kAtRest = 0.06;  ///< CPU seconds in a window: twice those of an idle control plane.

double ticks(double count) { return count / static_cast<double>(sysconf(_SC_CLK_TCK)); }

}  // namespace

double cpu_seconds(pid_t process) {
  std::ifstream in(fmt::format("/proc/{}/stat", process));
  std::string text;
  if (!std::getline(in, text)) return 0;
  // The name of the program, in parentheses, may contain any character.
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return ticks(user + system);
}

double resident_mebibytes(pid_t process) {
  std::ifstream in(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

double machine_cpu_seconds() {
  std::ifstream in("/proc/stat");
  std::string skipped;
  double sum = 0;
  double idle = 0;
  in >> skipped;
  // user nice system idle iowait irq softirq steal
  for (int field = 0; field < 8; ++field) {
    double value = 0;
    in >> value;
    sum += value;
    if (field == 3 || field == 4) idle += value;
  }
  return ticks(sum - idle);
}

int machine_cores() { return static_cast<int>(std::thread::hardware_concurrency()); }

std::string machine_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

void pause_for(Duration time) { tpuslice::pause(time, {}); }

Status wait_for_rest(const std::function<double()>& used, Duration limit) {
  const RealClock clock;
  const Instant until = clock.now() + limit;
  for (double before = used(); clock.now() < until;) {
    pause_for(kWindow);
    const double now = used();
    if (now - before < kAtRest) return {};
    before = now;
  }
  return Error::of(ErrorCode::kTimeout, "the control plane is not at rest");
}

}  // namespace tpuslice::bench
