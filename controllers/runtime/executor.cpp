#include "controllers/runtime/executor.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "api/base/random_token.h"
#include "api/types/json_text.h"
#include "api/types/patch.h"

namespace tpuslice::runtime {
namespace {

/// Growth of batches while no action fails. Each batch waits for the slowest action of the one before.
constexpr std::size_t kGrowth = 4;

/// Errors: of the body, or of the random number generator.
Result<std::string> text_to_create(const plan::Action& action) {
  if (action.random_token.empty()) return action.body.text();
  ASSIGN_OR_RETURN(Json body, action.body.make());
  ASSIGN_OR_RETURN(body["stringData"][action.random_token], random_token());
  return print_json(body);
}

std::string describe(const plan::Action& action) {
  const std::string part = action.subresource.empty() ? "" : "/" + action.subresource;
  return action.type.resource() + part + " " + action.key.to_string();
}

Write write_of(const ResourceType& type, const ObjectKey& key, const Object& object) {
  return {type, key, object.uid(), revision_of(object.resource_version()), false};
}

ActionReport done(Outcome outcome, Write write) {
  ActionReport report;
  report.outcome = outcome;
  report.write = std::move(write);
  return report;
}

ActionReport failed(Error error) {
  ActionReport report;
  report.outcome = Outcome::kFailed;
  report.error = std::move(error);
  return report;
}

/// True for a failed precondition of a patch: Conflict, or the error for a change of the immutable uid.
bool is_other_object(const Error& error) { return error.code() == ErrorCode::kConflict || client::is_other_uid(error); }

/// True if the error is an input of the next plan. Conflicts and cancellations do not depend on the object.
bool is_failure(const Error& error) {
  return error.code() != ErrorCode::kConflict && error.code() != ErrorCode::kCancelled;
}

/// The rank of an error. The first of the highest rank decides when the plan is made again: errors that may pass before
/// those that only a change resolves, so that one refused object does not delay the others; conflicts and cancellations
/// last, since they are not reported.
int rank(const Error& error) {
  if (!is_failure(error)) return 0;
  return is_terminal(error) ? 1 : 2;
}

void note_error(ExecutionReport& report, const Error& error, const std::string& reason) {
  if (!report.error || rank(error) > rank(*report.error)) report.error = error;
  if (report.failure || !is_failure(error)) return;
  report.failure = plan::Failure{.reason = reason,
                                 .message = error.message(),
                                 .missing_service_account = client::missing_service_account(error),
                                 .namespace_terminating = client::is_namespace_terminating(error)};
}

bool succeeded(Outcome outcome) {
  return outcome == Outcome::kDone || outcome == Outcome::kAdopted || outcome == Outcome::kNotFound;
}

/// True if the merge patch replaces a list, such as that of the conditions.
bool replaces_list(const Json& patch) {
  return patch.is_array() || (patch.is_object() && std::ranges::any_of(patch, replaces_list));
}

/// The resourceVersion of the target: as observed, or after the last write of the plan to it.
std::string version_of(const Target& target, const std::vector<Write>& writes) {
  std::uint64_t last = 0;
  for (const Write& write : writes) {
    if (write.type == target.type && write.key == target.object.key) last = std::max(last, write.revision);
  }
  return last == 0 ? target.object.resource_version : std::to_string(last);
}

/// An object of another owner has the name; other actions are not affected.
bool is_name_taken(const ActionReport& report) {
  return report.error && report.error->code() == ErrorCode::kAlreadyExists;
}

}  // namespace

bool is_terminal(const Error& error) {
  return error.code() == ErrorCode::kInvalid || error.code() == ErrorCode::kInvalidArgument ||
         error.code() == ErrorCode::kResponseTooLong;
}

std::vector<EventsReport> ExecutionReport::events(const plan::Plan& plan) const {
  std::vector<EventsReport> out;
  std::map<const plan::ActionEvents*, std::size_t> places;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    for (std::size_t j = 0; j < plan.stages[i].actions.size(); ++j) {
      const plan::Action& action = plan.stages[i].actions[j];
      if (action.events == nullptr) continue;
      const auto [place, is_new] = places.emplace(action.events.get(), out.size());
      if (is_new) out.push_back({action.events});
      EventsReport& report = out[place->second];
      const ActionReport& done = stages[i][j];
      report.began = report.began || runtime::succeeded(done.outcome);
      report.succeeded = report.succeeded && runtime::succeeded(done.outcome);
      if (!action.best_effort && !report.error && done.error && is_failure(*done.error)) report.error = done.error;
    }
  }
  return out;
}

bool ExecutionReport::cut_short() const { return error && !is_failure(*error); }

Executor::Executor(client::Reader& reader, client::Writer& writer, Parallel& parallel, EventSink& events,
                   const ExceptionBarrier& barrier, ExecutorOptions options)
    : reader_(reader), writer_(writer), parallel_(parallel), events_(events), barrier_(barrier), options_(options) {}

ExecutionReport Executor::apply(const plan::Plan& plan, const Target& target, const std::stop_token& stop) const {
  ExecutionReport report;
  for (const plan::Stage& stage : plan.stages) report.stages.emplace_back(stage.actions.size());
  bool failing = false;
  for (std::size_t i = 0; i < plan.stages.size() && !failing; ++i) {
    const plan::Stage& stage = plan.stages[i];
    run_stage(stage, report.stages[i], stop);
    for (std::size_t j = 0; j < stage.actions.size(); ++j) {
      const ActionReport& action = report.stages[i][j];
      // The next plan does not depend on a best-effort write; the object may be deleted before a store shows it.
      if (action.write && !stage.actions[j].best_effort) report.writes.push_back(*action.write);
      if (!action.error || stage.actions[j].best_effort) continue;
      note_error(report, *action.error, stage.actions[j].failure_reason);
      failing = failing || !stage.continue_on_failure;
    }
    if (report.ok() && stop.stop_requested()) {
      report.error =
          Error::of(ErrorCode::kCancelled, "{}: stopped before the plan was complete", target.object.key.to_string());
    }
    failing = failing || stop.stop_requested();
  }
  if (report.ok() && plan.status) write_status(*plan.status, target, stop, report);
  emit(plan, target, report);
  return report;
}

ExecutionReport Executor::apply_status(const plan::Plan& plan, const Target& target,
                                       const std::stop_token& stop) const {
  ExecutionReport report;
  if (plan.status) write_status(*plan.status, target, stop, report);
  return report;
}

void Executor::run_stage(const plan::Stage& stage, std::vector<ActionReport>& reports,
                         const std::stop_token& stop) const {
  const bool creates = std::any_of(stage.actions.begin(), stage.actions.end(),
                                   [](const plan::Action& action) { return action.kind == plan::ActionKind::kCreate; });
  std::atomic<bool> failing = false;
  std::atomic<std::size_t> largest = 1;  // Bytes. Bodies of a stage are mostly made from one template.
  std::size_t batch = creates ? 1 : stage.actions.size();
  for (std::size_t start = 0; start < stage.actions.size() && !failing; start += batch, batch *= kGrowth) {
    // Beyond max_in_flight a larger batch would not be faster.
    if (batch >= options_.max_in_flight) batch = stage.actions.size();
    batch = std::min(batch, stage.actions.size() - start);
    const std::size_t in_flight =
        std::clamp<std::size_t>(options_.max_bytes_in_flight / largest, 1, options_.max_in_flight);
    parallel_.run(batch, in_flight, [&](std::size_t i) {
      if (failing || stop.stop_requested()) return;
      ActionReport& report = reports[start + i];
      report = run(stage.actions[start + i], stop);
      std::size_t before = largest;
      while (before < report.bytes && !largest.compare_exchange_weak(before, report.bytes)) {
      }
      const bool fatal = !stage.independent && !stage.actions[start + i].best_effort && !is_name_taken(report);
      if (report.outcome == Outcome::kFailed && fatal) failing = true;
    });
  }
}

ActionReport Executor::run(const plan::Action& action, const std::stop_token& stop) const {
  // Bodies are made here, from specs of users. An exception for one object must not stop the others.
  Result<ActionReport> report = barrier_.run([&] { return run_kind(action, stop); });
  return report ? *std::move(report) : failed(report.error().within(describe(action)));
}

ActionReport Executor::run_kind(const plan::Action& action, const std::stop_token& stop) const {
  switch (action.kind) {
    case plan::ActionKind::kCreate:
      return run_create(action, stop);
    case plan::ActionKind::kPatch:
      return run_patch(action, stop);
    case plan::ActionKind::kDelete:
      return run_delete(action, stop);
  }
  return failed(Error::defect("{}: unknown kind of action", describe(action)));
}

ActionReport Executor::run_create(const plan::Action& action, const std::stop_token& stop) const {
  Result<std::string> text = text_to_create(action);
  if (!text) return failed(text.error());
  const std::size_t bytes = text->size();
  const Result<Object> created =
      writer_.create_text(action.type, action.key, *std::move(text), {.answer = client::Answer::kMetadataOnly}, stop);
  ActionReport report;
  if (created) {
    report = done(Outcome::kDone, write_of(action.type, action.key, *created));
  } else if (created.error().code() == ErrorCode::kAlreadyExists && !action.random_token.empty()) {
    report.outcome = Outcome::kAdopted;
  } else if (created.error().code() == ErrorCode::kAlreadyExists) {
    Result<Json> body = action.body.make();
    report = body ? adopt(action, Object(*std::move(body)), stop) : failed(body.error());
  } else {
    report = failed(created.error());
  }
  report.bytes = bytes;
  return report;
}

ActionReport Executor::adopt(const plan::Action& action, const Object& body, const std::stop_token& stop) const {
  const Result<Object> existing = reader_.get(action.type, action.key, stop);
  if (!existing) {
    if (existing.error().code() != ErrorCode::kNotFound) return failed(existing.error());
    return failed(Error::conflict("{}: the existing object was deleted meanwhile", describe(action)));
  }
  const std::optional<ControllerRef> ours = body.controller();
  const std::optional<ControllerRef> theirs = existing->controller();
  if (theirs && ours && theirs->uid == ours->uid) {
    if (!existing->deletion_timestamp()) return take_over(action, body, *existing, stop);
    return failed(Error::conflict("{}: an object of that name is being deleted", describe(action)));
  }
  if (!theirs && !ours) return take_over(action, body, *existing, stop);
  if (action.use_existing) {
    // A store that selects by our label may never show the object, so that nothing waits for it.
    ActionReport report;
    report.outcome = Outcome::kAdopted;
    return report;
  }
  const std::string owner =
      theirs ? fmt::format("{} {} (uid {})", theirs->kind, theirs->name, theirs->uid) : std::string("no object");
  return failed(Error::of(ErrorCode::kAlreadyExists,
                          "{} already exists and is controlled by {}, not by {}: delete or rename one of them",
                          describe(action), owner, ours ? ours->kind + " " + ours->name : std::string("no object")));
}

ActionReport Executor::take_over(const plan::Action& action, const Object& body, const Object& existing,
                                 const std::stop_token& stop) const {
  Json missing = Json::object();
  for (const auto& [key, value] : string_map_at(body.json(), {"metadata", "labels"})) {
    if (existing.label(key) != value) missing[key] = value;
  }
  if (missing.empty()) return done(Outcome::kAdopted, write_of(action.type, action.key, existing));
  client::PatchOptions options;
  options.uid = existing.uid();
  options.answer = client::Answer::kMetadataOnly;
  const Result<Object> labelled = writer_.patch(action.type, action.key, client::PatchType::kMerge,
                                                {{"metadata", {{"labels", std::move(missing)}}}}, options, stop);
  if (labelled) return done(Outcome::kAdopted, write_of(action.type, action.key, *labelled));
  return failed(labelled.error());
}

ActionReport Executor::run_patch(const plan::Action& action, const std::stop_token& stop) const {
  const Result<Json> body = action.body.make();
  if (!body) return failed(body.error());
  client::PatchOptions options;
  options.subresource = action.subresource;
  options.uid = action.preconditions.uid;
  options.resource_version = action.preconditions.resource_version;
  options.answer = client::Answer::kMetadataOnly;
  const client::PatchType patch_type = action.strategic ? client::PatchType::kStrategic : client::PatchType::kMerge;
  const Result<Object> patched = writer_.patch(action.type, action.key, patch_type, *body, options, stop);
  if (patched) return done(Outcome::kDone, write_of(action.type, action.key, *patched));
  if (patched.error().code() == ErrorCode::kNotFound || is_other_object(patched.error())) {
    return failed(Error::conflict("{} has changed: {}", describe(action), patched.error().message()));
  }
  return failed(patched.error());
}

ActionReport Executor::run_delete(const plan::Action& action, const std::stop_token& stop) const {
  client::DeleteOptions options;
  options.uid = action.preconditions.uid;
  options.resource_version = action.preconditions.resource_version;
  options.grace_seconds = action.grace_seconds;
  if (action.propagation) options.propagation = to_string(*action.propagation);
  const Write write{action.type, action.key, action.preconditions.uid, 0, true};
  const Status removed = writer_.remove(action.type, action.key, options, stop);
  if (removed) return done(Outcome::kDone, write);
  if (removed.error().code() == ErrorCode::kNotFound) return done(Outcome::kNotFound, write);
  if (removed.error().code() != ErrorCode::kConflict || action.preconditions.uid.empty()) {
    return failed(removed.error());
  }
  // Find out which precondition failed. Another uid means that the observed object was deleted.
  const Result<Object> existing = reader_.get(action.type, action.key, stop);
  if (!existing && existing.error().code() == ErrorCode::kNotFound) return done(Outcome::kNotFound, write);
  if (existing && existing->uid() != action.preconditions.uid) return done(Outcome::kNotFound, write);
  return failed(removed.error());
}

void Executor::write_status(const plan::StatusPatch& status, const Target& target, const std::stop_token& stop,
                            ExecutionReport& report) const {
  Json current = target.status ? target.status() : Json();
  if (current.is_null()) current = Json::object();
  const Json difference = merge_diff(current, status.status);
  if (difference.empty()) return;
  client::PatchOptions options;
  options.uid = target.object.uid;
  // Others may have added to the list since, such as a condition of theirs.
  if (replaces_list(difference)) options.resource_version = version_of(target, report.writes);
  options.answer = client::Answer::kMetadataOnly;
  const Result<Object> written = writer_.update_status(target.type, target.object.key, difference, options, stop);
  if (written) {
    report.status_written = true;
    report.writes.push_back(write_of(target.type, target.object.key, *written));
    return;
  }
  // The object was deleted; the store will show it.
  if (written.error().code() == ErrorCode::kNotFound) return;
  if (is_other_object(written.error())) {
    report.error = Error::conflict("{} {} has changed: {}", target.type.resource(), target.object.key.to_string(),
                                   written.error().message());
    return;
  }
  note_error(report, written.error(), "FailedUpdateStatus");
}

void Executor::emit(const plan::Plan& plan, const Target& target, const ExecutionReport& report) const {
  const auto record = [&](const plan::EventIntent& event) {
    events_.record(event.regarding ? *event.regarding : target.object, event);
  };
  for (const EventsReport& done : report.events(plan)) {
    if (done.succeeded) std::ranges::for_each(done.events->on_success, record);
    if (!done.error) continue;
    for (plan::EventIntent event : done.events->on_failure) {
      event.message += (event.message.ends_with(':') ? " " : ", ") + done.error->message();
      record(event);
    }
  }
  if (!report.cut_short()) std::ranges::for_each(plan.events, record);
}

}  // namespace tpuslice::runtime
