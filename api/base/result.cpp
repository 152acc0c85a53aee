#include "api/base/result.h"

namespace tpuslice {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "InvalidArgument";
    case ErrorCode::kInvalid:
      return "Invalid";
    case ErrorCode::kNotFound:
      return "NotFound";
    case ErrorCode::kAlreadyExists:
      return "AlreadyExists";
    case ErrorCode::kConflict:
      return "Conflict";
    case ErrorCode::kUnauthorized:
      return "Unauthorized";
    case ErrorCode::kForbidden:
      return "Forbidden";
    case ErrorCode::kExpired:
      return "Expired";
    case ErrorCode::kTooManyRequests:
      return "TooManyRequests";
    case ErrorCode::kTimeout:
      return "Timeout";
    case ErrorCode::kCancelled:
      return "Cancelled";
    case ErrorCode::kUnavailable:
      return "Unavailable";
    case ErrorCode::kResponseTooLong:
      return "ResponseTooLong";
    case ErrorCode::kUnsupported:
      return "Unsupported";
    case ErrorCode::kInternal:
      return "Internal";
    case ErrorCode::kDefect:
      return "Defect";
  }
  return "Unknown";
}

}  // namespace tpuslice
