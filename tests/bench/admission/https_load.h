// Admission over HTTPS: in a closed loop, and at a constant rate during certificate rotation.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/bench/admission/certificates.h"
#include "tests/bench/admission/server_process.h"

namespace tpuslice::bench {

/// A webhook server on 127.0.0.1.
struct Endpoint {
  std::uint16_t port = 0;
  pid_t process = 0;
  std::string path;       ///< Of its mutating webhook.
  std::string authority;  ///< PEM; signed its certificate.
};

/// Of a server that uses a certificate of `authority`.
[[nodiscard]] Endpoint endpoint_of(const ServerProcess& server, const std::string& authority);

struct HttpsFigures {
  int connections = 0;
  double rate = 0;        ///< Admissions per second.
  double p50 = 0;         ///< Milliseconds until the reply was read.
  double p99 = 0;         ///< Milliseconds.
  double server_cpu = 0;  ///< CPU seconds of the server per 1,000 admissions.
  double client_cpu = 0;  ///< CPU seconds of the client per 1,000 admissions.
};

/// Each connection is kept open and sends the next review after a reply.
/// Errors: Unavailable, InvalidArgument; also for a single reply without status 200.
[[nodiscard]] Result<HttpsFigures> measure_https(const Endpoint& server, const std::vector<std::string>& bodies,
                                                 int connections, Duration time);

struct RotationOptions {
  int rate = 200;  ///< Admissions per second, independent of the replies.
  Duration time = std::chrono::seconds(11);
  int rotations = 10;               ///< Evenly over that time.
  int requests_per_connection = 5;  ///< Then a new connection is opened.
};

struct RotationFigures {
  int rotations = 0;  ///< Each verified by a connection that trusts only the new authority.
  int admissions = 0;
  int connections = 0;
  int failed = 0;             ///< Failed connections and admissions.
  std::string first_failure;  ///< Its message.
  double p99 = 0;             ///< Milliseconds after an admission was due.
};

/// Connections trust the current and the next authority, as a caBundle does.
/// Errors: Unavailable, InvalidArgument; not for failed admissions.
[[nodiscard]] Result<RotationFigures> measure_rotation(ServerProcess& server, const CertificateDirectory& directory,
                                                       const std::string& authority,
                                                       const std::vector<std::string>& bodies,
                                                       const RotationOptions& options);

}  // namespace tpuslice::bench
