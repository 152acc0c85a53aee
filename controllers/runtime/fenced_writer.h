// FencedWriter: a Writer that refuses writes as soon as the lease may have expired.
#pragma once

#include <functional>

#include "api/client/client.h"

namespace tpuslice::runtime {

/// Checks before each write whether this replica still leads. A process that was paused for longer than its lease
/// continues in the middle of plans; those writes must not reach the server. Requests that were already sent when the
/// process was paused cannot be held back; their preconditions protect the objects.
///
/// Thread-safe if `may_write` is.
class FencedWriter final : public client::Writer {
 public:
  /// `writer` outlives it.
  FencedWriter(client::Writer& writer, std::function<bool()> may_write)
      : writer_(writer), may_write_(std::move(may_write)) {}

  // Also return Cancelled when this replica no longer leads.
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

 private:
  [[nodiscard]] Status check() const;

  client::Writer& writer_;
  const std::function<bool()> may_write_;
};

}  // namespace tpuslice::runtime
