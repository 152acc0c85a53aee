#include "controllers/runtime/fenced_writer.h"

#include <utility>

namespace tpuslice::runtime {

Status FencedWriter::check() const {
  if (may_write_()) return {};
  return Error::of(ErrorCode::kCancelled, "not sent: this replica no longer leads");
}

Result<Object> FencedWriter::create(const ResourceType& type, const Object& object,
                                    const client::CreateOptions& options, std::stop_token stop) {
  RETURN_IF_ERROR(check());
  return writer_.create(type, object, options, std::move(stop));
}

Result<Object> FencedWriter::patch(const ResourceType& type, const ObjectKey& key, client::PatchType patch_type,
                                   const Json& body, const client::PatchOptions& options, std::stop_token stop) {
  RETURN_IF_ERROR(check());
  return writer_.patch(type, key, patch_type, body, options, std::move(stop));
}

Result<Object> FencedWriter::update_status(const ResourceType& type, const ObjectKey& key, const Json& status,
                                           client::PatchOptions options, std::stop_token stop) {
  RETURN_IF_ERROR(check());
  return writer_.update_status(type, key, status, std::move(options), std::move(stop));
}

Result<Object> FencedWriter::replace(const ResourceType& type, const Object& object,
                                     const client::CreateOptions& options, std::stop_token stop) {
  RETURN_IF_ERROR(check());
  return writer_.replace(type, object, options, std::move(stop));
}

Status FencedWriter::remove(const ResourceType& type, const ObjectKey& key, const client::DeleteOptions& options,
                            std::stop_token stop) {
  RETURN_IF_ERROR(check());
  return writer_.remove(type, key, options, std::move(stop));
}

}  // namespace tpuslice::runtime
