#include "tests/support/operator_process.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "api/base/strings.h"
#include "api/http/testing/plain_get.h"

namespace tpuslice::testing {
namespace {

constexpr Duration kPollInterval = std::chrono::milliseconds(10);
constexpr Duration kRequestTimeout = std::chrono::seconds(5);
constexpr const char* kLoopback = "127.0.0.1:0";

std::vector<std::string> arguments_of(const OperatorProcessOptions& options) {
  std::vector<std::string> out = {
      "--kubeconfig=" + options.kubeconfig,
      std::string("--metrics-bind-address=") + kLoopback,
      std::string("--health-probe-bind-address=") + kLoopback,
      fmt::format("--node-not-ready-timeout={}", options.node_timeout_seconds),
      fmt::format("--shutdown-delay={}", options.shutdown_delay_seconds),
      "--webhook-bind-address=" + (options.webhook_port == 0 ? "0" : fmt::format("127.0.0.1:{}", options.webhook_port)),
  };
  if (options.metrics_secure) out.push_back(fmt::format("--metrics-secure={}", *options.metrics_secure));
  if (!options.webhook_cert_dir.empty()) out.push_back("--webhook-cert-dir=" + options.webhook_cert_dir);
  if (options.leader_elect) {
    out.emplace_back("--leader-elect");
    out.emplace_back("--leader-election-namespace=tpu-slice-system");
  }
  out.insert(out.end(), options.flags.begin(), options.flags.end());
  return out;
}

std::size_t size_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  return in ? static_cast<std::size_t>(in.tellg()) : 0;
}

/// The port in the log line {"msg":"listening","for":what,"port":...}; 0 without such a line.
int listening_port(const std::string& log, std::size_t begin, std::string_view what) {
  std::ifstream in(log, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(begin));
  for (std::string line; std::getline(in, line);) {
    if (line.find("listening") == std::string::npos) continue;
    const auto entry = parse_json(line);
    if (entry && string_at(*entry, {"for"}) == what) return static_cast<int>(int_at(*entry, {"port"}));
  }
  return 0;
}

/// Reads name="value" pairs; removes them and the closing brace from `rest`.
bool read_labels(std::string_view& rest, StringMap& labels) {
  rest.remove_prefix(1);
  while (!rest.empty() && rest.front() != '}') {
    const std::size_t equals = rest.find("=\"");
    if (equals == std::string_view::npos) return false;
    const SharedString name(rest.substr(0, equals));
    std::string value;
    std::size_t i = equals + 2;
    for (; i < rest.size() && rest[i] != '"'; ++i) {
      if (rest[i] == '\\' && ++i < rest.size()) {
        value += rest[i] == 'n' ? '\n' : rest[i];
      } else {
        value += rest[i];
      }
    }
    if (i >= rest.size()) return false;
    labels[name] = std::move(value);
    rest.remove_prefix(i + 1);
    if (!rest.empty() && rest.front() == ',') rest.remove_prefix(1);
  }
  if (rest.empty()) return false;
  rest.remove_prefix(1);
  return true;
}

std::optional<MetricSample> parse_sample(std::string_view line) {
  MetricSample sample;
  const std::size_t end = line.find_first_of("{ ");
  if (end == std::string_view::npos) return std::nullopt;
  sample.name = line.substr(0, end);
  line.remove_prefix(end);
  if (line.front() == '{' && !read_labels(line, sample.labels)) return std::nullopt;
  const std::string value = trimmed(line);
  char* stopped = nullptr;
  sample.value = std::strtod(value.c_str(), &stopped);
  if (value.empty() || *stopped != '\0') return std::nullopt;
  return sample;
}

}  // namespace

Result<std::vector<MetricSample>> parse_metrics(std::string_view text) {
  std::vector<MetricSample> samples;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    auto sample = parse_sample(line);
    if (!sample) return Error::invalid_argument("metrics: invalid sample: {}", line);
    samples.push_back(std::move(*sample));
  }
  return samples;
}

double sum_of(const std::vector<MetricSample>& samples, std::string_view name, const StringMap& labels) {
  double sum = 0;
  for (const MetricSample& sample : samples) {
    if (sample.name != name) continue;
    bool all = true;
    for (const auto& [key, value] : labels) {
      const auto found = sample.labels.find(key);
      all = all && found != sample.labels.end() && found->second == value;
    }
    if (all) sum += sample.value;
  }
  return sum;
}

Result<std::unique_ptr<OperatorProcess>> OperatorProcess::start(OperatorProcessOptions options) {
  if (options.program.empty()) options.program = TPUSLICE_OPERATOR_PROGRAM;
  std::unique_ptr<OperatorProcess> started(new OperatorProcess(std::move(options)));
  RETURN_IF_ERROR(started->launch());
  return started;
}

Status OperatorProcess::restart() {
  if (running()) return Error::invalid_argument("operator: is still running");
  return launch();
}

Status OperatorProcess::launch() {
  log_begin_ = size_of_file(options_.log);
  ASSIGN_OR_RETURN(process_,
                   Process::start({.program = options_.program, .args = arguments_of(options_), .log = options_.log}));
  const Instant until = clock_.now() + options_.ready_limit;
  RETURN_IF_ERROR(find_ports(until));
  if (!options_.wait_ready) return {};
  return wait_ready(until - clock_.now());
}

Status OperatorProcess::find_ports(Instant until) {
  health_port_ = metrics_port_ = 0;
  while (health_port_ == 0 || metrics_port_ == 0) {
    if (process_->wait(kPollInterval)) return exit_error();
    if (clock_.now() >= until) return Error::of(ErrorCode::kTimeout, "operator: does not listen yet; see {}", log());
    health_port_ = listening_port(log(), log_begin_, "health");
    metrics_port_ = listening_port(log(), log_begin_, "metrics");
  }
  return {};
}

Error OperatorProcess::exit_error() const {
  return Error::unavailable("operator: exited with status {}:\n{}", process_->exit_code().value_or(-1),
                            last_lines(log(), 5));
}

void OperatorProcess::kill() { process_->kill(); }

Status OperatorProcess::stop(Duration limit) {
  process_->signal(SIGTERM);
  const auto status = process_->wait(limit);
  if (!status) return Error::of(ErrorCode::kTimeout, "operator: did not stop; see {}", log());
  if (*status != 0) return exit_error();
  return {};
}

void OperatorProcess::pause() { process_->signal(SIGSTOP); }

void OperatorProcess::resume() { process_->signal(SIGCONT); }

std::string path_with_programs() {
  const std::string programs = std::filesystem::path(TPUSLICE_OPERATOR_PROGRAM).parent_path();
  const char* const path = std::getenv("PATH");
  return path == nullptr ? programs : programs + ":" + path;
}

Result<std::string> OperatorProcess::get(int port, const std::string& path) {
  ASSIGN_OR_RETURN(http::PlainResponse response, http::plain_get(port, path, kRequestTimeout));
  if (response.status != 200) return Error::unavailable("operator: {}: {} {}", path, response.status, response.body);
  return std::move(response.body);
}

Status OperatorProcess::check_ready() {
  std::vector<std::string> paths = {"/readyz", "/readyz/stores"};
  const bool has_policy = options_.webhook_port != 0 && options_.webhook_cert_dir.empty();
  if (has_policy && options_.wait_failure_policy) paths.emplace_back("/readyz/webhook-failure-policy");
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const http::PlainResponse response, http::plain_get(health_port_, path, kRequestTimeout));
    const bool unknown = response.status == 404 && path != "/readyz";  // To an earlier version.
    const bool drained = response.body.find("there is no MutatingWebhookConfiguration") != std::string::npos;
    if (response.status == 200 || unknown || drained) continue;
    return Error::unavailable("operator: {}: {} {}", path, response.status, response.body);
  }
  return {};
}

bool OperatorProcess::ready() { return running() && check_ready().ok(); }

Status OperatorProcess::wait_ready(Duration limit) {
  const Instant until = clock_.now() + limit;
  while (!ready()) {
    if (process_->wait(kPollInterval)) return exit_error();
    if (clock_.now() < until) continue;
    const Status why = check_ready();
    return Error::of(ErrorCode::kTimeout, "{}\n{}",
                     why ? "operator: became ready after the time-out" : why.error().message(), last_lines(log(), 5));
  }
  return {};
}

Result<std::vector<MetricSample>> OperatorProcess::metrics() {
  ASSIGN_OR_RETURN(const std::string text, get(metrics_port_, "/metrics"));
  return parse_metrics(text);
}

Result<double> OperatorProcess::metric(std::string_view name, const StringMap& labels) {
  ASSIGN_OR_RETURN(const auto samples, metrics());
  return sum_of(samples, name, labels);
}

Result<double> OperatorProcess::cpu_seconds() const {
  std::ifstream in(fmt::format("/proc/{}/stat", pid()));
  std::string text;
  std::getline(in, text);
  // The name in parentheses may contain spaces; fields 14 and 15 are user and system time.
  const std::size_t name_end = text.rfind(')');
  if (!running() || name_end == std::string::npos) return Error::not_found("operator: process {} has exited", pid());
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace tpuslice::testing
