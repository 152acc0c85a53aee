#include "tests/e2e/faults/live_slices.h"

#include <utility>

#include <fmt/format.h>

#include "api/types/json.h"
#include "api/types/resource_type.h"
#include "controllers/runtime/backoff.h"
#include "tests/support/ray_world.h"

namespace tpuslice::testing {
namespace {

constexpr const char* kRayPods = "ray.io/cluster";
constexpr Duration kAskAgain = std::chrono::milliseconds(50);
constexpr Duration kWatchRead = std::chrono::seconds(1);

}  // namespace

LiveSlices::LiveSlices(client::Reader& reader)
    : reader_(reader), thread_([this](const std::stop_token& stop) { run(stop); }) {}

LiveSlices::~LiveSlices() = default;

std::vector<std::string> LiveSlices::violations() const {
  const MutexLock lock(mutex_);
  return violations_;
}

std::size_t LiveSlices::changes() const {
  const MutexLock lock(mutex_);
  return changes_;
}

void LiveSlices::run(const std::stop_token& stop) {
  std::string version;
  while (!stop.stop_requested()) {
    if (version.empty()) version = list(stop);
    if (!version.empty()) watch(version, stop);
    runtime::pause(kAskAgain, stop);
  }
}

std::string LiveSlices::list(const std::stop_token& stop) {
  const auto page = reader_.list(kPods, {.label_selector = kRayPods, .limit = 0}, stop);
  if (!page) return {};
  {
    const MutexLock lock(mutex_);
    live_.clear();
  }
  for (const std::string& pod : page->items) see(pod, false);
  return page->resource_version;
}

void LiveSlices::watch(std::string& version, const std::stop_token& stop) {
  const auto expired = [](const Error& error) { return error.code() == ErrorCode::kExpired; };
  const auto stream = reader_.watch(kPods, {.label_selector = kRayPods, .resource_version = version}, stop);
  if (!stream) {
    if (expired(stream.error())) version.clear();
    return;
  }
  while (true) {
    const auto next = (*stream)->next(kWatchRead, stop);
    if (!next) return;
    if (!*next) continue;
    const client::WatchEvent& event = **next;
    if (event.error) {
      if (expired(*event.error)) version.clear();
      return;
    }
    if (event.type != client::WatchEventType::kBookmark) {
      see(event.object, event.type == client::WatchEventType::kDeleted);
    }
    version = event.resource_version;
  }
}

void LiveSlices::see(const std::string& pod, bool deleted) {
  const auto json = parse_json(pod);
  if (!json) return;
  const std::string place = SliceInvariants::place_of(*json);
  if (place.empty()) return;
  const std::string uid = string_at(*json, {"metadata", "uid"});
  const std::string phase = string_at(*json, {"status", "phase"});
  const MutexLock lock(mutex_);
  ++changes_;
  std::set<std::string>& live = live_[place];
  if (deleted || phase == "Failed" || phase == "Succeeded") {
    live.erase(uid);
  } else {
    live.insert(uid);
  }
  if (live.size() > 1) violations_.push_back(fmt::format("{} live pods are {}", live.size(), place));
}

}  // namespace tpuslice::testing
