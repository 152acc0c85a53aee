// Set-up of JobSet's suite test/integration/webhook, in place of upstream's: its webhooks are not installed, those of our operator are.
package webhooktest

import (
	"context"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/internal/tpuslice/environment"
)

// Used by the specs.
var (
	ctx       = context.Background()
	k8sClient client.Client
)

var running *environment.Environment

func TestSpecs(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(t, "JobSet: test/integration/webhook")
}

var _ = ginkgo.BeforeSuite(func() {
	gomega.Expect(jobset.AddToScheme(scheme.Scheme)).To(gomega.Succeed())
	var err error
	running, err = environment.Start(environment.WebhooksOnly)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	k8sClient, err = client.New(running.Config, client.Options{Scheme: scheme.Scheme})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
})

var _ = ginkgo.AfterSuite(func() { gomega.Expect(running.Stop()).To(gomega.Succeed()) })
