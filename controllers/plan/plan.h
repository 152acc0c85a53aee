// Plan: what a reconciler wants done, as data. Only the Executor acts on it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/types/object.h"
#include "controllers/plan/workload_request.h"

namespace tpuslice::plan {

/// When to plan again while an object of another owner has the name of one of ours: no watch event of that object
/// concerns this key.
inline constexpr Duration kConflictRetry = std::chrono::seconds(30);
/// Retry interval of a refused write that the rest of the plan does not depend on: no watch event reports a raised
/// quota.
inline constexpr Duration kRefusalRetry = std::chrono::seconds(30);

enum class ActionKind : std::uint8_t { kCreate, kPatch, kDelete };

/// How the dependents of a deleted object are deleted.
enum class Propagation : std::uint8_t {
  kBackground,  ///< The object is deleted at once, its dependents afterwards.
  kForeground,  ///< The object is terminating until the dependents that block its deletion are deleted.
};
/// The name in the API.
[[nodiscard]] std::string_view to_string(Propagation propagation);

/// What must still be true on the server for an action to happen; otherwise the server returns Conflict.
struct Preconditions {
  std::string uid = {};               ///< Required on every delete and patch of an object we have seen.
  std::string resource_version = {};  ///< Set if the decision depends on more than the object's identity.
  friend bool operator==(const Preconditions&, const Preconditions&) = default;
};

/// What a create or a patch sends: a document, or a function that builds it when it is sent, so that a plan of a
/// thousand pods does not hold a thousand documents.
class Body {
 public:
  /// Pure; owns or shares what it reads, since it outlives the observation. Called any number of times, on any thread.
  using Maker = std::function<Result<Json>()>;
  /// Builds the document as text, if that is cheaper than building the document. Same rules as for Maker.
  using TextMaker = std::function<Result<std::string>()>;

  Body() = default;                            // null
  Body(Json json) : json_(std::move(json)) {}  // NOLINT(google-explicit-constructor)
  explicit Body(Maker make, TextMaker make_text = nullptr) : make_(std::move(make)), make_text_(std::move(make_text)) {}

  [[nodiscard]] bool is_null() const { return !make_ && json_.is_null(); }
  /// Errors: the maker's.
  [[nodiscard]] Result<Json> make() const;
  /// print_json() of make(). Errors: the maker's.
  [[nodiscard]] Result<std::string> text() const;

 private:
  Json json_;
  Maker make_;
  TextMaker make_text_;
};

enum class EventType : std::uint8_t { kNormal, kWarning };

/// An object, as others refer to it.
struct ObjectReference {
  std::string api_version;
  std::string kind;
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  friend bool operator==(const ObjectReference&, const ObjectReference&) = default;
};

/// An event, sent after the writes: of an action (ActionEvents), or of the whole plan, then unless the plan is cut
/// short by a conflict, or because this replica stops or no longer leads: the next plan has it again.
struct EventIntent {
  EventType type = EventType::kNormal;
  std::string reason;                             ///< "CreatedWorkerPod"
  std::string action;                             ///< What was being done: "CreateWorkerPod".
  std::string message;                            ///< One sentence.
  std::optional<ObjectReference> regarding = {};  ///< Absent: the reconciled object.
  std::optional<ObjectReference> related = {};    ///< Another object that the event concerns.
  friend bool operator==(const EventIntent&, const EventIntent&) = default;
};

/// A counter that plans increment, as a constant of the part that counts. Its kind or controller lists it
/// (kind::Kind::counters, runtime::ControllerOptions::counters): it is zero from the start of the program, so that
/// rate() sees the first increment.
struct CounterDefinition {
  std::string_view name;                      ///< "tpuslice_slices_torn_down_total"
  std::string_view help;                      ///< One sentence.
  std::string_view label = {};                ///< Empty: none.
  std::vector<std::string_view> values = {};  ///< All values of the label.
  /// Not empty: there is a series for each object, with its name as this label and its namespace as "namespace", from
  /// the first increment on. Such are those of upstream only.
  std::string_view object_label = {};
};

/// A number for the metrics: something happened (a counter), took so long (a histogram), or is so many now (a gauge).
struct Measurement {
  enum class Kind : std::uint8_t { kCount, kDuration, kLevel };
  Kind kind = Kind::kCount;
  std::string name;  ///< "tpuslice_slices_placed_total"
  std::string help;
  std::map<std::string, std::string> labels;
  double value = 1;  ///< Durations in seconds.
};

struct Interruption;  // interruption.h

/// What is reported of an action, or of several actions that share it.
struct ActionEvents {
  std::vector<EventIntent> on_success;  ///< After all these actions have succeeded.
  /// After one of these actions failed: ", <error of the server>" is added to the message, or " <error of the server>"
  /// if it ends with a colon; of several errors the first.
  std::vector<EventIntent> on_failure;
  std::vector<Measurement> measurements;  ///< After at least one of these actions has succeeded.
  /// It is recorded after at least one has succeeded; null: none. A plan that does the rest has it again.
  std::shared_ptr<const Interruption> interruption = {};
};

/// One write.
struct Action {
  ActionKind kind = ActionKind::kCreate;
  ResourceType type;
  ObjectKey key;
  Body body;  ///< Create: the object. Patch: a JSON merge patch. Delete: null.
  Preconditions preconditions;
  std::string subresource = {};  ///< Patch only: "status"; empty: the object itself.
  bool strategic = false;        ///< Patch only: the body is a strategic merge patch; not for custom resources.
  /// If it fails, the plan goes on, and no failure is reported. The next plan does not wait until its write is
  /// observed.
  bool best_effort = false;
  std::optional<std::int64_t> grace_seconds = {};  ///< Delete only; absent: the object's own.
  std::optional<Propagation> propagation = {};     ///< Delete only; absent: the client's, which is kBackground.
  std::string failure_reason;  ///< Reason of the condition set if this action fails: "FailedCreateWorkerPod".
  /// Create of a Secret only: the executor sets this member of stringData to a random token, since plans are
  /// deterministic. A Secret of that name that exists is used as it is, whatever its owner; Secrets are not read.
  std::string random_token = {};
  /// Create only: an object of that name that has another owner, or none, is used as it is.
  bool use_existing = false;
  std::shared_ptr<const ActionEvents> events = {};  ///< Null: nothing is reported.

  static Action create(const ResourceType& type, Object object);
  static Action create(const ResourceType& type, ObjectKey key, Body::Maker make, Body::TextMaker make_text = nullptr);
  static Action remove(const ResourceType& type, ObjectKey key, Preconditions preconditions);
  static Action patch(const ResourceType& type, ObjectKey key, Json merge_patch, Preconditions preconditions);
};

/// Actions that may run at the same time. The next stage starts when all have succeeded.
struct Stage {
  std::vector<Action> actions;
  /// A failed action holds back later stages, but not the other actions of this stage.
  bool independent = false;
  /// A failed action does not hold back later stages.
  bool continue_on_failure = false;
};

/// Written only if something below differs from what the object has.
struct StatusPatch {
  Json status;  ///< The whole new .status.
  /// Nothing but counts of children differs from the observed status, and no decision reads these from it. While they
  /// change often, the controller writes them at intervals.
  bool counts_only = false;
};

/// The .status of `object`; null without one.
[[nodiscard]] Json status_of(const Object& object);

struct Plan {
  std::string reason;  ///< One sentence: what is being done and why. Logs and golden files show it.
  std::vector<Stage> stages;
  std::optional<StatusPatch> status;
  std::vector<EventIntent> events;  ///< Those that belong to no single action.
  /// Those that belong to no single action. Counts and durations are recorded when the events are sent, levels always.
  std::vector<Measurement> measurements;
  std::optional<Duration> requeue_after;  ///< When something is due that causes no watch event.
  /// The plan skips the write that failed last, so the last failure stays recorded when this plan succeeds.
  bool keeps_failure = false;
  /// All requests to servers of the workload that are wanted now. After the writes, new ones are sent; those of the
  /// last plan that are missing here are dropped.
  std::vector<WorkloadRequest> requests;

  /// Nothing to write.
  [[nodiscard]] bool empty() const { return stages.empty() && !status && events.empty(); }
};

/// Lowers `requeue_after` to `time`, at least one millisecond.
void requeue_within(std::optional<Duration>& requeue_after, Duration time);

/// Plan::reason from the reasons of its parts: the first few, and how many more there are.
[[nodiscard]] std::string summary(const std::vector<std::string>& reasons);

/// The whole plan in a stable order, for golden files.
[[nodiscard]] Json to_json(const Plan& plan);

}  // namespace tpuslice::plan
