#include "controllers/drain/steps.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "api/base/pause.h"
#include "api/client/page_size.h"

namespace tpuslice::drain {
namespace {

constexpr std::int64_t kPage = 500;
/// Members of pods and pod templates that no step reads.
constexpr std::array<std::string_view, 6> kUnread = {"managedFields", "containers", "initContainers",
                                                     "volumes",       "affinity",   "containerStatuses"};

bool may_go_away(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kTooManyRequests:
    case ErrorCode::kTimeout:
    case ErrorCode::kUnavailable:
    case ErrorCode::kUnauthorized:  // The token is read again.
      return true;
    default:
      return false;
  }
}

Duration wait_after(const Error& error, Duration wait) { return std::max(wait, error.retry_after().value_or(wait)); }

/// One attempt.
Result<std::vector<Holder>> read_list(const Api& api, const Search& search, const std::stop_token& stop) {
  std::vector<Holder> found;
  client::ListOptions list = search.list;
  client::PageSize size(kPage, kPage);
  while (true) {
    list.limit = size.objects();
    Result<client::ListPage> page = api.reader.list(search.type, list, stop);
    if (!page && page.error().code() == ErrorCode::kResponseTooLong && !list.metadata_only) {
      list.metadata_only = !size.shrink();
      continue;
    }
    if (!page) return page.error();
    for (const std::string& text : page->items) {
      ASSIGN_OR_RETURN(Json json, parse_json(text, {.without = kUnread}));
      const Object object(std::move(json));
      if (list.metadata_only) {
        search.unreadable(object);
      } else if (auto holder = search.select(object)) {
        found.push_back(*std::move(holder));
      }
    }
    list.metadata_only = false;
    size.fits();
    list.continue_token = std::move(page->continue_token);
    if (list.continue_token.empty()) return found;
  }
}

struct Round {
  std::vector<Holder> released;
  std::vector<std::pair<Holder, Error>> failed;
};

Round release_all(const Api& api, const StepOptions& options, const Step& step, const std::vector<Holder>& holders) {
  std::vector<Status> results(holders.size());
  api.parallel.run(holders.size(), options.max_in_flight,
                   [&](std::size_t index) { results[index] = step.release(holders[index]); });
  Round round;
  for (std::size_t i = 0; i < holders.size(); ++i) {
    if (results[i]) {
      round.released.push_back(holders[i]);
    } else if (results[i].error().code() != ErrorCode::kNotFound) {
      round.failed.emplace_back(holders[i], results[i].error());
    }
  }
  return round;
}

/// Moves those that are not among `seen` uids to `all`: a reply may have been lost, or an object found a second time.
void add_new(std::vector<Holder>& released, std::set<std::string>& seen, std::vector<Holder>& all) {
  for (Holder& each : released) {
    if (seen.insert(each.uid).second) all.push_back(std::move(each));
  }
}

}  // namespace

Holder holder_of(const Object& object) {
  Holder holder;
  holder.key = object.key();
  holder.uid = object.uid();
  holder.resource_version = object.resource_version();
  holder.created = string_at(object.json(), {"metadata", "creationTimestamp"});
  holder.terminating = object.deletion_timestamp().has_value();
  return holder;
}

Status retry(const StepOptions& options, const std::function<Status()>& call, const std::stop_token& stop) {
  for (int attempt = 1;; ++attempt) {
    Status status = call();
    if (status || !may_go_away(status.error()) || attempt >= options.max_attempts) return status;
    pause(wait_after(status.error(), options.retry), stop);
  }
}

Result<std::vector<Holder>> find_holders(const Api& api, const StepOptions& options, const Search& search,
                                         const std::stop_token& stop) {
  for (int attempt = 1;; ++attempt) {
    auto found = read_list(api, search, stop);
    if (found || attempt >= options.max_attempts) return found;
    const Error& error = found.error();
    if (!may_go_away(error) && error.code() != ErrorCode::kExpired) return found;
    pause(wait_after(error, options.retry), stop);
  }
}

StepResult run_step(const Api& api, const StepOptions& options, const Step& step, const std::stop_token& stop) {
  StepResult result;
  std::set<std::string> seen;
  const Instant end = api.clock.now() + options.limit;
  for (int without_progress = 0; without_progress < options.max_attempts;) {
    Result<std::vector<Holder>> holders = step.find();
    if (!holders) {
      result.error = holders.error();
      return result;
    }
    result.failed.clear();
    if (options.dry_run) {
      result.released = *std::move(holders);
      return result;
    }
    const Instant now = api.clock.now();
    if (holders->empty()) {
      if (now >= step.until) return result;
      pause(std::min(options.retry, step.until - now), stop);
      continue;
    }
    Round round = release_all(api, options, step, *holders);
    api.log.info("released", {{"what", step.what},
                              {"found", holders->size()},
                              {"released", round.released.size()},
                              {"failed", round.failed.size()}});
    const bool progress = round.failed.size() < holders->size();
    without_progress = progress ? 0 : without_progress + 1;
    add_new(round.released, seen, result.released);
    result.failed = std::move(round.failed);
    if (now >= end) {
      const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(options.limit).count();
      result.error = Error::of(ErrorCode::kTimeout, "{}: there are still more after {} minutes", step.what, minutes);
      return result;
    }
    if (!result.failed.empty()) {
      const Duration wait = options.retry * (1 + without_progress);
      pause(wait_after(result.failed.front().second, wait), stop);
    }
  }
  return result;
}

CountByNamespace count_by_namespace(const std::vector<Holder>& holders) {
  CountByNamespace counts;
  for (const Holder& holder : holders) ++counts[holder.key.namespace_name];
  return counts;
}

}  // namespace tpuslice::drain
