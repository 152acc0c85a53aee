// Matcher of the error in a Result or Status.
//
//   EXPECT_THAT(result, IsError(ErrorCode::kConflict));
//   EXPECT_THAT(result, IsError(ErrorCode::kInvalid, HasSubstr("spec.replicas")));
#pragma once

#include <gmock/gmock.h>

#include <ostream>
#include <string>

#include "api/base/result.h"

namespace tpuslice {

inline void PrintTo(ErrorCode code, std::ostream* out) { *out << to_string(code); }

template <typename T>
void PrintTo(const Result<T>& result, std::ostream* out) {
  if (result.ok()) {
    *out << "no error";
  } else {
    *out << "error " << to_string(result.error().code()) << ": " << result.error().message();
  }
}

/// An error with this code and this message; each is a value or a matcher.
MATCHER_P2(IsError, code, message,
           std::string(negation ? "is not" : "is") + " an error whose code " +
               ::testing::DescribeMatcher<ErrorCode>(code) + " and whose message " +
               ::testing::DescribeMatcher<std::string>(message)) {
  return !arg.ok() && ::testing::Matches(code)(arg.error().code()) &&
         ::testing::Matches(message)(arg.error().message());
}
template <typename Code>
auto IsError(Code code) {
  return IsError(code, ::testing::_);
}

}  // namespace tpuslice
