#!/bin/sh
# Writes certificates for the connections between control plane and proxies, and the token of the admin ports, into `secrets` beside this file.
set -eu
cd "$(dirname "$0")"
# The directory is closed to other users; the files are mounted into containers, whose user must be able to read them.
mkdir -p -m 700 secrets
cd secrets
umask 022
[ -s admin-token ] || openssl rand -base64 32 > admin-token
[ -s ca.crt ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 \
  -subj '/CN=gateway CA' -keyout ca.key -out ca.crt 2> /dev/null
for name in control-plane proxy; do
  [ -s "$name.crt" ] && continue
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$name" -keyout "$name.key" -out "$name.csr" 2> /dev/null
  printf 'subjectAltName=DNS:%s\n' "$name" > "$name.ext"
  openssl x509 -req -in "$name.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 90 -extfile "$name.ext" -out "$name.crt" 2> /dev/null
  rm "$name.csr" "$name.ext"
done
chmod 644 control-plane.key proxy.key
