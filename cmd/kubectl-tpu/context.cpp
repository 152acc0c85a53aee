#include "cmd/kubectl-tpu/context.h"

#include "api/types/yaml.h"
#include "cmd/kubectl-tpu/kubectl.h"

namespace tpuslice::plugin {
namespace {

constexpr int kLogRequests = 6;  ///< The level of kubectl that prints each request.
constexpr std::string_view kName = "kubectl-tpu";

}  // namespace

Logger Context::log() const {
  if (options_.verbosity < 1) return {};
  return Logger({.level = options_.verbosity >= kLogRequests ? LogLevel::kDebug : LogLevel::kInfo,
                 .format = LogFormat::kText,
                 .clock = &surroundings_.clock,
                 .sink = [&err = surroundings_.err](std::string_view line) { err << line << "\n"; }});
}

Status Context::connect() {
  if (!connection_) {
    connection_ = surroundings_.connect ? surroundings_.connect(options_, surroundings_.clock, log())
                                        : Result<Connection>(Error::unsupported("this program has no connection"));
    if (connection_->ok()) {
      client::ClientOptions client;
      client.user_agent = kName;
      client.field_manager = kName;
      client.deadline = std::chrono::seconds(options_.request_timeout);
      client.list_deadline = 2 * client.deadline;
      client_ = std::make_unique<client::Client>(*(*connection_)->transport, client);
    }
  }
  return connection_->ok() ? Status() : Status(connection_->error());
}

Result<client::Client*> Context::api() {
  RETURN_IF_ERROR(connect());
  return client_.get();
}

Result<http::Transport*> Context::streams() {
  RETURN_IF_ERROR(connect());
  return (*connection_)->transport.get();
}

Result<const client::ClientConfig*> Context::config() {
  RETURN_IF_ERROR(connect());
  return &(*connection_)->config;
}

Result<std::string> Context::namespace_name() {
  if (options_.all_namespaces) return std::string();
  if (!options_.namespace_name.empty()) return options_.namespace_name;
  ASSIGN_OR_RETURN(const client::ClientConfig* const found, config());
  return found->namespace_name;
}

void Context::note(std::string_view text) const {
  surroundings_.out.flush();
  surroundings_.err << text << "\n";
}

void Context::print_document(const Json& document) const {
  print(format() == Format::kYaml ? to_yaml(document) : document.dump(2) + "\n");
}

void Context::suggest(std::string_view arguments) const {
  if (is_table()) note("\nNext: " + invoked() + " " + std::string(arguments));
}

void Context::suggest_command(std::string_view command) const {
  if (is_table()) note("\nNext: " + std::string(command) + connection_arguments(options_));
}

std::string Context::invoked() const { return surroundings_.invoked + connection_arguments(options_); }

std::string Context::painted(Colour colour, std::string_view text) const {
  const bool allowed = options_.colour == "always" || (options_.colour == "auto" && surroundings_.terminal);
  return allowed && is_table() ? with_colour(colour, text) : std::string(text);
}

}  // namespace tpuslice::plugin
