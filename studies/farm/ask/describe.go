package ask

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"pawl/space"
	"pawl/studies/farm"
)

// Describe asks the device and the compiler what they are. It is called before Begin: the
// study's name depends on what they say.
func (e *Evaluator) Describe(ctx context.Context) (farm.Description, error) {
	if err := e.upload(ctx); err != nil {
		return farm.Description{}, err
	}
	opening, err := e.farm.Begin(ctx,
		farm.Head{Study: "opening-" + e.session, Title: "opening " + e.subject.Name, Label: "opening", Priority: e.priority})
	if err != nil {
		return farm.Description{}, err
	}
	ask := func(queue string, action farm.Action) (farm.Description, error) {
		answer, err := opening.Ask(ctx, queue,
			farm.Job{Task: farm.TaskName(string(action)), Action: action, Subject: e.subject}, nil)
		if err == nil && answer.Description == nil {
			err = fmt.Errorf("no machine of the farm could open kernel %s", e.subject.Name)
		}
		if err != nil {
			return farm.Description{}, fmt.Errorf("opening kernel %s on the farm: %w", e.subject.Name, err)
		}
		return *answer.Description, nil
	}
	// Both open the kernel, which takes a second each: side by side.
	var build farm.Description
	var failed error
	var building sync.WaitGroup
	building.Go(func() { build, failed = ask(e.compile, farm.DescribeBuild) })
	description, err := ask(e.measure, farm.Describe)
	building.Wait()
	err = errors.Join(err, failed)
	made := build.Environment
	description.Environment.Compiler, description.Environment.Flags, description.Environment.Build = made.Compiler,
		made.Flags, made.Build
	if ended := opening.End(context.WithoutCancel(ctx), true); err == nil {
		err = ended
	}
	return description, err
}

// Keep removes the points that the device rules out.
func Keep(pool *space.Pool, d farm.Description) (*space.Pool, error) {
	if len(d.Infeasible) == 0 {
		return pool, nil
	}
	if len(d.Infeasible) != (pool.Len()+7)/8 {
		return nil, fmt.Errorf("the device counts other points than this machine: is it the same pawl?")
	}
	return pool.Filter(func(p space.Point) bool {
		i, err := pool.Index(p)
		// A pool that is a sample grows: nobody has asked the device about those yet.
		return err != nil || d.Infeasible[i/8]&(1<<(i%8)) == 0
	})
}
