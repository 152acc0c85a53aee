// FakeApi: an API server in memory behind client::Reader and client::Writer, with injected errors.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/mutex.h"
#include "api/client/client.h"
#include "tests/support/feed.h"

namespace tpuslice::testing {

/// Keeps objects with uid and resourceVersion, checks preconditions, applies merge and JSON patches, and sends watch
/// events; a create may be a dry run. Has no schemas, defaults, selectors or pages. Thread-safe; the callbacks are set
/// before threads start. Tests may override single calls.
class FakeApi : public client::Reader, public client::Writer {
 public:
  struct Call {
    std::string verb;  ///< get, list, watch, create, patch, status, replace, delete
    ResourceType type;
    ObjectKey key;  ///< Of a list or watch: the namespace.
    Json body;      ///< Of a delete: the propagation policy. Of a list: the label selector.
    [[nodiscard]] std::string text() const { return verb + " " + key.to_string(); }
  };
  /// Called before each request is handled; a returned error is the reply, and nothing changes.
  std::function<std::optional<Error>(const Call&)> fault;
  /// Called after a create, patch or replace succeeded; a returned error is the reply, as if the reply were lost.
  std::function<std::optional<Error>(const Call&)> lost_reply;
  /// Changes an object that is created, as a mutating webhook does.
  std::function<void(const ResourceType&, Json&)> admit;
  /// Called before each write, without a lock held.
  std::function<void(const Call&, const std::stop_token&)> on_write;

  Result<Object> get(const ResourceType& type, const ObjectKey& key, std::stop_token stop) override;
  Result<client::ListPage> list(const ResourceType& type, const client::ListOptions& options,
                                std::stop_token stop) override;
  Result<std::unique_ptr<client::WatchStream>> watch(const ResourceType& type, const client::WatchOptions& options,
                                                     std::stop_token stop) override;
  Result<Object> create(const ResourceType& type, Object object, const client::CreateOptions& options,
                        std::stop_token stop) override;
  Result<Object> patch(const ResourceType& type, const ObjectKey& key, client::PatchType patch_type, const Json& body,
                       const client::PatchOptions& options, std::stop_token stop) override;
  Result<Object> update_status(const ResourceType& type, const ObjectKey& key, const Json& status,
                               client::PatchOptions options, std::stop_token stop) override;
  Result<Object> replace(const ResourceType& type, const Object& object, const client::CreateOptions& options,
                         std::stop_token stop) override;
  Status remove(const ResourceType& type, const ObjectKey& key, const client::DeleteOptions& options,
                std::stop_token stop) override;

  /// Creates or replaces an object, without callbacks; not in calls().
  Object put(const ResourceType& type, Object object);
  [[nodiscard]] std::optional<Object> find(const ResourceType& type, const ObjectKey& key) const;
  [[nodiscard]] std::vector<Object> all(const ResourceType& type) const;

  [[nodiscard]] std::vector<Call> calls() const;
  /// The writes as text, in order.
  [[nodiscard]] std::vector<std::string> writes() const;
  void clear_calls();

 private:
  struct Event {
    std::uint64_t revision;
    std::string resource;
    std::string namespace_name;
    Json line;
  };
  using Objects = std::map<ObjectKey, Object>;

  std::optional<Error> begin(Call call, const std::stop_token& stop);
  Object store_locked(const ResourceType& type, Object object, const char* event) TPUSLICE_REQUIRES(mutex_);
  void publish_locked() TPUSLICE_REQUIRES(mutex_);
  Result<Object> change(const ResourceType& type, const ObjectKey& key, const std::string& uid,
                        const std::string& resource_version, const std::function<Result<Json>(const Json&)>& edit);

  mutable Mutex mutex_;
  std::map<std::string, Objects> objects_ TPUSLICE_GUARDED_BY(mutex_);
  std::vector<Event> events_ TPUSLICE_GUARDED_BY(mutex_);
  struct Watcher {
    std::shared_ptr<Feed> feed;
    std::string resource;
    std::string namespace_name;  ///< Empty: all.
    std::uint64_t sent;
  };
  std::vector<Watcher> watchers_ TPUSLICE_GUARDED_BY(mutex_);
  std::vector<Call> calls_ TPUSLICE_GUARDED_BY(mutex_);
  std::uint64_t revision_ TPUSLICE_GUARDED_BY(mutex_) = 10;
  int uids_ TPUSLICE_GUARDED_BY(mutex_) = 0;
};

}  // namespace tpuslice::testing
