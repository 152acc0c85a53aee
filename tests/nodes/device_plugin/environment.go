package main

import (
	"fmt"
	"strconv"
	"strings"
)

// cube is the edge of the smallest v4, v5p or tpu7x slice whose axes wrap.
const cube = 4

// node is what GKE's device plugin reads from the labels of its node.
type node struct {
	accelerator, topology, resiliency, address string
	chips                                      int
}

// generation maps GKE's accelerator label to the name in TPU_ACCELERATOR_TYPE, and to the cores of a chip.
func generation(accelerator string) (string, int, error) {
	switch accelerator {
	case "tpu-v3-device", "tpu-v3-slice":
		return "v3", 2, nil
	case "tpu-v4-podslice":
		return "v4", 2, nil
	case "tpu-v5-lite-podslice":
		return "v5litepod", 1, nil
	case "tpu-v5p-slice":
		return "v5p", 2, nil
	case "tpu-v6e-slice":
		return "v6e", 1, nil
	case "tpu7x":
		return "tpu7x", 2, nil
	}
	return "", 0, fmt.Errorf("accelerator %q: unknown", accelerator)
}

func join(numbers []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", ",")
}

// environment returns what a container with this number of chips gets. It is written down independently of
// tpu/device_env.cpp, from the same source, so that a test can compare the two: tpu-device-plugin, pkg/tpu/util/util.go.
// Unlike GKE's, it knows no annotation of the pod.
func (n node) environment(chips int) (map[string]string, error) {
	name, cores, err := generation(n.accelerator)
	if err != nil {
		return nil, err
	}
	host, ok := map[int][]int{1: {1, 1, 1}, 2: {1, 2, 1}, 4: {2, 2, 1}, 8: {2, 4, 1}}[chips]
	if !ok {
		return nil, fmt.Errorf("%d chips: a container has 1, 2, 4 or 8", chips)
	}
	dimensions := []int{1, 1, 1}
	total := 1
	for axis, word := range strings.SplitN(n.topology, "x", 3) {
		if dimensions[axis], err = strconv.Atoi(word); err != nil {
			return nil, fmt.Errorf("topology %q: %w", n.topology, err)
		}
		total *= dimensions[axis]
	}
	var ports []string
	for port := range n.chips {
		ports = append(ports, strconv.Itoa(8431+port))
	}
	out := map[string]string{
		"TPU_SKIP_MDS_QUERY":        "true",
		"TPU_RUNTIME_METRICS_PORTS": strings.Join(ports, ","),
		"TPU_TOPOLOGY":              n.topology,
		"TPU_ACCELERATOR_TYPE":      fmt.Sprintf("%s-%d", name, total*cores),
		"VBAR_CONTROL_SERVICE_URL":  n.address + ":8353",
	}
	if strings.HasSuffix(n.accelerator, "slice") || name == "tpu7x" {
		n.addGeometry(out, name, dimensions, host)
	}
	if n.chips == total && name != "tpu7x" {
		out["TPU_WORKER_ID"] = "0"
		out["TPU_WORKER_HOSTNAMES"] = "localhost"
	}
	return out, nil
}

func (n node) addGeometry(out map[string]string, name string, dimensions, host []int) {
	flat := name == "v5litepod" || name == "v6e"
	whole := min(dimensions[0], dimensions[1], dimensions[2]) >= cube
	hosts := make([]int, 3)
	wrap := make([]string, 3)
	for axis, length := range dimensions {
		hosts[axis] = length / host[axis]
		wrap[axis] = strconv.FormatBool(flat && length == 16 || !flat && whole)
	}
	if whole && (name == "v4" || name == "v5p" || name == "tpu7x") {
		out["ENABLE_ICI_RESILIENCY"] = strconv.FormatBool(!strings.EqualFold(n.resiliency, "false"))
	}
	for key, value := range map[string]string{
		"TOPOLOGY_ALT": "false", "TOPOLOGY_WRAP": strings.Join(wrap, ","),
		"HOST_BOUNDS": join(hosts), "CHIPS_PER_HOST_BOUNDS": join(host),
	} {
		out["TPU_"+key] = value
		out[strings.TrimPrefix(key, "TOPOLOGY_")] = value // The old name.
	}
}
