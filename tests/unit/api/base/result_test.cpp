#include "api/base/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/support/error_matchers.h"

namespace tpuslice {
namespace {

using ::testing::_;
using ::testing::HasSubstr;
using ::testing::Not;

Result<int> half(int value) {
  if (value % 2 != 0) return Error::invalid_argument("{} is odd", value);
  return value / 2;
}

Result<int> quarter(int value) {
  ASSIGN_OR_RETURN(const int first, half(value));
  ASSIGN_OR_RETURN(const int second, half(first));
  return second;
}

Status check_quarter(int value) {
  RETURN_IF_ERROR(quarter(value));
  return {};
}

TEST(IsError, MatchesTheCodeAndTheMessage) {
  EXPECT_THAT(check_quarter(6), IsError(ErrorCode::kInvalidArgument, HasSubstr("odd")));
  EXPECT_THAT(check_quarter(6), Not(IsError(ErrorCode::kInvalid)));
  EXPECT_THAT(check_quarter(6), Not(IsError(ErrorCode::kInvalidArgument, "odd")));
  EXPECT_THAT(check_quarter(8), Not(IsError(_)));
  EXPECT_EQ(::testing::PrintToString(quarter(6)), "error InvalidArgument: 3 is odd");
}

TEST(Result, CarriesAValueOrAnError) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_THAT(quarter(6), IsError(ErrorCode::kInvalidArgument, "3 is odd"));
  EXPECT_EQ(quarter(6).value_or(-1), -1);
}

TEST(Result, PropagatesThroughStatus) {
  EXPECT_TRUE(check_quarter(4).ok());
  EXPECT_EQ(check_quarter(1).error().message(), "1 is odd");
}

TEST(Result, HoldsMoveOnlyValues) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(4));
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 4);
}

TEST(Error, KeepsItsDetailsWhenContextIsAdded) {
  Error error = Error::conflict("pod {} is stale", "a");
  error.with_reason("Conflict").with_retry_after(std::chrono::seconds(2));
  const Error outer = error.within("scale up");
  EXPECT_EQ(outer.message(), "scale up: pod a is stale");
  EXPECT_EQ(outer.reason(), "Conflict");
  EXPECT_EQ(outer.retry_after(), std::chrono::seconds(2));
}

TEST(ErrorCode, HasANameForEach) {
  EXPECT_EQ(to_string(ErrorCode::kInvalidArgument), "InvalidArgument");
  EXPECT_EQ(to_string(ErrorCode::kInternal), "Internal");
  EXPECT_EQ(to_string(ErrorCode::kDefect), "Defect");
}

TEST(ResultDeathTest, AbortsWhenAnAbsentValueOrErrorIsRead) {
  EXPECT_DEATH(static_cast<void>(half(1).value()), "1 is odd");
  EXPECT_DEATH(static_cast<void>(half(2).error()), "check failed");
}

}  // namespace
}  // namespace tpuslice
