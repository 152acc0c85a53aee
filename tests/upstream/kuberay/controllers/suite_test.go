// Set-up of KubeRay's suite controllers/ray, in place of upstream's: its reconcilers do not run, our operator does. run.sh selects the
// specs of one kind.
package ray

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	"github.com/ray-project/kuberay/ray-operator/internal/tpuslice/environment"
)

// Used by the specs.
var (
	k8sClient client.Client
	mgr       ctrl.Manager // Stays nil: KubeRay's manager does not run.

	// What Ray's dashboard and proxies answer; the operator asks them over HTTP.
	fakeRayDashboardClient *utils.FakeRayDashboardClient
	fakeRayHttpProxyClient *utils.FakeRayHttpProxyClient
)

var (
	running   *environment.Environment
	dashboard *httptest.Server
	stop      context.CancelFunc
)

func TestSpecs(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(t, "KubeRay: controllers/ray")
}

var _ = ginkgo.BeforeSuite(func() {
	gomega.Expect(rayv1.AddToScheme(scheme.Scheme)).To(gomega.Succeed())
	testRayCluster = &rayv1.RayCluster{} // A spec reads this fixture of the unit tests, which do not run.
	fakeRayDashboardClient = prepareFakeRayDashboardClient()
	// Specs create EndpointSlices, which our operator does not read: it counts the ready pods with a healthy proxy.
	fakeRayHttpProxyClient = &utils.FakeRayHttpProxyClient{IsHealthy: true}
	dashboard = httptest.NewServer(http.HandlerFunc(serveDashboard))
	var err error
	running, err = environment.Start("--config="+filepath.Join(os.Getenv("TPUSLICE_SETUP"), "configuration.yaml"),
		"--ray-dashboard-address="+dashboard.Listener.Addr().String())
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	k8sClient, err = client.New(running.Config, client.Options{Scheme: scheme.Scheme})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	var ctx context.Context
	ctx, stop = context.WithCancel(context.Background())
	if os.Getenv("TPUSLICE_SUITE") != "kuberay" { // Its specs update pods without retries, and need no dashboard.
		go giveAddresses(ctx)
	}
})

var _ = ginkgo.AfterSuite(func() {
	stop()
	gomega.Expect(running.Stop()).To(gomega.Succeed())
	dashboard.Close()
})

// serveDashboard answers as Ray's dashboard would with what a spec has set.
func serveDashboard(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/-/healthz"):
		if err := fakeRayHttpProxyClient.CheckProxyActorHealth(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, "success")
	case strings.HasPrefix(r.URL.Path, "/api/serve/applications"):
		if r.Method == http.MethodPut {
			body, _ := io.ReadAll(r.Body)
			_ = fakeRayDashboardClient.UpdateDeployments(r.Context(), body)
			return
		}
		answer(w, map[string]any{"applications": applications(r.Context())})
	case r.Method == http.MethodGet:
		info, err := fakeRayDashboardClient.GetJobInfo(r.Context(), filepath.Base(r.URL.Path))
		if err != nil {
			status := http.StatusInternalServerError
			if apierrors.IsBadRequest(err) { // KubeRay's client turns a 404 into this error.
				status = http.StatusNotFound
			}
			http.Error(w, err.Error(), status)
			return
		}
		answer(w, info)
	default: // A job is submitted or stopped.
		answer(w, map[string]any{"stopped": true})
	}
}

// applications reports what a spec has set, and the other applications of the configuration as running: specs set them under names that
// the configuration does not have, where Ray reports those that it was given.
func applications(ctx context.Context) map[string]any {
	all := map[string]any{}
	var config struct{ Applications []struct{ Name string } }
	_ = json.Unmarshal(fakeRayDashboardClient.LastUpdatedConfig, &config) // Empty before the first one.
	for _, application := range config.Applications {
		all[application.Name] = map[string]any{"status": "RUNNING"}
	}
	statuses, _ := fakeRayDashboardClient.GetMultiApplicationStatus(ctx)
	for name, status := range statuses {
		all[name] = status
	}
	return all
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

// giveAddresses gives running pods an address, as the kubelet does: the specs set only their phase and conditions.
func giveAddresses(ctx context.Context) {
	for number := 1; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		var pods corev1.PodList
		if err := k8sClient.List(ctx, &pods); err != nil {
			continue
		}
		for i := range pods.Items {
			pod := &pods.Items[i]
			if pod.Status.Phase != corev1.PodRunning || pod.Status.PodIP != "" {
				continue
			}
			before := client.MergeFrom(pod.DeepCopy())
			pod.Status.PodIP = fmt.Sprintf("10.0.%d.%d", number/250, number%250+1)
			pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
			number++
			_ = k8sClient.Status().Patch(ctx, pod, before)
		}
	}
}
