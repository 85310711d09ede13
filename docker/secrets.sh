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
in_url() { # VALUE, with each byte escaped where one of them means something in a URL
    case $1 in
    *[!A-Za-z0-9._~-]*) printf '%s' "$1" | od -An -v -tx1 | tr -d ' \n' | sed 's/../%&/g' ;;
    *) printf '%s' "$1" ;;
    esac
}

# Earlier releases kept the password in .env, and the database of such an installation knows no other. It is read as Compose
# read it: without quotes, and without a comment after the value.
earlier() {
    value=$(sed -n 's/^[[:blank:]]*\(export[[:blank:]]\{1,\}\)\{0,1\}POSTGRES_PASSWORD[[:blank:]]*=[[:blank:]]*//p' .env 2>/dev/null |
        tail -n 1 | tr -d '\r')
    unclear='[\\$]' # in single quotes Compose takes $ as it is
    case $value in
    \'*\'*) value=${value#\'} && value=${value%\'*} && unclear='\\' ;;
    \"*\"*) value=${value#\"} && value=${value%\"*} ;;
    *) value=$(printf '%s' "$value" | sed 's/[[:blank:]]\{1,\}#.*//; s/[[:blank:]]*$//') ;;
    esac
    if printf '%s' "$value" | grep -q "$unclear"; then
        echo "docker/.env: POSTGRES_PASSWORD has a \\ or a \$, which Compose may have replaced: write the password itself to" \
            "docker/secrets/postgres-password, and run this again" >&2
        return 1
    fi
    printf '%s' "$value"
}

password=
[ -s secrets/postgres-password ] || password=$(earlier)
keep postgres-password "${password:-$(random)}"
keep database-url "postgresql://monitor:$(in_url "$(cat secrets/postgres-password)")@postgres/monitor"
keep grafana-password "$(random)"
mkdir -p events
