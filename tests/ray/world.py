"""A control plane, the operator, and pods as processes; see pods.py.

<test>.py CONTROLPLANE OPERATOR VIRTUALENV, run by ray_test.sh, in a network namespace of its own.
"""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import pods

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CONTROLPLANE, OPERATOR, VIRTUALENV = sys.argv[1:4]
PATH = f"{VIRTUALENV}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
START_LIMIT = 240  # Seconds. Five Ray nodes start on two cores.
# What the images and GKE's nodes have beside the pod's specification.
NODE_ENV = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DISABLE_MEMORY_MONITOR": "1", "KUBERNETES_SERVICE_HOST": "kubernetes.default",
            "KUBERNETES_SERVICE_PORT_HTTPS": "443"}


def forward(listen, target):
    """Passes connections on: the API server listens on the loopback address only."""
    def pump(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        finally:
            for end in (source, sink):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def connect(client):
        with client, socket.create_connection(target) as upstream:
            back = threading.Thread(target=pump, args=(upstream, client), daemon=True)
            back.start()
            pump(client, upstream)
            back.join()

    def serve():
        while True:
            threading.Thread(target=connect, args=(server.accept()[0],), daemon=True).start()

    server = socket.create_server(listen)
    threading.Thread(target=serve, daemon=True).start()


class World:
    """A control plane, the operator with the permissions of deploy/rbac, and the pods as processes."""

    def __init__(self):
        self.workdir = tempfile.mkdtemp(prefix="tpu-slice-ray-")
        self.processes = []
        self.runner = None

    def start(self, *manifests, pools=None):
        """`manifests` are applied before the operator starts; `pools` is a file with node pools."""
        pods.create_bridge()
        self.kubeconfig = os.path.join(self.workdir, "kubeconfig")
        self._spawn("controlplane", CONTROLPLANE, "--kubeconfig-out", self.kubeconfig, *([f"--pools={pools}"] if pools else []))
        self.wait_for("the control plane", lambda: os.path.exists(self.kubeconfig) and self.log_of("controlplane").count("ready:"))
        config = json.loads(self.kubectl("config", "view", "--raw", "-o", "json"))
        host, port = config["clusters"][0]["cluster"]["server"].removeprefix("https://").split(":")
        forward((pods.GATEWAY, 443), (host, int(port)))
        manifests = [f"{ROOT}/deploy/crds", f"{ROOT}/deploy/operator/namespace.yaml", f"{ROOT}/deploy/rbac", *manifests]
        self.kubectl("apply", "--server-side", *[f"--filename={each}" for each in manifests])
        token = self.kubectl("create", "token", "tpu-slice-operator", "-n", "tpu-slice-system").strip()
        operator_config = self.config_with(config, token)
        self._spawn("operator", OPERATOR, "--kubeconfig", operator_config, "--device-env", "--webhook-bind-address=0",
                    "--metrics-bind-address=0", "--health-probe-bind-address=127.0.0.1:0", "--log-format=text")
        # Modules of the test are importable in every container, as if they were in its image.
        env = {**NODE_ENV, "PYTHONPATH": f"{HERE}/image"}
        self.runner = pods.PodRunner(self.kubectl, self.workdir, PATH, self.hosts_of, self.account_of, env)
        self.runner.start()

    def config_with(self, admin, token):
        path = os.path.join(self.workdir, "operator.kubeconfig")
        config = {**admin, "users": [{"name": admin["users"][0]["name"], "user": {"token": token}}]}
        with open(path, "w", encoding="utf-8") as out:
            json.dump(config, out)
        return path

    def _spawn(self, name, *command):
        with open(os.path.join(self.workdir, f"{name}.log"), "w", encoding="utf-8") as log:
            self.processes.append(subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT))

    def log_of(self, name):
        with open(os.path.join(self.workdir, f"{name}.log"), encoding="utf-8") as log:
            return log.read()

    def kubectl(self, *arguments):
        return pods.run("kubectl", "--kubeconfig", self.kubeconfig, *arguments)

    def get(self, *arguments):
        return json.loads(self.kubectl("get", *arguments, "-o", "json"))

    def api(self):
        """The URL of `kubectl proxy`, which it starts: requests of clients that ask more often than a program can be started."""
        self._spawn("proxy", "kubectl", "--kubeconfig", self.kubeconfig, "proxy", "--port=8001")
        self.wait_for("kubectl proxy", lambda: "Starting to serve" in self.log_of("proxy"))
        return "http://127.0.0.1:8001"

    def hosts_of(self, running):
        """What cluster DNS would answer for the services of the cluster."""
        lines = ["127.0.0.1 localhost", f"{pods.GATEWAY} kubernetes.default kubernetes"]
        services = self.get("services")["items"]
        for pod in running:
            address, spec, labels = pod["status"]["podIP"], pod["spec"], pod["metadata"]["labels"]
            lines.append(f"{address} {spec.get('hostname', pod['metadata']['name'])}")
            for service in services:
                selector = service["spec"].get("selector")
                if not selector or not selector.items() <= labels.items():
                    continue
                name = service["metadata"]["name"]
                if labels.get("ray.io/node-type") == "head":
                    lines.append(f"{address} {name} {name}.default.svc.cluster.local")
                elif spec.get("subdomain") == name:
                    host = f"{spec['hostname']}.{name}"
                    lines.append(f"{address} {host} {host}.default.svc.cluster.local")
        return "\n".join(lines) + "\n"

    def account_of(self, pod):
        """Credentials as the kubelet mounts them, for pods with a service account of their own."""
        account = pod["spec"].get("serviceAccountName", "default")
        if account == "default":
            return None
        path = os.path.join(self.workdir, f"account-{account}")
        if not os.path.exists(path):
            os.makedirs(path)
            with open(os.path.join(path, "token"), "w", encoding="utf-8") as out:
                out.write(self.kubectl("create", "token", account).strip())
            with open(os.path.join(path, "ca.crt"), "w", encoding="utf-8") as out:
                out.write(self.kubectl("get", "configmap", "kube-root-ca.crt", "-o", r"jsonpath={.data.ca\.crt}"))
        return path

    def in_cluster(self, question):
        """Runs in_cluster.py in the head pod. Raises a RuntimeError without an answer."""
        head = self.runner.sandbox_of("-head-")
        env = {"PATH": PATH, "HOME": "/root", "RAY_DEDUP_LOGS": "0"}
        output = head.execute(f"{VIRTUALENV}/bin/python", f"{HERE}/in_cluster.py", question, env=env)
        # Ray prints lines of its own before and after.
        answers = [line for line in output.splitlines() if line.startswith("ANSWER ")]
        if len(answers) != 1:
            raise RuntimeError(f"in_cluster.py {question}: {len(answers)} answers in {output[-4000:]!r}")
        return json.loads(answers[0].removeprefix("ANSWER "))

    def wait_for(self, what, condition, limit=START_LIMIT):
        deadline = time.monotonic() + limit
        while not (result := condition()):
            if self.runner and self.runner.error:
                raise self.runner.error
            if time.monotonic() > deadline:
                raise AssertionError(f"{what}: not within {limit} s\n{self.describe()}")
            time.sleep(0.5)
        return result

    def describe(self):
        out = []
        for name in ("controlplane", "operator"):
            if os.path.exists(os.path.join(self.workdir, f"{name}.log")):
                out.append(f"--- {name}\n{self.log_of(name)[-2000:]}")
        for sandbox in self.runner.sandboxes.values() if self.runner else []:
            out.append(f"--- pod {sandbox.name}\n{sandbox.tail()}")
        return "\n".join(out)

    def stop(self):
        if self.runner:
            self.runner.stop()
        for process in reversed(self.processes):
            process.terminate()
        for process in reversed(self.processes):
            process.wait(timeout=60)
        shutil.rmtree(self.workdir)
