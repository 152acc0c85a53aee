#include "api/http/client/cpprest.h"
// cpprest.h comes first: it decides how cpprestsdk is compiled.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "api/base/mutex.h"
#include "api/http/client/io_threads.h"

namespace tpuslice::http {
namespace {

constexpr int kThreads = 2;

/// The files OpenSSL reads the system's CAs from, and their common locations. Container images often set them.
struct CaVariable {
  const char* name;
  const char* nowhere;
};
constexpr std::array<CaVariable, 2> kCaVariables = {{{"SSL_CERT_FILE", "/dev/null"}, {"SSL_CERT_DIR", "/nonexistent"}}};

std::atomic<std::uint64_t> unobserved{0};

/// The process's own settings, from before they were replaced; nothing for a variable that was not set.
std::array<std::optional<std::string>, kCaVariables.size()>& replaced_settings() {
  static std::array<std::optional<std::string>, kCaVariables.size()> values;
  return values;
}

void hide_system_authorities() {
  for (std::size_t i = 0; i < kCaVariables.size(); ++i) {
    if (const char* value = std::getenv(kCaVariables[i].name)) replaced_settings()[i] = value;
    setenv(kCaVariables[i].name, kCaVariables[i].nowhere, 1);
  }
}

/// The pool is process-wide and starts 40 threads unless it is configured before first use.
void take_over_pool() {
  static const bool taken = [] {
    hide_system_authorities();
    std::signal(SIGPIPE, SIG_IGN);
    try {
      crossplat::threadpool::initialize_with_threads(0);
    } catch (const std::exception&) {  // Already started, with more threads.
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

// Whether this entry ("NAME=value") is one that take_over_pool() has set.
bool is_io_environment(std::string_view entry) {
  return std::any_of(kCaVariables.begin(), kCaVariables.end(), [entry](const CaVariable& variable) {
    return entry == std::string(variable.name) + "=" + variable.nowhere;
  });
}

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

std::vector<std::string> environment_for_children(const std::vector<std::pair<std::string, std::string>>& added) {
  std::map<std::string, std::string> by_name;
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view entry = *each;
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos || is_io_environment(entry)) continue;
    by_name[std::string(entry.substr(0, equals))] = entry.substr(equals + 1);
  }
  for (std::size_t i = 0; i < kCaVariables.size(); ++i) {
    const auto& value = replaced_settings()[i];
    if (value) by_name[kCaVariables[i].name] = *value;
  }
  for (const auto& [name, value] : added) by_name[name] = value;
  std::vector<std::string> out;
  for (const auto& [name, value] : by_name) out.push_back(fmt::format("{}={}", name, value));
  return out;
}

}  // namespace tpuslice::http
