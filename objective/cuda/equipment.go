package cuda

import (
	"errors"
	"fmt"
	"os"

	"pawl/objective/cuda/driver"
)

// equipment is what every measurement on a GPU needs, opened once.
type equipment struct {
	context    *driver.Context
	attributes driver.Attributes
	stream     driver.Stream
	support    *support
	watch      *watch
	events     [2]driver.Event
}

// open makes the context, on the thread that all requests are served on.
func (e *equipment) open(supportPath string) error {
	library, err := driver.Open()
	if err != nil {
		return err
	}
	devices, err := library.Devices()
	if err != nil {
		return err
	}
	if len(devices) == 0 {
		return fmt.Errorf("%w: no GPU is visible in the worker", driver.ErrNoDriver)
	}
	if e.attributes, err = devices[0].Attributes(); err != nil {
		return err
	}
	// The management library takes as long to open as the context: both at once.
	opened := make(chan *watch, 1)
	go func() { opened <- newWatch(e.attributes.UUID) }()
	if e.context, err = devices[0].Use(); err != nil {
		return err
	}
	e.watch = <-opened
	if e.stream, err = e.context.NewStream(); err != nil {
		return err
	}
	for i := range e.events {
		if e.events[i], err = e.context.NewEvent(); err != nil {
			return err
		}
	}
	if supportPath == "" {
		return errors.New("the machine that compiled this has no nvcc for the worker's own code")
	}
	image, err := os.ReadFile(supportPath)
	if err != nil {
		return fmt.Errorf("the support code: %w", err)
	}
	if e.support, err = newSupport(e.context, e.stream, image); err != nil {
		return fmt.Errorf("the support code: %w", explainModule(err))
	}
	return nil
}
