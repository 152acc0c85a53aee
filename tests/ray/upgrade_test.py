"""An incremental upgrade of a RayService whose replicas are TPU slices of two hosts, with real Ray behind a real HTTP proxy.

Run by ray_test.sh.
"""
import json
import subprocess
import sys
import threading
import time
import unittest
import urllib.error
import urllib.request

import pods
from gateway import Api, Gateway
from world import HERE, ROOT, World

HOSTS, CHIPS = 2, 4
REPLICAS, SURGE = 2, 50
LIMIT = REPLICAS * (100 + SURGE) // 100 * HOSTS * CHIPS  # Chips of all clusters.
WORKER = {"cpu": "1", "memory": "1Gi", "google.com/tpu": str(CHIPS)}


def pod_spec(container, limits, marker):
    return {"containers": [{"name": container, "image": "rayproject/ray:2.60.0", "resources": {"limits": limits},
                            "env": [{"name": "MARKER", "value": marker}]}]}


def service(version):
    """Another version changes the pods, so it needs another cluster."""
    config = {"http_options": {"host": "0.0.0.0"}, "applications": [
        {"name": "model", "route_prefix": "/", "import_path": "slices:app", "args": {"version": version}}]}
    workers = pod_spec("ray-worker", WORKER, version)
    workers["nodeSelector"] = {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
                               "cloud.google.com/gke-tpu-topology": "2x4"}
    return {
        "apiVersion": "ray.io/v1", "kind": "RayService", "metadata": {"name": "llm", "namespace": "default"},
        "spec": {
            "serveConfigV2": json.dumps(config),
            "rayClusterDeletionDelaySeconds": 5,
            "excludeHeadPodFromServeSvc": True,
            "upgradeStrategy": {"type": "NewClusterWithIncrementalUpgrade", "clusterUpgradeOptions": {
                "gatewayClassName": "example", "stepSizePercent": 25, "intervalSeconds": 3, "maxSurgePercent": SURGE}},
            "rayClusterConfig": {
                "rayVersion": "2.60.0",
                "enableInTreeAutoscaling": True,
                "autoscalerOptions": {"version": "v2", "idleTimeoutSeconds": 5},
                "headGroupSpec": {
                    "rayStartParams": {"num-cpus": "1", "object-store-memory": "100000000"},
                    "template": {"spec": pod_spec("ray-head", {"cpu": "1", "memory": "2Gi"}, version)}},
                "workerGroupSpecs": [{
                    "groupName": "tpu-group", "replicas": 0, "minReplicas": 0, "maxReplicas": REPLICAS, "numOfHosts": HOSTS,
                    "rayStartParams": {"object-store-memory": "100000000"}, "template": {"spec": workers}}]}}}


class Load(threading.Thread):
    """Requests to the gateway, one after another."""

    def __init__(self):
        super().__init__(daemon=True)
        self.answers, self.errors, self.stopping = [], [], threading.Event()

    def run(self):
        while not self.stopping.wait(0.1):
            try:
                with urllib.request.urlopen(f"http://{pods.GATEWAY}/", timeout=60) as response:
                    self.answers.append(response.read().decode())
            except urllib.error.HTTPError as error:
                self.errors.append(f"{error.code} {error.read().decode()}")
            except OSError as error:
                self.errors.append(str(error))

    def stop(self):
        self.stopping.set()
        self.join()


class IncrementalUpgrade(unittest.TestCase):
    world = World()

    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(cls.world.stop)
        crds = subprocess.run([f"{ROOT}/tests/gateway-api/crds.sh"], check=True, capture_output=True, text=True).stdout.strip()
        cls.world.start(f"{crds}/gateway.networking.k8s.io_gateways.yaml", f"{crds}/gateway.networking.k8s.io_httproutes.yaml",
                        pools=f"{HERE}/pools.yaml")
        cls.gateway = Gateway(Api(cls.world.api()), (pods.GATEWAY, 80))
        cls.gateway.start()
        cls.addClassCleanup(cls.gateway.stop)

    def apply(self, thing):
        subprocess.run(["kubectl", "--kubeconfig", self.world.kubeconfig, "apply", "--server-side", "-f", "-"], check=True,
                       input=json.dumps(thing), text=True, capture_output=True, timeout=60)

    def status(self):
        return self.world.get("rayservice", "llm").get("status", {})

    def active(self):
        return self.status().get("activeServiceStatus", {}).get("rayClusterName")

    def chips(self):
        """Of the pods that are placed, whatever cluster they are of."""
        workers = self.world.get("pods", "-l", "ray.io/node-type=worker")["items"]
        return CHIPS * sum(1 for pod in workers if pod["spec"].get("nodeName"))

    def wait_for(self, what, condition):
        def observed():
            self.most = max(self.most, self.chips())
            return condition()
        try:
            return self.world.wait_for(what, observed, limit=300)
        except AssertionError as error:
            raise AssertionError(f"{error}\ngateway: {self.gateway.error!r}") from error

    def test_upgrade_and_rollback(self):
        self.most = 0
        begin = time.monotonic()
        self.apply(service("v1"))
        load = Load()
        self.wait_for("both replicas of the first version", lambda: self.chips() == REPLICAS * HOSTS * CHIPS)
        self.wait_for("traffic", lambda: self.gateway.weights and list(self.gateway.weights[-1].values()) == [100])
        self.wait_for("an endpoint", lambda: all(self.gateway.addresses.values()))
        load.start()
        self.wait_for("the first version", lambda: "v1" in load.answers[-1:])
        first = self.active()
        print(f"first version after {time.monotonic() - begin:.0f} s", file=sys.stderr)

        # Taken back in the middle.
        self.apply(service("v2"))
        self.wait_for("the second version beside the first", lambda: {"v1", "v2"} <= set(load.answers[-20:]))
        self.apply(service("v1"))
        self.wait_for("the end of the rollback", lambda: not self.status().get("pendingServiceStatus", {}).get("rayClusterName"))
        self.assertEqual(self.active(), first)
        self.wait_for("the end of the second cluster", lambda: len(self.world.get("rayclusters")["items"]) == 1)
        self.assertEqual(set(load.answers[-5:]), {"v1"})
        print(f"rolled back after {time.monotonic() - begin:.0f} s", file=sys.stderr)

        self.apply(service("v3"))
        self.wait_for("the third version", lambda: self.active() != first)
        self.wait_for("the end of the first cluster", lambda: len(self.world.get("rayclusters")["items"]) == 1)
        load.stop()
        self.assertEqual(set(load.answers[-5:]), {"v3"})
        self.assertEqual(load.errors, [])
        self.assertLessEqual(self.most, LIMIT)
        print(f"{len(load.answers)} requests answered in {time.monotonic() - begin:.0f} s; at most {self.most} chips, {LIMIT} allowed; "
              f"weights {[sorted(each.values()) for each in self.gateway.weights]}", file=sys.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
