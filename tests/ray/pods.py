"""Pods of a control plane without kubelets, run as processes.

Each pod that the API server calls Running gets namespaces of its own (network, mounts, processes, host name) and the pod's
address on a bridge; its containers run the commands and the environment that the pod specifies. Images are ignored: all
programs come from one virtual environment. Must run as root in a network namespace without other interfaces.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import threading
import time

BRIDGE = "pods"
GATEWAY = "10.255.255.254"


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60, **options).stdout


def create_bridge():
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", BRIDGE, "type", "bridge")
    run("ip", "address", "add", f"{GATEWAY}/8", "dev", BRIDGE)
    run("ip", "link", "set", BRIDGE, "up")


def field_value(pod, path):
    """Of a fieldRef: metadata.name, metadata.labels['key'], status.podIP, ..."""
    key = re.fullmatch(r"(metadata\.\w+)\['(.+)'\]", path)
    value = pod
    for part in (key.group(1) if key else path).split("."):
        value = value.get(part, {})
    if key:
        value = value.get(key.group(2), "")
    return value if isinstance(value, str) else ""


def expand(text, env):
    """$(NAME) as Kubernetes expands it: names that are not defined stay as they are, $$ is a dollar sign."""
    return re.sub(r"\$(\$|\((\w+)\))",
                  lambda match: "$" if match.group(1) == "$" else env.get(match.group(2), match.group(0)), text)


def environment(pod, container):
    env = {}
    for variable in container.get("env", []):
        source = variable.get("valueFrom", {})
        if "fieldRef" in source:
            env[variable["name"]] = field_value(pod, source["fieldRef"]["fieldPath"])
        else:
            env[variable["name"]] = expand(variable.get("value", ""), env)
    return env


def script_of(pod, container, path, extra_env):
    """A shell script that runs the container's command, with nothing else in its environment."""
    env = environment(pod, container)
    words = [expand(word, env) for word in container.get("command", []) + container.get("args", [])]
    defaults = {"PATH": path, "HOME": "/root", "LANG": "C.UTF-8"}
    assignments = [f"{name}={value}" for name, value in {**defaults, **extra_env, **env}.items()]
    return "exec " + shlex.join(["env", "-i", *assignments, *words]) + "\n"


def chips_of(pod):
    return sum(int(container.get("resources", {}).get("limits", {}).get("google.com/tpu", 0))
               for container in pod["spec"]["containers"])


class Sandbox:
    """One running pod. `path` is that of the virtual environment; `account` has token and ca.crt, or is None."""

    def __init__(self, pod, workdir, number, path, hosts, account, extra_env):
        self.name = pod["metadata"]["name"]
        self.pod = pod
        self.reported = False  # Its end.
        self.restarts = pod["spec"].get("restartPolicy", "Always") == "Always"
        self.dir = os.path.join(workdir, self.name)
        os.makedirs(self.dir)
        address = pod["status"]["podIP"]
        self._write("hostname", pod["spec"].get("hostname", self.name))
        self._write("hosts", hosts)
        if self.restarts:
            self._write("restart-always", "")
        for kind, containers in (("init", "initContainers"), ("container", "containers")):
            for index, container in enumerate(pod["spec"].get(containers, [])):
                self._write(f"{kind}-{index}.sh", script_of(pod, container, path, extra_env))
        if account:
            shutil.copytree(account, os.path.join(self.dir, "serviceaccount"))
        sandbox = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sandbox.sh")
        self.log = os.path.join(self.dir, "log")
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                ["unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc",
                 "bash", sandbox, self.dir, address, str(chips_of(pod))],
                stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        self.init = self._wait_for(self._find_init)
        run("ip", "link", "add", f"pod{number}", "type", "veth", "peer", "name", "eth0", "netns", str(self.init))
        run("ip", "link", "set", f"pod{number}", "master", BRIDGE, "up")
        self._wait_for(lambda: os.path.exists(os.path.join(self.dir, "ready")))

    def _write(self, name, text):
        with open(os.path.join(self.dir, name), "w", encoding="utf-8") as out:
            out.write(text)

    def _find_init(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="utf-8") as children:
            found = children.read().split()
        # Until it has its own network namespace, the interface would be added to ours.
        if found and os.readlink(f"/proc/{found[0]}/ns/net") != os.readlink("/proc/self/ns/net"):
            return int(found[0])
        return None

    def _wait_for(self, condition):
        deadline = time.monotonic() + 60
        while not (result := condition()):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"pod {self.name} did not start: {self.tail()}")
            time.sleep(0.05)
        return result

    def execute(self, *command, env, timeout=120):
        """Runs a command in the pod, as kubectl exec would; returns its output."""
        result = subprocess.run(
            ["nsenter", "--target", str(self.init), "--mount", "--net", "--uts", "--ipc", "--pid", "env", "-i",
             *[f"{name}={value}" for name, value in env.items()], *command],
            capture_output=True, text=True, timeout=timeout, check=False)
        if result.returncode != 0:
            raise RuntimeError(f"{shlex.join(command)} in {self.name}: {result.stderr[-4000:]}")
        return result.stdout

    def tail(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()[-3000:]

    def stop(self):
        self.process.kill()
        self.process.wait()


class PodRunner(threading.Thread):
    """Starts and stops sandboxes as pods appear in the API and are deleted. `hosts_of` gives the lines of /etc/hosts from
    all pods; `account_of` the directory with a pod's credentials, or None."""

    def __init__(self, kubectl, workdir, path, hosts_of, account_of, extra_env):
        super().__init__(daemon=True)
        self.kubectl, self.workdir, self.path = kubectl, workdir, path
        self.hosts_of, self.account_of, self.extra_env = hosts_of, account_of, extra_env
        self.sandboxes = {}
        self.error = None
        self.started = 0
        self.stopping = threading.Event()

    def run(self):
        try:
            while not self.stopping.wait(0.5):
                self.step()
        except Exception as error:  # pylint: disable=broad-except  # Reported by the test.
            self.error = error

    def step(self):
        pods = json.loads(self.kubectl("get", "pods", "-o", "json"))["items"]
        live = {pod["metadata"]["uid"]: pod for pod in pods
                if "deletionTimestamp" not in pod["metadata"] and pod["status"].get("podIP")}
        for uid in [uid for uid in self.sandboxes if uid not in live]:
            self.sandboxes.pop(uid).stop()
        hosts = self.hosts_of(list(live.values()))
        for sandbox in self.sandboxes.values():
            sandbox._write("hosts", hosts)  # pylint: disable=protected-access
            self.report_end(sandbox)
        for uid, pod in live.items():
            if uid in self.sandboxes:
                continue
            self.started += 1
            self.sandboxes[uid] = Sandbox(pod, self.workdir, self.started, self.path, hosts, self.account_of(pod),
                                          self.extra_env)

    def report_end(self, sandbox):
        """The kubelet of the control plane ends the pod as its containers have ended, unless they are restarted."""
        status = sandbox.process.poll()
        if status is None or sandbox.reported or sandbox.restarts:
            return
        sandbox.reported = True
        end = ["sim.tpuslice.dev/complete-after=1ms"] if status == 0 else [
            f"sim.tpuslice.dev/exit-code={status}", "sim.tpuslice.dev/fail-after=1ms"]
        try:
            self.kubectl("annotate", "pod", sandbox.name, *end)
        except subprocess.CalledProcessError as error:
            if "NotFound" not in error.stderr:  # Deleted meanwhile.
                raise

    def sandbox_of(self, name_part):
        return next(box for box in self.sandboxes.values() if name_part in box.name)

    def stop(self):
        self.stopping.set()
        self.join()
        for sandbox in self.sandboxes.values():
            sandbox.stop()
