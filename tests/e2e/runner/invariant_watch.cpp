#include "tests/e2e/runner/invariant_watch.h"

#include <utility>

#include <fmt/format.h>

#include "api/base/pause.h"

namespace tpuslice::e2e {
namespace {

constexpr Duration kRetryInterval = std::chrono::milliseconds(50);
constexpr Duration kReadTimeout = std::chrono::seconds(1);

bool expired(const Error& error) { return error.code() == ErrorCode::kExpired; }

}  // namespace

InvariantWatch::InvariantWatch(client::Reader& reader, const ResourceType& type, std::string namespace_name,
                               Distinctness invariant)
    : reader_(reader),
      type_(type),
      namespace_(std::move(namespace_name)),
      invariant_(std::move(invariant)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

InvariantWatch::~InvariantWatch() = default;

std::vector<std::string> InvariantWatch::violations() const {
  const MutexLock lock(mutex_);
  return violations_;
}

std::size_t InvariantWatch::changes() const {
  const MutexLock lock(mutex_);
  return changes_;
}

void InvariantWatch::run(const std::stop_token& stop) {
  std::string version;
  while (!stop.stop_requested()) {
    if (version.empty()) version = list(stop);
    if (!version.empty()) watch(version, stop);
    tpuslice::pause(kRetryInterval, stop);
  }
}

std::string InvariantWatch::list(const std::stop_token& stop) {
  const auto page = reader_.list(
      type_, {.namespace_name = namespace_, .label_selector = invariant_.target.selector, .limit = 0}, stop);
  if (!page) return {};
  {
    const MutexLock lock(mutex_);
    live_.clear();
  }
  for (const std::string& item : page->items) {
    if (const auto object = parse_json(item)) observe(*object, false);
  }
  return page->resource_version;
}

void InvariantWatch::watch(std::string& version, const std::stop_token& stop) {
  const auto stream = reader_.watch(
      type_, {.namespace_name = namespace_, .label_selector = invariant_.target.selector, .resource_version = version},
      stop);
  if (!stream) {
    if (expired(stream.error())) version.clear();
    return;
  }
  while (true) {
    const auto next = (*stream)->next(kReadTimeout, stop);
    if (!next) return;
    if (!*next) continue;
    const client::WatchEvent& event = **next;
    if (event.error) {
      if (expired(*event.error)) version.clear();
      return;
    }
    if (event.type != client::WatchEventType::kBookmark) {
      if (const auto object = parse_json(event.object))
        observe(*object, event.type == client::WatchEventType::kDeleted);
    }
    version = event.resource_version;
  }
}

void InvariantWatch::observe(const Json& object, bool deleted) {
  std::string values;
  for (const FieldPath& field : invariant_.fields) values += Json(field.values(object)).dump() + " ";
  const std::string uid = string_at(object, {"metadata", "uid"});
  const std::string phase = string_at(object, {"status", "phase"});
  const MutexLock lock(mutex_);
  ++changes_;
  // Its values may have changed.
  for (auto& [other, live] : live_) live.erase(uid);
  const bool excepted = invariant_.except_with && !invariant_.except_with->values(object).empty();
  if (deleted || excepted || phase == "Failed" || phase == "Succeeded") return;
  auto& equal = live_[values];
  equal[uid] = string_at(object, {"metadata", "name"});
  if (equal.size() <= invariant_.at_most) return;
  std::string names;
  for (const auto& [each, name] : equal) names += fmt::format(" {} ({})", name, each);
  violations_.push_back(fmt::format("resourceVersion {}: {} live {} are {}:{}",
                                    string_at(object, {"metadata", "resourceVersion"}), equal.size(),
                                    invariant_.target.resource, values, names));
}

}  // namespace tpuslice::e2e
