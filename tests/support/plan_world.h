// PlanWorld: the API server of a planner's tests. It holds the reconciled object and its children in memory and knows
// what a create, a patch and a delete do. The world of a kind adds what the other controllers and the kubelets do, and
// fills the observation:
//
//   class World final : public plan::PlanWorld {
//    public:
//     explicit World(Json cluster) : PlanWorld(kRayClusters, std::move(cluster), a_time()) {}
//     [[nodiscard]] RayClusterObserved observed() const;  // from object(), objects(kPods) and last_failure_
//     [[nodiscard]] plan::Plan plan() const override;     // of observed()
//     void advance() override;                            // pods start, terminating ones are deleted
//   };
//
// step() is one plan, settle() is step() and advance() until nothing changes.
//
// A value: the laws compare two copies with different histories. Tests change objects in place.
// cmd/tpu-slice-sim/storage is the storage of a whole cluster with its watches and cannot be copied.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/check.h"
#include "api/types/object.h"
#include "controllers/plan/plan.h"
#include "controllers/plan/reconciler.h"

namespace tpuslice::plan {

/// `json` as a store would decode it.
template <typename View>
[[nodiscard]] std::shared_ptr<const View> view_of(const Json& json) {
  Result<View> view = View::from_json(json);
  TPUSLICE_CHECK_MSG(view.ok(), view.ok() ? std::string() : view.error().message());
  return std::make_shared<const View>(*std::move(view));
}

[[nodiscard]] inline std::string uid_of(const Json& object) { return string_at(object, {"metadata", "uid"}); }

class PlanWorld {
 public:
  using Objects = std::map<std::string, Json>;  ///< By name. All are in one namespace.
  using Refusal = std::function<std::optional<Error>(const Action&)>;

  /// A write as the API server handles it. All patches and deletes state a uid. A patch that changes nothing keeps the
  /// resourceVersion.
  ///
  /// Errors: AlreadyExists; NotFound; Conflict if a precondition does not hold; those of the body and of refuse().
  Status apply(const Action& action);
  void apply(const StatusPatch& status);

  /// The plan of what is observed now.
  [[nodiscard]] virtual Plan plan() const = 0;
  /// What other controllers, kubelets and servers of the workload do until the next plan.
  virtual void advance() = 0;
  /// Carries out the first `limit` writes as the executor does, one after the other: what a failed action holds back,
  /// and which errors are none. The last write is that of the status, made if all actions succeeded. A failure is the
  /// last_failure() of the next plans, until one succeeds that does not keep it. Returns true if nothing was left out.
  bool carry_out(const Plan& plan, std::size_t limit = SIZE_MAX);
  /// Carries out plan(); returns it.
  Plan step();
  /// step() and advance() until a plan writes nothing, advance() changes no object, and the next plan writes nothing
  /// and has the same requests. What is due later is not waited for. Returns the number of plans; one more than `limit`
  /// if they are not enough, and the test fails.
  int settle(int limit = 40);
  /// Time passes, and nothing else happens.
  void pass(Duration time) { now_ += time; }

  /// From now on the API server refuses the writes for which `refusal` returns an error.
  void refuse(Refusal refusal) { refusal_ = std::move(refusal); }

  /// The reconciled object.
  [[nodiscard]] Object& object() { return object_; }
  [[nodiscard]] const Object& object() const { return object_; }
  /// Deleted, and no finalizer holds it any more.
  [[nodiscard]] bool gone() const;
  /// Its children, and others of their types.
  [[nodiscard]] Objects& objects(const ResourceType& type) { return objects_[std::string(type.kind)]; }
  [[nodiscard]] const Objects& objects(const ResourceType& type) const { return of_kind(type.kind); }
  [[nodiscard]] const Objects& of_kind(std::string_view kind) const;
  [[nodiscard]] const std::optional<Failure>& last_failure() const { return last_failure_; }
  void set_failure(std::optional<Failure> failure) { last_failure_ = std::move(failure); }
  void fail(std::string_view reason, std::string message, Timestamp time = {}) {
    last_failure_ = Failure{std::string(reason), std::move(message), time};
  }
  /// Writes that were tried.
  [[nodiscard]] std::size_t writes() const { return writes_; }

  /// Adds an object, or replaces it by another one with a new uid.
  Json& add(const ResourceType& type, Json object);

 protected:
  PlanWorld(const ResourceType& type, Json object, Timestamp now)
      : now_(now), type_(type), object_(std::move(object)) {}
  PlanWorld(const PlanWorld&) = default;
  PlanWorld(PlanWorld&&) = default;
  PlanWorld& operator=(const PlanWorld&) = default;
  PlanWorld& operator=(PlanWorld&&) = default;
  ~PlanWorld() = default;

  /// Sets what the API server and admission add to an object that an operator creates, beside uid and resourceVersion.
  /// The other objects are as they were before.
  virtual void prepare(const ResourceType& /*type*/, Json& /*created*/) {}
  /// Called after apply(action) has succeeded. `before`: the object of a patch or delete as it was; null for a create.
  virtual void applied(const Action& /*action*/, const Json& /*before*/) {}
  /// Called at the end of carry_out(). `complete`: nothing was left out.
  virtual void carried_out(const Plan& /*plan*/, bool /*complete*/) {}
  /// True if an object of this type is terminating after its delete, even without finalizers.
  [[nodiscard]] virtual bool terminates(const ResourceType& type) const { return type == kPods; }

  /// Gives `object` a new resourceVersion.
  void touch(Json& object) { object["metadata"]["resourceVersion"] = std::to_string(++version_); }

  /// Decoded objects of a type, by name.
  template <typename View>
  [[nodiscard]] std::vector<std::shared_ptr<const View>> views(const ResourceType& type) const {
    std::vector<std::shared_ptr<const View>> out;
    for (const auto& [name, object] : objects(type)) out.push_back(view_of<View>(object));
    return out;
  }

  std::map<std::string, Objects, std::less<>> objects_;  ///< By kind.
  std::optional<Failure> last_failure_;
  Timestamp now_;

 private:
  /// The object or child; null if it does not exist.
  [[nodiscard]] Json* find(const Action& action);
  Status create(const Action& action);
  void remove(const Action& action, Json& live);
  /// The error of the action in an executor's report.
  [[nodiscard]] std::optional<Error> run(const Action& action);
  [[nodiscard]] std::optional<Error> adopt(const Action& action, const Error& exists);
  /// The actions of carry_out(), at most `left`, which are subtracted.
  [[nodiscard]] bool carry_out_stages(const Plan& plan, std::size_t& left);

  ResourceType type_;
  Object object_;
  Refusal refusal_;
  std::size_t uids_ = 0;
  std::size_t version_ = 1;
  std::size_t writes_ = 0;
};

}  // namespace tpuslice::plan
