package farm

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"pawl/studies"
)

// explain turns an error of the database into a sentence. It never holds a password: the
// library's messages name user, host and database only.
func (f *Farm) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch refused.Code {
		case "42P01": // who may not see the schema sees no table in it
			return fmt.Errorf("%s: the database's user has no right to see the farm; docs/farm.md has the roles", doing)
		case "42501":
			return fmt.Errorf("%s: the database's user has no right to do that (%s); docs/farm.md has the roles", doing,
				refused.Message)
		case "53300":
			return fmt.Errorf("%s: the database's server has no connection left (%s): end other clients, start workers with "+
				"fewer --lanes, or raise max_connections", doing, refused.Message)
		}
	}
	return fmt.Errorf("%s: %w", doing, studies.ExplainServer(f.config, err))
}
