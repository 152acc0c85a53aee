// FakeReviews: an API server that answers TokenReviews and SubjectAccessReviews.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/base/mutex.h"
#include "api/client/client.h"

namespace tpuslice::testing {

/// Thread-safe; the members are set before it is used.
class FakeReviews final : public client::Writer {
 public:
  std::map<std::string, std::string> users = {};  ///< By token.
  std::vector<std::string> readers = {};          ///< Users that may get `paths`.
  std::vector<std::string> paths = {"/metrics"};
  std::vector<std::string> put_paths = {};    ///< Paths that readers may put.
  std::vector<std::string> controllers = {};  ///< Users that may update jobsets/status everywhere.
  /// User, resource and namespace (empty: all) of lists that are allowed.
  std::vector<std::array<std::string, 3>> lists = {};
  std::optional<Error> error = {};                             ///< The answer to every review.
  std::function<void(const std::stop_token&)> on_review = {};  ///< Called before each answer.

  Result<Object> create(const ResourceType& type, Object object, const client::CreateOptions&,
                        std::stop_token stop) override {
    {
      const MutexLock lock(mutex_);
      reviews_.push_back(object.json());
    }
    if (on_review) on_review(stop);
    if (stop.stop_requested()) return Error::of(ErrorCode::kCancelled, "create {}: stopped", type.resource());
    if (error) return *error;
    Json answer = object.json();
    answer["status"] = type.kind == "TokenReview" ? token_status(object.json()) : access_status(object.json());
    return Object(std::move(answer));
  }
  Result<Object> patch(const ResourceType&, const ObjectKey&, client::PatchType, const Json&,
                       const client::PatchOptions&, std::stop_token) override {
    return Error::internal("not a review");
  }
  Result<Object> update_status(const ResourceType&, const ObjectKey&, const Json&, client::PatchOptions,
                               std::stop_token) override {
    return Error::internal("not a review");
  }
  Result<Object> replace(const ResourceType&, const Object&, const client::CreateOptions&, std::stop_token) override {
    return Error::internal("not a review");
  }
  Status remove(const ResourceType&, const ObjectKey&, const client::DeleteOptions&, std::stop_token) override {
    return Error::internal("not a review");
  }

  [[nodiscard]] std::vector<Json> reviews() const {
    const MutexLock lock(mutex_);
    return reviews_;
  }
  [[nodiscard]] std::size_t count() const { return reviews().size(); }

 private:
  [[nodiscard]] Json token_status(const Json& review) const {
    const auto user = users.find(string_at(review, {"spec", "token"}));
    if (user == users.end()) return {{"authenticated", false}, {"error", "invalid bearer token"}};
    return {{"authenticated", true},
            {"user",
             {{"username", user->second},
              {"uid", "u1"},
              {"groups", {"system:authenticated"}},
              {"extra", {{"authentication.kubernetes.io/pod-name", {"prometheus-0"}}}}}}};
  }
  [[nodiscard]] Json access_status(const Json& review) const {
    const Json& spec = review["spec"];
    if (spec.contains("resourceAttributes") && string_at(spec, {"resourceAttributes", "verb"}) == "list") {
      const Json& asked = spec["resourceAttributes"];
      const std::array<std::string, 3> list = {string_at(spec, {"user"}), string_at(asked, {"resource"}),
                                               string_at(asked, {"namespace"})};
      return {{"allowed", std::ranges::find(lists, list) != lists.end()}};
    }
    if (spec.contains("resourceAttributes")) {
      const bool is_controller =
          std::find(controllers.begin(), controllers.end(), string_at(spec, {"user"})) != controllers.end();
      const Json attributes = {
          {"verb", "update"}, {"group", "jobset.x-k8s.io"}, {"resource", "jobsets"}, {"subresource", "status"}};
      return {{"allowed", is_controller && spec["resourceAttributes"] == attributes}};
    }
    const bool is_reader = std::find(readers.begin(), readers.end(), string_at(spec, {"user"})) != readers.end();
    const auto is_asked_for = [&](const char* verb, const std::vector<std::string>& allowed) {
      return std::ranges::any_of(allowed, [&](const std::string& path) {
        return spec["nonResourceAttributes"] == Json({{"verb", verb}, {"path", path}});
      });
    };
    return {{"allowed", is_reader && (is_asked_for("get", paths) || is_asked_for("put", put_paths))}};
  }

  mutable Mutex mutex_;
  std::vector<Json> reviews_ TPUSLICE_GUARDED_BY(mutex_);
};

}  // namespace tpuslice::testing
