// One binary: real kube-apiserver, an embedded etcd, the real kube-controller-manager and kubectl,
// built from the Go modules k8s.io/kubernetes and go.etcd.io/etcd. For tests only.
package main

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectlcmd "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	kcm "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func usage() {
	fmt.Fprintln(os.Stderr, "usage: kube (etcd DIR CLIENT_PORT PEER_PORT | apiserver FLAGS | all DIR CLIENT_PORT PEER_PORT APISERVER_FLAGS | controller-manager FLAGS | kubectl ARGS)")
	os.Exit(2)
}

func startEtcd(dir, clientPort, peerPort string) *embed.Etcd {
	cfg := embed.NewConfig()
	cfg.Dir = filepath.Join(dir, "etcd")
	cfg.LogLevel = "error"
	cfg.UnsafeNoFsync = true // a test store: no need to survive a power cut
	c, _ := url.Parse("http://127.0.0.1:" + clientPort)
	p, _ := url.Parse("http://127.0.0.1:" + peerPort)
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{*c}, []url.URL{*c}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{*p}, []url.URL{*p}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		fmt.Fprintln(os.Stderr, "etcd:", err)
		os.Exit(1)
	}
	select {
	case <-e.Server.ReadyNotify():
	case <-time.After(30 * time.Second):
		fmt.Fprintln(os.Stderr, "etcd: not ready after 30 s")
		os.Exit(1)
	}
	return e
}

func main() {
	if len(os.Args) < 2 {
		usage()
	}
	if os.Getenv("EXIT_WITH_STDIN") != "" {
		// Ends with the process that started it, even if that one is killed.
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
	}
	sub, args := os.Args[1], os.Args[2:]
	os.Args = append([]string{sub}, args...)
	switch sub {
	case "etcd":
		if len(args) != 3 {
			usage()
		}
		e := startEtcd(args[0], args[1], args[2])
		ch := make(chan os.Signal, 1)
		signal.Notify(ch, syscall.SIGTERM, syscall.SIGINT)
		<-ch
		e.Close()
	case "apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "all":
		if len(args) < 3 {
			usage()
		}
		e := startEtcd(args[0], args[1], args[2])
		os.Args = append([]string{"kube-apiserver", "--etcd-servers=http://127.0.0.1:" + args[1]}, args[3:]...)
		rc := cli.Run(apiserver.NewAPIServerCommand())
		e.Close()
		os.Exit(rc)
	case "controller-manager":
		os.Exit(cli.Run(kcm.NewControllerManagerCommand()))
	case "kubectl":
		os.Args[0] = "kubectl"
		if err := cli.RunNoErrOutput(kubectlcmd.NewDefaultKubectlCommand()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		usage()
	}
}
