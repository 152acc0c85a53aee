// Admissions over HTTPS: as fast as connections get answers, and at a steady rate while certificates change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/bench/admission/certificates.h"
#include "tests/bench/admission/server_process.h"

namespace tpuslice::bench {

struct HttpsFigures {
  int connections = 0;
  double rate = 0;        ///< Admissions in a second.
  double p50 = 0;         ///< Milliseconds until the answer was read.
  double p99 = 0;         ///< Likewise.
  double server_cpu = 0;  ///< CPU seconds of the server for 1,000 admissions.
  double client_cpu = 0;  ///< Of those who asked.
};

/// Each connection is kept, and sends the next review when it has read the answer.
/// Errors: Unavailable, InvalidArgument; also for a single answer that is no 200.
[[nodiscard]] Result<HttpsFigures> measure_https(const ServerProcess& server, const std::string& authority,
                                                 const std::vector<std::string>& bodies, int connections,
                                                 Duration time);

struct RotationOptions {
  int rate = 200;  ///< Admissions in a second, whatever the server makes of them.
  Duration time = std::chrono::seconds(11);
  int rotations = 10;             ///< Evenly over that time.
  int requests_a_connection = 5;  ///< Then another one is opened.
};

struct RotationFigures {
  int rotations = 0;  ///< Each seen: a connection that trusts nothing but the new authority was served.
  int admissions = 0;
  int connections = 0;
  int failed = 0;             ///< Connections and admissions.
  std::string first_failure;  ///< Of those.
  double p99 = 0;             ///< Milliseconds from when an admission was due.
};

/// Connections trust the authority that is shown and the one that is next, as caBundle lists them.
/// Errors: Unavailable, InvalidArgument; not for failed admissions.
[[nodiscard]] Result<RotationFigures> measure_rotation(ServerProcess& server, const CertificateDirectory& directory,
                                                       const std::string& authority,
                                                       const std::vector<std::string>& bodies,
                                                       const RotationOptions& options);

}  // namespace tpuslice::bench
