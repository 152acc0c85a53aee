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
constexpr double kTpuWebhookMinCpu = 0.54;  ///< Seconds for 1,000 admissions.
constexpr double kTpuWebhookMaxCpu = 0.81;

/// Admissions per core, relative to the TPU webhook with so many connections, or as measured once.
std::string ratio(double cpu, const std::vector<HttpsFigures>& tpu_webhook, int connections) {
  for (const HttpsFigures& each : tpu_webhook) {
    if (each.connections == connections) return fmt::format("{:.1f}", each.server_cpu / cpu);
  }
  return fmt::format("{:.1f}-{:.1f}", kTpuWebhookMinCpu / cpu, kTpuWebhookMaxCpu / cpu);
}

std::string row(const char* name, const HttpsFigures& of, const std::string& ratio) {
  return fmt::format("| {} | {} | {:.0f} | {:.2f} | {:.2f} | {:.3f} | {:.3f} | {} |\n", name, of.connections, of.rate,
                     of.p50, of.p99, of.server_cpu, of.client_cpu, ratio);
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
                       ratio(alone.cpu, measurements.tpu_webhook, 1));
  }
  for (const HttpsFigures& each : measurements.https) {
    out += row("HTTPS server", each, ratio(each.server_cpu, measurements.tpu_webhook, each.connections));
  }
  for (const HttpsFigures& each : measurements.tpu_webhook) out += row("TPU webhook", each, "1");
  if (measurements.tpu_webhook.empty()) {
    for (const TpuWebhookFigures& each : kTpuWebhook) {
      out += fmt::format(
          "| TPU webhook, measured elsewhere on this class of machine | {} | {:.0f} | | {} | {}-{} | | 1 |\n",
          each.connections, each.rate, each.p99, kTpuWebhookMinCpu, kTpuWebhookMaxCpu);
    }
  }
  if (measurements.rotation) {
    const RotationFigures& rotation = *measurements.rotation;
    out += fmt::format(
        "\nCertificates replaced {} times at a constant rate: {} admissions on {} connections, {} failed{}; p99 "
        "{:.2f} "
        "ms after each was due.\n",
        rotation.rotations, rotation.admissions, rotation.connections, rotation.failed,
        rotation.failed == 0 ? "" : " (" + rotation.first_failure + ")", rotation.p99);
  }
  return out;
}

}  // namespace tpuslice::bench
