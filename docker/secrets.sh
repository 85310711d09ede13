#!/bin/sh
# Makes the secrets that docker/compose.yaml needs, in docker/secrets, and leaves those alone that exist.
# Containers run as other users, so the files are open to all, and the folder is closed instead.
set -eu
cd "$(dirname "$0")"
mkdir -p -m 0700 secrets
chmod 0700 secrets

random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
keep() { # NAME VALUE
    [ -s "secrets/$1" ] || printf '%s' "$2" >"secrets/$1"
    chmod 0644 "secrets/$1"
}

# Earlier releases kept the password in .env, and the database of such an installation knows no other.
earlier=$(sed -n 's/^POSTGRES_PASSWORD=//p' .env 2>/dev/null | tail -n 1)
keep postgres-password "${earlier:-$(random)}"
keep database-url "postgresql://monitor:$(cat secrets/postgres-password)@postgres/monitor"
keep grafana-password "$(random)"
mkdir -p events
