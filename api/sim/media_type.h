// Media types: the form a client wants its answer in.
#pragma once

#include <string_view>

#include "api/base/result.h"
#include "api/http/transport.h"

namespace tpuslice::sim {

enum class Form : std::uint8_t {
  kObject,        ///< The object itself, JSON.
  kTable,         ///< meta.k8s.io/v1 Table: rows for people.
  kMetadata,      ///< meta.k8s.io/v1 PartialObjectMetadata: of one object, or of each a watch tells of.
  kMetadataList,  ///< meta.k8s.io/v1 PartialObjectMetadataList.
};

/// The first form of the Accept header that is served. Errors: NotAcceptable (406), as for protobuf alone.
[[nodiscard]] Result<Form> negotiate(const http::Headers& headers, bool custom);

/// Whether Accept asks, among others, for aggregated discovery v2.
[[nodiscard]] bool wants_aggregated_discovery(const http::Headers& headers);

/// The media type of Content-Type without parameters, lower case; "application/json" without one.
[[nodiscard]] std::string content_type(const http::Headers& headers);

}  // namespace tpuslice::sim
