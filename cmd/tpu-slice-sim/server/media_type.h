// Media types: negotiation of the response.
#pragma once

#include <string_view>

#include "api/base/result.h"
#include "api/http/transport.h"

namespace tpuslice::sim {

enum class Form : std::uint8_t {
  kObject,        ///< The object itself, JSON.
  kTable,         ///< meta.k8s.io/v1 Table.
  kMetadata,      ///< meta.k8s.io/v1 PartialObjectMetadata, of one object or of each watch event.
  kMetadataList,  ///< meta.k8s.io/v1 PartialObjectMetadataList.
};

/// The first form in the Accept header that is served. Errors: NotAcceptable (406), for example if only protobuf is
/// accepted.
[[nodiscard]] Result<Form> negotiate(const http::Headers& headers, bool custom);

/// Whether Accept includes aggregated discovery v2.
[[nodiscard]] bool wants_aggregated_discovery(const http::Headers& headers);

/// The media type of Content-Type, without parameters, in lower case; "application/json" if absent.
[[nodiscard]] std::string content_type(const http::Headers& headers);

}  // namespace tpuslice::sim
