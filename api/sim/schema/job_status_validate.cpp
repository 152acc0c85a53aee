// What the API server refuses of the status of a Job: other controllers than its own may write it.
#include <algorithm>

#include <fmt/format.h>

#include "api/sim/schema/builtin_checks.h"
#include "api/sim/schema/workload_checks.h"

namespace tpuslice::sim {
namespace {

bool holds_true(const Json& job, std::string_view type) {
  const Json& conditions = array_at(job, {"status", "conditions"});
  return std::any_of(conditions.begin(), conditions.end(), [type](const Json& each) {
    return string_at(each, {"type"}) == type && string_at(each, {"status"}) == "True";
  });
}

bool over(const Json& job) { return holds_true(job, "Complete") || holds_true(job, "Failed"); }

Json status_member(const Json& job, const char* name) {
  const Json* found = find_path(job, {"status", name});
  return found == nullptr ? Json() : *found;
}

/// Both before and after a change; only what has changed is looked at.
class StatusCheck {
 public:
  StatusCheck(Problems& problems, const Json& job, const Json& old) : problems_(problems), job_(job), old_(old) {}

  void run() {
    check_counts();
    check_end();
    check_times();
    check_conditions();
  }

 private:
  [[nodiscard]] bool changed(const char* name) const { return status_member(job_, name) != status_member(old_, name); }
  [[nodiscard]] bool newly(const char* type) const { return holds_true(job_, type) && !holds_true(old_, type); }
  [[nodiscard]] std::int64_t count(const Json& job, const char* name) const { return int_at(job, {"status", name}); }
  void conditions(std::string_view why) {
    problems_.add(status_.member("conditions"), "FieldValueInvalid", "Invalid value", why);
  }

  void check_counts() {
    check_not_negative(problems_, status_, map_at(job_, "status"),
                       {"active", "succeeded", "failed", "ready", "terminating"});
    if ((changed("ready") || changed("active")) && count(job_, "ready") > count(job_, "active")) {
      problems_.invalid(status_.member("ready"), count(job_, "ready"), "cannot set more ready pods than active");
    }
    if (count(job_, "failed") < count(old_, "failed")) {
      problems_.invalid(status_.member("failed"), count(job_, "failed"), "cannot decrease the failed counter");
    }
    const bool elastic = string_at(job_, {"spec", "completionMode"}) == "Indexed" &&
                         int_at(job_, {"spec", "completions"}) == int_at(job_, {"spec", "parallelism"});
    if (!elastic && count(job_, "succeeded") < count(old_, "succeeded")) {
      problems_.invalid(status_.member("succeeded"), count(job_, "succeeded"), "cannot decrease the succeeded counter");
    }
  }

  void check_end() {
    if (!over(job_)) return;
    const bool ends = !over(old_);
    for (const char* name : {"active", "terminating"}) {
      if ((ends || changed(name)) && count(job_, name) > 0) {
        problems_.invalid(status_.member(name), count(job_, name),
                          fmt::format("{}>0 is invalid for finished job", name));
      }
    }
    const Json& uncounted = map_at(map_at(job_, "status"), "uncountedTerminatedPods");
    const bool left = !list_at(uncounted, "succeeded").empty() || !list_at(uncounted, "failed").empty();
    if ((ends || changed("uncountedTerminatedPods")) && left) {
      problems_.invalid(status_.member("uncountedTerminatedPods"), uncounted, "must be empty for finished job");
    }
    const bool wants_nothing = bool_at(job_, {"spec", "suspend"}) && int_at(job_, {"spec", "completions"}, -1) == 0;
    if ((ends || changed("startTime")) && !wants_nothing && status_member(job_, "startTime").is_null()) {
      problems_.required(status_.member("startTime"), "startTime is required for finished job");
    }
  }

  void check_times() {
    const Json now = status_member(job_, "startTime");
    const Json before = status_member(old_, "startTime");
    const bool resumes = holds_true(old_, "Suspended") && !holds_true(job_, "Suspended");
    if (!before.is_null() && now != before && !bool_at(job_, {"spec", "suspend"}) && !resumes) {
      problems_.invalid(status_.member("startTime"), now, "field is immutable for unsuspended job once set");
    }
    const Json end = status_member(job_, "completionTime");
    if (!changed("completionTime") && holds_true(job_, "Complete") == holds_true(old_, "Complete")) return;
    if (!end.is_null() && !holds_true(job_, "Complete")) {
      problems_.invalid(status_.member("completionTime"), end,
                        "cannot set completionTime when there is no Complete=True condition");
    } else if (end.is_null() && holds_true(job_, "Complete")) {
      problems_.required(status_.member("completionTime"), "completionTime is required for Complete jobs");
    } else if (!end.is_null() && !status_member(old_, "completionTime").is_null() && changed("completionTime")) {
      problems_.invalid(status_.member("completionTime"), end, "field is immutable");
    }
  }

  void check_conditions() {
    if (newly("Failed") && !holds_true(job_, "FailureTarget")) {
      conditions("cannot set Failed=True condition without the FailureTarget=true condition");
    }
    if (newly("Complete") && !holds_true(job_, "SuccessCriteriaMet")) {
      conditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition");
    }
    if (newly("Complete") && holds_true(job_, "FailureTarget")) {
      conditions("cannot set Complete=True and FailureTarget=true conditions");
    }
    if (holds_true(job_, "SuccessCriteriaMet") && holds_true(job_, "Failed")) {
      conditions("cannot set SuccessCriteriaMet=True and Failed=true conditions");
    }
    if (holds_true(job_, "SuccessCriteriaMet") && holds_true(job_, "FailureTarget")) {
      conditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions");
    }
    for (const char* type : {"Failed", "Complete", "FailureTarget"}) {
      if (holds_true(old_, type) && !holds_true(job_, type)) {
        conditions(fmt::format("cannot disable the terminal {}=True condition", type));
      }
    }
    if (holds_true(old_, "SuccessCriteriaMet") && !holds_true(job_, "SuccessCriteriaMet")) {
      conditions("cannot disable the SuccessCriteriaMet=True condition");
    }
  }

  Problems& problems_;
  const Json& job_;
  const Json& old_;
  const FieldPath status_{"status"};
};

}  // namespace

void check_job_status(Problems& problems, const Json& job, const Json& old) {
  if (map_at(job, "status") != map_at(old, "status")) StatusCheck(problems, job, old).run();
}

}  // namespace tpuslice::sim
