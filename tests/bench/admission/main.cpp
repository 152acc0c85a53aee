// tpu-slice-admission-bench: see docs/performance.md.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tests/bench/admission/cpu_clock.h"
#include "tests/bench/admission/report.h"
#include "tests/bench/admission/reviews.h"
#include "tests/bench/machine.h"
#include "tests/support/loopback_identity.h"

namespace tpuslice::bench {
namespace {

constexpr int kUsageError = 2;
constexpr int kPods = 256;  ///< Different ones, in turn.

struct CommandLine {
  double seconds = 5;
  std::vector<int> connections = {1, 8, 64};
  RotationOptions rotation;
  int rotation_seconds = 11;
  std::vector<std::string> only;

  [[nodiscard]] bool wants(const std::string& part) const {
    return only.empty() || std::find(only.begin(), only.end(), part) != only.end();
  }
  [[nodiscard]] Duration time() const {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  }
};

/// What the server is, in parts that are made before this process has threads.
struct World {
  CertificateDirectory directory;
  std::string authority;
  ServerProcess server;
};

Result<World> make_world() {
  ASSIGN_OR_RETURN(CertificateDirectory directory, CertificateDirectory::make());
  ASSIGN_OR_RETURN(const auto first, testing::make_loopback_identity("admission-bench"));
  RETURN_IF_ERROR(directory.write(first.leaf));
  ASSIGN_OR_RETURN(ServerProcess server, ServerProcess::start(directory.path()));
  return World{std::move(directory), first.authority, std::move(server)};
}

Status measure(const CommandLine& line, World& world, AdmissionMeasurements& out) {
  ASSIGN_OR_RETURN(const std::vector<std::string> bodies, prepare_reviews(kPods));
  out.review_bytes = bodies.front().size();
  if (line.wants("mutator")) out.mutator = measure_mutator(bodies, line.time());
  if (line.wants("https")) {
    for (const int connections : line.connections) {
      ASSIGN_OR_RETURN(const HttpsFigures figures,
                       measure_https(world.server, world.authority, bodies, connections, line.time()));
      out.https.push_back(figures);
    }
  }
  if (line.wants("certificates")) {
    ASSIGN_OR_RETURN(out.rotation,
                     measure_rotation(world.server, world.directory, world.authority, bodies, line.rotation));
  }
  return {};
}

/// Failed admissions are a failure of this program.
Result<int> run(CommandLine line) {
  line.rotation.time = std::chrono::seconds(line.rotation_seconds);
  const RealClock clock;
  ASSIGN_OR_RETURN(World world, make_world());
  AdmissionMeasurements measurements;
  const Instant begin = clock.now();
  const double machine_before = machine_cpu_seconds();
  RETURN_IF_ERROR(measure(line, world, measurements));
  const double ours = cpu_seconds_of_process(world.server.pid()) + cpu_seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  const double took = std::chrono::duration<double>(clock.now() - begin).count();
  measurements.others = (machine_cpu_seconds() - machine_before - ours) / (took * machine_cores());
  fmt::print("{}", to_table(measurements));
  return measurements.rotation && measurements.rotation->failed > 0 ? 1 : 0;
}

int main_with_result(int argc, char** argv) {
  CLI::App app("Measures admission of Ray worker pods: the mutator alone, the HTTPS server, certificates that change.",
               "tpu-slice-admission-bench");
  CommandLine line;
  app.add_option("--seconds", line.seconds, "For each row. Default: 5")->check(CLI::PositiveNumber);
  app.add_option("--connections", line.connections, "One row of the HTTPS server each. Default: 1 8 64");
  app.add_option("--rate", line.rotation.rate, "Admissions a second while certificates change. Default: 200")
      ->check(CLI::PositiveNumber);
  app.add_option("--rotations", line.rotation.rotations, "Certificates, one after another. Default: 10");
  app.add_option("--rotation-seconds", line.rotation_seconds, "In which they change. Default: 11");
  app.add_option("--only", line.only, "Parts: mutator, https, certificates. Default: all.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  const auto ended = run(std::move(line));
  if (!ended) {
    fmt::print(stderr, "tpu-slice-admission-bench: {}\n", ended.error().message());
    return 1;
  }
  return *ended;
}

}  // namespace
}  // namespace tpuslice::bench

int main(int argc, char** argv) { return tpuslice::bench::main_with_result(argc, argv); }
