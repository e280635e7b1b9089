#!/bin/bash
# Does what the entrypoint of PostgreSQL's own image does on these paths: creates the database on the first start, from
# POSTGRES_USER, POSTGRES_DB and POSTGRES_PASSWORD or POSTGRES_PASSWORD_FILE, then becomes the server.
set -euo pipefail
if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then
  [ -z "${POSTGRES_PASSWORD:-}" ] || { echo "error: both POSTGRES_PASSWORD and POSTGRES_PASSWORD_FILE are set" >&2; exit 1; }
  POSTGRES_PASSWORD=$(<"$POSTGRES_PASSWORD_FILE")
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  initdb --username="$POSTGRES_USER" --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") --auth-host=scram-sha-256 "$PGDATA"
  printf 'host all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
  # A temporary server that listens only on the socket.
  pg_ctl -D "$PGDATA" -o "-c listen_addresses=''" -w start
  [ "$POSTGRES_DB" = postgres ] || createdb --username="$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl -D "$PGDATA" -m fast -w stop
fi
exec "$@" -c listen_addresses='*'
