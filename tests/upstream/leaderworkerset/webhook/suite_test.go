// Set-up of LeaderWorkerSet's suite test/integration/webhooks, in place of upstream's: its webhooks are not installed, those of our
// operator are.
package webhooks

import (
	"context"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	disaggregatedset "sigs.k8s.io/lws/api/disaggregatedset/v1"
	leaderworkerset "sigs.k8s.io/lws/api/leaderworkerset/v1"
	"sigs.k8s.io/lws/internal/tpuslice/environment"
	"sigs.k8s.io/lws/pkg/webhooks"
)

// Used by the specs.
var (
	ctx       = context.Background()
	k8sClient client.Client
	pw        = webhooks.NewPodWebhook(nil) // Not installed: specs about gang scheduling set its scheduler provider.
)

var running *environment.Environment

func TestSpecs(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(t, "LeaderWorkerSet: test/integration/webhooks")
}

var _ = ginkgo.BeforeSuite(func() {
	gomega.Expect(leaderworkerset.AddToScheme(scheme.Scheme)).To(gomega.Succeed())
	gomega.Expect(disaggregatedset.AddToScheme(scheme.Scheme)).To(gomega.Succeed())
	var err error
	running, err = environment.Start(environment.WebhooksOnly,
		"--topology-keys=cloud.google.com/gke-nodepool,topologyKey,topologyKey-2") // The keys of the specs.
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	k8sClient, err = client.New(running.Config, client.Options{Scheme: scheme.Scheme})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
})

var _ = ginkgo.AfterSuite(func() { gomega.Expect(running.Stop()).To(gomega.Succeed()) })
