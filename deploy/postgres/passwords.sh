#!/bin/sh
# Gives the roles of roles.sql the passwords that stand in the worker's URLs (hexadecimal, so nothing in them is encoded).
# The image of Postgres runs it once, when it makes the database.
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
