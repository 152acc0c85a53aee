// kubectl-tpu: the plugin that kubectl runs for "kubectl tpu".
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string_view>
#include <vector>

#include "cmd/kubectl-tpu/app.h"
#include "cmd/kubectl-tpu/connect.h"
#include "cmd/kubectl-tpu/program.h"
#include "cmd/tpu-slice-operator/signals.h"

namespace tpuslice::plugin {
namespace {

/// Whether standard output is a terminal that shows colours; see no-color.org.
bool shows_colours() {
  // NOLINTBEGIN(concurrency-mt-unsafe): nothing writes them
  const char* const no_colour = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  // NOLINTEND(concurrency-mt-unsafe)
  return isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

int run(int argc, const char* const* argv) {
  const StopOnSignal signals;
  const RealClock clock;
  const Surroundings surroundings{.out = std::cout,
                                  .err = std::cerr,
                                  .clock = clock,
                                  .stop = signals.token(),
                                  .terminal = shows_colours(),
                                  .run = run_program,
                                  .capture = capture_program,
                                  .connect = connect_to_cluster};
  const int code = run_app({argv + 1, argv + argc}, surroundings);
  if (!std::cout.flush() && code == 0) return 1;  // The answer could not be written.
  return code;
}

}  // namespace
}  // namespace tpuslice::plugin

int main(int argc, char** argv) {
  try {
    return tpuslice::plugin::run(argc, argv);
  } catch (const std::exception& defect) {
    std::cerr << "kubectl-tpu: a defect of this program: " << defect.what() << "\n";
    return 1;
  }
}
