// CaseSender: sends attacks to the API server and to the webhook, and removes what they stored.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/base/mutex.h"
#include "tests/e2e/attacks/attack_plane.h"
#include "tests/e2e/generated_attacks/attack_case.h"
#include "tests/e2e/generated_attacks/seed_objects.h"

namespace tpuslice::testing {

/// Namespaces of the attacker.
inline constexpr int kAttackedNamespaces = 3;

/// Used by one thread.
class CaseSender {
 public:
  /// Creates the namespaces, each with a quota for pods, Jobs and StatefulSets. Both arguments outlive it. Errors: of
  /// the API server.
  static Result<std::unique_ptr<CaseSender>> start(AttackPlane& plane, const SeedObjects& seeds);

  /// Returns when all is answered, or will not be. `position` is the number of the attack in its batch. Errors:
  /// NotFound for an unknown object.
  Status send(const AttackCase& attack, int position);
  /// Deletes the objects that were stored, also those with finalizers, for a limited time. Returns how many are left.
  std::size_t clean_up();
  /// How many requests had which status since the last call; "no answer" after a time-out.
  [[nodiscard]] std::map<std::string, int> take_answers() TPUSLICE_EXCLUDES(mutex_);

 private:
  /// An object to be sent.
  struct Target {
    const SeedObject* seed;
    const AttackCase* attack;
    std::string namespace_name;
    std::string name;
  };

  CaseSender(AttackPlane& plane, const SeedObjects& seeds) : plane_(plane), seeds_(seeds) {}

  void write(const Target& target);
  /// Creates the object and writes it again, mutated.
  void write_again(const Target& target, Json object);
  void review(const AttackCase& attack, const SeedObject& seed);
  void review_from(const std::string& address, const AttackCase& attack, const std::string& path,
                   const std::string& body);
  http::Response call(http::Request request) TPUSLICE_EXCLUDES(mutex_);
  void count(const std::string& answer) TPUSLICE_EXCLUDES(mutex_);
  [[nodiscard]] std::vector<ObjectKey> stored(const ResourceType& type);
  void delete_all(const ResourceType& type, const std::string& namespace_name);

  AttackPlane& plane_;
  const SeedObjects& seeds_;
  bool used_ = false;  ///< Something may be stored.
  Mutex mutex_;
  std::map<std::string, int> answers_ TPUSLICE_GUARDED_BY(mutex_);
  std::vector<http::BlockingConnection*> open_ TPUSLICE_GUARDED_BY(mutex_);  ///< Connections that may be blocked.
};

}  // namespace tpuslice::testing
