// tpu-slice-sim: starts the simulated cluster, applies manifests, prints the timeline, serves kubectl.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "api/base/file.h"
#include "api/base/pause.h"
#include "cmd/tpu-slice-operator/signals.h"
#include "cmd/tpu-slice-sim/command.h"
#include "cmd/tpu-slice-sim/options.h"
#include "cmd/tpu-slice-sim/simulator.h"
#include "controllers/runtime/memory.h"

namespace tpuslice {
namespace {

namespace fs = std::filesystem;

constexpr int kFailed = 1;
constexpr int kUsageError = 2;
constexpr int kUnfinished = 3;
constexpr Duration kStartLimit = std::chrono::seconds(30);

/// The kubeconfig on disk, readable by its owner only; a temporary one is removed on exit.
class KubeconfigFile {
 public:
  /// A temporary one if `path` is empty.
  explicit KubeconfigFile(std::string path) : path_(std::move(path)), temporary_(path_.empty()) {
    if (!temporary_) return;
    std::string pattern = (fs::temp_directory_path() / "tpu-slice-sim-XXXXXX").string();
    const int file = mkstemp(pattern.data());
    if (file >= 0) ::close(file);
    path_ = pattern;
  }
  ~KubeconfigFile() {
    std::error_code ignored;
    if (temporary_) fs::remove(path_, ignored);
  }
  KubeconfigFile(const KubeconfigFile&) = delete;
  KubeconfigFile& operator=(const KubeconfigFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Status write(const std::string& text) const {
    // Renamed when complete, so that a program that waits for the file never reads a part of it.
    const std::string part = path_ + ".part";
    RETURN_IF_ERROR(write_private_file(part, text));
    std::error_code error;
    fs::rename(part, path_, error);
    if (error) return Error::invalid_argument("{}: cannot be written: {}", path_, error.message());
    return {};
  }

 private:
  std::string path_;
  const bool temporary_;
};

void print_line(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

Status apply_and_settle(Simulator& simulator, const SimOptions& options, const std::stop_token& stop) {
  for (const std::string& manifest : options.manifests) {
    print_line("applying " + manifest);
    RETURN_IF_ERROR(simulator.apply(manifest, stop));
  }
  if (options.manifests.empty()) return {};
  return simulator.wait_settled(std::chrono::seconds(options.settle_timeout_seconds), stop);
}

Result<int> run(const SimOptions& options, const std::stop_token& stop) {
  ASSIGN_OR_RETURN(const auto simulator, Simulator::start(options, print_line));
  const KubeconfigFile kubeconfig(options.kubeconfig);
  if (!options.no_operator) RETURN_IF_ERROR(simulator->wait_ready(kStartLimit, stop));
  if (!options.operator_kubeconfig.empty()) {
    ASSIGN_OR_RETURN(const std::string text, simulator->operator_kubeconfig());
    RETURN_IF_ERROR(KubeconfigFile(options.operator_kubeconfig).write(text));
  }
  // Written last: once it exists, everything is served.
  RETURN_IF_ERROR(kubeconfig.write(simulator->kubeconfig()));
  print_line("simulated cluster at " + simulator->server() + "; export KUBECONFIG=" + kubeconfig.path());

  RETURN_IF_ERROR(apply_and_settle(*simulator, options, stop));
  const Verdict verdict = simulator->verdict();
  for (const std::string& line : verdict.lines) print_line(line);
  int status = verdict.all_run ? 0 : kUnfinished;
  const bool ends = options.then.empty() && !options.serve;
  if (!verdict.sentence.empty()) print_line(verdict.sentence + (ends ? fmt::format("; exit code {}", status) : ""));
  if (!options.then.empty()) {
    ASSIGN_OR_RETURN(const int command_status, run_shell_command(options.then, kubeconfig.path()));
    if (command_status != 0) status = command_status;
  }
  if (options.serve) {
    wait_for_stop(stop);
    status = 0;
  }
  return status;
}

int main_with_result(int argc, const char* const* argv) {
  runtime::configure_allocator();  // Before the first thread.
  const auto command_line = parse_sim_command_line(argc, argv);
  if (!command_line) {
    fmt::print(stderr, "tpu-slice-sim: {}\n", command_line.error().message());
    return kUsageError;
  }
  if (!command_line->output.empty()) {
    fmt::print("{}", command_line->output);
    return 0;
  }
  const StopOnSignal signals;
  const Result<int> status = run(command_line->options, signals.token());
  if (status) return *status;
  if (status.error().code() == ErrorCode::kCancelled) return 0;
  fmt::print(stderr, "tpu-slice-sim: {}\n", status.error().message());
  return kFailed;
}

}  // namespace
}  // namespace tpuslice

int main(int argc, char** argv) { return tpuslice::main_with_result(argc, argv); }
