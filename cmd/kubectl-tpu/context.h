// Context: what a command of kubectl-tpu works with: the global options, the connection to the cluster, the output.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/log.h"
#include "api/client/client.h"
#include "api/client/config.h"
#include "cmd/kubectl-tpu/output.h"

namespace tpuslice::plugin {

/// The exit codes of all commands.
enum class ExitCode : std::uint8_t {
  kYes = 0,      ///< Done; the answer is yes; all is healthy.
  kError = 1,    ///< The question has no answer: no connection, no such object, no rights.
  kUsage = 2,    ///< The command line is wrong.
  kNotNow = 3,   ///< Not now, but without anyone doing anything it can become a yes.
  kNever = 4,    ///< Never, or not before a person does something.
  kRefused = 5,  ///< Admission refuses it.
};

/// Global options, which mean what they mean to kubectl.
struct GlobalOptions {
  std::string kubeconfig;      ///< Empty: KUBECONFIG, else ~/.kube/config.
  std::string context;         ///< Empty: the current one.
  std::string namespace_name;  ///< Empty: the context's.
  bool all_namespaces = false;
  std::string output;  ///< "", "wide", "json", "yaml" or "name".
  bool no_headers = false;
  int verbosity = 0;                ///< 0: silent; from 6 on, each request is logged to standard error.
  int request_timeout = 30;         ///< Seconds.
  std::string http = "cpprestsdk";  ///< What sends calls: "cpprestsdk" or "own" (docs/adr/0045).
  std::string colour = "auto";      ///< "auto", "always" or "never".
};

/// The connection to an API server.
struct Connection {
  client::ClientConfig config;
  std::unique_ptr<http::Transport> transport;
};

/// What the program has from its process; tests have their own.
struct Surroundings {
  std::ostream& out;
  std::ostream& err;
  const Clock& clock;
  std::stop_token stop = {};            ///< Requested by a signal.
  bool terminal = false;                ///< `out` is a terminal that knows colours.
  std::string invoked = "kubectl tpu";  ///< How the user calls the program, for the commands that it prints.
  /// Runs a program in the foreground (program.h); returns its exit code.
  std::function<Result<int>(std::vector<std::string> command, const std::stop_token& stop)> run = {};
  /// Runs a program and returns what it prints to standard output. Errors: also an exit code other than 0.
  std::function<Result<std::string>(const std::vector<std::string>& command)> capture = {};
  std::function<Result<Connection>(const GlobalOptions& options, const Clock& clock, const Logger& log)> connect = {};
};

/// Used by one thread. A command gets it when it runs.
class Context {
 public:
  /// Both outlive it.
  Context(const GlobalOptions& options, const Surroundings& surroundings)
      : options_(options), surroundings_(surroundings) {}

  [[nodiscard]] const GlobalOptions& options() const { return options_; }
  [[nodiscard]] const Surroundings& surroundings() const { return surroundings_; }
  [[nodiscard]] const Clock& clock() const { return surroundings_.clock; }
  [[nodiscard]] Timestamp now() const { return surroundings_.clock.wall(); }
  [[nodiscard]] const std::stop_token& stop() const { return surroundings_.stop; }
  [[nodiscard]] Format format() const { return parse_format(options_.output); }
  [[nodiscard]] bool is_table() const { return format() == Format::kTable || format() == Format::kWide; }
  [[nodiscard]] Logger log() const;

  /// The client of the cluster; connects at the first call, and keeps the error of a failed one. Errors: no
  /// kubeconfig, or one that cannot be used. That the server answers is not known before the first request.
  [[nodiscard]] Result<client::Client*> api();
  /// The transport for streams (log lines, watches) and requests that Client has no call for.
  [[nodiscard]] Result<http::Transport*> streams();
  [[nodiscard]] Result<const client::ClientConfig*> config();
  /// The namespace that the user means; empty with --all-namespaces. Errors: as api().
  [[nodiscard]] Result<std::string> namespace_name();

  [[nodiscard]] std::ostream& out() const { return surroundings_.out; }
  void print(std::string_view text) const { surroundings_.out << text; }
  /// Text for people beside the answer: progress, warnings, hints. It goes to standard error.
  void note(std::string_view text) const;
  /// The table, as --output and --no-headers say.
  void print_table(const TextTable& table) const { print(to_text(table, !options_.no_headers)); }
  /// The document as JSON or YAML; only for these formats.
  void print_document(const Json& document) const;
  /// The next command to type, without "kubectl tpu": on standard error, and for people only, so that output can be
  /// read by programs.
  void suggest(std::string_view arguments) const;
  /// The same of a command of kubectl's: "kubectl get pods".
  void suggest_command(std::string_view command) const;
  /// The program with the user's kubeconfig and context, for commands that are printed.
  [[nodiscard]] std::string invoked() const;
  /// The text in a colour if the output is for people and shows it.
  [[nodiscard]] std::string painted(Colour colour, std::string_view text) const;

 private:
  [[nodiscard]] Status connect();

  const GlobalOptions& options_;
  const Surroundings& surroundings_;
  std::optional<Result<Connection>> connection_;
  std::unique_ptr<client::Client> client_;
};

}  // namespace tpuslice::plugin
