"""RayJobs and RayServices with real Ray: jobs end as they should, an application serves and is upgraded.

Run by ray_test.sh.
"""
import json
import subprocess
import threading
import unittest
import urllib.request

from world import World

HEAD = {
    "rayStartParams": {"num-cpus": "1", "object-store-memory": "100000000"},
    "template": {"spec": {"containers": [{
        "name": "ray-head", "image": "rayproject/ray:2.60.0", "resources": {"limits": {"cpu": "1", "memory": "2Gi"}}}]}},
}
CLUSTER = {"rayVersion": "2.60.0", "headGroupSpec": HEAD}


def job(name, **spec):
    return {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def service(word, marker):
    """`marker` changes the pods, so it needs another cluster."""
    head = json.loads(json.dumps(HEAD))
    head["template"]["spec"]["containers"][0]["env"] = [{"name": "MARKER", "value": marker}]
    config = {"http_options": {"host": "0.0.0.0"}, "applications": [
        {"name": "greeting", "route_prefix": "/", "import_path": "greeting:app", "args": {"word": word}}]}
    return {"apiVersion": "ray.io/v1", "kind": "RayService", "metadata": {"name": "llm", "namespace": "default"},
            "spec": {"serveConfigV2": json.dumps(config), "rayClusterDeletionDelaySeconds": 5,
                     "rayClusterConfig": {**CLUSTER, "headGroupSpec": head}}}


def http_get(url, timeout=30):
    with urllib.request.urlopen(url, timeout=timeout) as response:
        return response.read().decode()


class Load(threading.Thread):
    """Requests to the endpoints of the serve service, one after another, each to an address that is an endpoint then."""

    def __init__(self, world):
        super().__init__(daemon=True)
        self.world, self.answers, self.errors, self.stopping = world, [], [], threading.Event()

    def run(self):
        while not self.stopping.wait(0.2):
            addresses = endpoints(self.world)
            if not addresses:
                self.errors.append("no endpoint")
                continue
            try:
                self.answers.append(http_get(f"http://{addresses[0]}:8000/"))
            except OSError as error:
                self.errors.append(f"{addresses[0]}: {error}")

    def stop(self):
        self.stopping.set()
        self.join()


def endpoints(world):
    slices = world.get("endpointslices", "-l", "kubernetes.io/service-name=llm-serve-svc")["items"]
    return [address for each in slices for endpoint in each.get("endpoints") or []
            if endpoint.get("conditions", {}).get("ready") for address in endpoint["addresses"]]


class RealWorkloads(unittest.TestCase):
    world = World()

    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(cls.world.stop)
        cls.world.start()

    def apply(self, *objects):
        for each in objects:
            subprocess.run(["kubectl", "--kubeconfig", self.world.kubeconfig, "apply", "--server-side", "-f", "-"], check=True,
                           input=json.dumps(each), text=True, capture_output=True, timeout=60)

    def status_of(self, kind, name):
        return self.world.get(kind, name).get("status", {})

    def head_address(self, cluster):
        heads = self.world.get("pods", "-l", f"ray.io/cluster={cluster},ray.io/node-type=head")["items"]
        return heads[0]["status"]["podIP"]

    def wait_for_end(self, name):
        return self.world.wait_for(f"the end of {name}", lambda: (
            lambda status: status if status.get("jobDeploymentStatus") in ("Complete", "Failed") else None)(
                self.status_of("rayjob", name)))

    def test_jobs(self):
        self.apply({"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "shared", "namespace": "default"},
                    "spec": CLUSTER})
        selector = {"ray.io/cluster": "shared"}
        self.apply(
            job("http-succeeds", submissionMode="HTTPMode", rayClusterSpec=CLUSTER, shutdownAfterJobFinishes=True,
                entrypoint="python -c 'import ray; ray.init(); print(\"trained\")'"),
            job("http-fails", submissionMode="HTTPMode", clusterSelector=selector, entrypoint="exit 3"),
            # What a shell between the RayJob and Ray would change.
            job("submitter-succeeds", clusterSelector=selector,
                entrypoint="test \"$WORD\" = 'a b `c` \"d\" && e' && echo 'quoted && kept'",
                runtimeEnvYAML="env_vars: {WORD: 'a b `c` \"d\" && e'}\n"),
            job("submitter-fails", clusterSelector=selector, entrypoint="echo no chips >&2; exit 5"))

        status = self.wait_for_end("http-succeeds")
        self.assertEqual((status["jobDeploymentStatus"], status["jobStatus"]), ("Complete", "SUCCEEDED"), status)
        self.world.wait_for("the end of its cluster", lambda: not self.world.get(
            "rayclusters", "-l", "ray.io/originated-from-cr-name=http-succeeds")["items"])
        for name in ("http-fails", "submitter-fails"):
            status = self.wait_for_end(name)
            self.assertEqual((status["jobDeploymentStatus"], status["jobStatus"]), ("Failed", "FAILED"), status)
        status = self.wait_for_end("submitter-succeeds")
        self.assertEqual((status["jobDeploymentStatus"], status["jobStatus"]), ("Complete", "SUCCEEDED"), status)

        # A deleted RayJob stops its job.
        self.apply(job("stopped", submissionMode="HTTPMode", clusterSelector=selector, entrypoint="sleep 600"))
        self.world.wait_for("the job to run", lambda: self.status_of("rayjob", "stopped").get("jobStatus") == "RUNNING")
        url = f"http://{self.head_address('shared')}:8265/api/jobs/{self.status_of('rayjob', 'stopped')['jobId']}"
        self.world.kubectl("delete", "rayjob", "stopped", "--timeout=60s")
        self.world.wait_for("the job to be stopped", lambda: json.loads(http_get(url))["status"] == "STOPPED")
        self.world.kubectl("delete", "rayjobs,rayclusters", "--all", "--timeout=60s")

    def test_service(self):
        self.apply(service("hello", "first"))
        self.world.wait_for("an endpoint", lambda: endpoints(self.world))
        self.assertEqual(http_get(f"http://{endpoints(self.world)[0]}:8000/"), "hello")
        first = self.status_of("rayservice", "llm")["activeServiceStatus"]["rayClusterName"]

        load = Load(self.world)
        load.start()
        # The same cluster.
        self.apply(service("good morning", "first"))
        self.world.wait_for("the new configuration", lambda: "good morning" in load.answers[-1:])
        self.assertEqual(self.status_of("rayservice", "llm")["activeServiceStatus"]["rayClusterName"], first)
        # Another cluster.
        self.apply(service("good evening", "second"))
        self.world.wait_for("the new cluster", lambda: "good evening" in load.answers[-1:])
        self.world.wait_for("the end of the old cluster", lambda: [
            each["metadata"]["name"] for each in self.world.get("rayclusters")["items"]] == [
                self.status_of("rayservice", "llm").get("activeServiceStatus", {}).get("rayClusterName")])
        load.stop()
        self.assertNotEqual(self.status_of("rayservice", "llm")["activeServiceStatus"]["rayClusterName"], first)
        self.assertEqual(load.errors, [])
        print(f"{len(load.answers)} requests answered during two upgrades", flush=True)


if __name__ == "__main__":
    unittest.main(argv=["workloads_test.py"], verbosity=2)
