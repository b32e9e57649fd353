package studies

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
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
	if silent, ok := errors.AsType[*silentError](err); ok {
		return fmt.Sprintf("%s cannot be reached: it has not answered for %v", name, silent.after)
	}
	if errors.As(err, new(*pgconn.ConnectError)) {
		return fmt.Sprintf("%s cannot be reached: %s", name, lastLine(err))
	}
	return ""
}

// ConnectionLost reports whether an error is of the connection and not of what was asked: the server
// is restarted, or the network is gone. What was being done may have been done.
func ConnectionLost(err error) bool {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		// 57P0x is a shutdown, 08 a connection, 40 a conflict of transactions.
		return strings.HasPrefix(refused.Code, "57P") || strings.HasPrefix(refused.Code, "08") ||
			strings.HasPrefix(refused.Code, "40")
	}
	for _, gone := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn, sql.ErrConnDone} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return errors.As(err, new(*pgconn.ConnectError)) || errors.As(err, new(net.Error)) ||
		err != nil && (pgconn.SafeToRetry(err) || strings.Contains(err.Error(), "conn closed"))
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
		return fmt.Sprintf("the disk of the server of %s is full (%s): make room; what was recorded is there", name,
			e.Message)
	case e.Code == "53300":
		return fmt.Sprintf("%s has no connection left (%s): end other clients, or raise max_connections", name, e.Message)
	case e.Code == "23505":
		return fmt.Sprintf("%s has it already (%s): another process has recorded it", name, e.Detail)
	case strings.HasPrefix(e.Code, "57P"):
		return fmt.Sprintf("%s has ended the connection (%s)", name, e.Message)
	}
	return ""
}
