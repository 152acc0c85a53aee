// FencedWriter: a Writer that refuses writes as soon as the lease may have expired.
#pragma once

#include <functional>
#include <optional>

#include "api/client/client.h"

namespace tpuslice::runtime {

/// Asks whether this replica still leads right before the bytes of each write are sent, and before they are sent again.
/// A process that was paused for longer than its lease continues in the middle of plans; those writes must not reach
/// the server. Requests that were already sent when the process was paused cannot be held back: the preconditions of
/// patches and deletes protect the objects, and the server gives up on a create before another replica can acquire the
/// lease.
///
/// Thread-safe if `lease_left` is.
class FencedWriter final : public client::Writer {
 public:
  /// How long no other replica can lead; zero: this one does not lead, nullopt: there is no leader election.
  using LeaseLeft = std::function<std::optional<Duration>()>;

  /// `writer` outlives it.
  FencedWriter(client::Writer& writer, LeaseLeft lease_left) : writer_(writer), lease_left_(std::move(lease_left)) {}

  // These also return Cancelled when this replica no longer leads.
  Result<Object> create(const ResourceType& type, Object object, const client::CreateOptions& options,
                        std::stop_token stop) override;
  Result<Object> create_text(const ResourceType& type, const ObjectKey& key, std::string object,
                             const client::CreateOptions& options, std::stop_token stop) override;
  Result<Object> patch(const ResourceType& type, const ObjectKey& key, client::PatchType patch_type, const Json& body,
                       const client::PatchOptions& options, std::stop_token stop) override;
  Result<Object> update_status(const ResourceType& type, const ObjectKey& key, const Json& status,
                               client::PatchOptions options, std::stop_token stop) override;
  Result<Object> replace(const ResourceType& type, const Object& object, const client::CreateOptions& options,
                         std::stop_token stop) override;
  Status remove(const ResourceType& type, const ObjectKey& key, const client::DeleteOptions& options,
                std::stop_token stop) override;

 private:
  /// The lease is held for this long, or there is no election.
  [[nodiscard]] bool holds_for(Duration time) const;
  [[nodiscard]] Status check() const;
  [[nodiscard]] client::CreateOptions fenced(client::CreateOptions options) const;
  /// may_send of writes that have a precondition.
  [[nodiscard]] std::function<bool()> fence() const;

  client::Writer& writer_;
  const LeaseLeft lease_left_;
};

}  // namespace tpuslice::runtime
