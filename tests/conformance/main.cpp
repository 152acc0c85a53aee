// tpu-slice-conformance: replays the exchanges on a real API server and on the simulated one.
#include <cstdio>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tests/conformance/player.h"
#include "tests/support/control_plane.h"

namespace tpuslice::conformance {
namespace {

constexpr int kMissing = 77;  ///< Exit status of a skipped test.
constexpr const char* kExchanges = "tests/conformance/exchanges";
constexpr const char* kRecordings = "tests/conformance/recordings";

struct CommandLine {
  bool record = false;
  bool simulated_only = false;
  bool show = false;
  std::string only;
};

struct Counts {
  int agreed = 0;
  int differed = 0;
  int known = 0;
};

/// The text of a recording, with one line per reply.
std::string recording_text(const Json& recordings) {
  std::string text = "{";
  const char* separator = "\n";
  for (const auto& [name, replies] : recordings.items()) {
    text += fmt::format("{}{}: [", separator, Json(name).dump());
    separator = ",\n";
    const char* comma = "\n  ";
    for (const Json& reply : replies) {
      text += comma + reply.dump();
      comma = ",\n  ";
    }
    text += "\n]";
  }
  return text + "\n}\n";
}

void print(const Exchange& exchange, const Verdict& verdict, Counts& counts) {
  switch (verdict.kind) {
    case Verdict::Kind::kAgreed:
      ++counts.agreed;
      fmt::print("agreed    {}\n", exchange.id());
      return;
    case Verdict::Kind::kKnown:
      ++counts.known;
      fmt::print("known     {}\n", exchange.id());
      for (const KnownDifference& each : exchange.known) fmt::print("    {}: {}\n", each.at, each.why);
      return;
    case Verdict::Kind::kDiffered:
      ++counts.differed;
      fmt::print("differed  {}\n", exchange.id());
      for (const std::string& each : verdict.differences) fmt::print("    {}\n", each);
      return;
  }
}

/// The replies of both worlds must equal the recording.
Verdict judge(const CommandLine& line, const Exchange& exchange, World* real, World& simulated, Json& recording) {
  if (real != nullptr) {
    const Result<Json> replies = play(*real, exchange);
    if (!replies) return {Verdict::Kind::kDiffered, {"on the real server: " + replies.error().message()}};
    if (line.record) recording = *replies;
    if (recording != *replies) {
      Exchange strict = exchange;
      strict.known.clear();
      Verdict verdict = compare(strict, recording, *replies);
      for (std::string& each : verdict.differences) each = "the recording differs from the real server: " + each;
      return verdict;
    }
  }
  const Result<Json> replies = play(simulated, exchange);
  if (!replies) return {Verdict::Kind::kDiffered, {"in the simulator: " + replies.error().message()}};
  if (line.show) fmt::print("{}\n", recording.dump(2));
  return compare(exchange, recording, *replies);
}

Result<Counts> run(const CommandLine& line) {
  ASSIGN_OR_RETURN(const std::vector<Exchange> exchanges, load_exchanges(kExchanges));
  std::unique_ptr<testing::ControlPlane> plane;
  std::unique_ptr<World> real;
  if (!line.simulated_only) {
    ASSIGN_OR_RETURN(plane, start_plane());
    real = real_world(*plane);
    RETURN_IF_ERROR(set_up(*real));
  }
  const std::unique_ptr<World> simulated = simulated_world();
  RETURN_IF_ERROR(set_up(*simulated));
  std::map<std::string, Json> recordings;
  Counts counts;
  for (const Exchange& exchange : exchanges) {
    if (!recordings.contains(exchange.area)) recordings[exchange.area] = load_recordings(kRecordings, exchange.area);
    if (exchange.id().find(line.only) == std::string::npos) continue;
    Json recording = recordings[exchange.area].value(exchange.name, Json());
    print(exchange, judge(line, exchange, real.get(), *simulated, recording), counts);
    if (line.record && !recording.is_null()) recordings[exchange.area][exchange.name] = recording;
  }
  if (!line.record) return counts;
  for (auto& [area, recording] : recordings) {
    Json kept = Json::object();  // Without deleted exchanges.
    for (const Exchange& each : exchanges) {
      if (each.area == area && recording.contains(each.name)) kept[each.name] = recording[each.name];
    }
    std::ofstream(fmt::format("{}/{}.json", kRecordings, area)) << recording_text(kept);
  }
  return counts;
}

int main_with_result(int argc, const char* const* argv) {
  CLI::App app("Plays the exchanges of tests/conformance on a real API server and on the simulated one.",
               "tpu-slice-conformance");
  CommandLine line;
  app.add_flag("--record", line.record, "Record the replies of the real server.");
  app.add_flag("--simulated", line.simulated_only, "Without a real server: against the recordings.");
  app.add_flag("--show", line.show, "Print the recordings.");
  app.add_option("--only", line.only, "Exchanges whose \"area: name\" contains this.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  const Result<Counts> counts = run(line);
  if (!counts) {
    fmt::print(stderr, "tpu-slice-conformance: {}\n", counts.error().message());
    return counts.error().code() == ErrorCode::kNotFound ? kMissing : 1;
  }
  fmt::print("{} agreed, {} differed, {} known\n", counts->agreed, counts->differed, counts->known);
  return counts->differed == 0 && counts->agreed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace tpuslice::conformance

int main(int argc, char** argv) { return tpuslice::conformance::main_with_result(argc, argv); }
