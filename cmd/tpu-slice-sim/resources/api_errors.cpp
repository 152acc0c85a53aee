#include "cmd/tpu-slice-sim/resources/api_errors.h"

#include <array>

#include <fmt/format.h>

namespace tpuslice::sim {
namespace {

/// Prefix of the reason of an error without a reason; the HTTP status follows.
constexpr std::string_view kNoReason = "-";

struct Kind {
  ErrorCode code;
  int status;
  std::string_view reason;
};

constexpr std::array kKinds = {
    Kind{ErrorCode::kInvalidArgument, 400, "BadRequest"},
    Kind{ErrorCode::kInvalid, 422, "Invalid"},
    Kind{ErrorCode::kNotFound, 404, "NotFound"},
    Kind{ErrorCode::kAlreadyExists, 409, "AlreadyExists"},
    Kind{ErrorCode::kConflict, 409, "Conflict"},
    Kind{ErrorCode::kUnauthorized, 401, "Unauthorized"},
    Kind{ErrorCode::kForbidden, 403, "Forbidden"},
    Kind{ErrorCode::kExpired, 410, "Expired"},
    Kind{ErrorCode::kTooManyRequests, 429, "TooManyRequests"},
    Kind{ErrorCode::kTimeout, 504, "Timeout"},
    Kind{ErrorCode::kCancelled, 503, "ServiceUnavailable"},
    Kind{ErrorCode::kUnavailable, 503, "ServiceUnavailable"},
    Kind{ErrorCode::kUnsupported, 415, "UnsupportedMediaType"},
    Kind{ErrorCode::kInternal, 500, "InternalError"},
};

const Kind& kind_of(const Error& error) {
  for (const Kind& kind : kKinds) {
    if (kind.code == error.code()) return kind;
  }
  return kKinds.back();
}

/// "pods" and "x" in `pods "x" not found`: the word before the first quoted one, in messages of this form only.
struct Subject {
  std::string_view what;
  std::string_view name;
  std::string_view rest;
};

std::optional<Subject> subject_of(std::string_view message) {
  const std::size_t open = message.find(" \"");
  if (open == std::string_view::npos) return std::nullopt;
  const std::size_t close = message.find('"', open + 2);
  if (close == std::string_view::npos) return std::nullopt;
  std::string_view what = message.substr(0, open);
  if (const std::size_t space = what.rfind(' '); space != std::string_view::npos) what.remove_prefix(space + 1);
  const std::string_view rest = message.substr(close + 1);
  bool known = message.starts_with("Operation cannot be fulfilled on ");
  for (const char* form : {" not found", " already exists", " is forbidden: ", " is invalid: "}) {
    known = known || rest.starts_with(form);
  }
  if (!known) return std::nullopt;
  return Subject{what, message.substr(open + 2, close - open - 2), rest};
}

struct Word {
  std::string_view start;
  std::string_view reason;
};

/// The first words of a field error.
constexpr std::array kWords = {
    Word{"Required value", "FieldValueRequired"},
    Word{"Duplicate value", "FieldValueDuplicate"},
    Word{"Unsupported value", "FieldValueNotSupported"},
    Word{"Forbidden", "FieldValueForbidden"},
    Word{"Not found", "FieldValueNotFound"},
    Word{"Too long", "FieldValueTooLong"},
    Word{"Too many", "FieldValueTooMany"},
    Word{"Internal error", "InternalError"},
    Word{"Invalid value", "FieldValueInvalid"},
};

const Word* word_of(std::string_view message) {
  for (const Word& word : kWords) {
    if (message.starts_with(word.start)) return &word;
  }
  return nullptr;
}

/// Whether the text is like "spec.containers[0].name: Required value": a path (spaces only in map keys), then known
/// words.
bool begins_problem(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']') --depth;
    if (depth > 0) continue;
    if (text.substr(i, 2) == ": ") return word_of(text.substr(i + 2)) != nullptr;
    if (text[i] == ' ' || text[i] == '"' || text[i] == ',') return false;
  }
  return false;
}

/// Splits "[a: Required value, b: Forbidden: x, y]" at the start of each field error; a single one has no brackets.
std::vector<std::string_view> split_problems(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return {text};
  text = text.substr(1, text.size() - 2);
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  for (std::size_t i = text.find(", "); i != std::string_view::npos; i = text.find(", ", i + 2)) {
    if (!begins_problem(text.substr(i + 2))) continue;
    parts.push_back(text.substr(start, i - start));
    start = i + 2;
  }
  parts.push_back(text.substr(start));
  return parts;
}

std::string_view cause_reason(std::string_view message) {
  const bool typed = message.find(" in body must be of type ") != std::string_view::npos;
  if (typed && message.starts_with("Invalid value")) return "FieldValueTypeInvalid";
  const Word* word = word_of(message);
  return word == nullptr ? "FieldValueInvalid" : word->reason;
}

Json invalid_causes(std::string_view problems) {
  Json causes = Json::array();
  for (const std::string_view each : split_problems(problems)) {
    const std::size_t colon = each.find(": ");
    if (colon == std::string_view::npos) {
      causes.push_back({{"message", std::string(each)}});
      continue;
    }
    const std::string_view message = each.substr(colon + 2);
    causes.push_back({{"reason", std::string(cause_reason(message))},
                      {"message", std::string(message)},
                      {"field", std::string(each.substr(0, colon))}});
  }
  return causes;
}

/// Parses "Apply failed with 1 conflict: conflict with "m": .spec.a"; with several, one line per manager, then its
/// fields.
Json apply_causes(std::string_view message) {
  Json causes = Json::array();
  std::string manager;
  while (!message.empty()) {
    const std::size_t end = std::min(message.find('\n'), message.size());
    std::string_view line = message.substr(0, end);
    message.remove_prefix(std::min(end + 1, message.size()));
    if (const std::size_t with = line.find("conflict with "); with != std::string_view::npos) {
      line.remove_prefix(with);
      const std::size_t colon = line.rfind(':');
      manager = std::string(line.substr(0, colon));
      line = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    } else if (const std::size_t many = line.find("conflicts with "); many != std::string_view::npos) {
      line.remove_prefix(many);
      manager = "conflict" + std::string(line.substr(9, line.rfind(':') - 9));
      continue;
    }
    const std::size_t field = line.find('.');
    if (field == std::string_view::npos) continue;
    causes.push_back(
        {{"reason", "FieldManagerConflict"}, {"message", manager}, {"field", std::string(line.substr(field))}});
  }
  return causes;
}

Json details_of(const Error& error) {
  Json details = Json::object();
  std::string_view message = error.message();
  // The message and details of a webhook's refusal are passed on.
  constexpr std::string_view kDenied = " denied the request: ";
  if (const std::size_t denied = message.find(kDenied);
      message.starts_with("admission webhook ") && denied != std::string_view::npos) {
    message.remove_prefix(denied + kDenied.size());
  }
  if (const auto subject = subject_of(message); subject) {
    const std::size_t dot = subject->what.find('.');
    if (!subject->name.empty()) details["name"] = std::string(subject->name);
    if (!subject->what.empty()) details["kind"] = std::string(subject->what.substr(0, dot));
    if (dot != std::string_view::npos) details["group"] = std::string(subject->what.substr(dot + 1));
    constexpr std::string_view kInvalid = " is invalid: ";
    if (error.code() == ErrorCode::kInvalid && subject->rest.starts_with(kInvalid)) {
      details["causes"] = invalid_causes(subject->rest.substr(kInvalid.size()));
    }
    if (subject->rest.ends_with("because it is being terminated")) {
      constexpr std::string_view kContent = "content in ";
      const std::size_t space = subject->rest.find(kContent) + kContent.size();
      const std::string_view named = subject->rest.substr(space, subject->rest.find(" because") - space);
      details["causes"] = Json::array({{{"reason", "NamespaceTerminating"},
                                        {"message", fmt::format("{} is being terminated", named)},
                                        {"field", "metadata.namespace"}}});
    }
  } else if (message.starts_with("Apply failed")) {
    details["causes"] = apply_causes(message);
  } else if (message.starts_with("Timeout: Too large resource version")) {
    details["causes"] =
        Json::array({{{"reason", "ResourceVersionTooLarge"}, {"message", "Too large resource version"}}});
  }
  constexpr std::string_view kBudget = "Cannot evict pod as it would violate the pod's disruption budget. ";
  if (message.starts_with(kBudget)) {
    details["causes"] =
        Json::array({{{"reason", "DisruptionBudget"}, {"message", std::string(message.substr(kBudget.size()))}}});
  }
  if (error.retry_after()) {
    details["retryAfterSeconds"] = std::chrono::duration_cast<std::chrono::seconds>(*error.retry_after()).count();
  }
  return details;
}

std::string kind_and_group(const Resource& resource) {
  if (resource.kind == "Event") return resource.kind;  // Events of both groups: the stored form is checked.
  return resource.group.empty() ? resource.kind : resource.kind + "." + resource.group;
}

}  // namespace

Error not_found(const Resource& resource, std::string_view name) {
  return Error::not_found("{} \"{}\" not found", resource.id(), name).with_reason("NotFound");
}

Error already_exists(const Resource& resource, std::string_view name) {
  return Error::of(ErrorCode::kAlreadyExists, "{} \"{}\" already exists", resource.id(), name)
      .with_reason("AlreadyExists");
}

Error conflict(const Resource& resource, std::string_view name, std::string_view problem) {
  return Error::conflict("Operation cannot be fulfilled on {} \"{}\": {}", resource.id(), name, problem)
      .with_reason("Conflict");
}

Error stale(const Resource& resource, std::string_view name) {
  return conflict(resource, name,
                  "the object has been modified; please apply your changes to the latest version and try again");
}

Error other_uid(const Resource& resource, const Json& object, std::string_view asked) {
  const std::string name = string_at(object, {"metadata", "name"});
  const std::string space = string_at(object, {"metadata", "namespace"});
  return conflict(
      resource, name,
      fmt::format("StorageError: invalid object, Code: 4, Key: /registry/{}/{}{}, ResourceVersion: 0, "
                  "AdditionalErrorMsg: Precondition failed: UID in precondition: {}, UID in object meta: {}",
                  resource.plural, space.empty() ? "" : space + "/", name, asked,
                  string_at(object, {"metadata", "uid"})));
}

Error forbidden(const Resource& resource, std::string_view name, std::string_view problem) {
  return Error::of(ErrorCode::kForbidden, "{} \"{}\" is forbidden: {}", resource.id(), name, problem)
      .with_reason("Forbidden");
}

Error bad_request(std::string message) {
  return Error(ErrorCode::kInvalidArgument, std::move(message)).with_reason("BadRequest");
}

Error invalid(const Resource& resource, std::string_view name, const std::vector<FieldProblem>& problems) {
  std::vector<std::string> texts;
  texts.reserve(problems.size());
  for (const FieldProblem& problem : problems) texts.push_back(problem.path + ": " + problem.message);
  const std::string text = texts.size() == 1 ? texts.front() : fmt::format("[{}]", fmt::join(texts, ", "));
  return Error::of(ErrorCode::kInvalid, "{} \"{}\" is invalid: {}", kind_and_group(resource), name, text)
      .with_reason("Invalid");
}

Error invalid_options(std::string_view problem) {
  return Error::of(ErrorCode::kInvalid, "ListOptions.meta.k8s.io \"\" is invalid: {}", problem).with_reason("Invalid");
}

Error method_not_allowed() {
  return Error::unsupported("the server does not allow this method on the requested resource")
      .with_reason("MethodNotAllowed");
}

Error no_such_resource() {
  return Error::not_found("the server could not find the requested resource").with_reason("NotFound");
}

Error unreasoned(int code, std::string message) {
  return Error(ErrorCode::kInternal, std::move(message)).with_reason(fmt::format("{}{}", kNoReason, code));
}

int http_status(const Error& error) {
  if (error.reason() == "MethodNotAllowed") return 405;
  if (error.reason() == "NotAcceptable") return 406;
  if (error.reason() == "RequestEntityTooLarge") return 413;
  if (error.reason().starts_with(kNoReason)) return std::stoi(error.reason().substr(kNoReason.size()));
  return kind_of(error).status;
}

Json status_json(const Error& error) {
  Json status = {{"kind", "Status"},
                 {"apiVersion", "v1"},
                 {"metadata", Json::object()},
                 {"status", "Failure"},
                 {"message", error.message()},
                 {"reason", error.reason().empty() ? std::string(kind_of(error).reason) : error.reason()},
                 {"code", http_status(error)}};
  if (error.reason().starts_with(kNoReason)) status.erase("reason");
  // These have only the HTTP status and empty details.
  const std::string& text = error.message();
  const bool generic = text.starts_with("the server ") || text.starts_with("415: ") || text.starts_with("406: ");
  Json details = details_of(error);
  if (details.is_object() && details.contains("causes") && text.starts_with("Cannot evict")) {
    status["message"] = text.substr(0, text.find(". ") + 1);
  }
  if (!details.empty() || generic) status["details"] = std::move(details);
  return status;
}

Json success_json(const Resource& resource, const Json& deleted) {
  Json details = {{"name", string_at(deleted, {"metadata", "name"})},
                  {"kind", resource.plural},
                  {"uid", string_at(deleted, {"metadata", "uid"})}};
  if (!resource.group.empty()) details["group"] = resource.group;
  return {{"kind", "Status"},
          {"apiVersion", "v1"},
          {"metadata", Json::object()},
          {"status", "Success"},
          {"details", std::move(details)}};
}

}  // namespace tpuslice::sim
