// WorkloadRequest: an HTTP request to a server in the pods of a workload, such as Ray's dashboard, or for events about
// its children, as data. Its answer is an input of later plans.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/types/json.h"

namespace tpuslice::plan {

/// A bearer token in a Secret of the workload's namespace.
struct TokenSource {
  std::string secret;
  std::string key;
  friend bool operator==(const TokenSource&, const TokenSource&) = default;
};

/// The events of the API server about an object in the workload's namespace.
struct EventQuery {
  std::string uid;     ///< UID of the object.
  std::string reason;  ///< "FailedCreate"
  friend bool operator==(const EventQuery&, const EventQuery&) = default;
};

/// Extracts what is kept of a response. Pure. The result must be small for any response: the server is not trusted.
using ResponseReader = Json (*)(int status, const std::string& body);

struct WorkloadRequest {
  std::string name;  ///< Unique within the object. One answer is kept for each name.
  std::string method = "GET";
  std::string address;    ///< Host and port to connect to: "10.0.1.7:8265".
  std::string host = {};  ///< Header Host; empty: `address`.
  std::string target;     ///< Path and query: "/api/jobs/train-x7k2p".
  std::string body = {};  ///< JSON; empty: none.
  std::optional<TokenSource> token = {};
  Duration interval = Duration::zero();  ///< Sent again this long after each answer; zero: sent once.
  /// A request with another number is another request, and is sent again.
  std::int64_t attempt = 0;
  ResponseReader read = nullptr;  ///< Null: only the status is kept.
  /// Lists these events instead of sending anything to a pod. Of the newest {"message", "time"} is kept, or an empty
  /// object if there is none. Beside it, only `name`, `interval` and `attempt` are set.
  std::optional<EventQuery> events = {};

  friend bool operator==(const WorkloadRequest&, const WorkloadRequest&) = default;
};

/// The last answer to a request, or why there is none.
struct WorkloadAnswer {
  WorkloadRequest request;
  int status = 0;          ///< Status code of HTTP; 0: no response.
  Json content = {};       ///< From WorkloadRequest::read.
  std::string error = {};  ///< Why there is no response: "GET http://10.0.1.7:8265/api/jobs/a: no answer in time".
  Timestamp received;      ///< When the response, or the error, was there.

  /// There is a response with a status of 2xx.
  [[nodiscard]] bool ok() const { return status / 100 == 2; }
};

/// The answers to the requests of one object.
class WorkloadAnswers {
 public:
  WorkloadAnswers() = default;
  explicit WorkloadAnswers(std::vector<std::shared_ptr<const WorkloadAnswer>> answers) : answers_(std::move(answers)) {}

  /// Null while there is none to exactly this request.
  [[nodiscard]] const WorkloadAnswer* to(const WorkloadRequest& request) const;
  /// The last answer to a request of this name, also to an earlier one; null without.
  [[nodiscard]] const WorkloadAnswer* last(std::string_view name) const;

 private:
  std::vector<std::shared_ptr<const WorkloadAnswer>> answers_;
};

/// The request as golden files show it.
[[nodiscard]] Json to_json(const WorkloadRequest& request);

}  // namespace tpuslice::plan
