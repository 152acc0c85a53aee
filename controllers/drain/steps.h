// Steps of a drain: each finds what still holds something, and releases it, until there is nothing more.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "api/base/log.h"
#include "api/client/client.h"
#include "controllers/drain/report.h"
#include "controllers/runtime/parallel.h"

namespace tpuslice::drain {

struct StepOptions {
  bool dry_run = false;
  std::size_t max_in_flight = 16;  ///< Writes at a time.
  Duration retry = std::chrono::seconds(1);
  int max_attempts = 8;                       ///< Without progress.
  Duration limit = std::chrono::minutes(30);  ///< Time limit of a step.
};

/// Borrowed, and outlive the drain.
struct Api {
  client::Reader& reader;
  client::Writer& writer;
  runtime::Parallel& parallel;
  const Clock& clock;
  const Logger& log;
};

/// An object that holds something.
struct Holder {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  std::string created;  ///< The time as in the object: RFC 3339.
  std::string slice;    ///< Slice of a pod.
  Json kept;            ///< The list of gates or finalizers without ours.
  bool terminating = false;
  bool started = false;  ///< A Job that has a start time.
};

/// Key, uid, version, time stamps of `object`.
[[nodiscard]] Holder holder_of(const Object& object);

/// What a list is searched for.
struct Search {
  ResourceType type;
  client::ListOptions list = {};
  std::function<std::optional<Holder>(const Object&)> select;  ///< What is kept of an object, or nothing.
  /// Called for an object that is too long to be read, with its metadata; the others are found nevertheless.
  std::function<void(const Object&)> unreadable;
};

/// The whole list, page by page. A list that expires is read again; errors that may go away are retried. Large parts of
/// pods that no step reads are left out.
[[nodiscard]] Result<std::vector<Holder>> find_holders(const Api& api, const StepOptions& options, const Search& search,
                                                       const std::stop_token& stop);

struct Step {
  std::string what;  ///< For the log: "pods".
  std::function<Result<std::vector<Holder>>()> find;
  std::function<Status(const Holder&)> release;  ///< Called on several threads. NotFound: it is gone.
  Instant until = Instant::min();                ///< Until then, new objects may appear.
};

struct StepResult {
  std::vector<Holder> released;  ///< Each once. In a dry run: what was found.
  std::vector<std::pair<Holder, Error>> failed;
  std::optional<Error> error;  ///< Nothing more could be found.
};

/// Finds and releases, in the order found, until nothing is found. Ends early if nothing could be released in
/// `max_attempts` rounds.
[[nodiscard]] StepResult run_step(const Api& api, const StepOptions& options, const Step& step,
                                  const std::stop_token& stop);

[[nodiscard]] CountByNamespace count_by_namespace(const std::vector<Holder>& holders);

/// Runs `call` until it succeeds or fails with an error that will stay.
[[nodiscard]] Status retry(const StepOptions& options, const std::function<Status()>& call,
                           const std::stop_token& stop);

}  // namespace tpuslice::drain
