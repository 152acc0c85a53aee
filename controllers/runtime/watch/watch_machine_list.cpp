// WatchMachine: the list, page by page or streamed.
#include <utility>

#include "controllers/runtime/watch/watch_machine.h"

namespace tpuslice::runtime {

Instant WatchMachine::list_page(Instant now, const std::stop_token& stop) {
  if (continue_token_.empty()) begin_list();
  Result<client::ListPage> page = reader_.list(type_, page_options(), stop);
  if (!page) return list_failed(page.error(), clock_.now());
  liveness_.received(clock_.now());
  for (const std::string& item : page->items) too_long_ ? stage_metadata(item) : stage(item);
  too_long_.reset();
  page_.fits();
  continue_token_ = std::move(page->continue_token);
  if (!continue_token_.empty()) return now;
  if (revision_of(page->resource_version) == 0) {
    return back_off(Error::internal("list {}: resourceVersion \"{}\" is not a positive number", type_.resource(),
                                    page->resource_version),
                    clock_.now());
  }
  progressed();
  finish_list(page->resource_version);
  return now;
}

client::ListOptions WatchMachine::page_options() const {
  client::ListOptions list;
  list.namespace_name = scope_.namespace_name();
  list.label_selector = scope_.label_selector;
  list.field_selector = scope_.field_selector;
  list.limit = page_.objects();
  list.continue_token = continue_token_;
  if (list.limit > 1) list.max_bytes = options_.max_page_bytes;
  list.metadata_only = too_long_.has_value();
  list.for_view = sink_->for_view();
  return list;
}

void WatchMachine::begin_list() {
  sink_->begin();
  quarantine_.begin_list();
}

void WatchMachine::stage(std::string_view object) {
  const Status staged = barrier_.run([&] { return sink_->stage(object); });
  if (staged) {
    if (!quarantine_.empty()) quarantine_.remove(key_in(object));
    return;
  }
  // Without it the object would be gone after the list. An object has its metadata, too.
  if (staged.error().code() == ErrorCode::kDefect) (void)barrier_.run([&] { return sink_->stage_metadata(object); });
  quarantine(key_in(object), object, staged.error());
}

void WatchMachine::stage_metadata(std::string_view metadata) {
  (void)barrier_.run([&] { return sink_->stage_metadata(metadata); });
  quarantine(key_in(metadata), metadata,
             Error::invalid_argument("as JSON it alone is longer than the operator reads: {}", too_long_->message()));
}

void WatchMachine::finish_list(const std::string& resource_version) {
  metrics_.lists.increment();
  resource_version_ = resource_version;
  listed_ = clock_.now();
  phase_ = Phase::kWatch;
  sink_->commit(revision_of(resource_version));
  quarantine_.end_list();
  synced_ = true;
  broken_lists_ = 0;
}

Instant WatchMachine::list_failed(const Error& error, Instant now) {
  if (error.code() == ErrorCode::kResponseTooLong && !too_long_) {
    if (!page_.shrink()) too_long_ = error;
    return now;  // The same page again.
  }
  too_long_.reset();
  const bool in_the_middle = !std::exchange(continue_token_, {}).empty();
  // Lists again with larger pages, which may be in time: the new token in the error would continue from a newer state.
  if (error.code() == ErrorCode::kExpired && in_the_middle && page_.grow()) return now;
  if (error.code() == ErrorCode::kNotFound) not_served(now);
  return back_off(error, now);
}

}  // namespace tpuslice::runtime
