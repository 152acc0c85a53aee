#include "tests/support/fake_api.h"

#include <utility>

#include "api/base/strings.h"
#include "api/types/patch.h"

namespace tpuslice::testing {

namespace {

std::uint64_t revision_of(std::string_view resource_version) {
  return parse_integer<std::uint64_t>(resource_version).value_or(0);
}

}  // namespace

std::optional<Error> FakeApi::begin(Call call, const std::stop_token& stop) {
  const bool write = call.verb != "get" && call.verb != "list" && call.verb != "watch";
  if (write && on_write) on_write(call, stop);
  {
    const MutexLock lock(mutex_);
    calls_.push_back(call);
  }
  if (stop.stop_requested()) return Error::of(ErrorCode::kCancelled, "{}: stopped", call.text());
  return fault ? fault(call) : std::nullopt;
}

Result<Object> FakeApi::get(const ResourceType& type, const ObjectKey& key, std::stop_token stop) {
  if (const auto error = begin({"get", type, key, nullptr}, stop)) return *error;
  if (const auto found = find(type, key)) return *found;
  return Error::not_found("{} \"{}\" not found", type.resource(), key.to_string());
}

Result<client::ListPage> FakeApi::list(const ResourceType& type, const client::ListOptions& options,
                                       std::stop_token stop) {
  if (const auto error = begin({"list", type, {options.namespace_name, {}}, options.label_selector}, stop))
    return *error;
  client::ListPage page;
  const MutexLock lock(mutex_);
  for (const auto& [key, object] : objects_[type.resource()]) {
    const bool listed = options.namespace_name.empty() || options.namespace_name == key.namespace_name;
    if (listed) page.items.push_back(object.json().dump());
  }
  page.resource_version = std::to_string(revision_);
  return page;
}

Result<std::unique_ptr<client::WatchStream>> FakeApi::watch(const ResourceType& type,
                                                            const client::WatchOptions& options, std::stop_token stop) {
  if (const auto error = begin({"watch", type, {options.namespace_name, {}}, nullptr}, stop)) return *error;
  if (options.send_initial_events) return Error::of(ErrorCode::kInvalid, "sendInitialEvents is forbidden");
  auto feed = std::make_shared<Feed>();
  const MutexLock lock(mutex_);
  watchers_.push_back({feed, type.resource(), options.namespace_name, revision_of(options.resource_version)});
  publish_locked();
  return std::make_unique<client::WatchStream>(std::make_unique<FeedStream>(feed));
}

Result<Object> FakeApi::create(const ResourceType& type, Object object, const client::CreateOptions& options,
                               std::stop_token stop) {
  const Call call{"create", type, object.key(), object.json()};
  if (const auto error = begin(call, stop)) return *error;
  Object created = object;
  if (admit) admit(type, created.mutable_json());
  if (options.dry_run) return created;
  {
    const MutexLock lock(mutex_);
    if (objects_[type.resource()].contains(object.key())) {
      return Error::of(ErrorCode::kAlreadyExists, "{} \"{}\" already exists", type.resource(), object.name());
    }
    created = store_locked(type, std::move(created), "ADDED");
  }
  if (lost_reply) {
    if (const auto error = lost_reply(call)) return *error;
  }
  return created;
}

Result<Object> FakeApi::change(const ResourceType& type, const ObjectKey& key, const std::string& uid,
                               const std::string& resource_version,
                               const std::function<Result<Json>(const Json&)>& edit) {
  const MutexLock lock(mutex_);
  Objects& objects = objects_[type.resource()];
  const auto found = objects.find(key);
  if (found == objects.end()) return Error::not_found("{} \"{}\" not found", type.resource(), key.to_string());
  if (!uid.empty() && found->second.uid() != uid) return Error::conflict("uid is {}", found->second.uid());
  if (!resource_version.empty() && found->second.resource_version() != resource_version) {
    return Error::conflict("resourceVersion is {}", found->second.resource_version());
  }
  ASSIGN_OR_RETURN(Json edited, edit(found->second.json()));
  Object changed(std::move(edited));
  if (changed == found->second) return changed;
  return store_locked(type, std::move(changed), "MODIFIED");
}

Result<Object> FakeApi::patch(const ResourceType& type, const ObjectKey& key, client::PatchType patch_type,
                              const Json& body, const client::PatchOptions& options, std::stop_token stop) {
  const Call call{options.subresource.empty() ? "patch" : options.subresource, type, key, body};
  if (const auto error = begin(call, stop)) return *error;
  Result<Object> patched =
      change(type, key, options.uid, options.resource_version, [&](const Json& before) -> Result<Json> {
        if (patch_type == client::PatchType::kJson) return apply_json_patch(before, body);
        return apply_merge_patch(before, body);
      });
  if (patched && lost_reply) {
    if (const auto error = lost_reply(call)) return *error;
  }
  return patched;
}

Result<Object> FakeApi::update_status(const ResourceType& type, const ObjectKey& key, const Json& status,
                                      client::PatchOptions options, std::stop_token stop) {
  options.subresource = "status";
  return patch(type, key, client::PatchType::kMerge, {{"status", status}}, options, stop);
}

Result<Object> FakeApi::replace(const ResourceType& type, const Object& object, const client::CreateOptions&,
                                std::stop_token stop) {
  const Call call{"replace", type, object.key(), object.json()};
  if (const auto error = begin(call, stop)) return *error;
  Result<Object> replaced =
      change(type, object.key(), {}, object.resource_version(), [&](const Json&) { return object.json(); });
  if (replaced && lost_reply) {
    if (const auto error = lost_reply(call)) return *error;
  }
  return replaced;
}

Status FakeApi::remove(const ResourceType& type, const ObjectKey& key, const client::DeleteOptions& options,
                       std::stop_token stop) {
  if (const auto error = begin({"delete", type, key, options.propagation}, stop)) return *error;
  const MutexLock lock(mutex_);
  Objects& objects = objects_[type.resource()];
  const auto found = objects.find(key);
  if (found == objects.end()) return Error::not_found("{} \"{}\" not found", type.resource(), key.to_string());
  if (!options.uid.empty() && found->second.uid() != options.uid) {
    return Error::conflict("uid is {}", found->second.uid());
  }
  store_locked(type, found->second, "DELETED");
  objects.erase(key);
  return {};
}

Object FakeApi::put(const ResourceType& type, Object object) {
  const MutexLock lock(mutex_);
  const bool known = objects_[type.resource()].contains(object.key());
  return store_locked(type, std::move(object), known ? "MODIFIED" : "ADDED");
}

Object FakeApi::store_locked(const ResourceType& type, Object object, const char* event) {
  Json& metadata = object.mutable_json()["metadata"];
  if (!metadata.contains("uid")) metadata["uid"] = "uid-" + std::to_string(++uids_);
  metadata["resourceVersion"] = std::to_string(++revision_);
  objects_[type.resource()][object.key()] = object;
  events_.push_back(
      {revision_, type.resource(), object.namespace_name(), {{"type", event}, {"object", object.json()}}});
  publish_locked();
  return object;
}

void FakeApi::publish_locked() {
  for (Watcher& watcher : watchers_) {
    for (const Event& event : events_) {
      if (event.revision <= watcher.sent || event.resource != watcher.resource) continue;
      if (!watcher.namespace_name.empty() && watcher.namespace_name != event.namespace_name) continue;
      watcher.feed->line(event.line);
      watcher.sent = event.revision;
    }
  }
}

std::optional<Object> FakeApi::find(const ResourceType& type, const ObjectKey& key) const {
  const MutexLock lock(mutex_);
  const auto objects = objects_.find(type.resource());
  if (objects == objects_.end()) return std::nullopt;
  const auto found = objects->second.find(key);
  return found == objects->second.end() ? std::nullopt : std::optional<Object>(found->second);
}

std::vector<Object> FakeApi::all(const ResourceType& type) const {
  std::vector<Object> all;
  const MutexLock lock(mutex_);
  if (const auto objects = objects_.find(type.resource()); objects != objects_.end()) {
    for (const auto& [key, object] : objects->second) all.push_back(object);
  }
  return all;
}

std::vector<FakeApi::Call> FakeApi::calls() const {
  const MutexLock lock(mutex_);
  return calls_;
}

std::vector<std::string> FakeApi::writes() const {
  std::vector<std::string> writes;
  for (const Call& call : calls()) {
    if (call.verb != "get" && call.verb != "list" && call.verb != "watch") writes.push_back(call.text());
  }
  return writes;
}

void FakeApi::clear_calls() {
  const MutexLock lock(mutex_);
  calls_.clear();
}

}  // namespace tpuslice::testing
