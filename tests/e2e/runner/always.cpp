#include "tests/e2e/runner/always.h"

#include <utility>

#include <fmt/format.h>

#include "controllers/runtime/backoff.h"

namespace tpuslice::e2e {
namespace {

constexpr Duration kAskAgain = std::chrono::milliseconds(50);
constexpr Duration kRead = std::chrono::seconds(1);

bool expired(const Error& error) { return error.code() == ErrorCode::kExpired; }

}  // namespace

Always::Always(client::Reader& reader, const ResourceType& type, std::string space, Distinctness rule)
    : reader_(reader),
      type_(type),
      space_(std::move(space)),
      rule_(std::move(rule)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Always::~Always() = default;

std::vector<std::string> Always::violations() const {
  const MutexLock lock(mutex_);
  return violations_;
}

std::size_t Always::changes() const {
  const MutexLock lock(mutex_);
  return changes_;
}

void Always::run(const std::stop_token& stop) {
  std::string version;
  while (!stop.stop_requested()) {
    if (version.empty()) version = list(stop);
    if (!version.empty()) watch(version, stop);
    runtime::pause(kAskAgain, stop);
  }
}

std::string Always::list(const std::stop_token& stop) {
  const auto page =
      reader_.list(type_, {.namespace_name = space_, .label_selector = rule_.target.selector, .limit = 0}, stop);
  if (!page) return {};
  {
    const MutexLock lock(mutex_);
    live_.clear();
  }
  for (const std::string& item : page->items) {
    if (const auto object = parse_json(item)) see(*object, false);
  }
  return page->resource_version;
}

void Always::watch(std::string& version, const std::stop_token& stop) {
  const auto stream = reader_.watch(
      type_, {.namespace_name = space_, .label_selector = rule_.target.selector, .resource_version = version}, stop);
  if (!stream) {
    if (expired(stream.error())) version.clear();
    return;
  }
  while (true) {
    const auto next = (*stream)->next(kRead, stop);
    if (!next) return;
    if (!*next) continue;
    const client::WatchEvent& event = **next;
    if (event.error) {
      if (expired(*event.error)) version.clear();
      return;
    }
    if (event.type != client::WatchEventType::kBookmark) {
      if (const auto object = parse_json(event.object)) see(*object, event.type == client::WatchEventType::kDeleted);
    }
    version = event.resource_version;
  }
}

void Always::see(const Json& object, bool deleted) {
  std::string place;
  for (const FieldPath& field : rule_.fields) place += Json(field.values(object)).dump() + " ";
  const std::string uid = string_at(object, {"metadata", "uid"});
  const std::string phase = string_at(object, {"status", "phase"});
  const MutexLock lock(mutex_);
  ++changes_;
  // Its fields may have changed.
  for (auto& [other, live] : live_) live.erase(uid);
  const bool unborn = rule_.unborn && !rule_.unborn->values(object).empty();
  if (deleted || unborn || phase == "Failed" || phase == "Succeeded") return;
  auto& here = live_[place];
  here[uid] = string_at(object, {"metadata", "name"});
  if (here.size() < 2) return;
  std::string names;
  for (const auto& [each, name] : here) names += fmt::format(" {} ({})", name, each);
  violations_.push_back(fmt::format("resourceVersion {}: {} live {} are {}:{}",
                                    string_at(object, {"metadata", "resourceVersion"}), here.size(),
                                    rule_.target.resource, place, names));
}

}  // namespace tpuslice::e2e
