// kubectl tpu logs: the logs of all hosts of a workload's slices.
#include <algorithm>
#include <memory>
#include <stop_token>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "api/base/mutex.h"
#include "cmd/kubectl-tpu/commands/commands.h"
#include "cmd/kubectl-tpu/pod_logs.h"
#include "cmd/kubectl-tpu/workload_pods.h"

namespace tpuslice::plugin {
namespace {

/// Each host that is followed has a connection and a thread.
constexpr std::size_t kMaxFollowed = 64;
/// Lines of each host, if there are several and the user asks for no other number.
constexpr std::int64_t kDefaultTail = 50;
constexpr std::int64_t kMaxTail = 10'000'000;

struct LogsOptions {
  std::string workload;
  int host = -1;  ///< Negative: all.
  std::string slice;
  bool has_tail = false;
  LogOptions log;
};

/// "[host 2] ", or "[v6e-1 host 2] " among several slices.
std::string prefix_of(const Object& pod, bool several_slices) {
  return several_slices ? fmt::format("[{} host {}] ", slice_name_of(pod), host_index_of(pod))
                        : fmt::format("[host {}] ", host_index_of(pod));
}

/// Prints lines of several threads, one at a time.
class LinePrinter {
 public:
  explicit LinePrinter(const Context& context) : context_(context), relay_(context.stop(), Relay{ended_}) {}
  /// Requested when the user ends the command, or the output is closed.
  [[nodiscard]] std::stop_token ended() const { return ended_.get_token(); }
  void print(const std::string& prefix, std::string_view line) TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    context_.out() << prefix << line << '\n';
    context_.out().flush();
    if (!context_.out()) ended_.request_stop();
  }
  void report(const std::string& prefix, const Error& error) TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    context_.note(prefix + error.message());
    failed_ = true;
  }
  [[nodiscard]] bool failed() TPUSLICE_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return failed_;
  }

 private:
  struct Relay {
    std::stop_source ended;
    void operator()() { ended.request_stop(); }
  };

  const Context& context_;
  std::stop_source ended_;
  const std::stop_callback<Relay> relay_;
  Mutex mutex_;
  bool failed_ TPUSLICE_GUARDED_BY(mutex_) = false;
};

void print_log(http::Transport& streams, const Object& pod, const LogOptions& options, const std::string& prefix,
               LinePrinter& printer, const std::stop_token& stop) {
  const Status read = read_log(
      streams, pod, options, [&](std::string_view line) { printer.print(prefix, line); }, stop);
  if (!read && !stop.stop_requested()) printer.report(prefix, read.error());
}

Result<std::vector<Object>> chosen_pods(Context& context, const LogsOptions& options) {
  ASSIGN_OR_RETURN(const Workload workload, find_workload(context, options.workload));
  ASSIGN_OR_RETURN(std::vector<Object> pods, slice_pods_of(context, workload));
  std::erase_if(pods, [&options](const Object& pod) {
    return (options.host >= 0 && host_index_of(pod) != options.host) ||
           (!options.slice.empty() && slice_name_of(pod) != options.slice);
  });
  if (pods.empty()) return Error::not_found("{}: no pod of a slice matches", options.workload);
  return first_failed_first(std::move(pods));
}

Result<ExitCode> print_logs(Context& context, const LogsOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<Object> pods, chosen_pods(context, options));
  ASSIGN_OR_RETURN(http::Transport* const streams, context.streams());
  LogOptions log = options.log;
  const bool cut = !options.has_tail && log.since == 0 && pods.size() > 1;
  if (cut) log.tail = kDefaultTail;
  const bool several_slices =
      std::ranges::any_of(pods, [&](const Object& pod) { return slice_name_of(pod) != slice_name_of(pods.front()); });
  LinePrinter printer(context);
  if (log.follow) {
    if (pods.size() > kMaxFollowed) {
      return Error::invalid_argument("{}: has {} hosts, and at most {} are followed; choose some by --host or --slice",
                                     options.workload, pods.size(), kMaxFollowed);
    }
    std::vector<std::jthread> readers;
    readers.reserve(pods.size());
    for (const Object& pod : pods) {
      readers.emplace_back([&, prefix = prefix_of(pod, several_slices)] {
        print_log(*streams, pod, log, prefix, printer, printer.ended());
      });
    }
  } else {
    for (const Object& pod : pods) {
      if (printer.ended().stop_requested()) break;
      print_log(*streams, pod, log, prefix_of(pod, several_slices), printer, printer.ended());
    }
  }
  if (cut) {
    context.note(fmt::format("The last {} lines of each host; --tail=-1 prints all.", kDefaultTail));
  }
  context.suggest(fmt::format("hosts {} -n {}", options.workload, pods.front().namespace_name()));
  return printer.failed() ? ExitCode::kError : ExitCode::kYes;
}

}  // namespace

void add_logs(CLI::App& app, Commands& commands) {
  const auto options = std::make_shared<LogsOptions>();
  CLI::App& command = commands.add(app, "logs", "Print the logs of all hosts, the first that failed first",
                                   [options](Context& context) { return print_logs(context, *options); });
  command.add_option("workload", options->workload, "KIND/NAME, e.g. rayjob/train")->required();
  command.add_option("--host", options->host, "Only this host")->check(CLI::Range(0, 100'000));
  command.add_option("--slice", options->slice, "Only this slice, e.g. v6e-0");
  command.add_option("-c,--container", options->log.container, "Container. Default: the one with TPUs");
  command.add_flag("-f,--follow", options->log.follow, "Go on until interrupted");
  command.add_flag("-p,--previous", options->log.previous, "Log of the container before its last restart");
  command.add_flag("--timestamps", options->log.timestamps, "With the time of each line");
  command.add_option("--since", options->log.since, "Only lines of the last so many seconds")
      ->check(CLI::Range(1, 31'536'000));
  command
      .add_option_function<std::int64_t>(
          "--tail",
          [options](const std::int64_t& lines) {
            options->has_tail = true;
            options->log.tail = lines;
          },
          "Lines of each host; -1: all. Default: all of one host or with --since, else 50")
      ->check(CLI::Range(std::int64_t{-1}, kMaxTail));
}

}  // namespace tpuslice::plugin
