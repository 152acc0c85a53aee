// AttackCase: one attack as data: which object, changed how, sent how.
//
//   {"object": "pod-job/largest", "send": "dry-run", "copies": 8,
//    "mutations": [{"at": "/spec/subdomain", "make": "text", "of": "a", "times": 100000}]}
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"
#include "api/types/json.h"

namespace tpuslice::testing {

/// What a mutation puts at its place.
enum class Make : std::uint8_t {
  kValue,  ///< `of`.
  kText,   ///< The text `of`, repeated.
  kList,   ///< A list of `of`, or of what the list begins with if that is null. Names of the items differ.
  kMap,    ///< An object of so many keys, each with the value `of`.
  kRaw,    ///< JSON text that no document holds: see raw_text().
};

struct Mutation {
  std::string at;  ///< JSON pointer; what is missing is created. "-" appends to a list.
  Make make = Make::kValue;
  Json of;
  std::int64_t times = 1;
};

enum class Send : std::uint8_t {
  kDryRun,        ///< A dry-run creation: admission only.
  kCreate,        ///< Stored.
  kUpdate,        ///< The object is created as it is, then replaced by the mutated one.
  kPatch,         ///< The same with a merge patch.
  kStatus,        ///< The same with a merge patch of the status.
  kReview,        ///< An admission review of a creation, sent to the webhook by another client than the API server.
  kUpdateReview,  ///< Of an update.
};

/// What the client of a review does with the answer.
enum class Reading : std::uint8_t {
  kWhole,
  kNothing,  ///< Keeps the connection.
  kSlowly,
  kLeaves,  ///< Closes the connection when the review is sent.
  kHalf,    ///< Sends half of the review and keeps the connection.
};

struct AttackCase {
  std::string object;  ///< Of SeedObjects.
  Send send = Send::kDryRun;
  int copies = 1;      ///< Objects; of dry runs and reviews, requests at the same time.
  int namespaces = 1;  ///< Objects are created in so many namespaces; reviews come from so many addresses.
  Reading reading = Reading::kWhole;
  std::vector<Mutation> mutations;
};

/// Only what is not the default.
[[nodiscard]] Json to_json(const AttackCase& attack);
/// Errors: InvalidArgument.
[[nodiscard]] Result<AttackCase> attack_from_json(const Json& json);
/// JSON on one line; long values are cut.
[[nodiscard]] std::string description_of(const AttackCase& attack);
inline void PrintTo(const AttackCase& attack, std::ostream* out) { *out << description_of(attack); }

/// "arrays", "objects": nested so deep; "digits": a number of so many digits; "duplicates": an object with so many
/// equal keys; "bytes": a string of so many bytes that are not UTF-8; "nul": a string with so many escaped NULs.
[[nodiscard]] std::string raw_text(std::string_view what, std::int64_t times);

/// The mutated object as JSON text.
[[nodiscard]] std::string mutated(Json object, const std::vector<Mutation>& mutations);

/// Shortens the longest mutations until the text has at most `limit` bytes.
void shrink_to(std::size_t limit, const Json& object, std::vector<Mutation>& mutations);

}  // namespace tpuslice::testing
