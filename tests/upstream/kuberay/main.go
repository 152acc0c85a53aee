// Prints the pods and other children that KubeRay makes of RayClusters: main.go SPECS.yaml. Built inside a checkout of KubeRay by record.sh.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/common"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
)

// podsOf returns the head, then host 0 of replica 0 of each worker group.
func podsOf(ctx context.Context, cluster rayv1.RayCluster) []corev1.Pod {
	fqdn := utils.GenerateFQDNServiceName(ctx, cluster, cluster.Namespace)
	port := common.GetHeadPort(cluster.Spec.HeadGroupSpec.RayStartParams)
	autoscaling := utils.IsAutoscalingEnabled(&cluster.Spec)
	creator := utils.GetCRDType(cluster.Labels[utils.RayOriginatedFromCRDLabelKey])

	head := cluster.Spec.HeadGroupSpec
	template := common.DefaultHeadPodTemplate(ctx, cluster, head, "head", port)
	pods := []corev1.Pod{
		common.BuildPod(ctx, template, rayv1.HeadNode, head.RayStartParams, port, autoscaling, creator, fqdn, nil, cluster.Spec.RayVersion),
	}
	for _, group := range cluster.Spec.WorkerGroupSpecs {
		template := common.DefaultWorkerPodTemplate(ctx, cluster, group, "worker", fqdn, port, group.GroupName+"-replica", 0, 0)
		pods = append(pods,
			common.BuildPod(ctx, template, rayv1.WorkerNode, group.RayStartParams, port, autoscaling, creator, fqdn, nil, cluster.Spec.RayVersion))
	}
	return pods
}

// childrenOf returns the children other than pods and services, by kind.
func childrenOf(ctx context.Context, cluster rayv1.RayCluster) (map[string]any, error) {
	children := map[string]any{}
	if utils.IsAutoscalingEnabled(&cluster.Spec) {
		role, err := common.BuildRole(&cluster)
		if err != nil {
			return nil, err
		}
		binding, err := common.BuildRoleBinding(&cluster)
		if err != nil {
			return nil, err
		}
		// As the reconciler names them.
		role.Name = utils.CheckName(role.Name)
		binding.Name = utils.CheckName(binding.Name)
		children["Role"], children["RoleBinding"] = role, binding
		if cluster.Spec.HeadGroupSpec.Template.Spec.ServiceAccountName == "" {
			account, err := common.BuildServiceAccount(&cluster)
			if err != nil {
				return nil, err
			}
			account.Name = utils.CheckName(account.Name)
			children["ServiceAccount"] = account
		}
	}
	if enabled := cluster.Spec.HeadGroupSpec.EnableIngress; enabled != nil && *enabled {
		ingress, err := common.BuildIngressForHeadService(ctx, cluster)
		if err != nil {
			return nil, err
		}
		children["Ingress"] = ingress
	}
	return children, nil
}

func read(path string) ([]rayv1.RayCluster, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	var clusters []rayv1.RayCluster
	for {
		var cluster rayv1.RayCluster
		if err := decoder.Decode(&cluster); errors.Is(err, io.EOF) {
			return clusters, nil
		} else if err != nil {
			return nil, err
		}
		if cluster.Name == "" { // A comment before the first document.
			continue
		}
		// As the API server and the reconciler fill them in.
		if cluster.Spec.HeadGroupSpec.RayStartParams == nil {
			cluster.Spec.HeadGroupSpec.RayStartParams = map[string]string{}
		}
		for i := range cluster.Spec.WorkerGroupSpecs {
			group := &cluster.Spec.WorkerGroupSpecs[i]
			if group.RayStartParams == nil {
				group.RayStartParams = map[string]string{}
			}
			if group.NumOfHosts == 0 {
				group.NumOfHosts = 1
			}
		}
		clusters = append(clusters, cluster)
	}
}

// printAll writes a line for each pod, so that a difference shows which one changed.
func printAll(out io.Writer, clusters []rayv1.RayCluster) error {
	separator := "["
	for _, cluster := range clusters {
		children, err := childrenOf(context.Background(), cluster)
		if err != nil {
			return err
		}
		childrenText, err := json.Marshal(children)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s{\"name\": %q, \"children\": %s, \"pods\": [", separator, cluster.Name, childrenText)
		separator = "\n"
		for _, pod := range podsOf(context.Background(), cluster) {
			text, err := json.Marshal(pod)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s%s", separator, text)
			separator = ",\n"
		}
		fmt.Fprint(out, "]}")
	}
	fmt.Fprintln(out, "]")
	return nil
}

func main() {
	out := os.Stdout
	os.Stdout = os.Stderr // utils.CheckName prints there.
	clusters, err := read(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := printAll(out, clusters); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
