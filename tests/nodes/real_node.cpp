#include "tests/nodes/real_node.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/base/file.h"
#include "api/base/strings.h"
#include "api/types/quantity.h"

namespace tpuslice::testing {
namespace {

namespace fs = std::filesystem;

std::string script(const std::string& name) { return std::string(TPUSLICE_NODES_SOURCES) + "/" + name; }

/// Whether the kernel knows a process by this name, cut to 15 characters.
bool is_named(pid_t pid, const std::string& name) {
  const auto comm = read_file(fmt::format("/proc/{}/comm", pid));
  return comm && trimmed(*comm) == name.substr(0, 15);
}

/// A command that fails is an Unavailable.
Result<std::string> run_command(const std::string& command) {
  auto output = output_of(command);
  if (!output) return Error::unavailable("{}: {}", command, output.error().message());
  return output;
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

Result<NodePrograms> find_node_programs(const std::vector<std::string>& images) {
  const auto output = output_of(fmt::format("'{}' {}", script("assets.sh"), fmt::join(images, " ")));
  if (!output) return Error::not_found("{}", output.error().message());
  const std::vector<std::string> lines = split(*output, '\n');
  if (lines.size() != 2) return Error::internal("assets.sh: printed {}", *output);
  return NodePrograms{.programs = lines[0], .images = lines[1]};
}

Result<std::unique_ptr<RealNode>> RealNode::start(RealNodeOptions options) {
  std::unique_ptr<RealNode> node(new RealNode(std::move(options)));
  std::error_code problem;
  fs::create_directories(node->options_.dir, problem);
  if (problem) return Error::unavailable("{}: {}", node->options_.dir, problem.message());
  RETURN_IF_ERROR(node->write_settings());
  RETURN_IF_ERROR(node->boot());
  return node;
}

std::string RealNode::name() const { return string_at(options_.node, {"metadata", "name"}); }

Status RealNode::write_settings() const {
  const auto cpus = Quantity::parse(options_.pool.cpu);
  const auto memory = Quantity::parse(options_.pool.memory);
  if (!cpus) return cpus.error();
  if (!memory) return memory.error();
  std::ostringstream out;
  const auto set = [&out](const char* variable, const auto& value) {
    out << variable << "=" << quoted(fmt::format("{}", value)) << "\n";
  };
  set("NAME", name());
  set("INDEX", options_.index);
  set("ADDRESS", string_at(options_.node, {"status", "addresses", "0", "address"}));
  set("POD_NETWORK", string_at(options_.node, {"spec", "podCIDR"}));
  set("CPUS", cpus->value());
  set("MEMORY_KIB", memory->value() / 1024);
  set("DISK", options_.disk);
  set("CHIPS", options_.pool.chips_per_host);
  set("ACCELERATOR", options_.pool.accelerator);
  set("TOPOLOGY", options_.pool.topology);
  set("KUBECONFIG", options_.kubeconfig);
  set("PROXY_KUBECONFIG", options_.proxy_kubeconfig);
  set("PROGRAMS", options_.files.programs);
  set("IMAGES", options_.files.images);
  return write_private_file(options_.dir + "/settings", out.str());
}

Status RealNode::boot() {
  ASSIGN_OR_RETURN(process_, Process::start({.program = script("isolate.sh"),
                                             .args = {name(), script("node.sh"), options_.dir},
                                             .log = options_.dir + "/node.log",
                                             .directory = options_.dir}));
  return {};
}

std::vector<pid_t> RealNode::processes(const std::string& cgroup) const {
  std::vector<pid_t> out;
  std::ifstream in(cgroup + "/cgroup.procs");
  for (pid_t pid = 0; in >> pid;) out.push_back(pid);
  return out;
}

pid_t RealNode::pid(const std::string& program) const {
  const std::vector<pid_t> all = processes("/sys/fs/cgroup/pids/" + name());
  const auto found = std::ranges::find_if(all, [&](pid_t pid) { return is_named(pid, program); });
  return found == all.end() ? 0 : *found;
}

Status RealNode::signal(const std::string& program, int number) {
  const pid_t found = pid(program);
  if (found != 0 && ::kill(found, number) == 0) return {};
  return Error::unavailable("{}: {} does not run", name(), program);
}

Status RealNode::set_network(bool up) {
  const auto output = run_command(fmt::format("ip link set node{} {}", options_.index, up ? "up" : "down"));
  return output ? Status() : output.error();
}

Status RealNode::kill_container(const std::string& id, int number) {
  std::error_code problem;
  for (const auto& entry : fs::recursive_directory_iterator("/sys/fs/cgroup/pids/" + name(), problem)) {
    if (!entry.is_directory() || entry.path().filename() != id) continue;
    const std::vector<pid_t> inside = processes(entry.path());
    // In the order of their ids; the first process has made the others.
    if (!inside.empty() && ::kill(inside.front(), number) == 0) return {};
  }
  return Error::unavailable("{}: container {} has no process", name(), id);
}

Status RealNode::mark_unhealthy(const std::vector<int>& chips) {
  return write_private_file(options_.dir + "/unhealthy", fmt::format("{}\n", fmt::join(chips, " ")));
}

Status RealNode::import_image(const std::string& archive) {
  const auto output = run(fmt::format("'{}/ctr' -n k8s.io images import '{}'", options_.files.programs, archive));
  return output ? Status() : output.error();
}

Result<std::string> RealNode::run(const std::string& command) {
  if (!process_) return Error::unavailable("{}: was killed", name());
  return run_command(fmt::format("nsenter --target {} --mount --net --uts sh -c {}", process_->pid(), quoted(command)));
}

}  // namespace tpuslice::testing
