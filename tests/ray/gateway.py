"""A small implementation of the Gateway API for tests: an HTTP proxy that honours the weights of HTTPRoutes.

It serves all Gateways and HTTPRoutes as if they were one: it writes the conditions that an implementation writes, and passes
each request on to a ready endpoint of a backend that it chooses by weight. It does not retry.
"""
import http.server
import json
import random
import threading
import urllib.error
import urllib.request

GROUP = "/apis/gateway.networking.k8s.io/v1"


def condition(kind, generation):
    return {"type": kind, "status": "True", "reason": kind, "message": "", "observedGeneration": generation,
            "lastTransitionTime": "2026-01-01T00:00:00Z"}


class Api:
    """The API server behind `kubectl proxy`."""

    def __init__(self, url):
        self.url = url

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=10) as response:
            return json.load(response)

    def patch_status(self, path, status):
        request = urllib.request.Request(f"{self.url}{path}/status", json.dumps({"status": status}).encode(), method="PATCH",
                                         headers={"Content-Type": "application/merge-patch+json"})
        urllib.request.urlopen(request, timeout=10).close()


class Gateway(threading.Thread):
    """`weights` has each state of the routes that was seen: a list of dictionaries from backend to weight. `error` is that of
    the last look at them, or None."""

    def __init__(self, api, address, namespace="default"):
        super().__init__(daemon=True)
        self.api, self.namespace = api, namespace
        self.weights, self.error = [], None
        self.addresses = {}
        self.stopping = threading.Event()
        gateway = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                status, body = gateway.forward(self.path)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(address, Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def forward(self, path):
        weights = self.weights[-1] if self.weights else {}
        if not sum(weights.values()):
            return 503, b"no backend has a weight"
        backend = random.choices(list(weights), list(weights.values()))[0]
        addresses = self.addresses.get(backend[0])
        if not addresses:
            return 503, f"backend {backend[0]} has no endpoint".encode()
        address = random.choice(addresses)
        try:
            with urllib.request.urlopen(f"http://{address}:{backend[1]}{path}", timeout=30) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as error:
            return error.code, f"{backend[0]}, {address}: ".encode() + error.read()
        except OSError as error:
            return 502, f"{backend[0]}, {address}: {error}".encode()

    def run(self):
        while not self.stopping.wait(0.2):
            try:
                self.step()
                self.error = None
            except Exception as error:  # pylint: disable=broad-except
                self.error = error

    def step(self):
        base = f"{GROUP}/namespaces/{self.namespace}"
        for gateway in self.api.get(f"{base}/gateways")["items"]:
            self.accept(f"{base}/gateways/{gateway['metadata']['name']}", gateway, lambda kept: {"conditions": kept},
                        ("Accepted", "Programmed"), gateway.get("status", {}).get("conditions", []))
        weights = {}
        for route in self.api.get(f"{base}/httproutes")["items"]:
            parents = route.get("status", {}).get("parents", [])
            reference = route["spec"]["parentRefs"][0]
            self.accept(f"{base}/httproutes/{route['metadata']['name']}", route, lambda kept: {
                "parents": [{"parentRef": reference, "controllerName": "example.com/gateway", "conditions": kept}]},
                        ("Accepted", "ResolvedRefs"), parents[0]["conditions"] if parents else [])
            for backend in route["spec"]["rules"][0]["backendRefs"]:
                weights[(backend["name"], backend["port"])] = backend.get("weight", 1)
        # Before the weights: a backend that is new in them has its endpoints then.
        self.addresses = {name: self.endpoints(name) for name, _ in weights}
        if not self.weights or self.weights[-1] != weights:
            self.weights.append(weights)

    def accept(self, path, thing, status, kinds, conditions):
        generation = thing["metadata"]["generation"]
        written = {each["type"] for each in conditions if each.get("observedGeneration") == generation and each["status"] == "True"}
        if not written.issuperset(kinds):
            self.api.patch_status(path, status([condition(kind, generation) for kind in kinds]))

    def endpoints(self, service):
        slices = self.api.get(f"/apis/discovery.k8s.io/v1/namespaces/{self.namespace}/endpointslices"
                              f"?labelSelector=kubernetes.io/service-name%3D{service}")["items"]
        return [address for each in slices for endpoint in each.get("endpoints") or []
                if endpoint.get("conditions", {}).get("ready") for address in endpoint["addresses"]]

    def stop(self):
        self.stopping.set()
        self.join()
        self.server.shutdown()
