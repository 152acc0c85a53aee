// device_plugin: advertises google.com/tpu to the kubelet of a node that has no TPUs, in place of GKE's device plugin. Its
// containers get the environment that GKE's gives them, and no devices.
//
//	device_plugin --accelerator tpu-v6e-slice --topology 4x4 --chips 4 --address 10.0.0.2 --unhealthy FILE
//
// FILE lists the numbers of the chips that are unhealthy, from 0; it may be written at any time.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const (
	resource = "google.com/tpu"
	endpoint = "tpu.sock"
	interval = 200 * time.Millisecond
)

type plugin struct {
	api.UnimplementedDevicePluginServer
	node      node
	unhealthy string
}

// devices returns the chips with their present health.
func (p *plugin) devices() []*api.Device {
	broken := map[string]bool{}
	if text, err := os.ReadFile(p.unhealthy); err == nil {
		for _, id := range strings.Fields(string(text)) {
			broken[id] = true
		}
	}
	var out []*api.Device
	for chip := range p.node.chips {
		id := strconv.Itoa(chip)
		health := api.Healthy
		if broken[id] {
			health = api.Unhealthy
		}
		out = append(out, &api.Device{ID: id, Health: health})
	}
	return out
}

func describe(devices []*api.Device) string {
	var words []string
	for _, device := range devices {
		words = append(words, device.ID+" "+device.Health)
	}
	return strings.Join(words, ", ")
}

func (p *plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

// ListAndWatch sends the devices whenever their health has changed.
func (p *plugin) ListAndWatch(_ *api.Empty, stream grpc.ServerStreamingServer[api.ListAndWatchResponse]) error {
	for last := ""; ; {
		devices := p.devices()
		if now := describe(devices); now != last {
			log.Print("chips: ", now)
			if err := stream.Send(&api.ListAndWatchResponse{Devices: devices}); err != nil {
				return err
			}
			last = now
		}
		select {
		case <-stream.Context().Done():
			return nil
		case <-time.After(interval):
		}
	}
}

func (p *plugin) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	response := &api.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		environment, err := p.node.environment(len(container.DevicesIds))
		if err != nil {
			return nil, err
		}
		log.Print("allocated chips ", container.DevicesIds)
		response.ContainerResponses = append(response.ContainerResponses, &api.ContainerAllocateResponse{Envs: environment})
	}
	return response, nil
}

func register() error {
	connection, err := grpc.NewClient("unix://"+api.KubeletSocket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err = api.NewRegistrationClient(connection).Register(
		ctx, &api.RegisterRequest{Version: api.Version, Endpoint: endpoint, ResourceName: resource})
	return err
}

func main() {
	var p plugin
	flag.StringVar(&p.node.accelerator, "accelerator", "", "Label cloud.google.com/gke-tpu-accelerator of the node.")
	flag.StringVar(&p.node.topology, "topology", "", "Label cloud.google.com/gke-tpu-topology.")
	flag.StringVar(&p.node.resiliency, "ici-resiliency", "", "Label cloud.google.com/gke-tpu-ici-resiliency.")
	flag.StringVar(&p.node.address, "address", "", "Address of the node.")
	flag.IntVar(&p.node.chips, "chips", 4, "Chips of the node.")
	flag.StringVar(&p.unhealthy, "unhealthy", "", "File with the numbers of unhealthy chips; it may be missing.")
	flag.Parse()
	log.SetFlags(log.Lmicroseconds)

	socket := api.DevicePluginPath + endpoint
	_ = os.Remove(socket)
	for { // The kubelet makes the directory.
		if _, err := os.Stat(api.KubeletSocket); err == nil {
			break
		}
		time.Sleep(interval)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	api.RegisterDevicePluginServer(server, &p)
	go func() { log.Fatal(server.Serve(listener)) }()
	if err := register(); err != nil {
		log.Fatal("not registered: ", err)
	}
	log.Printf("registered %d chips", p.node.chips)
	// A kubelet that starts removes all sockets; plugins then register again. node.sh restarts this one.
	for {
		if _, err := os.Stat(socket); err != nil {
			log.Fatal("the kubelet has restarted: ", err)
		}
		time.Sleep(interval)
	}
}
