#include "tests/bench/admission/report.h"

#include <array>

#include <fmt/format.h>

#include "tests/bench/machine.h"

namespace tpuslice::bench {
namespace {

/// The TPU webhook (ai-on-gke/kuberay-tpu-webhook ef658db), measured once on this class of machine: admission of one
/// Ray worker pod with KubeRay's index labels over HTTPS, connections kept.
struct TpuWebhookFigures {
  int connections;
  double rate;
  double p99;
};
constexpr std::array<TpuWebhookFigures, 3> kTpuWebhook = {{{1, 1028, 2.5}, {8, 1602, 9.8}, {64, 1787, 52}}};
constexpr double kTpuWebhookLeastCpu = 0.54;  ///< Seconds for 1,000 admissions.
constexpr double kTpuWebhookMostCpu = 0.81;

/// How many times as many admissions one core makes as with the TPU webhook.
std::string ratio(double cpu) {
  return fmt::format("{:.1f}-{:.1f}", kTpuWebhookLeastCpu / cpu, kTpuWebhookMostCpu / cpu);
}

}  // namespace

std::string to_table(const AdmissionMeasurements& measurements) {
  std::string out = fmt::format(
      "{} cores, {}; {:.0f} % of the machine used by other programs. Reviews of {:.1f} KB.\n\n"
      "| | connections | admissions/s | p50, ms | p99, ms | CPU-s per 1,000 | client, CPU-s per 1,000 | rate per core, "
      "of the TPU webhook's |\n|---|---|---|---|---|---|---|---|\n",
      machine_cores(), machine_model(), 100 * measurements.others,
      static_cast<double>(measurements.review_bytes) / 1000);
  if (measurements.mutator) {
    const MutatorFigures& alone = *measurements.mutator;
    out += fmt::format("| mutator alone, one thread | - | {:.0f} | | | {:.3f} | - | {} |\n", alone.rate, alone.cpu,
                       ratio(alone.cpu));
  }
  for (const HttpsFigures& each : measurements.https) {
    out += fmt::format("| HTTPS server | {} | {:.0f} | {:.2f} | {:.2f} | {:.3f} | {:.3f} | {} |\n", each.connections,
                       each.rate, each.p50, each.p99, each.server_cpu, each.client_cpu, ratio(each.server_cpu));
  }
  for (const TpuWebhookFigures& each : kTpuWebhook) {
    out +=
        fmt::format("| TPU webhook, measured elsewhere on this class of machine | {} | {:.0f} | | {} | {}-{} | | 1 |\n",
                    each.connections, each.rate, each.p99, kTpuWebhookLeastCpu, kTpuWebhookMostCpu);
  }
  if (measurements.rotation) {
    const RotationFigures& steady = *measurements.rotation;
    out += fmt::format(
        "\nCertificates replaced {} times under a steady load: {} admissions on {} connections, {} failed{}; p99 "
        "{:.2f} "
        "ms from when each was due.\n",
        steady.rotations, steady.admissions, steady.connections, steady.failed,
        steady.failed == 0 ? "" : " (" + steady.first_failure + ")", steady.p99);
  }
  return out;
}

}  // namespace tpuslice::bench
