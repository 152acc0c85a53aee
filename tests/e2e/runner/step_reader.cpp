#include "tests/e2e/runner/step_reader.h"

#include <functional>
#include <sstream>

#include <fmt/format.h>

#include "api/base/file.h"
#include "api/types/yaml.h"
#include "tests/support/control_plane_files.h"

namespace tpuslice::e2e {

Error with_location(const YamlNode& node, const Error& error) { return node.error(error.message()); }

Result<Target> read_target(const YamlNode& node) {
  ASSIGN_OR_RETURN(const std::string text, node.text());
  Target target;
  target.text = text;
  std::istringstream in(text);
  in >> target.resource;
  if (const std::size_t slash = target.resource.find('/'); slash != std::string::npos) {
    target.name = target.resource.substr(slash + 1);
    target.resource.resize(slash);
  }
  for (std::string word; in >> word;) {
    if (word == "-l" && target.selector.empty() && in >> target.selector) continue;
    if (word.front() == '-' || !target.name.empty() || !target.selector.empty()) {
      return node.error(fmt::format("found \"{}\", expected for example pods -l app=train or raycluster/train", text));
    }
    target.name = word;
  }
  return target;
}

Result<FieldPath> read_path(const YamlNode& node, const std::string& text) {
  auto path = FieldPath::parse(text);
  if (!path) return with_location(node, path.error());
  return path;
}

namespace {

Result<std::string> read_saved_name(const YamlNode& node, const SavedNames& names) {
  ASSIGN_OR_RETURN(const std::string name, node.text());
  if (!names.contains(name)) return node.error(fmt::format("no earlier step remembers \"{}\"", name));
  return name;
}

Status read_operator(const Members& members, const SavedNames& names, FieldCheck& check) {
  if (const YamlNode* const node = members.find("part")) {
    ASSIGN_OR_RETURN(check.part, node->pattern());
  }
  int operators = 0;
  if (const YamlNode* const node = members.find("equals")) {
    ++operators;
    check.value = node->json();
  }
  if (const YamlNode* const node = members.find("matches")) {
    ++operators;
    check.comparison = Comparison::kMatches;
    ASSIGN_OR_RETURN(check.pattern, node->pattern());
  }
  if (const YamlNode* const node = members.find("any order")) {
    ++operators;
    check.comparison = Comparison::kAnyOrder;
    ASSIGN_OR_RETURN(const auto list, node->list());
    check.value = node->json();
  }
  if (const YamlNode* const node = members.find("all")) {
    ++operators;
    ASSIGN_OR_RETURN(const std::string which, node->one_of({"equal", "distinct"}));
    check.comparison = which == "equal" ? Comparison::kAllEqual : Comparison::kAllDistinct;
  }
  if (const YamlNode* const node = members.find("none of")) {
    ++operators;
    check.comparison = Comparison::kNoneOf;
    ASSIGN_OR_RETURN(check.value, read_saved_name(*node, names));
  }
  if (const YamlNode* const node = members.find("same as")) {
    ++operators;
    check.comparison = Comparison::kSameAs;
    ASSIGN_OR_RETURN(check.value, read_saved_name(*node, names));
  }
  if (operators == 1) return {};
  return members.owner().error("expected one of equals, matches, any order, all, none of, same as");
}

Result<FieldCheck> read_check(const std::string& path, const YamlNode& node, const SavedNames& names) {
  FieldCheck check;
  ASSIGN_OR_RETURN(check.path, read_path(node, path));
  if (node.json().is_object()) {
    ASSIGN_OR_RETURN(const Members members,
                     node.members({"equals", "matches", "any order", "all", "none of", "same as", "part"}));
    RETURN_IF_ERROR(read_operator(members, names, check));
  } else if (node.json() == "absent") {
    check.comparison = Comparison::kAbsent;
  } else if (node.json() == "present") {
    check.comparison = Comparison::kPresent;
  } else {
    check.value = node.json();
  }
  return check;
}

Result<Expect> read_expect(const Members& members, const SavedNames& names) {
  Expect expect;
  ASSIGN_OR_RETURN(const YamlNode target, members.at("expect"));
  ASSIGN_OR_RETURN(expect.target, read_target(target));
  if (const YamlNode* const node = members.find("count")) {
    ASSIGN_OR_RETURN(expect.expectation.count, node->number());
  }
  if (const YamlNode* const node = members.find("fields")) {
    ASSIGN_OR_RETURN(const auto entries, node->entries());
    for (const auto& [path, value] : entries) {
      ASSIGN_OR_RETURN(FieldCheck check, read_check(path, value, names));
      expect.expectation.fields.push_back(std::move(check));
    }
  }
  return expect;
}

Result<Apply> read_apply(const YamlNode& node) {
  Apply apply;
  if (node.json().is_object()) {
    apply.objects.push_back(node.json());
    apply.name = fmt::format("{}/{}", string_at(node.json(), {"kind"}), string_at(node.json(), {"metadata", "name"}));
  } else {
    ASSIGN_OR_RETURN(apply.name, node.text());
    const auto text = read_file(apply.name);
    if (!text) return with_location(node, text.error());
    const auto documents = parse_yaml_documents(*text);
    if (!documents) return with_location(node, documents.error().within(apply.name));
    for (const YamlDocument& document : *documents) apply.objects.push_back(document.value);
  }
  for (const Json& object : apply.objects) {
    for (const char* member : {"apiVersion", "kind"}) {
      if (string_at(object, {member}).empty()) return node.error(fmt::format("{}: {} is missing", apply.name, member));
    }
    if (string_at(object, {"metadata", "name"}).empty()) return node.error(apply.name + ": metadata.name is missing");
  }
  return apply;
}

Result<Remember> read_remember(const Members& members, SavedNames& names) {
  Remember remember;
  ASSIGN_OR_RETURN(const YamlNode name, members.at("remember"));
  ASSIGN_OR_RETURN(remember.name, name.text());
  ASSIGN_OR_RETURN(const YamlNode of, members.at("of"));
  ASSIGN_OR_RETURN(remember.target, read_target(of));
  ASSIGN_OR_RETURN(const YamlNode field, members.at("field"));
  ASSIGN_OR_RETURN(const std::string path, field.text());
  ASSIGN_OR_RETURN(remember.field, read_path(field, path));
  names.insert(remember.name);
  return remember;
}

Result<Run> read_run(const Members& members) {
  Run run;
  ASSIGN_OR_RETURN(const YamlNode command, members.at("run"));
  ASSIGN_OR_RETURN(run.command, command.text());
  if (const YamlNode* const node = members.find("prints")) {
    ASSIGN_OR_RETURN(run.prints, node->pattern());
    ASSIGN_OR_RETURN(run.pattern, node->text());
  }
  return run;
}

Result<Patch> read_patch(const Members& members) {
  Patch patch;
  ASSIGN_OR_RETURN(const YamlNode target, members.at("patch"));
  ASSIGN_OR_RETURN(patch.target, read_target(target));
  ASSIGN_OR_RETURN(const YamlNode body, members.at("with"));
  if (!body.json().is_structured()) return body.error("expected a mapping or a list");
  patch.body = body.json();
  return patch;
}

Status read_control(const Members& members, bool apiserver, Step& step) {
  ASSIGN_OR_RETURN(const YamlNode verb, members.at(apiserver ? "apiserver" : "operator"));
  Control control{.apiserver = apiserver};
  if (apiserver) {
    ASSIGN_OR_RETURN(control.verb, verb.one_of({"kill", "start", "restart"}));
  } else {
    ASSIGN_OR_RETURN(control.verb, verb.one_of({"kill", "stop", "start", "restart", "pause", "resume"}));
  }
  step.action = std::move(control);
  return {};
}

Result<ServeCluster> read_serve_cluster(const Members& members, const YamlNode& service) {
  ServeCluster cluster;
  ASSIGN_OR_RETURN(cluster.service, read_target(service));
  ASSIGN_OR_RETURN(const YamlNode of, members.at("of"));
  ASSIGN_OR_RETURN(const std::string which, of.one_of({"active", "pending"}));
  cluster.pending = which == "pending";
  return cluster;
}

Result<SetRayJob> read_ray_job(const Members& members, const YamlNode& job) {
  SetRayJob out;
  ASSIGN_OR_RETURN(out.job, read_target(job));
  ASSIGN_OR_RETURN(const YamlNode is, members.at("is"));
  ASSIGN_OR_RETURN(out.status, is.one_of({"PENDING", "RUNNING", "STOPPED", "SUCCEEDED", "FAILED", "lost"}));
  if (const YamlNode* const message = members.find("message")) {
    ASSIGN_OR_RETURN(out.message, message->text());
  }
  return out;
}

Result<SetApplications> read_applications(const Members& members, const YamlNode& service) {
  SetApplications out;
  ASSIGN_OR_RETURN(out.cluster, read_serve_cluster(members, service));
  ASSIGN_OR_RETURN(const YamlNode are, members.at("are"));
  if (are.json() == "lost") return out;
  ASSIGN_OR_RETURN(const auto entries, are.entries());
  for (const auto& [name, status] : entries) {
    ASSIGN_OR_RETURN(out.statuses[name], status.text());
  }
  return out;
}

Result<SetProxies> read_proxies(const Members& members, const YamlNode& service) {
  SetProxies out;
  ASSIGN_OR_RETURN(out.cluster, read_serve_cluster(members, service));
  ASSIGN_OR_RETURN(const YamlNode on, members.at("on"));
  ASSIGN_OR_RETURN(out.pods, read_target(on));
  return out;
}

Status read_capacity(const Members& members, const YamlNode& object, SavedNames&, Step& step) {
  SetCapacity set;
  ASSIGN_OR_RETURN(set.group, object.text());
  ASSIGN_OR_RETURN(const YamlNode is, members.at("is"));
  ASSIGN_OR_RETURN(const std::string which, is.one_of({"exhausted", "available"}));
  set.available = which == "available";
  step.action = std::move(set);
  return {};
}

/// The main key of a step, its optional keys, and the function that reads them.
struct Verb {
  std::string key;
  std::vector<std::string_view> others;
  std::function<Status(const Members& members, const YamlNode& object, SavedNames& names, Step& step)> read;
};

/// Reads a step that has only a target.
template <typename Action>
Status read_targeted(const Members&, const YamlNode& object, SavedNames&, Step& step) {
  ASSIGN_OR_RETURN(Target target, read_target(object));
  step.action = Action{std::move(target)};
  return {};
}

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> kVerbs = {
      {"apply",
       {"refused"},
       [](const Members&, const YamlNode& object, SavedNames&, Step& step) -> Status {
         ASSIGN_OR_RETURN(step.action, read_apply(object));
         return {};
       }},
      {"patch",
       {"with", "refused"},
       [](const Members& members, const YamlNode&, SavedNames&, Step& step) -> Status {
         ASSIGN_OR_RETURN(step.action, read_patch(members));
         return {};
       }},
      {"delete", {"refused"}, read_targeted<Delete>},
      {"fail", {}, read_targeted<FailPods>},
      {"lose nodes of", {}, read_targeted<LoseNodes>},
      {"return nodes",
       {},
       [](const Members&, const YamlNode& object, SavedNames&, Step& step) -> Status {
         step.action = ReturnNodes{};
         const auto all = object.one_of({"all"});
         return all ? Status() : all.error();
       }},
      {"operator",
       {},
       [](const Members& members, const YamlNode&, SavedNames&, Step& step) {
         return read_control(members, false, step);
       }},
      {"apiserver",
       {},
       [](const Members& members, const YamlNode&, SavedNames&, Step& step) {
         return read_control(members, true, step);
       }},
      {"autoscaler",
       {},
       [](const Members&, const YamlNode& object, SavedNames&, Step& step) -> Status {
         ASSIGN_OR_RETURN(const std::string verb, object.one_of({"stop", "start"}));
         step.action = ControlAutoscaler{verb == "start"};
         return {};
       }},
      {"capacity of", {"is"}, read_capacity},
      {"requests",
       {},
       [](const Members&, const YamlNode& object, SavedNames&, Step& step) -> Status {
         step.action = ExpectForbidden{};
         const auto forbidden = object.one_of({"forbidden"});
         return forbidden ? Status() : forbidden.error();
       }},
      {"ray job",
       {"is", "message", "within"},
       [](const Members& members, const YamlNode& object, SavedNames&, Step& step) -> Status {
         ASSIGN_OR_RETURN(step.action, read_ray_job(members, object));
         return {};
       }},
      {"serve applications",
       {"of", "are", "within"},
       [](const Members& members, const YamlNode& object, SavedNames&, Step& step) -> Status {
         ASSIGN_OR_RETURN(step.action, read_applications(members, object));
         return {};
       }},
      {"serve proxies",
       {"of", "on", "within"},
       [](const Members& members, const YamlNode& object, SavedNames&, Step& step) -> Status {
         ASSIGN_OR_RETURN(step.action, read_proxies(members, object));
         return {};
       }},
      {"dashboards",
       {},
       [](const Members&, const YamlNode& object, SavedNames&, Step& step) -> Status {
         ASSIGN_OR_RETURN(const std::string text,
                          object.one_of({"none", "slow", "failing", "invalid", "wrong types", "huge"}));
         step.action = SetDashboards{*sim::parse_dashboard_fault(text)};
         return {};
       }},
      {"dashboard request",
       {"within"},
       [](const Members&, const YamlNode& object, SavedNames&, Step& step) -> Status {
         ExpectDashboardRequest expected;
         ASSIGN_OR_RETURN(expected.pattern, object.pattern());
         ASSIGN_OR_RETURN(expected.text, object.text());
         step.action = std::move(expected);
         return {};
       }},
      {"run",
       {"prints", "within"},
       [](const Members& members, const YamlNode&, SavedNames&, Step& step) -> Status {
         ASSIGN_OR_RETURN(step.action, read_run(members));
         return {};
       }},
      {"remember",
       {"of", "field"},
       [](const Members& members, const YamlNode&, SavedNames& names, Step& step) -> Status {
         ASSIGN_OR_RETURN(step.action, read_remember(members, names));
         return {};
       }},
      {"expect",
       {"within", "count", "fields"},
       [](const Members& members, const YamlNode&, SavedNames& names, Step& step) -> Status {
         ASSIGN_OR_RETURN(step.action, read_expect(members, names));
         return {};
       }},
  };
  return kVerbs;
}

Result<const Verb*> find_verb(const YamlNode& node) {
  std::string all;
  for (const Verb& verb : verbs()) {
    if (node.json().is_object() && node.json().contains(verb.key)) return &verb;
    all += (all.empty() ? "" : ", ") + verb.key;
  }
  return node.error("expected one of " + all);
}

/// "expect pods -l role=worker"
std::string title_of(const Verb& verb, const Json& object, const Step& step) {
  const auto* const apply = std::get_if<Apply>(&step.action);
  const std::string title = apply != nullptr ? apply->name : object.get<std::string>();
  return fmt::format("{} {}{}", verb.key, title.substr(0, title.find('\n')), step.refused ? " is refused" : "");
}

}  // namespace

Result<Step> read_step(const YamlNode& node, SavedNames& names) {
  ASSIGN_OR_RETURN(const Verb* const verb, find_verb(node));
  std::vector<std::string_view> keys = verb->others;
  keys.insert(keys.begin(), verb->key);
  ASSIGN_OR_RETURN(const Members members, node.members(keys));
  ASSIGN_OR_RETURN(const YamlNode object, members.at(verb->key));
  Step step;
  step.where = node.where();
  RETURN_IF_ERROR(verb->read(members, object, names, step));
  if (const YamlNode* const refused = members.find("refused")) {
    ASSIGN_OR_RETURN(step.refused, refused->pattern());
  }
  if (const YamlNode* const within = members.find("within")) {
    ASSIGN_OR_RETURN(step.within, within->duration());
  }
  step.title = title_of(*verb, object.json(), step);
  return step;
}

}  // namespace tpuslice::e2e
