// FencedWriter: a Writer that stops with the lease, not when somebody gets around to telling it.
#pragma once

#include <functional>

#include "api/client/client.h"

namespace tpuslice::runtime {

/// Asks before each write whether it is still ours to make. A process that was paused beyond its lease wakes up with
/// workers in the middle of their plans, before anybody has noticed; their writes must not reach the server. What was
/// already on its way when the process stopped cannot be called back: that is what preconditions are for.
///
/// Thread-safe if `may_write` is.
class FencedWriter final : public client::Writer {
 public:
  /// `writer` outlives it.
  FencedWriter(client::Writer& writer, std::function<bool()> may_write)
      : writer_(writer), may_write_(std::move(may_write)) {}

  // Errors also: Cancelled when it is no longer ours to write.
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
