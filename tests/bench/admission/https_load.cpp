#include "tests/bench/admission/https_load.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "api/http/testing/blocking_connection.h"
#include "tests/bench/cpu_clock.h"
#include "tests/bench/machine.h"
#include "tests/support/loopback_identity.h"

namespace tpuslice::bench {
namespace {

constexpr int kThreads = 8;
const std::string kPath = "/mutate-v1-pod?timeout=10s";

using Connection = std::unique_ptr<http::BlockingConnection>;

Result<Connection> connect(std::uint16_t port, const std::string& authorities) {
  ASSIGN_OR_RETURN(http::BaseUrl url, http::parse_base_url(fmt::format("https://127.0.0.1:{}", port)));
  return http::BlockingConnection::connect({std::move(url), authorities, {}, {}});
}

double milliseconds(Duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

/// Reorders `values`.
double percentile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

/// Results of all threads of a measurement. Thread-safe.
class Results {
 public:
  void add(const std::vector<double>& latencies) {
    const std::lock_guard lock(mutex_);
    latencies_.insert(latencies_.end(), latencies.begin(), latencies.end());
  }
  void fail(const Error& error) {
    const std::lock_guard lock(mutex_);
    ++failed_;
    if (!first_) first_ = error;
  }
  // Called after the threads have ended.
  [[nodiscard]] std::vector<double>& latencies() { return latencies_; }
  [[nodiscard]] int failed() const { return failed_; }
  [[nodiscard]] const std::optional<Error>& first_failure() const { return first_; }

 private:
  std::mutex mutex_;
  std::vector<double> latencies_;
  int failed_ = 0;
  std::optional<Error> first_;
};

/// A closed loop on one connection.
void run_closed_loop(http::BlockingConnection& connection, const std::string& path,
                     const std::vector<std::string>& bodies, std::size_t first, Instant until, Results& results) {
  const RealClock clock;
  std::vector<double> latencies;
  Instant now = clock.now();
  for (std::size_t i = first; now < until; ++i) {
    const Status admitted = connection.post(path, bodies[i % bodies.size()]);
    if (!admitted) return results.fail(admitted.error());
    const Instant before = std::exchange(now, clock.now());
    latencies.push_back(milliseconds(now - before));
  }
  results.add(latencies);
}

/// The authorities that connections trust. Thread-safe.
class TrustedAuthorities {
 public:
  explicit TrustedAuthorities(std::string authority) : authorities_(authority), newest_(std::move(authority)) {}
  [[nodiscard]] std::string authorities() const {
    const std::lock_guard lock(mutex_);
    return authorities_;
  }
  /// Trusts `authority` and the previous one.
  void add(const std::string& authority) {
    const std::lock_guard lock(mutex_);
    authorities_ = authority + newest_;
    newest_ = authority;
  }

 private:
  mutable std::mutex mutex_;
  std::string authorities_;
  std::string newest_;
};

/// One of the threads of a constant rate: sends every kThreads-th review.
class ConstantRateThread {
 public:
  ConstantRateThread(const ServerProcess& server, const TrustedAuthorities& trusted,
                     const std::vector<std::string>& bodies, const RotationOptions& options, Results& results,
                     std::atomic<int>& opened)
      : server_(server), trusted_(trusted), bodies_(bodies), options_(options), results_(results), opened_(opened) {}

  void run(int first, Instant begin) {
    std::vector<double> latencies;
    const Duration gap = std::chrono::duration_cast<Duration>(std::chrono::seconds(1)) / options_.rate;
    for (int i = first; i * gap < options_.time; i += kThreads) {
      const Instant due = begin + i * gap;
      if (const Duration wait = due - clock_.now(); wait > Duration::zero()) pause_for(wait);
      if (const Status admitted = admit(bodies_[static_cast<std::size_t>(i) % bodies_.size()]); !admitted) {
        connection_.reset();
        results_.fail(admitted.error());
      } else {
        latencies.push_back(milliseconds(clock_.now() - due));
      }
    }
    results_.add(latencies);
  }

 private:
  Status admit(const std::string& body) {
    if (!connection_ || sent_ == options_.requests_per_connection) {
      ASSIGN_OR_RETURN(connection_, connect(server_.port(), trusted_.authorities()));
      sent_ = 0;
      ++opened_;
    }
    ++sent_;
    return connection_->post(kPath, body);
  }

  const RealClock clock_{};
  const ServerProcess& server_;
  const TrustedAuthorities& trusted_;
  const std::vector<std::string>& bodies_;
  const RotationOptions& options_;
  Results& results_;
  std::atomic<int>& opened_;
  Connection connection_;
  int sent_ = 0;
};

/// Gives the server a new certificate and checks that it serves it.
Status replace_certificate(ServerProcess& server, const CertificateDirectory& directory,
                           const testing::LoopbackIdentity& next, const std::string& body) {
  RETURN_IF_ERROR(directory.write(next.leaf));
  RETURN_IF_ERROR(server.reload_certificates());
  auto probe = connect(server.port(), next.authority);
  if (!probe) return probe.error().within("the new certificate is not served");
  return (*probe)->post(kPath, body);
}

/// Replaces the certificate at regular intervals. Each authority is trusted one interval before its leaf is served, as
/// an API server may have read the caBundle earlier.
Status rotate(ServerProcess& server, const CertificateDirectory& directory, TrustedAuthorities& trusted,
              const std::string& body, Instant begin, const RotationOptions& options) {
  const RealClock clock;
  for (int i = 1; i <= options.rotations; ++i) {
    ASSIGN_OR_RETURN(const auto next, testing::make_loopback_identity("admission-bench"));
    trusted.add(next.authority);
    pause_for(begin + i * (options.time / (options.rotations + 1)) - clock.now());
    RETURN_IF_ERROR(replace_certificate(server, directory, next, body));
  }
  return {};
}

}  // namespace

Endpoint endpoint_of(const ServerProcess& server, const std::string& authority) {
  return {server.port(), server.pid(), kPath, authority};
}

Result<HttpsFigures> measure_https(const Endpoint& server, const std::vector<std::string>& bodies, int connections,
                                   Duration time) {
  const RealClock clock;
  std::vector<Connection> open;
  for (int i = 0; i < connections; ++i) {
    ASSIGN_OR_RETURN(Connection connection, connect(server.port, server.authority));
    RETURN_IF_ERROR(connection->post(server.path, bodies.front()));
    open.push_back(std::move(connection));
  }
  Results results;
  const double server_before = cpu_seconds_of_process(server.process);
  const double client_before = cpu_seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  const Instant begin = clock.now();
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < open.size(); ++i) {
      threads.emplace_back([&, i] { run_closed_loop(*open[i], server.path, bodies, i, begin + time, results); });
    }
  }
  const double took = std::chrono::duration<double>(clock.now() - begin).count();
  const double server_cpu = cpu_seconds_of_process(server.process) - server_before;
  const double client_cpu = cpu_seconds_of(CLOCK_PROCESS_CPUTIME_ID) - client_before;
  if (results.first_failure()) return *results.first_failure();
  const auto count = static_cast<double>(results.latencies().size());
  return HttpsFigures{connections,
                      count / took,
                      percentile(results.latencies(), 0.5),
                      percentile(results.latencies(), 0.99),
                      1000 * server_cpu / count,
                      1000 * client_cpu / count};
}

Result<RotationFigures> measure_rotation(ServerProcess& server, const CertificateDirectory& directory,
                                         const std::string& authority, const std::vector<std::string>& bodies,
                                         const RotationOptions& options) {
  const RealClock clock;
  TrustedAuthorities trusted(authority);
  Results results;
  std::atomic<int> opened = 0;
  RotationFigures figures;
  Status rotated;
  const Instant begin = clock.now();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back(
          [&, i] { ConstantRateThread(server, trusted, bodies, options, results, opened).run(i, begin); });
    }
    rotated = rotate(server, directory, trusted, bodies.front(), begin, options);
  }
  if (!rotated) return rotated.error();
  figures.rotations = options.rotations;
  figures.admissions = static_cast<int>(results.latencies().size());
  figures.connections = opened;
  figures.failed = results.failed();
  if (results.first_failure()) figures.first_failure = results.first_failure()->message();
  figures.p99 = percentile(results.latencies(), 0.99);
  return figures;
}

}  // namespace tpuslice::bench
