// FakeApi: as much of an API server as the runtime can tell apart from a real one, in memory, with faults on demand.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/mutex.h"
#include "api/client/client.h"
#include "tests/unit/controllers/runtime/feed.h"

namespace tpuslice::runtime {

inline constexpr ResourceType kWidgets{"example.com", "v1", "Widget", "widgets"};

[[nodiscard]] Object widget(const std::string& name, Json spec = Json::object());
[[nodiscard]] Object pod(const std::string& name, const Object* owner = nullptr);

/// Thread-safe; `fault` and `pause` are set before threads start.
class FakeApi final : public client::Reader, public client::Writer {
 public:
  struct Call {
    std::string verb;  ///< get, list, watch, create, patch, status, replace, delete
    ResourceType type;
    ObjectKey key;
    Json body;  ///< Of a delete: what becomes of the dependents. Of a list: its label selector.
    [[nodiscard]] std::string text() const { return verb + " " + key.to_string(); }
  };
  /// Asked before a call acts; an error is answered instead.
  std::function<std::optional<Error>(const Call&)> fault;
  /// Asked after a call acted; an error is answered although it did.
  std::function<std::optional<Error>(const Call&)> lost_reply;
  /// Called before a write acts, without a lock.
  std::function<void(const Call&, const std::stop_token&)> on_write;

  Result<Object> get(const ResourceType& type, const ObjectKey& key, std::stop_token stop) override;
  Result<client::ListPage> list(const ResourceType& type, const client::ListOptions& options,
                                std::stop_token stop) override;
  Result<std::unique_ptr<client::WatchStream>> watch(const ResourceType& type, const client::WatchOptions& options,
                                                     std::stop_token stop) override;
  Result<Object> create(const ResourceType& type, const Object& object, const client::CreateOptions& options,
                        std::stop_token stop) override;
  Result<Object> patch(const ResourceType& type, const ObjectKey& key, client::PatchType patch_type, const Json& body,
                       const client::PatchOptions& options, std::stop_token stop) override;
  Result<Object> update_status(const ResourceType& type, const ObjectKey& key, const Json& status,
                               client::PatchOptions options, std::stop_token stop) override;
  Result<Object> replace(const ResourceType& type, const Object& object, const client::CreateOptions& options,
                         std::stop_token stop) override;
  Status remove(const ResourceType& type, const ObjectKey& key, const client::DeleteOptions& options,
                std::stop_token stop) override;

  /// Straight into the server, without faults or log.
  Object put(const ResourceType& type, Object object);
  [[nodiscard]] std::optional<Object> find(const ResourceType& type, const ObjectKey& key) const;
  [[nodiscard]] std::vector<Object> all(const ResourceType& type) const;
  /// Watches show nothing new until released.
  void hold_watches(bool hold);

  [[nodiscard]] std::vector<Call> calls() const;
  /// The writes as text, in order.
  [[nodiscard]] std::vector<std::string> writes() const;
  void forget_calls();

 private:
  struct Event {
    std::uint64_t revision;
    std::string resource;
    Json line;
  };
  using Objects = std::map<ObjectKey, Object>;

  std::optional<Error> begin(Call call, const std::stop_token& stop);
  Object store_locked(const ResourceType& type, Object object, const char* event) TPUSLICE_REQUIRES(mutex_);
  void publish_locked() TPUSLICE_REQUIRES(mutex_);
  Result<Object> change(const ResourceType& type, const ObjectKey& key, const std::string& uid,
                        const std::string& resource_version, const std::function<void(Json&)>& edit);

  mutable Mutex mutex_;
  std::map<std::string, Objects> objects_ TPUSLICE_GUARDED_BY(mutex_);
  std::vector<Event> events_ TPUSLICE_GUARDED_BY(mutex_);
  struct Watcher {
    std::shared_ptr<Feed> feed;
    std::string resource;
    std::uint64_t sent;
  };
  std::vector<Watcher> watchers_ TPUSLICE_GUARDED_BY(mutex_);
  bool held_ TPUSLICE_GUARDED_BY(mutex_) = false;
  std::vector<Call> calls_ TPUSLICE_GUARDED_BY(mutex_);
  std::uint64_t revision_ TPUSLICE_GUARDED_BY(mutex_) = 10;
  int uids_ TPUSLICE_GUARDED_BY(mutex_) = 0;
};

}  // namespace tpuslice::runtime
