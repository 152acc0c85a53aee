// A registry and API server with a fake clock, for tests.
#pragma once

#include <string>
#include <vector>

#include "cmd/tpu-slice-sim/server/in_process_transport.h"

namespace tpuslice::sim {

class TestServer {
 public:
  http::Response send(const std::string& method, const std::string& target, const Json& body = nullptr,
                      const std::string& content_type = "application/json", const std::string& accept = "") {
    const auto response =
        transport.call(request(method, target, body, content_type, accept), std::chrono::seconds(5), {});
    return response.ok() ? *response : http::Response{599, {}, response.error().message()};
  }
  Json json(const std::string& method, const std::string& target, const Json& body = nullptr,
            const std::string& content_type = "application/json") {
    return Json::parse(send(method, target, body, content_type).body, nullptr, false);
  }
  std::unique_ptr<http::Stream> watch(const std::string& target) {
    auto stream = transport.open(request("GET", target, nullptr, "", ""), std::chrono::seconds(5), {});
    return stream.ok() ? *std::move(stream) : nullptr;
  }
  /// The events of a watch, without waiting: "ADDED a", "BOOKMARK 7"; an ERROR has its code.
  static std::vector<std::string> events(http::Stream& stream) {
    std::vector<std::string> found;
    while (true) {
      const auto text = stream.read(Duration::zero(), {});
      if (!text.ok()) {
        found.push_back(http::is_end_of_stream(text.error()) ? "END" : text.error().message());
        return found;
      }
      if (text->empty()) return found;
      std::string_view rest = *text;
      while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        const Json event = Json::parse(rest.substr(0, end));
        rest.remove_prefix(end + 1);
        const std::string type = event.at("type").get<std::string>();
        const Json& object = event.at("object");
        std::string what = string_at(object, {"metadata", "name"});
        if (type == "BOOKMARK") what = string_at(object, {"metadata", "resourceVersion"});
        if (type == "ERROR") what = object.at("code").dump();
        found.push_back(type + " " + what);
      }
    }
  }
  static http::Request request(const std::string& method, const std::string& target, const Json& body,
                               const std::string& content_type, const std::string& accept) {
    http::Request made{method, target, {}, body.is_null() ? "" : body.dump()};
    if (!content_type.empty()) made.headers.emplace_back("Content-Type", content_type);
    if (!accept.empty()) made.headers.emplace_back("Accept", accept);
    return made;
  }

  FakeClock clock;
  Storage storage;
  Registry registry{storage, clock};
  ApiServer server{registry};
  InProcessTransport transport{server};
};

inline const std::string kConfigMapsPath = "/api/v1/namespaces/default/configmaps";
inline const std::string kPodsPath = "/api/v1/namespaces/default/pods";

inline Json config_map(const std::string& name, const Json& labels = nullptr) {
  Json object = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}, {"data", {{"k", "1"}}}};
  if (!labels.is_null()) object["metadata"]["labels"] = labels;
  return object;
}

inline Json pod(const std::string& name) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}}},
          {"spec", {{"containers", Json::array({{{"name", "main"}, {"image", "busybox"}}})}}}};
}

/// widgets.example.com, with status, scale, a required field and a default.
inline Json widget_crd() {
  const Json spec = {
      {"type", "object"},
      {"required", Json::array({"size"})},
      {"properties",
       {{"size", {{"type", "integer"}, {"minimum", 0}}}, {"replicas", {{"type", "integer"}, {"default", 1}}}}}};
  const Json schema = {
      {"type", "object"},
      {"properties",
       {{"spec", spec}, {"status", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}};
  const Json columns = Json::array(
      {{{"name", "Size"}, {"type", "integer"}, {"jsonPath", ".spec.size"}},
       {{"name", "Ready"}, {"type", "string"}, {"jsonPath", ".status.conditions[?(@.type==\"Ready\")].status"}},
       {{"name", "Age"}, {"type", "date"}, {"jsonPath", ".metadata.creationTimestamp"}}});
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "widgets.example.com"}}},
          {"spec",
           {{"group", "example.com"},
            {"scope", "Namespaced"},
            {"names", {{"plural", "widgets"}, {"kind", "Widget"}, {"shortNames", Json::array({"wd"})}}},
            {"versions",
             Json::array(
                 {{{"name", "v1"},
                   {"served", true},
                   {"storage", true},
                   {"subresources",
                    {{"status", Json::object()},
                     {"scale", {{"specReplicasPath", ".spec.replicas"}, {"statusReplicasPath", ".status.replicas"}}}}},
                   {"additionalPrinterColumns", columns},
                   {"schema", {{"openAPIV3Schema", schema}}}}})}}}};
}

inline const std::string kCrdsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
inline const std::string kWidgetsPath = "/apis/example.com/v1/namespaces/default/widgets";

inline Json widget(const std::string& name, int size) {
  return {
      {"apiVersion", "example.com/v1"}, {"kind", "Widget"}, {"metadata", {{"name", name}}}, {"spec", {{"size", size}}}};
}

}  // namespace tpuslice::sim
