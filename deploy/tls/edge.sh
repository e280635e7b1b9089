#!/bin/sh
# Starts HAProxy once Caddy has the TURN server's certificate. Caddy renews the certificate weeks before it expires, but
# HAProxy reads the file only when it starts or reloads. So HAProxy reloads every day, which does not interrupt
# connections.
set -eu

# Caddy writes this file after the certificate and its key. Each certificate authority has its own folder.
newest() {
  ls -t /srv/caddy/caddy/certificates/*/"turn.$DOMAIN/turn.$DOMAIN.json" 2>/dev/null | head -n 1
}

until [ -n "$(newest)" ]; do
  echo "waiting for Caddy to get the certificate of turn.$DOMAIN"
  sleep 2
done
file=$(newest)
export TURN_CERTIFICATE="${file%.json}.crt"

(while sleep 86400; do kill -USR2 $$; done) &
exec haproxy -W -db -f /srv/edge.cfg
