#include "controllers/plan/workload_request.h"

#include <algorithm>

#include <fmt/format.h>

namespace tpuslice::plan {

const WorkloadAnswer* WorkloadAnswers::to(const WorkloadRequest& request) const {
  const WorkloadAnswer* found = last(request.name);
  return found != nullptr && found->request == request ? found : nullptr;
}

const WorkloadAnswer* WorkloadAnswers::last(std::string_view name) const {
  const auto found = std::ranges::find_if(answers_, [&](const auto& answer) { return answer->request.name == name; });
  return found == answers_.end() ? nullptr : found->get();
}

Json to_json(const WorkloadRequest& request) {
  if (request.events) {
    return {{"name", request.name},
            {"events", fmt::format("{} about {}", request.events->reason, request.events->uid)},
            {"intervalSeconds", std::chrono::duration<double>(request.interval).count()}};
  }
  Json out = {{"name", request.name},
              {"method", request.method},
              {"url", (request.host.empty() ? request.address : request.host) + request.target}};
  if (!request.body.empty()) {
    const Result<Json> body = parse_json(request.body);
    out["body"] = body ? *body : Json(request.body);
  }
  if (request.token) out["token"] = request.token->secret + "/" + request.token->key;
  if (request.interval > Duration::zero()) {
    out["intervalSeconds"] = std::chrono::duration_cast<std::chrono::duration<double>>(request.interval).count();
  }
  if (request.attempt != 0) out["attempt"] = request.attempt;
  return out;
}

}  // namespace tpuslice::plan
