"""Checks the environment of a host of a TPU slice with JAX on CPUs; jax_test.cpp runs it in each pod.

check_slice.py [--serve]

The host finds its place, its neighbours and its coordinator as libtpu and JAX do, connects to all of them, and takes
part in an all-reduce. Its last line is JSON with what it found. A leader of a LeaderWorkerSet without TPUs only looks
for its workers. With --serve, for pods that would be started again when they end, it then opens PORT_OF_CHECKED and
stays.
"""
import json
import math
import socket
import sys
import threading
import time
import traceback
from os import environ

LIBTPU_PORT = 8471  # Unless TPU_PROCESS_PORT is set.
GROUP_PORT = 38677  # On each pod of a LeaderWorkerSet group; Pathways' resource manager has it on the leader.
PORT_OF_CHECKED = 8000
LIMIT = 200  # Seconds.
started = time.monotonic()
name = socket.gethostname()


def log(text):
    print(f"{time.monotonic() - started:.1f} s: {text}", file=sys.stderr, flush=True)


def expect_equal(what, found, wanted):
    if found != wanted:
        raise SystemExit(f"{what}: {found!r}, expected {wanted!r}")


def serve(port):
    """Sends our host name to all who connect."""
    server = socket.create_server(("", int(port)))

    def answer():
        while True:
            with server.accept()[0] as connection:
                connection.sendall(name.encode())

    threading.Thread(target=answer, daemon=True).start()


def find(address, port):
    """Waits until this host answers: names resolve about a second after the pods start."""
    while True:
        try:
            with socket.create_connection((address, int(port)), timeout=5) as connection:
                answer = connection.makefile().read()
            break
        except OSError as problem:
            if time.monotonic() - started > LIMIT:
                raise SystemExit(f"{address}:{port}: {problem}")
            time.sleep(0.2)
    expect_equal(f"who answers at {address}:{port}", answer, address.split(".")[0])


def find_group():
    """A LeaderWorkerSet group: all find the leader, which finds its workers."""
    serve(GROUP_PORT)
    address = environ["LWS_LEADER_ADDRESS"]
    find(address, GROUP_PORT)
    if environ["LWS_WORKER_INDEX"] == "0":
        leader, domain = address.split(".", 1)
        for worker in range(1, int(environ["LWS_GROUP_SIZE"])):
            find(f"{leader}-{worker}.{domain}", GROUP_PORT)
    return {"leader": address}


def find_slice():
    """The hosts of the slice as libtpu reads them, and the coordinator of a multislice."""
    worker = int(environ["TPU_WORKER_ID"])
    hosts = environ["TPU_WORKER_HOSTNAMES"].split(",")
    expect_equal(f"host {worker} of {hosts}", hosts[worker].split(".")[0], name)
    bounds = environ["TPU_HOST_BOUNDS"]
    expect_equal(f"hosts by TPU_HOST_BOUNDS={bounds}", math.prod(map(int, bounds.split(","))), len(hosts))
    port = environ.get("TPU_PROCESS_PORT", LIBTPU_PORT)
    addresses = ",".join(f"{host}:{port}" for host in hosts)
    expect_equal("TPU_PROCESS_ADDRESSES", environ.get("TPU_PROCESS_ADDRESSES", addresses), addresses)
    found = {"worker": worker, "hosts": hosts, "slice": 0, "slices": 1}
    serve(port)
    for host in hosts:
        find(host, port)
    if environ.get("MEGASCALE_NUM_SLICES"):
        found |= {"slice": int(environ["MEGASCALE_SLICE_ID"]), "slices": int(environ["MEGASCALE_NUM_SLICES"])}
        coordinator, port = environ["MEGASCALE_COORDINATOR_ADDRESS"], environ["MEGASCALE_PORT"]
        if worker == 0 and found["slice"] == 0:
            serve(port)
        find(coordinator, port)
        found["megascale"] = f"{coordinator}:{port}"
    return found


def initialize_jax():
    """Lets JAX find processes and coordinator as on a TPU host of GKE. Returns JAX and the coordinator."""
    environ.update(JAX_PLATFORMS="cpu", JAX_CPU_COLLECTIVES_IMPLEMENTATION="gloo", JAX_FORCE_TPU_INIT="1")
    import jax
    from jax._src import distributed
    from jax._src.clusters import cloud_tpu_cluster
    # The metadata of GKE's nodes lack the variables of multislices.
    cloud_tpu_cluster.get_tpu_env_value_from_metadata = lambda key: None
    jax.distributed.initialize(cluster_detection_method="gketpu", initialization_timeout=LIMIT)
    return jax, distributed.global_state.coordinator_address


def add_up(jax, slices, hosts):
    """Process p adds 2^p. Returns the sums of this slice and of all."""
    import numpy
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    devices = sorted(jax.devices(), key=lambda device: device.process_index)
    mesh = Mesh(numpy.array(devices).reshape(slices, hosts), ("slice", "host"))
    by_host = PartitionSpec("slice", "host")

    def add(value):
        of_slice = jax.lax.psum(value, "host")
        return of_slice, jax.lax.psum(of_slice, "slice")

    add = jax.jit(jax.shard_map(add, mesh=mesh, in_specs=by_host, out_specs=(PartitionSpec("slice"), PartitionSpec())))
    own = jax.make_array_from_callback((slices, hosts), NamedSharding(mesh, by_host),
                                       lambda _: numpy.full((1, 1), 2.0 ** jax.process_index(), numpy.float32))
    return [int(total.addressable_data(0).item()) for total in add(own)]


def check_host():
    found = find_slice()
    log("all hosts answer")
    jax, coordinator = initialize_jax()
    log(f"JAX {jax.__version__} is initialized")
    slices, hosts = found["slices"], len(found["hosts"])
    expect_equal("jax.process_count()", jax.process_count(), slices * hosts)
    expect_equal("jax.process_index()", jax.process_index(), found["slice"] * hosts + found["worker"])
    of_slice, of_all = add_up(jax, slices, hosts)
    log("all hosts added up")
    expect_equal("sum of all processes", of_all, 2 ** jax.process_count() - 1)
    found |= {"process": jax.process_index(), "processes": jax.process_count(), "coordinator": coordinator,
              "sum": of_slice}
    jax.distributed.shutdown()
    return found


def check():
    found = {"host": name}
    if "LWS_LEADER_ADDRESS" in environ:
        found |= find_group()
    if "TPU_WORKER_ID" in environ:
        found |= check_host()
    print(json.dumps(found), flush=True)


if "--serve" not in sys.argv:
    check()
else:
    try:
        check()
        serve(PORT_OF_CHECKED)
    except BaseException:
        traceback.print_exc()  # The pod is not Ready, and keeps its log.
    threading.Event().wait()
