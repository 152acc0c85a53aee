// tpu-slice-admission-bench: see docs/performance.md.
#include <sched.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "api/base/file.h"
#include "tests/bench/admission/report.h"
#include "tests/bench/admission/reviews.h"
#include "tests/bench/cpu_clock.h"
#include "tests/bench/machine.h"
#include "tests/support/loopback_identity.h"

namespace tpuslice::bench {
namespace {

constexpr int kUsageError = 2;
constexpr int kPods = 256;  ///< Different pods, in turn.

struct CommandLine {
  double seconds = 5;
  std::vector<int> connections = {1, 8, 64};
  RotationOptions rotation;
  int rotation_seconds = 11;
  std::vector<std::string> only;
  Endpoint tpu_webhook = {.path = "/mutate"};
  std::string tpu_webhook_ca;  ///< File.
  bool one_core = false;       ///< The server runs on core 0, this process on core 1.

  [[nodiscard]] bool includes(const std::string& part) const {
    return only.empty() || std::find(only.begin(), only.end(), part) != only.end();
  }
  [[nodiscard]] Duration time() const {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  }
};

/// Of this thread, and of the threads and processes that it starts.
Status use_core(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  if (sched_setaffinity(0, sizeof(cores), &cores) == 0) return {};
  return Error::unavailable("core {} cannot be used", core);
}

/// The measured server; started before this process has threads.
struct MeasuredServer {
  CertificateDirectory directory;
  std::string authority;
  ServerProcess server;
};

Result<MeasuredServer> start_server() {
  ASSIGN_OR_RETURN(CertificateDirectory directory, CertificateDirectory::create());
  ASSIGN_OR_RETURN(const auto first, testing::make_loopback_identity("admission-bench"));
  RETURN_IF_ERROR(directory.write(first.leaf));
  ASSIGN_OR_RETURN(ServerProcess server, ServerProcess::start(directory.path()));
  return MeasuredServer{std::move(directory), first.authority, std::move(server)};
}

Status measure(const CommandLine& line, MeasuredServer& measured, AdmissionMeasurements& out) {
  ASSIGN_OR_RETURN(const std::vector<std::string> bodies, prepare_reviews(kPods));
  out.review_bytes = bodies.front().size();
  if (line.includes("mutator")) out.mutator = measure_mutator(bodies, line.time());
  if (line.includes("https")) {
    for (const int connections : line.connections) {
      ASSIGN_OR_RETURN(const HttpsFigures figures, measure_https(endpoint_of(measured.server, measured.authority),
                                                                 bodies, connections, line.time()));
      out.https.push_back(figures);
      if (line.tpu_webhook.port == 0) continue;
      ASSIGN_OR_RETURN(const HttpsFigures other, measure_https(line.tpu_webhook, bodies, connections, line.time()));
      out.tpu_webhook.push_back(other);
    }
  }
  if (line.includes("certificates")) {
    ASSIGN_OR_RETURN(out.rotation,
                     measure_rotation(measured.server, measured.directory, measured.authority, bodies, line.rotation));
  }
  return {};
}

/// Returns 1 if an admission failed.
Result<int> run(CommandLine line) {
  if (line.tpu_webhook.port != 0) {
    ASSIGN_OR_RETURN(line.tpu_webhook.authority, read_file(line.tpu_webhook_ca));
  }
  line.rotation.time = std::chrono::seconds(line.rotation_seconds);
  const RealClock clock;
  if (line.one_core) RETURN_IF_ERROR(use_core(0));
  ASSIGN_OR_RETURN(MeasuredServer measured, start_server());
  if (line.one_core) RETURN_IF_ERROR(use_core(1));
  AdmissionMeasurements measurements;
  const Instant begin = clock.now();
  const double machine_before = machine_cpu_seconds();
  const pid_t other = line.tpu_webhook.process;
  const double other_before = other == 0 ? 0 : cpu_seconds_of_process(other);
  RETURN_IF_ERROR(measure(line, measured, measurements));
  const double other_used = other == 0 ? 0 : cpu_seconds_of_process(other) - other_before;
  const double ours =
      cpu_seconds_of_process(measured.server.pid()) + cpu_seconds_of(CLOCK_PROCESS_CPUTIME_ID) + other_used;
  const double took = std::chrono::duration<double>(clock.now() - begin).count();
  measurements.others = (machine_cpu_seconds() - machine_before - ours) / (took * machine_cores());
  fmt::print("{}", to_table(measurements));
  return measurements.rotation && measurements.rotation->failed > 0 ? 1 : 0;
}

int main_with_result(int argc, char** argv) {
  CLI::App app("Measures admission of Ray worker pods: the mutator alone, over HTTPS, during certificate rotation.",
               "tpu-slice-admission-bench");
  CommandLine line;
  app.add_option("--seconds", line.seconds, "Seconds for each row. Default: 5")->check(CLI::PositiveNumber);
  app.add_option("--connections", line.connections, "Numbers of connections, one row each. Default: 1 8 64");
  app.add_option("--rate", line.rotation.rate, "Admissions per second during certificate rotation. Default: 200")
      ->check(CLI::PositiveNumber);
  app.add_option("--rotations", line.rotation.rotations, "Number of certificate rotations. Default: 10");
  app.add_option("--rotation-seconds", line.rotation_seconds,
                 "Seconds of the measurement with certificate rotation. Default: 11");
  app.add_option("--only", line.only, "Parts: mutator, https, certificates. Default: all.");
  app.add_flag("--one-core", line.one_core, "The server uses one core and the client another.");
  auto* const port = app.add_option("--tpu-webhook-port", line.tpu_webhook.port,
                                    "Port on 127.0.0.1 of a TPU webhook that is measured beside, in the same run.");
  auto* const process = app.add_option("--tpu-webhook-pid", line.tpu_webhook.process, "Its process.");
  auto* const authority =
      app.add_option("--tpu-webhook-ca", line.tpu_webhook_ca, "PEM file that signed its certificate.")
          ->check(CLI::ExistingFile);
  port->needs(process)->needs(authority);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  const auto status = run(std::move(line));
  if (!status) {
    fmt::print(stderr, "tpu-slice-admission-bench: {}\n", status.error().message());
    return 1;
  }
  return *status;
}

}  // namespace
}  // namespace tpuslice::bench

int main(int argc, char** argv) { return tpuslice::bench::main_with_result(argc, argv); }
