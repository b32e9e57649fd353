package studies

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ExplainServer says what an error of the server means for who sees it. No sentence holds the
// password: they are made of names, and of the server's own words.
func ExplainServer(config *pgx.ConnConfig, err error) error {
	if err == nil || errors.As(err, new(*serverError)) {
		return err
	}
	text := sentence(config, err)
	if text == "" {
		return err
	}
	return &serverError{text, err}
}

func (p *postgres) explain(err error) error { return ExplainServer(p.config, err) }

type serverError struct {
	text  string
	cause error
}

func (e *serverError) Error() string { return e.text }
func (e *serverError) Unwrap() error { return e.cause }

func sentence(config *pgx.ConnConfig, err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return said(config, e)
	}
	name := postgresName(config)
	if unknown, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Sprintf("%s cannot be reached: the host %s is not known", name, unknown.Name)
	}
	if unreachable(err) {
		return fmt.Sprintf("%s cannot be reached: %s", name, lastLine(err))
	}
	return ""
}

// unreachable reports whether no connection could be made, for another reason than the server's own word.
func unreachable(err error) bool {
	return errors.As(err, new(*pgconn.ConnectError))
}

// lastLine is why the last address that was tried did not answer.
func lastLine(err error) string {
	lines := strings.Split(strings.TrimSpace(errors.Unwrap(err).Error()), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// said has the server's codes, from https://www.postgresql.org/docs/current/errcodes-appendix.html.
func said(config *pgx.ConnConfig, e *pgconn.PgError) string {
	name, user := postgresName(config), config.User
	switch {
	case e.Code == "28P01" || e.Code == "28000":
		return fmt.Sprintf("%s refuses the user %s (%s): the password is wrong or missing; PAWL_DB may hold it, or a line "+
			"of the file that PGPASSFILE names", name, user, e.Message)
	case e.Code == "3D000":
		return fmt.Sprintf("there is no database %s on the server; createdb %s makes it", name, config.Database)
	case e.Code == "42501":
		return fmt.Sprintf("%s does not allow the user %s to do this (%s): its owner can GRANT it", name, user, e.Message)
	case e.Code == "25006":
		return fmt.Sprintf("%s can only be read (%s)", name, e.Message)
	case e.Code == "53100":
		return fmt.Sprintf("the disk of the server of %s is full (%s): what was recorded is there; make room and go on "+
			"with pawl tune --resume", name, e.Message)
	case e.Code == "53300":
		return fmt.Sprintf("%s has no connection left (%s): end other clients, or raise max_connections", name, e.Message)
	case e.Code == "23505":
		return fmt.Sprintf("%s has it already (%s): another process has recorded it", name, e.Detail)
	case strings.HasPrefix(e.Code, "57P"):
		return fmt.Sprintf("%s has ended the connection (%s)", name, e.Message)
	}
	return ""
}
