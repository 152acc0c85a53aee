#include "tests/bench/pod_watch.h"

#include <utility>

#include "tests/bench/lean_client.h"

namespace tpuslice::bench {
namespace {

/// Of the first member of that name in `json`, wherever it is.
std::string_view first_value(std::string_view json, std::string_view name) {
  const std::string quoted = "\"" + std::string(name) + "\":\"";
  const std::size_t at = json.find(quoted);
  if (at == std::string_view::npos) return {};
  json.remove_prefix(at + quoted.size());
  return json.substr(0, json.find('"'));
}

}  // namespace

Result<std::unique_ptr<PodWatch>> PodWatch::start(const client::ClientConfig& config,
                                                  const std::string& resource_version) {
  std::unique_ptr<PodWatch> watch(new PodWatch(config, resource_version));
  RETURN_IF_ERROR(watch->open());
  watch->thread_ = std::jthread([watch = watch.get()] { watch->run(); });
  return watch;
}

PodWatch::PodWatch(client::ClientConfig config, std::string resource_version)
    : config_(std::move(config)), resource_version_(std::move(resource_version)) {}

PodWatch::~PodWatch() {
  const MutexLock lock(mutex_);
  stopping_ = true;
  if (connection_) connection_->shut_down();
}

Status PodWatch::open() {
  ASSIGN_OR_RETURN(const http::BlockingOptions options, connection_options(config_));
  ASSIGN_OR_RETURN(auto connection, http::BlockingConnection::connect(options));
  RETURN_IF_ERROR(connection->open("/api/v1/pods?watch=1&timeoutSeconds=86400&resourceVersion=" + resource_version_));
  const MutexLock lock(mutex_);
  connection_ = std::move(connection);
  return {};
}

void PodWatch::run() {
  while (true) {
    http::BlockingConnection* connection = nullptr;
    {
      const MutexLock lock(mutex_);
      if (stopping_) break;
      connection = connection_.get();
    }
    read(*connection);
    ++interruptions_;
    if (!open()) break;
  }
  const MutexLock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void PodWatch::read(http::BlockingConnection& connection) {
  std::string buffer;
  bool more = true;
  while (more) {
    std::size_t from = buffer.size();
    more = connection.read(buffer);
    const Instant now = clock_.now();
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = buffer.find('\n', from)) != std::string::npos; begin = from = end + 1) {
      take(std::string_view(buffer).substr(begin, end - begin), now);
    }
    buffer.erase(0, begin);
  }
}

void PodWatch::take(std::string_view line, Instant now) {
  const bool is_added = line.starts_with(R"({"type":"ADDED")");
  const bool is_deleted = line.starts_with(R"({"type":"DELETED")");
  // Go writes the members of a struct in the order of their declaration: the namespace comes early.
  const std::string_view where = first_value(line, "namespace");
  resource_version_ = std::string(first_value(line, "resourceVersion"));
  if (!is_added && !is_deleted) return;
  const MutexLock lock(mutex_);
  Seen& seen = seen_[std::string(where)];
  if (is_added) seen.added.push_back(now);
  if (is_deleted) ++seen.deleted;
  changed_.notify_all();
}

std::size_t PodWatch::added(const std::string& namespace_name) const {
  const MutexLock lock(mutex_);
  const auto found = seen_.find(namespace_name);
  return found == seen_.end() ? 0 : found->second.added.size();
}

std::size_t PodWatch::deleted(const std::string& namespace_name) const {
  const MutexLock lock(mutex_);
  const auto found = seen_.find(namespace_name);
  return found == seen_.end() ? 0 : found->second.deleted;
}

Result<Instant> PodWatch::wait_added(const std::string& namespace_name, std::size_t count, Duration limit) const {
  const MutexLock lock(mutex_);
  const auto progress = [&] {
    const auto found = seen_.find(namespace_name);
    return found == seen_.end() ? std::size_t{0} : found->second.added.size();
  };
  changed_.wait_for(mutex_, limit, [&] { return ended_ || progress() >= count; });
  if (progress() >= count) return seen_.at(namespace_name).added[count - 1];
  if (ended_) return Error::unavailable("the watch of pods has ended");
  return Error::of(ErrorCode::kTimeout, "{}: {} of {} pods were created in time", namespace_name, progress(), count);
}

Status PodWatch::wait_deleted(const std::string& namespace_name, std::size_t count, Duration limit) const {
  const MutexLock lock(mutex_);
  const auto progress = [&] {
    const auto found = seen_.find(namespace_name);
    return found == seen_.end() ? std::size_t{0} : found->second.deleted;
  };
  changed_.wait_for(mutex_, limit, [&] { return ended_ || progress() >= count; });
  if (progress() >= count) return {};
  if (ended_) return Error::unavailable("the watch of pods has ended");
  return Error::of(ErrorCode::kTimeout, "{}: {} of {} pods were deleted in time", namespace_name, progress(), count);
}

}  // namespace tpuslice::bench
