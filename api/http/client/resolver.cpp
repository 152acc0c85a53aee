#include "api/http/client/resolver.h"

#include <netdb.h>

#include <cstring>
#include <system_error>
#include <thread>

namespace tpuslice::http {
namespace {

/// The API server is one, the dashboards of Ray are the others. Only while DNS does not answer are there that many.
constexpr std::size_t kMaxLookups = 16;

Result<Addresses> ask_system(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int problem = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (problem != 0) return Error::unavailable("host {}: {}", host, gai_strerror(problem));
  Addresses out;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    Address address;
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    address.size = each->ai_addrlen;
    out.push_back(address);
  }
  freeaddrinfo(found);
  return out;
}

}  // namespace

Resolver::Resolver(LookUp look_up, std::size_t max_lookups)
    : state_(std::make_shared<State>(std::move(look_up), max_lookups)) {}

Result<Addresses> Resolver::resolve(const std::string& host, std::uint16_t port, Instant until,
                                    const std::stop_token& stop) const {
  if (auto numeric = ask_system(host, port, AI_NUMERICHOST | AI_NUMERICSERV)) return numeric;
  std::shared_ptr<Lookup> lookup;
  const MutexLock lock(state_->mutex);
  state_->changed.wait_for(state_->mutex, stop, until - RealClock().now(), [&]() TPUSLICE_REQUIRES(state_->mutex) {
    if (!lookup) lookup = find_or_start({host, port});
    return lookup && lookup->found;
  });
  if (lookup && lookup->found) return *lookup->found;
  if (stop.stop_requested()) return Error::of(ErrorCode::kCancelled, "cancelled");
  return Error::of(ErrorCode::kTimeout, "the name {} is not resolved in time", host);
}

std::shared_ptr<Resolver::Lookup> Resolver::find_or_start(const Target& target) const {
  if (const auto found = state_->running.find(target); found != state_->running.end()) return found->second;
  if (state_->running.size() >= state_->max_lookups) return nullptr;
  auto lookup = std::make_shared<Lookup>();
  try {
    std::thread([state = state_, target, lookup] {
      Result<Addresses> found = state->look_up(target.first, target.second);
      const MutexLock lock(state->mutex);
      lookup->found = std::move(found);
      state->running.erase(target);
      state->changed.notify_all();
    }).detach();
    state_->running.emplace(target, lookup);
  } catch (const std::system_error& problem) {
    lookup->found = Error::unavailable("no thread to resolve the name {}: {}", target.first, problem.what());
  }
  return lookup;
}

Result<Addresses> resolve(const std::string& host, std::uint16_t port, Instant until, const std::stop_token& stop) {
  static const Resolver kShared(
      [](const std::string& name, std::uint16_t of_port) {
        return ask_system(name, of_port, AI_ADDRCONFIG | AI_NUMERICSERV);
      },
      kMaxLookups);
  return kShared.resolve(host, port, until, stop);
}

}  // namespace tpuslice::http
