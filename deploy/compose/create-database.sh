#!/bin/sh
# The role and the database of Billwright. The image of PostgreSQL runs this once, on an empty volume.
set -eu
url=$(cat "${DATABASE_URL_FILE:-/run/secrets/database-url}")
BILLWRIGHT_PASSWORD=$(printf '%s' "$url" | sed 's#^[a-z]*://[^:]*:\([^@]*\)@.*$#\1#')
export BILLWRIGHT_PASSWORD
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" postgres <<'SQL'
\getenv password BILLWRIGHT_PASSWORD
create role billwright login createrole bypassrls password :'password';
create database billwright owner billwright;
SQL
