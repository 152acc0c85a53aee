// PagedReader: lists in pages with a limit of bytes, as an API server behind a transport with a limit.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/client/client.h"

namespace tpuslice::testing {

/// Pages of the lists of `other`, which has none; watches are those of `other`. A page that is too long is
/// refused with ResponseTooLong. Not thread-safe.
class PagedReader final : public client::Reader {
 public:
  /// Borrows `other`.
  PagedReader(client::Reader& other, std::size_t max_bytes) : other_(other), max_bytes_(max_bytes) {}

  Result<Object> get(const ResourceType& type, const ObjectKey& key, std::stop_token stop) override {
    return other_.get(type, key, std::move(stop));
  }
  Result<client::ListPage> list(const ResourceType& type, const client::ListOptions& options,
                                std::stop_token stop) override {
    lists.push_back(options);
    ASSIGN_OR_RETURN(client::ListPage all, other_.list(type, options, std::move(stop)));
    client::ListPage page;
    page.resource_version = all.resource_version;
    const std::size_t begin = options.continue_token.empty() ? 0 : std::stoul(options.continue_token);
    const std::size_t end = std::min(all.items.size(), begin + static_cast<std::size_t>(options.limit));
    std::size_t bytes = 0;
    for (std::size_t i = begin; i < end; ++i) {
      page.items.push_back(options.metadata_only ? metadata_of(all.items[i]) : all.items[i]);
      bytes += page.items.back().size();
    }
    if (bytes > max_bytes_) {
      return Error::of(ErrorCode::kResponseTooLong, "the response is longer than {} bytes", max_bytes_);
    }
    if (end < all.items.size()) page.continue_token = std::to_string(end);
    return page;
  }
  Result<std::unique_ptr<client::WatchStream>> watch(const ResourceType& type, const client::WatchOptions& options,
                                                     std::stop_token stop) override {
    return other_.watch(type, options, std::move(stop));
  }

  std::vector<client::ListOptions> lists;  ///< The requests.

 private:
  static std::string metadata_of(const std::string& object) {
    return Json{{"kind", "PartialObjectMetadata"}, {"metadata", Json::parse(object).at("metadata")}}.dump();
  }

  client::Reader& other_;
  const std::size_t max_bytes_;
};

}  // namespace tpuslice::testing
