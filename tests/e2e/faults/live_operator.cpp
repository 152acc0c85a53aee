#include "tests/e2e/faults/live_operator.h"

#include <fstream>
#include <string_view>
#include <utility>

#include "api/base/mutex.h"

namespace tpuslice::testing {
namespace {

class LogFile {
 public:
  explicit LogFile(const std::string& path) : file_(path, std::ios::app) {}
  void write(std::string_view line) TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    file_ << line << "\n" << std::flush;
  }

 private:
  Mutex mutex_;
  std::ofstream file_ TPUSLICE_GUARDED_BY(mutex_);
};

Logger file_logger(const std::string& path) {
  if (path.empty()) return Logger();
  auto file = std::make_shared<LogFile>(path);
  return Logger({.format = LogFormat::kText, .sink = [file](std::string_view line) { file->write(line); }});
}

runtime::ManagerOptions live_manager_options(const LiveOperatorOptions& options) {
  runtime::ManagerOptions out;
  out.leader_elect = false;
  out.watch = options.watch;
  out.action_threads = 4;
  return out;
}

}  // namespace

LiveOperator::LiveOperator(http::Transport& server, const LiveOperatorOptions& options)
    : faults_(server, clock_, options.faults),
      client_(faults_, options.client),
      manager_(client_, client_, clock_, metrics_, file_logger(options.log), live_manager_options(options)) {
  runtime::Namespaces namespaces;
  if (!options.namespace_name.empty()) namespaces.push_back(options.namespace_name);
  raycluster::add_raycluster(manager_, {}, {.workers = 1}, namespaces);
  thread_ = std::jthread([this](const std::stop_token& stop) { manager_.run(stop); });
}

LiveOperator::~LiveOperator() { faults_.die(); }

std::int64_t LiveOperator::watches() const {
  std::int64_t out = 0;
  for (const auto& [request, count] : faults_.counts()) {
    if (request.starts_with("watch ")) out += count;
  }
  return out;
}

}  // namespace tpuslice::testing
