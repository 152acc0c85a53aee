// Package environment runs our operator against the API server of envtest, for the integration suites of upstream.
//
// run.sh builds it inside a checkout of upstream, as a package of that module. It reads these environment variables: TPUSLICE_DEPLOY, the
// folder deploy/; TPUSLICE_OPERATOR, the program; TPUSLICE_LOG, the file for its log; VALIDATION, "off" to register no validating webhooks.
package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const (
	fieldOwner = client.FieldOwner("tests")
	// The operator's ServiceAccount: webhook and policies in deploy/ know the operator by this name.
	account     = "system:serviceaccount:tpu-slice-system:tpu-slice-operator"
	accountRole = "system:serviceaccounts:tpu-slice-system"
	readyLimit  = 30 * time.Second
	stopLimit   = 15 * time.Second
)

// WebhooksOnly is a flag of the operator for suites without reconcilers: controllers serve a namespace that has no workloads, the webhook
// serves all. Specs then update objects that no controller changes.
const WebhooksOnly = "--watch-namespace=tpu-slice-system"

// Environment is etcd, a kube-apiserver with the files of deploy/, and the operator.
type Environment struct {
	Config *rest.Config // of a cluster administrator

	api      *envtest.Environment
	folder   string // has the operator's kubeconfig
	operator *exec.Cmd
	exited   chan error
}

// Start starts all of it and waits until the operator is ready. flags are added to the operator's.
func Start(flags ...string) (*Environment, error) {
	deploy := os.Getenv("TPUSLICE_DEPLOY")
	e := &Environment{api: &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join(deploy, "crds")},
		ErrorIfCRDPathMissing: true,
		// The webhooks get a certificate and a URL on loopback in place of their Service.
		WebhookInstallOptions: envtest.WebhookInstallOptions{Paths: []string{filepath.Join(deploy, "webhook", "webhook.yaml")}},
	}}
	var err error
	if e.Config, err = e.api.Start(); err == nil {
		err = e.install(deploy, "operator/namespace.yaml", "rbac/*.yaml", "webhook/policy.yaml")
	}
	if err == nil {
		err = e.startOperator(flags)
	}
	if err != nil {
		return nil, errors.Join(err, e.Stop())
	}
	return e, nil
}

// Stop stops the operator, then the API server.
func (e *Environment) Stop() error {
	return errors.Join(e.stopOperator(), e.api.Stop(), os.RemoveAll(e.folder))
}

// install applies files of deploy/, given as patterns, by server-side apply.
func (e *Environment) install(deploy string, patterns ...string) error {
	c, err := client.New(e.Config, client.Options{})
	if err != nil {
		return err
	}
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(deploy, pattern))
		if err != nil || len(files) == 0 {
			return fmt.Errorf("%s: no such file", pattern)
		}
		for _, name := range files {
			if err := apply(c, name); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if os.Getenv("VALIDATION") == "off" {
		return c.DeleteAllOf(context.Background(), &admissionv1.ValidatingWebhookConfiguration{})
	}
	return nil
}

func apply(c client.Client, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	decoder := yaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if len(object.Object) == 0 { // A comment before the first document.
			continue
		}
		configuration := client.ApplyConfigurationFromUnstructured(object)
		if err := c.Apply(context.Background(), configuration, fieldOwner, client.ForceOwnership); err != nil {
			return err
		}
	}
}

func (e *Environment) startOperator(flags []string) error {
	kubeconfig, err := e.operatorKubeconfig()
	if err != nil {
		return err
	}
	health, err := freeAddress()
	if err != nil {
		return err
	}
	log, err := os.Create(os.Getenv("TPUSLICE_LOG"))
	if err != nil {
		return err
	}
	defer log.Close()
	webhook := e.api.WebhookInstallOptions
	arguments := append([]string{
		"--kubeconfig=" + kubeconfig,
		"--metrics-bind-address=0",
		"--health-probe-bind-address=" + health,
		fmt.Sprintf("--webhook-bind-address=%s:%d", webhook.LocalServingHost, webhook.LocalServingPort),
		"--webhook-cert-dir=" + webhook.LocalServingCertDir,
		"--shutdown-delay=0",
	}, flags...)
	e.operator = exec.Command(os.Getenv("TPUSLICE_OPERATOR"), arguments...)
	e.operator.Stdout, e.operator.Stderr = log, log
	if err := e.operator.Start(); err != nil {
		return err
	}
	e.exited = make(chan error, 1)
	go func() { e.exited <- e.operator.Wait() }()
	return e.waitReady("http://" + health + "/readyz")
}

// operatorKubeconfig writes the kubeconfig of a user who has the name, and so the permissions, of the operator's ServiceAccount.
func (e *Environment) operatorKubeconfig() (string, error) {
	user, err := e.api.AddUser(envtest.User{Name: account, Groups: []string{"system:serviceaccounts", accountRole}}, nil)
	if err != nil {
		return "", err
	}
	text, err := user.KubeConfig()
	if err != nil {
		return "", err
	}
	if e.folder, err = os.MkdirTemp("", "tpuslice-upstream-"); err != nil {
		return "", err
	}
	path := filepath.Join(e.folder, "kubeconfig")
	return path, os.WriteFile(path, text, 0o600)
}

func (e *Environment) waitReady(url string) error {
	for until := time.Now().Add(readyLimit); time.Now().Before(until); {
		if response, err := http.Get(url); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case err := <-e.exited:
			e.operator = nil
			return fmt.Errorf("operator: exited before it was ready: %w", err)
		case <-time.After(100 * time.Millisecond):
		}
	}
	return fmt.Errorf("operator: not ready after %s", readyLimit)
}

func (e *Environment) stopOperator() error {
	if e.operator == nil || e.operator.Process == nil {
		return nil
	}
	if err := e.operator.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("operator: exited during the specs: %w", <-e.exited)
	}
	select {
	case err := <-e.exited:
		return err
	case <-time.After(stopLimit):
		return errors.Join(fmt.Errorf("operator: did not stop within %s", stopLimit), e.operator.Process.Kill())
	}
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
