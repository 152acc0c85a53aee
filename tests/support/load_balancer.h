// LoadBalancer: distributes TCP connections over ports of 127.0.0.1, as kube-proxy does for a Service.
#pragma once

#include <list>
#include <memory>
#include <thread>
#include <vector>

#include "api/base/mutex.h"
#include "api/base/result.h"

namespace tpuslice::testing {

/// A connection stays on its port until one of both sides closes it, also when the port is no longer a backend.
class LoadBalancer {
 public:
  /// Listens on 127.0.0.1 of a network namespace, given by an open file; -1 is ours. Errors: Unavailable.
  static Result<std::unique_ptr<LoadBalancer>> start(int network = -1);
  ~LoadBalancer();
  LoadBalancer(const LoadBalancer&) = delete;
  LoadBalancer& operator=(const LoadBalancer&) = delete;

  [[nodiscard]] int port() const { return port_; }
  /// New connections go to these in turn; without any they are closed. Thread-safe.
  void set_backends(std::vector<int> ports) TPUSLICE_EXCLUDES(mutex_);

 private:
  struct Connection;

  LoadBalancer() = default;
  Status listen_in(int network);
  void accept(const std::stop_token& stop);
  [[nodiscard]] int next_backend() TPUSLICE_EXCLUDES(mutex_);

  int listener_ = -1;
  int port_ = 0;
  Mutex mutex_;
  std::vector<int> backends_ TPUSLICE_GUARDED_BY(mutex_);
  std::size_t turn_ TPUSLICE_GUARDED_BY(mutex_) = 0;
  std::list<std::unique_ptr<Connection>> connections_;  ///< Of the accepting thread.
  std::jthread acceptor_;
};

}  // namespace tpuslice::testing
