#include "tests/bench/admission/https_load.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "api/http/blocking_connection.h"
#include "tests/bench/admission/cpu_clock.h"
#include "tests/bench/machine.h"
#include "tests/support/loopback_identity.h"

namespace tpuslice::bench {
namespace {

constexpr int kSteadyThreads = 8;
const std::string kPath = "/mutate-v1-pod?timeout=10s";

using Connection = std::unique_ptr<http::BlockingConnection>;

Result<Connection> connect(const ServerProcess& server, const std::string& authorities) {
  ASSIGN_OR_RETURN(http::BaseUrl url, http::parse_base_url(fmt::format("https://127.0.0.1:{}", server.port())));
  return http::BlockingConnection::connect({std::move(url), authorities, {}, {}});
}

double milliseconds(Duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

/// Of unsorted values.
double percentile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

/// What the threads of one measurement come to. Thread-safe.
class Tally {
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
  // After the threads.
  [[nodiscard]] std::vector<double>& latencies() { return latencies_; }
  [[nodiscard]] int failed() const { return failed_; }
  [[nodiscard]] const std::optional<Error>& first_failure() const { return first_; }

 private:
  std::mutex mutex_;
  std::vector<double> latencies_;
  int failed_ = 0;
  std::optional<Error> first_;
};

/// One connection of a closed loop.
void ask(http::BlockingConnection& connection, const std::vector<std::string>& bodies, std::size_t first, Instant until,
         Tally& tally) {
  const RealClock clock;
  std::vector<double> latencies;
  Instant now = clock.now();
  for (std::size_t i = first; now < until; ++i) {
    const Status admitted = connection.post(kPath, bodies[i % bodies.size()]);
    if (!admitted) return tally.fail(admitted.error());
    const Instant before = std::exchange(now, clock.now());
    latencies.push_back(milliseconds(now - before));
  }
  tally.add(latencies);
}

/// What connections are to trust. Thread-safe.
class Trust {
 public:
  explicit Trust(std::string authority) : authorities_(authority), newest_(std::move(authority)) {}
  [[nodiscard]] std::string authorities() const {
    const std::lock_guard lock(mutex_);
    return authorities_;
  }
  /// That one and the one before.
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

/// One of the threads that keep up a rate: every kSteadyThreads-th admission is its.
class SteadyThread {
 public:
  SteadyThread(const ServerProcess& server, const Trust& trust, const std::vector<std::string>& bodies,
               const RotationOptions& options, Tally& tally, std::atomic<int>& opened)
      : server_(server), trust_(trust), bodies_(bodies), options_(options), tally_(tally), opened_(opened) {}

  void run(int first, Instant begin) {
    std::vector<double> latencies;
    const Duration gap = std::chrono::duration_cast<Duration>(std::chrono::seconds(1)) / options_.rate;
    for (int i = first; i * gap < options_.time; i += kSteadyThreads) {
      const Instant due = begin + i * gap;
      if (const Duration wait = due - clock_.now(); wait > Duration::zero()) pause_for(wait);
      if (const Status admitted = admit(bodies_[static_cast<std::size_t>(i) % bodies_.size()]); !admitted) {
        connection_.reset();
        tally_.fail(admitted.error());
      } else {
        latencies.push_back(milliseconds(clock_.now() - due));
      }
    }
    tally_.add(latencies);
  }

 private:
  Status admit(const std::string& body) {
    if (!connection_ || sent_ == options_.requests_a_connection) {
      ASSIGN_OR_RETURN(connection_, connect(server_, trust_.authorities()));
      sent_ = 0;
      ++opened_;
    }
    ++sent_;
    return connection_->post(kPath, body);
  }

  const RealClock clock_{};
  const ServerProcess& server_;
  const Trust& trust_;
  const std::vector<std::string>& bodies_;
  const RotationOptions& options_;
  Tally& tally_;
  std::atomic<int>& opened_;
  Connection connection_;
  int sent_ = 0;
};

/// A new identity for the server, which then has to be the one that it shows.
Status show(ServerProcess& server, const CertificateDirectory& directory, const testing::LoopbackIdentity& next,
            const std::string& body) {
  RETURN_IF_ERROR(directory.write(next.leaf));
  RETURN_IF_ERROR(server.look_at_certificates());
  auto witness = connect(server, next.authority);
  if (!witness) return witness.error().within("the new certificate is not served");
  return (*witness)->post(kPath, body);
}

/// Shows one identity after another. Each authority is trusted for a whole turn before its leaf is shown, as who
/// connects may have looked up what to trust a while ago.
Status rotate(ServerProcess& server, const CertificateDirectory& directory, Trust& trust, const std::string& body,
              Instant begin, const RotationOptions& options) {
  const RealClock clock;
  for (int i = 1; i <= options.rotations; ++i) {
    ASSIGN_OR_RETURN(const auto next, testing::make_loopback_identity("admission-bench"));
    trust.add(next.authority);
    pause_for(begin + i * (options.time / (options.rotations + 1)) - clock.now());
    RETURN_IF_ERROR(show(server, directory, next, body));
  }
  return {};
}

}  // namespace

Result<HttpsFigures> measure_https(const ServerProcess& server, const std::string& authority,
                                   const std::vector<std::string>& bodies, int connections, Duration time) {
  const RealClock clock;
  std::vector<Connection> open;
  for (int i = 0; i < connections; ++i) {
    ASSIGN_OR_RETURN(Connection connection, connect(server, authority));
    RETURN_IF_ERROR(connection->post(kPath, bodies.front()));
    open.push_back(std::move(connection));
  }
  Tally tally;
  const double server_before = cpu_seconds_of_process(server.pid());
  const double client_before = cpu_seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  const Instant begin = clock.now();
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < open.size(); ++i) {
      threads.emplace_back([&, i] { ask(*open[i], bodies, i, begin + time, tally); });
    }
  }
  const double took = std::chrono::duration<double>(clock.now() - begin).count();
  const double server_cpu = cpu_seconds_of_process(server.pid()) - server_before;
  const double client_cpu = cpu_seconds_of(CLOCK_PROCESS_CPUTIME_ID) - client_before;
  if (tally.first_failure()) return *tally.first_failure();
  const auto count = static_cast<double>(tally.latencies().size());
  return HttpsFigures{connections,
                      count / took,
                      percentile(tally.latencies(), 0.5),
                      percentile(tally.latencies(), 0.99),
                      1000 * server_cpu / count,
                      1000 * client_cpu / count};
}

Result<RotationFigures> measure_rotation(ServerProcess& server, const CertificateDirectory& directory,
                                         const std::string& authority, const std::vector<std::string>& bodies,
                                         const RotationOptions& options) {
  const RealClock clock;
  Trust trust(authority);
  Tally tally;
  std::atomic<int> opened = 0;
  RotationFigures figures;
  Status rotated;
  const Instant begin = clock.now();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kSteadyThreads; ++i) {
      threads.emplace_back([&, i] { SteadyThread(server, trust, bodies, options, tally, opened).run(i, begin); });
    }
    rotated = rotate(server, directory, trust, bodies.front(), begin, options);
  }
  if (!rotated) return rotated.error();
  figures.rotations = options.rotations;
  figures.admissions = static_cast<int>(tally.latencies().size());
  figures.connections = opened;
  figures.failed = tally.failed();
  if (tally.first_failure()) figures.first_failure = tally.first_failure()->message();
  figures.p99 = percentile(tally.latencies(), 0.99);
  return figures;
}

}  // namespace tpuslice::bench
