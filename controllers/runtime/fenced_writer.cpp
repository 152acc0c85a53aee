#include "controllers/runtime/fenced_writer.h"

#include <algorithm>
#include <utility>

namespace tpuslice::runtime {
namespace {

/// Time that a create may wait for a connection, subtracted from its timeout in case the lease is not renewed
/// meanwhile.
constexpr auto kWait = std::chrono::seconds(3);

}  // namespace

bool FencedWriter::holds_for(Duration time) const {
  const std::optional<Duration> left = lease_left_();
  return !left || (*left > Duration::zero() && *left >= time);
}

Status FencedWriter::check() const {
  if (holds_for(Duration::zero())) return {};
  return Error::of(ErrorCode::kCancelled, "not sent: this replica no longer leads");
}

std::function<bool()> FencedWriter::fence() const {
  return [this] { return holds_for(Duration::zero()); };
}

client::CreateOptions FencedWriter::fenced(client::CreateOptions options) const {
  options.may_send = fence();
  if (const std::optional<Duration> left = lease_left_()) {
    options.timeout = std::max(std::chrono::seconds(1), std::chrono::floor<std::chrono::seconds>(*left) - kWait);
    options.may_send = [this, time = options.timeout] { return holds_for(time); };
  }
  return options;
}

Result<Object> FencedWriter::create(const ResourceType& type, Object object, const client::CreateOptions& options,
                                    std::stop_token stop) {
  RETURN_IF_ERROR(check());
  return writer_.create(type, std::move(object), fenced(options), std::move(stop));
}

Result<Object> FencedWriter::create_text(const ResourceType& type, const ObjectKey& key, std::string object,
                                         const client::CreateOptions& options, std::stop_token stop) {
  RETURN_IF_ERROR(check());
  return writer_.create_text(type, key, std::move(object), fenced(options), std::move(stop));
}

Result<Object> FencedWriter::patch(const ResourceType& type, const ObjectKey& key, client::PatchType patch_type,
                                   const Json& body, const client::PatchOptions& options, std::stop_token stop) {
  RETURN_IF_ERROR(check());
  client::PatchOptions fenced = options;
  fenced.may_send = fence();
  return writer_.patch(type, key, patch_type, body, fenced, std::move(stop));
}

Result<Object> FencedWriter::update_status(const ResourceType& type, const ObjectKey& key, const Json& status,
                                           client::PatchOptions options, std::stop_token stop) {
  RETURN_IF_ERROR(check());
  options.may_send = fence();
  return writer_.update_status(type, key, status, std::move(options), std::move(stop));
}

Result<Object> FencedWriter::replace(const ResourceType& type, const Object& object,
                                     const client::CreateOptions& options, std::stop_token stop) {
  RETURN_IF_ERROR(check());
  client::CreateOptions fenced = options;
  fenced.may_send = fence();
  return writer_.replace(type, object, fenced, std::move(stop));
}

Status FencedWriter::remove(const ResourceType& type, const ObjectKey& key, const client::DeleteOptions& options,
                            std::stop_token stop) {
  RETURN_IF_ERROR(check());
  client::DeleteOptions fenced = options;
  fenced.may_send = fence();
  return writer_.remove(type, key, fenced, std::move(stop));
}

}  // namespace tpuslice::runtime
