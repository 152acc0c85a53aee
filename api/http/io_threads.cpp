#include "api/http/cpprest.h"
// cpprest.h comes first: it decides how cpprestsdk is compiled.
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "api/base/mutex.h"
#include "api/http/cpprest_transport.h"

namespace tpuslice::http {
namespace {

constexpr int kThreads = 4;
constexpr std::string_view kNoFile = "SSL_CERT_FILE=/dev/null";
constexpr std::string_view kNoDirectory = "SSL_CERT_DIR=/nonexistent";

std::atomic<std::uint64_t> unobserved{0};

/// Sets NAME=value unless somebody has set NAME already.
void set_environment(std::string_view entry) {
  const auto equals = entry.find('=');
  setenv(std::string(entry.substr(0, equals)).c_str(), std::string(entry.substr(equals + 1)).c_str(), 0);
}

/// Its pool is process-wide and starts 40 threads by itself unless it is told otherwise before anything else.
void take_over_pool() {
  static const bool taken = [] {
    set_environment(kNoFile);
    set_environment(kNoDirectory);
    try {
      crossplat::threadpool::initialize_with_threads(0);
    } catch (const std::exception&) {  // Somebody started it before us: then it has more threads than ours.
      return false;
    }
    return true;
  }();
  static_cast<void>(taken);
}

class RealIoThreads final : public IoThreads {
 public:
  RealIoThreads() : service_(crossplat::threadpool::shared_instance().service()), work_(service_.get_executor()) {
    service_.restart();
    for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this] { run(); });
  }
  ~RealIoThreads() override {
    work_.reset();
    service_.stop();
    for (std::thread& each : threads_) each.join();
  }
  RealIoThreads(const RealIoThreads&) = delete;
  RealIoThreads& operator=(const RealIoThreads&) = delete;

 private:
  void run() {
    while (true) {
      try {
        service_.run();
        return;
      } catch (...) {  // The request that threw fails by its deadline; the others go on.
        continue;
      }
    }
  }

  boost::asio::io_service& service_;
  boost::asio::executor_work_guard<boost::asio::io_service::executor_type> work_;
  std::vector<std::thread> threads_;
};

}  // namespace

void note_unobserved_exception() noexcept { ++unobserved; }

std::shared_ptr<IoThreads> start_io() {
  // The pool behind it is a global of cpprestsdk; this only counts who uses it.
  static Mutex mutex;
  static std::weak_ptr<IoThreads> current;
  const MutexLock lock(mutex);
  if (std::shared_ptr<IoThreads> running = current.lock()) return running;
  take_over_pool();
  auto started = std::make_shared<RealIoThreads>();
  current = started;
  return started;
}

bool is_io_environment(std::string_view entry) { return entry == kNoFile || entry == kNoDirectory; }

}  // namespace tpuslice::http
