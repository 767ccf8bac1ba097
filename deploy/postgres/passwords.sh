#!/bin/sh
# Sets the passwords of the roles to those in the worker's URLs (hexadecimal, so that nothing in them is percent-encoded).
# The Postgres image runs this once, when it creates the database.
set -eu

for secret in database_url database_direct_url; do
  url=$(cat "${SECRETS:-/run/secrets}/$secret")
  credentials=${url#*://}
  credentials=${credentials%%@*}
  psql --no-psqlrc --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname="$POSTGRES_DB" \
    --set=role="${credentials%%:*}" --set=password="${credentials#*:}" --quiet <<'SQL'
ALTER ROLE :"role" PASSWORD :'password';
SQL
done
