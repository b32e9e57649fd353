package console

import (
	"pawl/objective/devices"
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
		Options: o.Measuring(),
	}, nil
}
