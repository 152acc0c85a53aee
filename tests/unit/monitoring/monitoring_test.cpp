// deploy/monitoring names only metrics and labels that docs/reference.md lists (which unit_project_test compares with
// the code), and sections of docs/observability.md that exist.
#include <cctype>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/file.h"
#include "api/base/strings.h"
#include "api/types/yaml.h"
#include "controllers/plan/waiting_code.h"
#include "tests/unit/monitoring/promql_names.h"

namespace tpuslice {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::PromqlNames;
using testing::read_promql;
using Labels = std::set<std::string>;

constexpr const char* kRules = "deploy/monitoring/prometheus-rule.yaml";
constexpr const char* kDashboard = "deploy/monitoring/grafana-dashboard.json";

/// What Prometheus Operator adds to each sample of a ServiceMonitor.
const Labels kTargetLabels = {"job", "namespace", "pod", "instance", "service", "endpoint", "container"};

std::string text_of_file(const std::string& path) {
  auto text = read_file(path);
  EXPECT_TRUE(text.ok()) << path << ": run from the source root";
  return text ? *std::move(text) : std::string();
}

/// Labels by metric: the section Metrics of docs/reference.md, and metrics of other programs that alerts use.
std::map<std::string, Labels> documented_metrics() {
  std::map<std::string, Labels> metrics = {
      {"up", {}},  // Prometheus' own; the next two are of the API server.
      {"apiserver_admission_webhook_rejection_count", {"name", "type", "operation", "error_type", "rejection_code"}},
      {"apiserver_admission_webhook_fail_open_count", {"name", "type"}}};
  const std::string page = text_of_file("docs/reference.md");
  const std::size_t begin = page.find("\n## Metrics\n");
  std::istringstream section(page.substr(begin, page.find("\n## ", begin + 1) - begin));
  const std::regex row(R"(^\| (`[^|]*`) \|([^|]*)\|)");
  const std::regex name("`([a-z_]+)`");
  for (std::string line; std::getline(section, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, row)) continue;
    Labels labels;
    for (const std::string& label : split(std::regex_replace(match[2].str(), std::regex(" or "), ","), ',')) {
      if (!trimmed(label).empty()) labels.insert(trimmed(label));
    }
    const std::string names = match[1].str();
    for (std::sregex_iterator each(names.begin(), names.end(), name), end; each != end; ++each) {
      metrics[(*each)[1].str()] = labels;
    }
  }
  return metrics;
}

/// Null if the page does not list it. The series of a histogram have the label le.
std::optional<Labels> labels_of(const std::map<std::string, Labels>& metrics, const std::string& series) {
  if (const auto found = metrics.find(series); found != metrics.end()) return found->second;
  for (const std::string_view suffix : {"_bucket", "_sum", "_count"}) {
    if (!series.ends_with(suffix) || !series.substr(0, series.size() - suffix.size()).ends_with("_seconds")) continue;
    const auto found = metrics.find(series.substr(0, series.size() - suffix.size()));
    if (found == metrics.end()) return std::nullopt;
    Labels labels = found->second;
    if (suffix == "_bucket") labels.insert("le");
    return labels;
  }
  return std::nullopt;
}

/// What is wrong with an expression; each is a sentence.
std::vector<std::string> errors_of(const std::string& expression) {
  static const std::map<std::string, Labels> kMetrics = documented_metrics();
  const auto names = read_promql(expression);
  if (!names) return {names.error().message()};
  std::vector<std::string> errors;
  Labels known = kTargetLabels;
  for (const PromqlNames::Selector& selector : names->selectors) {
    const auto labels = labels_of(kMetrics, selector.metric);
    if (!labels) {
      errors.push_back(selector.metric + " is not a metric of docs/reference.md");
      continue;
    }
    known.insert(labels->begin(), labels->end());
    for (const std::string& label : selector.labels) {
      if (kTargetLabels.contains(label) || labels->contains(label)) continue;
      errors.push_back(selector.metric + " has no label " + label);
    }
    const bool of_apiserver = selector.metric.starts_with("apiserver_");
    if (!selector.labels.contains(of_apiserver ? "name" : "job")) {
      errors.push_back(selector.metric + (of_apiserver ? " is selected of all webhooks" : " is selected of all jobs"));
    }
  }
  for (const std::string& label : names->grouping) {
    if (!known.contains(label)) errors.push_back(fmt::format("no metric has the label {}: {}", label, expression));
  }
  return errors;
}

Json rules() {
  const auto document = parse_yaml(text_of_file(kRules));
  EXPECT_TRUE(document.ok()) << document.error().message();
  return document ? (*document)["spec"]["groups"][0]["rules"] : Json::array();
}

/// The anchors of a page's headings, as GitHub makes them.
Labels anchors_of(const std::string& path) {
  Labels anchors;
  std::istringstream page(text_of_file(path));
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("#")) continue;
    std::string anchor;
    for (const char c : trimmed(line.substr(line.find_first_not_of('#')))) {
      if (c == ' ') anchor += '-';
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_') {
        anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      }
    }
    anchors.insert(anchor);
  }
  return anchors;
}

TEST(Monitoring, TheCheckFindsWrongNames) {
  EXPECT_THAT(errors_of(R"(sum by (controller) (controller_runtime_reconcile_total{job="x",result="error"}))"),
              IsEmpty());
  EXPECT_THAT(errors_of(R"(tpuslice_no_such_total{job="x"})"), Not(IsEmpty()));
  EXPECT_THAT(errors_of(R"(tpuslice_watch_connected{job="x",controller="y"})"), Not(IsEmpty()));
  EXPECT_THAT(errors_of(R"(sum by (accelerator) (tpuslice_watch_connected{job="x"}))"), Not(IsEmpty()));
  EXPECT_THAT(errors_of(R"(tpuslice_watch_connected_bucket{job="x"})"), Not(IsEmpty())) << "is no histogram";
  EXPECT_THAT(errors_of("tpuslice_watch_connected"), Not(IsEmpty())) << "other programs may have it";
  EXPECT_THAT(errors_of(R"(apiserver_admission_webhook_fail_open_count{name=~"x"})"), IsEmpty());
  EXPECT_THAT(errors_of(R"(apiserver_admission_webhook_fail_open_count{type="admit"})"), Not(IsEmpty()));
}

TEST(Monitoring, AlertsUseMetricsThatExist) {
  ASSERT_GT(rules().size(), 15U);
  for (const Json& rule : rules()) {
    EXPECT_THAT(errors_of(string_at(rule, {"expr"})), IsEmpty()) << string_at(rule, {"alert"});
  }
}

TEST(Monitoring, AlertsSayWhatTheyMeanAndWhereToLook) {
  const Labels anchors = anchors_of("docs/observability.md");
  const std::string page = text_of_file("docs/observability.md");
  Labels names;
  for (const Json& rule : rules()) {
    const std::string name = string_at(rule, {"alert"});
    EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
    EXPECT_THAT((std::vector<std::string>{"critical", "warning", "info"}),
                Contains(string_at(rule, {"labels", "severity"})));
    EXPECT_NE(string_at(rule, {"annotations", "summary"}), "") << name;
    EXPECT_NE(string_at(rule, {"annotations", "description"}), "") << name;
    const std::string runbook = string_at(rule, {"annotations", "runbook"});
    ASSERT_TRUE(runbook.starts_with("docs/observability.md#")) << name;
    EXPECT_TRUE(anchors.contains(runbook.substr(runbook.find('#') + 1))) << name << ": " << runbook;
    EXPECT_THAT(page, HasSubstr("`" + name + "`")) << "docs/observability.md does not mention it";
  }
}

/// The labels in "{{ $labels.x }}" exist in the result of the expression.
TEST(Monitoring, TextsOfAlertsUseLabelsOfTheirExpressions) {
  const std::regex reference(R"(\$labels\.([a-z_]+))");
  for (const Json& rule : rules()) {
    const std::string expression = string_at(rule, {"expr"});
    const auto names = read_promql(expression);
    ASSERT_TRUE(names.ok()) << names.error().message();
    static const std::map<std::string, Labels> kMetrics = documented_metrics();
    Labels labels = names->grouping;
    if (labels.empty()) {
      labels = kTargetLabels;
      for (const auto& selector : names->selectors)
        labels.merge(labels_of(kMetrics, selector.metric).value_or(Labels()));
    }
    const std::string text = rule["annotations"].dump();
    for (std::sregex_iterator each(text.begin(), text.end(), reference), end; each != end; ++each) {
      EXPECT_TRUE(labels.contains((*each)[1].str())) << string_at(rule, {"alert"}) << ": " << (*each)[1].str();
    }
  }
}

TEST(Monitoring, TheDashboardUsesMetricsThatExist) {
  const Json dashboard = Json::parse(text_of_file(kDashboard));
  std::size_t expressions = 0;
  for (const Json& panel : dashboard.at("panels")) {
    for (const Json& target : array_at(panel, {"targets"})) {
      ++expressions;
      EXPECT_THAT(errors_of(string_at(target, {"expr"})), IsEmpty()) << string_at(panel, {"title"});
    }
  }
  EXPECT_GT(expressions, 40U);
  for (const Json& annotation : dashboard.at("annotations").at("list")) {
    EXPECT_THAT(errors_of(string_at(annotation, {"expr"})), IsEmpty());
  }
}

/// What Grafana needs to import it.
TEST(Monitoring, TheDashboardHasTheShapeOfOne) {
  const Json dashboard = Json::parse(text_of_file(kDashboard));
  EXPECT_EQ(string_at(dashboard, {"title"}), "TPU slice operator");
  EXPECT_GE(dashboard.at("schemaVersion").get<int>(), 36);
  EXPECT_FALSE(dashboard.contains("id")) << "Grafana assigns it";
  Labels ids;
  std::vector<std::vector<bool>> used;
  for (const Json& panel : dashboard.at("panels")) {
    EXPECT_TRUE(ids.insert(panel.at("id").dump()).second) << "ids are unique";
    EXPECT_NE(string_at(panel, {"title"}), "");
    const Json& position = panel.at("gridPos");
    const auto x = position.at("x").get<std::size_t>();
    const auto y = position.at("y").get<std::size_t>();
    const auto w = position.at("w").get<std::size_t>();
    const auto h = position.at("h").get<std::size_t>();
    ASSERT_LE(x + w, 24U) << string_at(panel, {"title"});
    if (used.size() < y + h) used.resize(y + h, std::vector<bool>(24, false));
    for (std::size_t row = y; row < y + h; ++row) {
      for (std::size_t column = x; column < x + w; ++column) {
        EXPECT_FALSE(used[row][column]) << string_at(panel, {"title"}) << " is over another panel";
        used[row][column] = true;
      }
    }
    if (panel.at("type") == "row") continue;
    EXPECT_THAT((std::vector<std::string>{"timeseries", "stat"}), Contains(string_at(panel, {"type"})));
    EXPECT_EQ(string_at(panel, {"datasource", "uid"}), "${datasource}");
    Labels targets;
    for (const Json& target : panel.at("targets")) EXPECT_TRUE(targets.insert(target.at("refId").dump()).second);
  }
}

TEST(Monitoring, TheServiceMonitorSelectsTheService) {
  const auto service = parse_yaml(text_of_file("deploy/monitoring/service.yaml"));
  const auto monitor = parse_yaml(text_of_file("deploy/monitoring/service-monitor.yaml"));
  ASSERT_TRUE(service.ok() && monitor.ok());
  for (const auto& [key, value] : (*monitor)["spec"]["selector"]["matchLabels"].items()) {
    EXPECT_EQ((*service)["metadata"]["labels"][key], value);
  }
  const Json& endpoint = (*monitor)["spec"]["endpoints"][0];
  const Json& port = (*service)["spec"]["ports"][0];
  EXPECT_EQ(endpoint["port"], port["name"]);
  EXPECT_EQ(string_at(endpoint, {"scheme"}), "https");
  const std::string name = string_at(*service, {"metadata", "name"});
  const std::string server_name = string_at(endpoint, {"tlsConfig", "serverName"});
  EXPECT_EQ(server_name, name + "." + string_at(*service, {"metadata", "namespace"}) + ".svc");
  EXPECT_THAT(text_of_file("cmd/tpu-slice-operator/options.h"), HasSubstr("metrics_service = \"" + name + "\""));
  // The job that the rules and the dashboard select is the name of the Service.
  EXPECT_THAT(text_of_file(kRules), HasSubstr("job=\"" + name + "\""));
}

TEST(WaitingCodes, AreInTheAlertsAndOnThePage) {
  const std::string rules = text_of_file(kRules);
  std::set<std::string> selected;
  const std::regex selector("tpuslice_slices_waiting\\{[^}]*reason=~?\"([^\"]*)\"");
  for (std::sregex_iterator each(rules.begin(), rules.end(), selector), end; each != end; ++each) {
    for (const std::string& word : split((*each)[1].str(), '|')) selected.insert(word);
  }
  // Slices that back off are none that wait, and those of which a pod has no node are placed.
  std::set<std::string> alerted = {"PlacementRejected", "NotScheduled"};
  alerted.insert(selected.begin(), selected.end());
  EXPECT_THAT(alerted, ::testing::UnorderedElementsAreArray(plan::kWaitingCodes));
  const std::string page = text_of_file("docs/slices.md");
  for (const std::string_view word : plan::kWaitingCodes) EXPECT_THAT(page, HasSubstr(fmt::format("`{}`", word)));
}

}  // namespace
}  // namespace tpuslice
