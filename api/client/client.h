// Client: typed calls on a Kubernetes API server. It never retries. Its callers do: the work
// queue repeats reconciles, and watches and elections have loops of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "api/base/result.h"
#include "api/client/requests.h"
#include "api/client/watch.h"
#include "api/http/transport.h"
#include "api/types/object.h"

namespace tpuslice::client {

/// Thread-safe. Errors of all calls: those of http::Transport, and what the server answered, with its reason.
class Reader {
 public:
  virtual ~Reader() = default;
  [[nodiscard]] virtual Result<Object> get(const ResourceType& type, const ObjectKey& key, std::stop_token stop) = 0;
  /// Errors also: Expired for an old continue token; is_resource_version_too_large().
  [[nodiscard]] virtual Result<ListPage> list(const ResourceType& type, const ListOptions& options,
                                              std::stop_token stop) = 0;
  /// Errors also: Expired for an old resourceVersion (it may come as a kError event as well).
  [[nodiscard]] virtual Result<std::unique_ptr<WatchStream>> watch(const ResourceType& type,
                                                                   const WatchOptions& options,
                                                                   std::stop_token stop) = 0;
};

/// Thread-safe. Each call returns the object as the server has it after the write, or only its metadata if the options
/// say so.
class Writer {
 public:
  virtual ~Writer() = default;
  /// Creates the object in its namespace. The document is freed before the request is sent. Errors also: AlreadyExists.
  virtual Result<Object> create(const ResourceType& type, Object object, const CreateOptions& options,
                                std::stop_token stop) = 0;
  /// create() of the object with this key that is JSON text already. The default implementation parses it.
  virtual Result<Object> create_text(const ResourceType& type, const ObjectKey& key, std::string object,
                                     const CreateOptions& options, std::stop_token stop);
  /// Errors also: Conflict when a precondition failed.
  virtual Result<Object> patch(const ResourceType& type, const ObjectKey& key, PatchType patch_type, const Json& body,
                               const PatchOptions& options, std::stop_token stop) = 0;
  /// Merges `{"status": status}` into /status.
  virtual Result<Object> update_status(const ResourceType& type, const ObjectKey& key, const Json& status,
                                       PatchOptions options, std::stop_token stop) = 0;
  /// PUT: the whole object, its resourceVersion being the precondition. Errors also: Conflict.
  virtual Result<Object> replace(const ResourceType& type, const Object& object, const CreateOptions& options,
                                 std::stop_token stop) = 0;
  /// Errors also: NotFound; Conflict when a precondition failed.
  virtual Status remove(const ResourceType& type, const ObjectKey& key, const DeleteOptions& options,
                        std::stop_token stop) = 0;
};

struct ClientOptions {
  std::string user_agent = "tpu-slice-operator";
  std::string field_manager = "tpu-slice-operator";
  Duration deadline = std::chrono::seconds(30);       ///< Deadline of a call, and of opening a watch.
  Duration list_deadline = std::chrono::seconds(60);  ///< Deadline of one page.
  std::size_t max_watch_event = 16U << 20U;           ///< Bytes.
};

class Client final : public Reader, public Writer {
 public:
  /// `transport` outlives it.
  explicit Client(http::Transport& transport, ClientOptions options = {})
      : transport_(transport), options_(std::move(options)) {}

  [[nodiscard]] Result<Object> get(const ResourceType& type, const ObjectKey& key, std::stop_token stop = {}) override;
  [[nodiscard]] Result<ListPage> list(const ResourceType& type, const ListOptions& options = {},
                                      std::stop_token stop = {}) override;
  [[nodiscard]] Result<std::unique_ptr<WatchStream>> watch(const ResourceType& type, const WatchOptions& options = {},
                                                           std::stop_token stop = {}) override;
  Result<Object> create(const ResourceType& type, Object object, const CreateOptions& options = {},
                        std::stop_token stop = {}) override;
  Result<Object> create_text(const ResourceType& type, const ObjectKey& key, std::string object,
                             const CreateOptions& options = {}, std::stop_token stop = {}) override;
  Result<Object> patch(const ResourceType& type, const ObjectKey& key, PatchType patch_type, const Json& body,
                       const PatchOptions& options = {}, std::stop_token stop = {}) override;
  Result<Object> update_status(const ResourceType& type, const ObjectKey& key, const Json& status,
                               PatchOptions options = {}, std::stop_token stop = {}) override;
  Result<Object> replace(const ResourceType& type, const Object& object, const CreateOptions& options = {},
                         std::stop_token stop = {}) override;
  Status remove(const ResourceType& type, const ObjectKey& key, const DeleteOptions& options = {},
                std::stop_token stop = {}) override;

  /// Sends any other request: discovery, /version, /readyz. A status other than 2xx is an error.
  [[nodiscard]] Result<http::Response> raw(http::Request request, std::stop_token stop = {});

 private:
  [[nodiscard]] Result<http::Response> send(http::Request request, std::string_view what, Duration deadline,
                                            std::stop_token stop);
  [[nodiscard]] Result<Object> send_for_object(http::Request request, std::string_view what, std::stop_token stop,
                                               Answer answer = Answer::kWhole);

  http::Transport& transport_;
  const ClientOptions options_;
};

}  // namespace tpuslice::client
