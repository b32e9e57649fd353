package console

import (
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/objective/worker"
)

// Builder makes configurations as the flags say.
func (o *Common) Builder(env Environment) (*devices.Builder, error) {
	tools := o.Tools(env)
	folder, err := tools.CacheFolder()
	if err != nil {
		return nil, err
	}
	return &devices.Builder{
		Machine: devices.Here(tools), Cache: folder, Version: Version(),
		Options: objective.Options{Seed: o.Seed, RunTimeout: o.RunTimeout, Caches: worker.Caches(o.Caches)},
	}, nil
}
