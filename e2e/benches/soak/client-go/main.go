// Informers of client-go over the ConfigMaps of a server, for `make soak`.
//
// For every line on standard input it writes one line of JSON: of each informer the ConfigMaps its store holds,
// `namespace/name` to resourceVersion, and the same as its handler was told, event by event. It ends with its input.
//
// Whether informers list in pages or stream their first list is client-go's own feature gate:
// KUBE_FEATURE_WatchListClient in the environment.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// mirror is an informer and what its handler was told.
type mirror struct {
	name, selector string
	informer       cache.SharedIndexInformer

	mutex sync.Mutex
	told  map[string]string
	wrong []string
}

// state is what a line of output says of one mirror.
type state struct {
	Name     string            `json:"name"`
	Selector string            `json:"selector"`
	Store    map[string]string `json:"store"`
	Told     map[string]string `json:"told"`
	Wrong    []string          `json:"wrong"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("usage: %s URL", os.Args[0])
	}
	mirrors, err := start(&rest.Config{Host: os.Args[1], QPS: -1})
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	defer close(stop)
	for _, one := range mirrors {
		go one.informer.Run(stop)
	}
	lines := bufio.NewScanner(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		states := make([]state, 0, len(mirrors))
		for _, one := range mirrors {
			states = append(states, one.state())
		}
		if err := answers.Encode(states); err != nil {
			return err
		}
	}
	return lines.Err()
}

// start makes the mirrors: typed (whole, half, another half), dynamic, in protobuf, and of metadata alone.
func start(config *rest.Config) ([]*mirror, error) {
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	inProtobuf := rest.CopyConfig(config)
	inProtobuf.ContentType = runtime.ContentTypeProtobuf
	packed, err := kubernetes.NewForConfig(inProtobuf)
	if err != nil {
		return nil, err
	}
	partial, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	resource := corev1.SchemeGroupVersion.WithResource("configmaps")
	mirrors := []*mirror{
		{name: "dynamic", informer: dynamicinformer.NewDynamicSharedInformerFactory(untyped, 0).ForResource(resource).Informer()},
		{name: "protobuf", informer: informers.NewSharedInformerFactory(packed, 0).Core().V1().ConfigMaps().Informer()},
		{name: "metadata", informer: metadatainformer.NewSharedInformerFactory(partial, 0).ForResource(resource).Informer()},
	}
	for _, selector := range []string{"", "half=a", "half!=a"} {
		selecting := informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = selector })
		// A resync tells handlers of what they know already, which must change nothing.
		factory := informers.NewSharedInformerFactoryWithOptions(typed, 20*time.Second, selecting)
		mirrors = append(mirrors, &mirror{name: "typed " + selector, selector: selector, informer: factory.Core().V1().ConfigMaps().Informer()})
	}
	for _, one := range mirrors {
		one.told = map[string]string{}
		if _, err := one.informer.AddEventHandler(one); err != nil {
			return nil, err
		}
	}
	return mirrors, nil
}

func (m *mirror) OnAdd(object any, _ bool) {
	m.note("added", object, false, true)
}

func (m *mirror) OnUpdate(_, object any) {
	m.note("changed", object, true, true)
}

func (m *mirror) OnDelete(object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	m.note("deleted", object, true, false)
}

// note records an event: the object has to have been there or not, and stays or goes.
func (m *mirror) note(what string, object any, was, stays bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	accessor, err := meta.Accessor(object)
	if err != nil {
		m.wrong = append(m.wrong, err.Error())
		return
	}
	key := accessor.GetNamespace() + "/" + accessor.GetName()
	if _, there := m.told[key]; there != was {
		m.wrong = append(m.wrong, fmt.Sprintf("%s was %s, and was there: %t", key, what, there))
	}
	if stays {
		m.told[key] = accessor.GetResourceVersion()
	} else {
		delete(m.told, key)
	}
}

func (m *mirror) state() state {
	held := map[string]string{}
	for _, object := range m.informer.GetStore().List() {
		if accessor, err := meta.Accessor(object); err == nil {
			held[accessor.GetNamespace()+"/"+accessor.GetName()] = accessor.GetResourceVersion()
		}
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	told := make(map[string]string, len(m.told))
	for key, version := range m.told {
		told[key] = version
	}
	return state{Name: m.name, Selector: m.selector, Store: held, Told: told, Wrong: append([]string{}, m.wrong...)}
}
