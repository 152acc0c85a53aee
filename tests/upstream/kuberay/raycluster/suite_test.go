// Set-up of KubeRay's suite controllers/ray, in place of upstream's: its reconcilers do not run, our operator does. run.sh selects the
// specs of RayClusters.
package ray

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
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

	// Used by the specs of RayJobs and RayServices, which run.sh does not select.
	fakeRayDashboardClient *utils.FakeRayDashboardClient
	fakeRayHttpProxyClient *utils.FakeRayHttpProxyClient
)

var running *environment.Environment

func TestSpecs(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(t, "KubeRay: controllers/ray")
}

var _ = ginkgo.BeforeSuite(func() {
	gomega.Expect(rayv1.AddToScheme(scheme.Scheme)).To(gomega.Succeed())
	testRayCluster = &rayv1.RayCluster{} // A spec reads this fixture of the unit tests, which do not run.
	var err error
	running, err = environment.Start("--config=" + filepath.Join(os.Getenv("TPUSLICE_SETUP"), "configuration.yaml"))
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	k8sClient, err = client.New(running.Config, client.Options{Scheme: scheme.Scheme})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
})

var _ = ginkgo.AfterSuite(func() { gomega.Expect(running.Stop()).To(gomega.Succeed()) })
